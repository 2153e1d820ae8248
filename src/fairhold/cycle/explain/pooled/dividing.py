"""How a pool's usage is divided among siblings, and whose turn is next in it (R-USAGE-2, R-USAGE-3, S0.41, S0.42)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.ledger.pools import PUBLIC
from fairhold.rules.pools.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.ledger.pools import PendingRequest
    from fairhold.rules.pools.pool_usage import Standing

RULE_OF_BOUND = {
    "demand": "R-USAGE-2",
    "share limit": "R-LIMIT-2",
    "share ratio": "R-USAGE-3",
    "share priority": "R-USAGE-3",
    "all that is used": "R-USAGE-3",
    "ratio 0": "R-SHARE-2",
}
"""What can hold a usage quota where it is, and the rule that says so.

`all that is used`: nobody else is entitled to anything, and the pool's usage is no more.
"""


def level_of(inquiry: Inquiry, standing: Standing, parent: int, wanting: Collection[int]) -> Document:
    """The division of one consumer's usage quota over its children: class by class, in each by ratio.

    wanting : rows that wait for more in the pool
    """
    terms = inquiry.terms
    children = [row for row in terms.tree.children[parent] if parent != PUBLIC or row in inquiry.force.members]
    left = standing.quota[parent]
    classes: list[Document] = []
    bounds: dict[int, str] = {}
    for priority in sorted({terms.priority[row] for row in children}, reverse=True):
        band = [row for row in children if terms.priority[row] == priority]
        level = max((standing.quota[row] / terms.ratio[row] for row in band if terms.ratio[row]), default=Fraction(0))
        classes.append({"share_priority": priority, "amount": str(left), "lambda": str(level)})
        bounds |= {row: _bound(standing, row, band, left, is_first=len(classes) == 1) for row in band}
        left -= sum((standing.quota[row] for row in band), Fraction(0))
    nodes = nodes_of(inquiry, children, wanting)
    return {
        "parent": inquiry.path(parent),
        "amount": str(standing.quota[parent]),
        "classes": classes,
        "siblings": [_sibling(inquiry, standing, row, bounds[row]) | nodes[row] for row in children],
    }


def _sibling(inquiry: Inquiry, standing: Standing, row: int, bound: str) -> Document:
    return {
        "consumer": inquiry.path(row),
        "share_priority": inquiry.terms.priority[row],
        "share_ratio": inquiry.terms.ratio[row],
        "usage": str(Fraction(standing.usage.get(row, 0), standing.whole)),
        "usage_demand": str(standing.demand.get(row, Fraction(0))),
        "usage_quota": str(standing.quota[row]),
        "usage_as_moved": str(Fraction(standing.moved.get(row, 0), standing.whole)),
        "bound": bound,
        "rule": RULE_OF_BOUND[bound],
    }


def _bound(standing: Standing, row: int, band: Sequence[int], left: Fraction, *, is_first: bool) -> str:
    """What holds the quota of a sibling where it is; `left`: what its class had to divide."""
    terms, demand = standing.books.terms, standing.demand.get(row, Fraction(0))
    if not terms.ratio[row]:
        return "ratio 0"
    if standing.quota[row] >= demand:
        return "share limit" if demand < standing.wanted.get(row, Fraction(0)) else "demand"
    if not left and not is_first:
        return "share priority"
    others = (other for other in band if other != row)
    return "share ratio" if any(standing.quota[other] for other in others) else "all that is used"


def nodes_of(inquiry: Inquiry, children: Sequence[int], wanting: Collection[int]) -> dict[int, Document]:
    """Of siblings that still want something: what part of what becomes free next would go to each (S0.41, S0.42).

    The best share priority has all of it. Where several have that priority they are share nodes and divide it by ratio;
    all others are priority nodes. Who is satisfied takes no part (S0.40).
    """
    terms = inquiry.terms
    open_ = [row for row in children if row in wanting]
    best = max((terms.priority[row] for row in open_), default=0)
    found: dict[int, Document] = {row: {"node": None, "percentage": "0"} for row in children}
    for row in open_:
        alike = [other for other in open_ if terms.priority[other] == terms.priority[row]]
        part = Fraction(terms.ratio[row], sum(terms.ratio[other] for other in alike))
        found[row] = {
            "node": "share" if len(alike) > 1 else "priority",
            "percentage": str(part) if terms.priority[row] == best else "0",
        }
    return found


def wanting_in(inquiry: Inquiry, standing: Standing) -> set[int]:
    """Consumers of which a request, their own or one below them, waits for units that could stand in a pool.

    Who takes no part in it by its ratio, or for whom one unit more is beyond a share limit, is left out, and all above
    it for its sake.
    """
    terms, found = inquiry.terms, set[int]()
    limits = Limits(inquiry.books, inquiry.books.units())
    limits.expect(inquiry.reservations.shared())
    for asked in standing.members:
        if standing.size[asked] and inquiry.left(asked) and limits.allow(asked, 1):
            for row in terms.above[asked.leaf]:
                if not terms.ratio[row]:
                    break
                found.add(row)
    return found


def sums_of(standing: Standing, asked: PendingRequest) -> Document:
    """What one request adds to the numbers of a pool; share limits left aside (R-USAGE-1, R-USAGE-2)."""
    held, waiting = standing.held.get(asked, 0), standing.waiting.get(asked, 0)
    fit = standing.capacity[asked.unit]
    usage = Fraction(held, fit) if standing.size[asked] else Fraction(0)
    demand = max(usage, min(Fraction(1), Fraction(held + waiting, fit))) if standing.size[asked] else Fraction(0)
    return {"units": held, "waiting": waiting, "capacity": fit, "usage": str(usage), "usage_demand": str(demand)}
