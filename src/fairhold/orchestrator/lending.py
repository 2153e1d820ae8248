"""Who uses whose slots right now.

Slots have no names, so that lending is a convention over sums, level by level. Of every consumer, with what it owns now
in whole slots (R-SCALE-1; under `share_ratio` the planned share):

    borrowed = what it and those below it hold above what it owns
    room     = what it owns and neither holds nor reserves (reserves are never lent, S1.9-13)
    has      = owned + borrowed - lent; of the root, all slots
    balance  = what it has and its children do not own

Children borrow their parent's balance first. What they borrow beyond it they lend each other: in proportion to room, at
most that, whole parts first, then one slot each in path order.

So all that leaves borrow is lent by leaves, or is used of the balance of a branch, or is owned by nobody (`/`). Where
children reserve what they could lend, or hosts were lost while busy, the rest counts as used of the parent's balance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.columns import zeros
from fairhold.orchestrator.owned import owned_slots
from fairhold.orchestrator.spans import apportion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.kernels.columns import TreeColumns
    from fairhold.ledger.books import Books


class Lending(NamedTuple):
    """Slots by row; rows with none are left out.

    borrowed, lent : of all rows but the root, branches too
    used : of branches and the root, what leaves use of its balance
    """

    borrowed: Mapping[int, int]
    lent: Mapping[int, int]
    used: Mapping[int, int]

    def lenders(self, tree: TreeColumns) -> dict[int, int]:
        """Whose slots leaves borrow: leaves that lend, and balances that are used. The sum is what leaves borrow."""
        of_leaves = {row: units for row, units in self.lent.items() if tree.first[row] == tree.end[row]}
        return {**of_leaves, **self.used}


class Lenders:
    """Who borrows and lends where so much is owned; told of every leaf that gets or gives back units.

    held : (rows,) units; owned, reserved : (rows,) as they are now; there : units that there are
    """

    def __init__(self, tree: TreeColumns, owned: Sequence[int], reserved: Sequence[int], there: int) -> None:
        self._tree, self._owned, self._reserved = tree, owned, reserved
        self.held = zeros(len(owned))
        self._borrowed: dict[int, int] = {}
        self._below = zeros(len(owned))  # what the children of a row borrow
        self._inside = zeros(len(owned))  # what all below a row borrow: 0 = there is nothing to look at
        below = zeros(len(owned))
        for row in range(len(owned) - 1, 0, -1):
            below[tree.parent[row]] += owned[row]
        self._balance = [max(0, own - children) for own, children in zip(owned, below, strict=True)]
        self.measure(there)

    def measure(self, there: int) -> None:
        """There are so many units from now on; who owns how many stays."""
        self._balance[0] = max(0, there - self._tree.total(self._owned, 0))

    def hold(self, leaf: int, units: int) -> None:
        """A leaf holds so many units from now on."""
        more, inside, row, parent = units - self.held[leaf], 0, leaf, self._tree.parent
        while row > 0 and more:
            self.held[row] += more
            borrowed = max(0, self.held[row] - self._owned[row])
            change = borrowed - self._borrowed.pop(row, 0)
            if borrowed:
                self._borrowed[row] = borrowed
            inside, row = inside + change, parent[row]
            self._below[row] += change
            self._inside[row] += inside

    def now(self) -> Lending:
        """Who borrows and who lends."""
        tree, lent, used = self._tree, dict[int, int](), dict[int, int]()
        open_ = [0]
        while open_:
            row = open_.pop()
            beyond = self._below[row]
            outside = self._borrowed.get(row, 0) - lent.get(row, 0)
            together = beyond - self._balance[row] - outside
            children = tree.children(row)
            if together > 0:
                rooms = [(child, room) for child in children if (room := self._room(child)) > 0]
                parts = apportion(together, [room for _, room in rooms])
                given = {child: part for (child, _), part in zip(rooms, parts, strict=True) if part}
                lent |= given
                beyond -= sum(given.values())
            if beyond > outside:
                used[row] = beyond - outside
            open_ += [each for each in children if self._inside[each] or (each in lent and self._is_branch(each))]
        return Lending(dict(self._borrowed), lent, used)

    def _room(self, row: int) -> int:
        return self._owned[row] - max(self.held[row], self._reserved[row])

    def _is_branch(self, row: int) -> bool:
        return self._tree.first[row] < self._tree.end[row]


class GroupLenders:
    """Those of a resource group of slots, told of every leaf that gets or gives back slots."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._count()

    def _count(self) -> None:
        self._rows, self._slots = self._books.rows, self._books.slots
        self._lenders = lenders_of(self._books)

    def changed(self, leaf: int) -> None:
        """What a leaf holds is another number."""
        self._lenders.hold(leaf, self._books.held[leaf])

    def now(self) -> Lending:
        """Who borrows and who lends."""
        if self._books.rows is not self._rows or self._books.slots != self._slots:
            self._count()
        return self._lenders.now()


def lenders_of(books: Books) -> Lenders:
    """Those of a resource group of slots, as its books are now."""
    rows = books.rows
    found = Lenders(rows.tree, owned_slots(rows, books.slots), rows.plan.reserved, books.slots)
    for leaf in rows.leaves:
        if units := books.held[leaf]:
            found.hold(leaf, units)
    return found


def lending(books: Books) -> Lending:
    """Who borrows and who lends in a resource group of slots now."""
    return lenders_of(books).now()
