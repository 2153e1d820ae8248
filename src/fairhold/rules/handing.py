"""When a task ends, its leaf's next task gets the unit at once, without a cycle (SPEC §8.3; R-HAND-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.decision import Grant
from fairhold.rules.holding import overdue_gangs
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.books import Books


class _SameHost:
    """The one unit that has just become idle."""

    def __init__(self, books: Books, host: int) -> None:
        self.books = books
        self.host = host

    def room(self, request: int) -> int:
        siting = self.books.requests.siting.get(request)
        return int(siting is None or siting.fits(self.books.hosts.labels.get(self.host, frozenset())))

    def take(self, request: int, units: int) -> None:
        pass

    def place(self, request: int, units: int) -> list[Grant]:
        return [Grant(request, self.host, units)]


def hand_over(books: Books, leaf: int, host: int, quota: array[int], now: int = 0) -> Grant | None:
    """The grant to the next request of `leaf` of a unit on `host`, which a task of the leaf has just released.

    None, and the unit is idle for the next cycle, in these cases: with the unit the leaf would be above its last
    quota; nothing of the leaf may start; the host is not up; a budget is used up (R-BUDGET-2); a host is used by one
    consumer at a time and has to become empty; or units are held for a gang of the leaf (R-HOLD-1).
    """
    if books.rows.is_exclusive or books.rows.controls.waits[leaf]:
        return None
    if overdue_gangs(books, leaf, now, quota[leaf]):
        return None
    if not books.hosts.up[host] or books.held[leaf] + 1 > quota[leaf]:
        return None
    if books.hosts.used[host] >= books.hosts.slots[host]:
        return None
    grants = serve_leaf(books, leaf, 1, _SameHost(books, host))
    return grants[0] if grants else None
