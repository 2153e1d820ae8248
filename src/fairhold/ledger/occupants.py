"""Which consumer uses which host, where a host is used by one consumer at a time (R-HOSTS-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.tables import NOBODY

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

Occupants = list[dict[int, int]]
"""(hosts,) leaf → units that it holds there."""


def occupants(books: Books) -> Occupants:
    """Who holds how many units on every host."""
    found: Occupants = [{} for _ in books.hosts.name]
    allocations = books.allocations
    for request, mine in allocations.by_request.items():
        leaf = books.requests.leaf[request]
        for row in mine:
            here = found[allocations.host[row]]
            here[leaf] = here.get(leaf, 0) + allocations.units[row]
    return found


def holders(books: Books, standing: Occupants) -> list[int]:
    """(hosts,) the leaf that a host belongs to: who holds most there, of two the first in path order; else NOBODY."""
    place = books.rows.position
    return [max(here, key=lambda leaf: (here[leaf], -place[leaf]), default=NOBODY) for here in standing]
