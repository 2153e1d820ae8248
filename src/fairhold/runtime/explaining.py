"""An explanation as a document and in one sentence; what commands and the service tell alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import Bound, OwnBound
from fairhold.cycle.explain.nouns import RULE_OF_CONTROL, rule_of
from fairhold.errors import count
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from fractions import Fraction

    from fairhold.cycle.explain import Control, Explanation, Level, Loan, Standing, WhatIf

Document = dict[str, Any]

_WHY = {
    Bound.DEMAND: "it has demand for no more",
    Bound.BELOW: "the consumers below it are bound at their own level",
    Bound.LIMIT: "its limit is reached",
    Bound.RESERVE: "its reserve is kept for it, whether or not it has demand",
    Bound.GUARANTEE: "it gets what it owns and wants, which is more than its part by ratio",
    Bound.RATIO: "it shares with siblings in proportion to what they own",
    Bound.EQUAL: "it owns nothing; what owners leave is divided equally",
    Bound.EVEN: "what owners leave is divided equally",
    Bound.SHARE: "others want more too, and shares go by ratio",
    Bound.PLANNED: "that is its planned share",
    Bound.LIMIT_ABOVE: "a branch above it is at its limit, and it gets its part of that limit",
    Bound.NO_PART: "its share ratio, or one above it, is 0, so it gets no share",
    Bound.OWNED: "it gets what it owns, and borrows nothing",
    Bound.SLOTS: "there are fewer slots than are owned; better ranks come first",
    Bound.LENDERS: "its lenders have nothing more to lend, or the limits of the lend and borrow lists are reached",
    Bound.UNOWNED: "it gets its share of the slots that nobody owns",
    Bound.LIMIT_OF_BRANCH: "a branch above it is at its limit",
    Bound.HOSTS: "hosts are exclusive, and the hosts that it can get within its quota have no more slots",
    Bound.GANGS: "the rest of its demand is gangs that are larger than its quota can be",
    Bound.BUDGET: "its budget is used up, so nothing more is granted",
    Bound.BORROWS: "its budget is used up, so it only gets what others leave",
    Bound.SITE: "the rest of its demand needs hosts that have no more slots",
    Bound.USER_LIMIT: "its users have reached the user limit",
    Bound.NOTHING_LEFT: "it owns nothing, and its siblings use all that they own",
}


def sentence(explanation: Explanation) -> str:
    """Why, in one sentence."""
    head = f"{explanation.path} in {explanation.resource_group}: quota {explanation.quota}, holds {explanation.held}"
    if not explanation.levels:
        slots = count(explanation.slots, "slot")
        return f"{head}; the group has {slots}."
    mine = _mine(explanation)
    rank = ""
    if mine.rounded:
        to = "to it" if mine.rounded > 0 else "to a sibling before it"
        rank = f" (exactly {fraction(mine.exact)}; by rank, then plan order, the slot left over goes {to} [R-ROUND-1])"
    return f"{head}, wants {explanation.demand}: {_why(mine.bound)} [{rule_of(mine.bound)}]{rank}."


def _why(bound: Bound | OwnBound) -> str:
    return bound.why if isinstance(bound, OwnBound) else _WHY[bound]


def _mine(explanation: Explanation) -> Standing:
    return next(row for row in explanation.levels[-1].siblings if row.path == explanation.path)


def fraction(value: Fraction) -> str:
    """A fraction as people write it: `3 1/3`."""
    whole, rest = divmod(value.numerator, value.denominator)
    if not rest:
        return str(whole)
    return f"{whole} {rest}/{value.denominator}" if whole else f"{rest}/{value.denominator}"


def as_document(explanation: Explanation) -> Document:
    """The explanation as JSON; fractions are exact strings as `1/3`."""
    return (
        {
            "consumer": explanation.path,
            "resource_group": explanation.resource_group,
            "sentence": sentence(explanation),
            "slots": explanation.slots,
            "scale": [explanation.scale_num, explanation.scale_den],
            "quota": explanation.quota,
            "demand": explanation.demand,
            "allocated": explanation.held,
            "levels": [_level_document(level) for level in explanation.levels],
            "reclaim": {
                "missing": explanation.missing,
                "can_give": explanation.can_give,
                "must_give": explanation.must_give,
                "gives": explanation.gives,
                "lacks": explanation.lacks,
                "protected": explanation.protected,
                "set_aside": explanation.set_aside,
            },
            "moves": [
                {
                    "kind": move.kind,
                    "consumer": move.consumer,
                    "units": move.units,
                    "for": move.taker or None,
                    "deadline": format_instant(move.deadline) if move.deadline else None,
                    "reason": move.reason or None,
                }
                for move in explanation.moves
            ],
        }
        | _what_if_document(explanation.what_if)
        | _where_any(
            controls=[_control_document(each) for each in explanation.controls],
            loans=[_loan_document(each) for each in explanation.loans],
        )
    )


def _where_any(**lists: list[Document]) -> Document:
    return {name: rows for name, rows in lists.items() if rows}


def _loan_document(loan: Loan) -> Document:
    return {
        "borrower": loan.borrower,
        "lender": loan.lender,
        "limit": None if loan.most >= UNLIMITED else loan.most,
        "quota": loan.units,
        "allocated": loan.held,
        "bound": loan.bound,
    }


def _control_document(control: Control) -> Document:
    return {
        "control": control.name,
        "rule": RULE_OF_CONTROL[control.name],
        "consumer": control.consumer,
        "units": control.units,
        "until": format_instant(control.until) if control.until else None,
        **({"hosts": control.hosts} if control.hosts else {}),
        **({"away": [*control.away]} if control.away else {}),
    }


def _level_document(level: Level) -> Document:
    return {
        "parent": level.parent,
        "amount": level.amount,
        "lambda": str(level.water),
        "phase": level.phase,
        "siblings": [
            {
                "consumer": row.path,
                "rank": row.rank,
                "owned": row.owned,
                "reserve": row.reserve,
                "limit": None if row.limit >= UNLIMITED else row.limit,
                "demand": row.demand,
                "need": row.need,
                "sure": row.floor,
                "exact": str(row.exact),
                "quota": row.quota,
                "rounded": row.rounded,
                "allocated": row.held,
                "bound": row.bound.value,
                "rule": rule_of(row.bound),
            }
            | ({} if row.planned is None else {"share_ratio": row.ratio, "planned": str(row.planned)})
            | ({} if row.parts is None else asdict(row.parts))
            | dict(row.more)
            for row in level.siblings
        ],
    } | ({"words": level.words, "columns": dict(level.columns)} if level.words else {})


def _what_if_document(what_if: WhatIf | None) -> Document:
    if what_if is None:
        return {"would_help": None, "search": None}
    helps = [
        {"changes": [change.document() for change in each.changes], "quota": each.quota}
        | ({} if each.is_smallest else {"is_smallest": False})
        for each in what_if.helps
    ]
    return {"would_help": helps if helps or what_if.search["is_complete"] else None, "search": what_if.search}
