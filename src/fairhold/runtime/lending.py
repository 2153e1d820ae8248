"""Who uses whose slots right now.

Slots have no names, so that lending is a convention over sums. With what is owned now, whole slots
(R-SCALE-1; under `share_ratio` the planned share):

    borrowed of a leaf = what it holds above what it owns now
    free of owners     = slots that no leaf owns: the balance of the levels above, and what the plan leaves to nobody
    lent together      = what is borrowed beyond those; who borrows uses first what no leaf owns
    lent of a leaf     = its part of that, in proportion to what it owns and neither holds nor reserves (reserves are
                         never lent, S1.9-13): whole parts, then one slot each in path order

So all that is borrowed is lent by somebody or owned by no leaf, but where hosts were lost while busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.orchestrator.owned import owned_slots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books


class Lending(NamedTuple):
    """Slots by leaf row; leaves that do neither are left out."""

    borrowed: Mapping[int, int]
    lent: Mapping[int, int]


def lending(books: Books) -> Lending:
    """Who borrows and who lends in a resource group now."""
    return Lenders(books).now()


class Lenders:
    """Who borrows and lends in a resource group, kept up to date: told of every leaf that gets or gives back slots."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._rows = books.rows
        self._owned: list[int] = []
        self._borrowed: dict[int, int] = {}
        self._idle: dict[int, int] = {}
        self._slots = self._unowned = self._total = 0
        self._count()

    def changed(self, leaf: int) -> None:
        """What a leaf holds is another number."""
        if self._books.rows is not self._rows:  # a switch of windows
            self._count()
            return
        rows, held = self._books.rows, self._books.held[leaf]
        owned = self._owned[leaf]
        idle = owned - max(held, rows.plan.reserved[leaf])
        borrowed = max(0, held - owned)
        self._total += borrowed - self._borrowed.pop(leaf, 0)
        self._idle.pop(leaf, None)
        if borrowed:
            self._borrowed[leaf] = borrowed
        elif idle > 0:
            self._idle[leaf] = idle

    def now(self) -> Lending:
        """Who borrows and who lends."""
        if self._books.slots != self._slots or self._books.rows is not self._rows:
            self._count()
        amount = self._total - max(0, self._unowned)
        place = self._books.rows.position
        idle = {leaf: self._idle[leaf] for leaf in sorted(self._idle, key=place.__getitem__)} if amount > 0 else {}
        return Lending(self._borrowed, _apportion(amount, idle))

    def _count(self) -> None:
        """All leaves, anew."""
        rows, self._slots = self._books.rows, self._books.slots
        self._rows = rows
        self._borrowed, self._idle, self._total = {}, {}, 0
        self._owned = owned_slots(rows, self._slots)
        self._unowned = self._slots - sum(self._owned[leaf] for leaf in rows.leaves)
        for leaf in rows.leaves:
            self.changed(leaf)


def _apportion(amount: int, room: Mapping[int, int]) -> dict[int, int]:
    """Divide an amount in proportion to room, at most that: whole parts, then one each in order."""
    total = sum(room.values())
    amount = min(amount, total)
    if amount <= 0:
        return {}
    parts = {leaf: amount * most // total for leaf, most in room.items()}
    left = amount - sum(parts.values())
    for leaf, most in room.items():
        if left and parts[leaf] < most:
            parts[leaf] += 1
            left -= 1
    return {leaf: part for leaf, part in parts.items() if part}
