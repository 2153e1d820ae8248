"""A cycle while there is plenty: everybody gets what he waits for, and nobody has to give anything back.

It decides what `run` would, without looking at consumers for whom nothing changes, so that a simulation can pass over
quiet hours. What it cannot tell at a glance is left to `run`.
"""

from __future__ import annotations

from array import array
from operator import gt
from typing import TYPE_CHECKING

from fairhold.kernels.rollup import roll_up
from fairhold.ledger.decision import Decision
from fairhold.rules.placing import Placement
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Grant


def decide_in_plenty(books: Books) -> tuple[Decision, array[int]] | None:
    """The decision of a cycle and the quotas of all leaves, None where `run` has to say.

    Under `hybrid` without reserves every leaf's quota is what it wants as long as all together want no more than there
    is and no limit is reached; then no notice is needed, and none can be in force.
    """
    rows = books.rows
    if not (rows.is_plain and _is_calm(books)):
        return None
    slots = books.slots
    if sum(books.demand) > slots or sum(books.held) > slots or (rows.has_limits and _reaches_limit(books)):
        return None
    grants: list[Grant] = []
    places = Placement(books)
    for leaf in sorted(books.requests.lines.of, key=rows.position.__getitem__):
        wanted = books.demand[leaf] - books.held[leaf]
        served = serve_leaf(books, leaf, wanted, places)
        if sum(grant.units for grant in served) != wanted:
            return None
        grants += served
    return Decision(tuple(grants)), array("q", books.demand)


def _is_calm(books: Books) -> bool:
    """Nothing is on its way or held for anybody, and any host will do."""
    requests, hosts = books.requests, books.hosts
    is_moving = books.notices.by_allocation or books.keeps.live or books.before or books.borrowed or books.shortages
    is_choosy = requests.siting or hosts.closed or (requests.lines.gangs and len(hosts.name) > 1)
    return not (is_moving or is_choosy)


def _reaches_limit(books: Books) -> bool:
    """Whether somebody wants more than its limit, or holds more."""
    rows, demand, held = books.rows, array("q", books.demand), array("q", books.held)
    roll_up(rows.tree, demand)
    roll_up(rows.tree, held)
    return any(map(gt, demand, rows.plan.limit)) or any(map(gt, held, rows.plan.limit))
