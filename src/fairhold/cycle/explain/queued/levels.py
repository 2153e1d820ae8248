"""A fair share, derived level by level from the top: what is deserved, then surplus band by band (R-QUEUE-1 to 5)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.queued.queue_ledger import usage_of
from fairhold.rules.queues.dividing import divide, fill, surplus
from fairhold.rules.queues.shares import below, usable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.rules.queues.dividing import Round, Siblings

RULE_OF = {
    "demand": "R-QUEUE-1",
    "limit": "R-QUEUE-1",
    "limits below": "R-QUEUE-1",
    "deserved": "R-QUEUE-2",
    "weight 0": "R-QUEUE-3",
    "weight": "R-QUEUE-3",
    "parent": "R-QUEUE-3",
    "priority": "R-QUEUE-3",
    "history": "R-QUEUE-4",
    "division": "R-QUEUE-5",
}
"""What holds a fair share where it is, and the rule behind it."""


class Part(NamedTuple):
    """How one queue fared at a level.

    deserved : base units of what it deserves; round: the number of that in which it got surplus, None = in none
    bound    : what holds its fair share where it is
    """

    deserved: int | None
    round: int | None
    bound: str


def levels_document(asking: Asking, at: int, row: int) -> list[Document]:
    """How one resource is divided, level by level from the top down to a row; of the root, among its children."""
    terms, stood = asking.terms, asking.stood
    wanted = usable(terms, at, stood.requested[at])
    usage = usage_of(terms, asking.inquiry.state, at)
    divided = below(terms, at, stood.total[at], wanted, usage)
    found: list[Document] = []
    for parent in [*reversed(terms.above[row][1:])] or [row]:
        rows, mine = terms.children[parent], stood.fair[at][parent]
        level: Document = {"parent": asking.inquiry.path(parent), "amount": asking.number(at, mine)}
        if terms.settings.division == "kai" or not isinstance(mine, int):
            parts = [Part(None, None, _bound(asking, at, each, wanted[each]) or "division") for each in rows]
        else:
            siblings, correction = divided(parent, mine)
            deserved = divide(mine, terms.steps[at], siblings._replace(weight=[0] * len(rows)))
            rounds = list(surplus(mine - sum(deserved), terms.steps[at], siblings, deserved, correction))
            parts = _parts(asking, at, rows, siblings, deserved, rounds)
            level |= {
                "deserved": asking.number(at, sum(deserved)),
                "oversubscribed": sum(deserved) > mine,
                "surplus": asking.number(at, max(0, mine - sum(deserved))),
                "rounds": [_round(asking, at, rows, siblings, deserved, each) for each in rounds],
            }
        level["siblings"] = [
            _sibling(asking, at, each, wanted[each], part, usage.get(each))
            for each, part in zip(rows, parts, strict=True)
        ]
        found.append(level)
    return found


def _round(  # noqa: PLR0917 - one round of one level
    asking: Asking, at: int, rows: Sequence[int], siblings: Siblings, deserved: Sequence[int], one: Round
) -> Document:
    """One filling: what there was, and what each of those got, before rounding and after it."""
    caps = [siblings.wanted[place] - deserved[place] for place in one.members]
    full, open_, left, sum_ = fill(one.left, caps, one.parts)
    exact = {place: Fraction(left * one.parts[place], sum_) for place in open_}
    whole, step, base = sum(one.parts), asking.terms.steps[at], asking.inquiry.plan.resources[at].base
    members = []
    for place, given in enumerate(one.given):
        before = exact.get(place, Fraction(full[place]))
        floor = int(before // step) * step if place in exact else full[place]
        members.append(
            {
                "consumer": asking.inquiry.path(rows[one.members[place]]),
                "part": str(Fraction(one.parts[place], whole)),
                "exact": str(before / base),
                "floor": asking.number(at, floor),
                "surplus": asking.number(at, given),
            }
        )
    return {
        "priority": siblings.priority[one.members[0]],
        "left": asking.number(at, one.left),
        "given": asking.number(at, sum(one.given)),
        "members": members,
    }


def _parts(  # noqa: PLR0917 - one level
    asking: Asking, at: int, rows: Sequence[int], siblings: Siblings, deserved: Sequence[int], rounds: Sequence[Round]
) -> list[Part]:
    """How every queue fared at a level."""
    found = []
    for place, row in enumerate(rows):
        mine = next((number for number, each in enumerate(rounds) if place in each.members), None)
        bound = _bound(asking, at, row, siblings.wanted[place])
        if bound is None and not siblings.weight[place]:
            bound = "weight 0"
        elif bound is None and not rounds:
            bound = "deserved"
        elif bound is None and mine is None:
            last = siblings.priority[rounds[-1].members[0]]
            bound = "history" if last == siblings.priority[place] else "priority"
        elif bound is None and len([each for each in siblings.wanted if each]) == 1:
            bound = "parent"
        found.append(Part(deserved[place], mine, bound or "weight"))
    return found


def _bound(asking: Asking, at: int, row: int, wanted: int) -> str | None:
    """What holds a queue that has all that it can use; None where it can use more."""
    if asking.stood.fair[at][row] < wanted:
        return None
    requested = asking.stood.requested[at][row]
    if wanted >= requested:
        return "demand"
    return "limit" if wanted == asking.terms.limit[at][row] else "limits below"


def _sibling(  # noqa: PLR0917 - one row of a level
    asking: Asking, at: int, row: int, wanted: int, part: Part, usage: Fraction | None
) -> Document:
    terms, stood = asking.terms, asking.stood
    found: Document = {
        "consumer": asking.inquiry.path(row),
        "requested": asking.number(at, stood.requested[at][row]),
        "usable": asking.number(at, wanted),
        "deserved": asking.number(at, terms.deserved[at][row]),
        "limit": asking.number(at, terms.limit[at][row]),
        "priority": terms.priority[row],
        "weight": str(Fraction(terms.weight[at][row], terms.weight_of_one[at])),
        "fair_share": asking.number(at, stood.fair[at][row]),
        "held": asking.number(at, stood.held[at][row]),
        "bound": part.bound,
        "rule": RULE_OF[part.bound],
    }
    if part.deserved is not None:
        fair = stood.fair[at][row]
        found["deserved_part"] = asking.number(at, part.deserved)
        found["surplus_part"] = asking.number(at, fair - part.deserved)
        found["round"] = part.round
    if terms.settings.k:
        found["usage"] = str(usage or 0)
    return found
