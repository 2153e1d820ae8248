"""The words of an explanation: one sentence, then the whole derivation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.cycle.explain import Bound, Change, Counterfactual, Explanation, Level, Move, Standing
from fairhold.cycle.explain.derivation import RULE_OF
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from fractions import Fraction

Document = dict[str, Any]

_WHY = {
    Bound.DEMAND: "that is all that it wants",
    Bound.LIMIT: "its limit allows no more",
    Bound.RESERVE: "its reserve is kept for it, wanted or not",
    Bound.GUARANTEE: "that is what it owns and wants, more than its share by ratio",
    Bound.RATIO: "it shares with siblings in proportion to what they own",
    Bound.EQUAL: "it owns nothing and shares what owners leave in equal amounts",
    Bound.EVEN: "what owners leave is added in equal amounts",
    Bound.NOTHING_LEFT: "it owns nothing, and owners beside it use everything",
}

_LEVEL = {
    "owners": "; λ = {} for each slot owned",
    "rest": "; owners have their fill, then λ = {} for each",
    "enough": ", enough for all",
}

_CAUSE = {
    "quota": "its quota",
    "limit": "a limit",
    "window": "the switch of windows",
    "lost": "lost hosts",
}


def in_words(explanation: Explanation) -> str:
    """The whole explanation as text."""
    parts = [sentence(explanation), *map(_level, explanation.levels)]
    if explanation.scale_num != explanation.scale_den:
        parts.append(
            f"Owned slots count {explanation.scale_num}/{explanation.scale_den} of what is configured: "
            f"so many slots there are, and so many were planned for [R-SCALE-1]."
        )
    parts.append(_reclaim(explanation))
    if explanation.moves:
        parts.append("Moves:\n" + "\n".join(f"  {_move(move)}" for move in explanation.moves))
    if explanation.levels:
        parts.append(_what_if(explanation.path, explanation.counterfactual))
    return "\n\n".join(part for part in parts if part)


def sentence(explanation: Explanation) -> str:
    """Why, in one sentence."""
    head = f"{explanation.path} in {explanation.resource_group}: quota {explanation.quota}, holds {explanation.held}"
    if not explanation.levels:
        return f"{head}; the group has {explanation.slots} slots."
    mine = _mine(explanation)
    rank = ""
    if mine.rounded:
        to = "to it" if mine.rounded > 0 else "to a sibling before it"
        rank = f" (exactly {_fraction(mine.exact)}; by rank, then plan order, the slot left over goes {to} [R-ROUND-1])"
    return f"{head}, wants {explanation.demand}: {_WHY[mine.bound]} [{RULE_OF[mine.bound]}]{rank}."


def _mine(explanation: Explanation) -> Standing:
    return next(row for row in explanation.levels[-1].siblings if row.path == explanation.path)


def _level(level: Level) -> str:
    head = f"{level.parent} divides {level.amount}{_LEVEL[level.phase].format(_fraction(level.water))}:"
    rows = [
        (
            row.path,
            row.rank,
            row.owned,
            row.floor,
            row.need,
            None if row.limit >= UNLIMITED else row.limit,
            _fraction(row.exact),
            row.quota,
            row.held,
            row.bound.value,
        )
        for row in level.siblings
    ]
    columns = ("consumer", "rank", "owned", "sure of", "need", "limit", "exact", "quota", "holds", "bound by")
    return f"{head}\n{table(columns, rows)}"


def _reclaim(explanation: Explanation) -> str:
    said = []
    if explanation.set_aside:
        said.append(f"{_count(explanation.set_aside, 'idle slot')} kept for its reserves [R-ASIDE-1]")
    if explanation.missing:
        said.append(f"it misses {_count(explanation.missing, 'slot')} [R-RECLAIM-1]")
    if explanation.gives:
        said.append(
            f"it is to give {_count(explanation.gives, 'slot')} back (it can give {explanation.can_give}, "
            f"must give {explanation.must_give}) [R-RECLAIM-4]"
        )
    if explanation.protected:
        said.append("what it holds above its quota is rounding alone and stays for equal ranks [R-PROTECT-1]")
    if explanation.lacks:
        said.append(f"{_count(explanation.lacks, 'slot')} that it misses nobody can give [R-RECLAIM-2]")
    return "Reclaim: " + "; ".join(said) + "." if said else ""


def _move(move: Move) -> str:
    slots = _count(move.units, "slot")
    if move.kind == "grant":
        return f"{move.consumer} is granted {_count(move.units, 'idle slot')} [R-GRANT-1]"
    if move.kind == "withdrawn":
        return f"{move.consumer} may keep {slots} that it had notice for [R-NOTICE-1]"
    goes = f"for {move.taker}" if move.taker else f"because of {_CAUSE[move.reason]}"
    verb = "gets notice" if move.kind == "notice" else "is under notice"
    return f"{move.consumer} {verb} to give {slots} back until {format_instant(move.deadline)}, {goes} [R-GRACE-1]"


def _count(units: int, what: str) -> str:
    return f"{units} {what}" if units == 1 else f"{units} {what}s"


def _what_if(path: str, counterfactual: Counterfactual | None) -> str:
    if counterfactual is None:
        return f"No single change of demand, limit, rank, owned slots or size of the group gives {path} one slot more."
    told = " and ".join(_change(change) for change in counterfactual.changes)
    return f"One slot more: with {told}, {path} would have a quota of {counterfactual.quota}."


def _change(change: Change) -> str:
    where = "the group's" if change.consumer == "/" else f"{change.consumer}'s"
    name = {"slots": "number of slots", "configured_slots": "configured_slots"}.get(change.what, change.what)
    return f"{where} {name} at {change.new} instead of {change.old}"


def _fraction(value: Fraction) -> str:
    whole, rest = divmod(value.numerator, value.denominator)
    if not rest:
        return str(whole)
    return f"{whole} {rest}/{value.denominator}" if whole else f"{rest}/{value.denominator}"


def as_document(explanation: Explanation) -> Document:
    """The explanation as JSON; fractions are exact strings as `1/3`."""
    return {
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
        "one_more": _what_if_document(explanation.counterfactual),
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
                "rule": RULE_OF[row.bound],
            }
            for row in level.siblings
        ],
    }


def _what_if_document(counterfactual: Counterfactual | None) -> Document | None:
    if counterfactual is None:
        return None
    return {
        "quota": counterfactual.quota,
        "changes": [
            {"what": change.what, "consumer": change.consumer, "old": change.old, "new": change.new}
            for change in counterfactual.changes
        ],
    }
