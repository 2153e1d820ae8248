"""A task ends and its leaf's next task takes the unit at once, without a cycle (SPEC §8.3; R-HAND-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.decision import Grant
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.books import Books


class _SameHost:
    """The one unit that has just become idle."""

    def __init__(self, host: int) -> None:
        self.host = host

    def place(self, request: int, units: int) -> list[Grant]:
        return [Grant(request, self.host, units)]


def hand_over(books: Books, leaf: int, host: int, quota: array[int]) -> Grant | None:
    """The grant of a unit on `host` that a task of `leaf` has just released to the leaf's next request.

    None where the leaf, with that unit, would be above its last quota, where nothing of it waits or where the host is
    not up: then the unit is idle for the next cycle.
    """
    if not books.hosts.up[host] or books.held[leaf] + 1 > quota[leaf]:
        return None
    if books.hosts.used[host] >= books.hosts.slots[host]:
        return None
    grants = serve_leaf(books, leaf, 1, _SameHost(host))
    return grants[0] if grants else None
