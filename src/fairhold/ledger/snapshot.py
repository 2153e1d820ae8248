"""One cycle's frozen view of the books."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.kernels import _jit
from fairhold.kernels.columns import zeros
from fairhold.kernels.rollup import roll_up
from fairhold.kernels.select import leaves_where_more, leaves_where_other
from fairhold.ledger.effective_demand import beyond_hosts, demand_that_counts
from fairhold.model.state import REASONS

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows

WINDOW = REASONS.index("window")


@dataclass(frozen=True)
class Snapshot:
    """The input of a cycle: copies of the sums per consumer, and the books with their requests.

    The books must not change while the cycle runs; a cycle never changes them.

    now      : instant
    slots    : slots of the group now
    apart    : slots of these that `ownership` owns beside `hybrid` (0 where nothing is mixed, R-MIX-2)
    demand, held, noticed, kept : (rows,) units; demand and held are rolled up to the parents
    counted  : (rows,) the demand that counts as need, rolled up (R-USER-1, R-BUDGET-2, R-GANG-1)
    usable   : (rows,) of a leaf, what of that it could use: its need is made of it (R-HOSTS-2, R-GANG-1)
    most     : (rows,) of a leaf, the most of a fixed share that it could use (R-GANG-1)
    pinned   : (rows,) units of a leaf whose notice is never withdrawn
    compiled : whether kernels run compiled on it
    """

    books: Books
    now: int
    slots: int
    apart: int
    demand: array[int]
    held: array[int]
    noticed: array[int]
    kept: array[int]
    counted: array[int]
    usable: array[int]
    most: array[int]
    pinned: array[int]
    compiled: bool

    @property
    def rows(self) -> Rows:
        """The plan's side."""
        return self.books.rows

    @property
    def idle(self) -> int:
        """Slots that nobody holds."""
        return max(0, self.slots - self.held[0])

    @property
    def budget(self) -> int:
        """Idle slots that `hybrid` may have beside `ownership` (R-MIX-3); 0 where nothing is mixed."""
        rows = self.rows
        if not rows.is_mixed:
            return 0
        return max(0, self.scale[0] - sum(self.held[row] for row in rows.tree.children(0) if rows.bounded[row]))

    @property
    def lost(self) -> int:
        """Units held beyond the slots that there are (hosts lost while busy)."""
        return max(0, self.held[0] - self.slots)

    @cached_property
    def opens(self) -> int:
        """Instant before which no notice runs out: later than now where entries are in force ahead of their window."""
        calendar = self.rows.source.calendar
        return self.now if calendar is None else calendar.opening(self.rows.group.name, self.now)

    @cached_property
    def unplaceable(self) -> dict[int, dict[int, int]]:
        """Leaf → its requests → units that they want beyond what hosts that will do could ever take (R-SITE-2)."""
        found: dict[int, dict[int, int]] = {}
        for request, units in beyond_hosts(self.books).items():
            found.setdefault(self.books.requests.leaf[request], {})[request] = units
        return found

    @property
    def scale(self) -> tuple[int, int]:
        """Slots now / slots configured, of the policy's consumers (R-SCALE-1)."""
        return max(0, self.slots - self.apart), self.rows.configured - self.apart

    def leaves_where_more(self, one: array[int], other: array[int]) -> array[int]:
        """Leaves whose value in `one` is larger than in `other`, in path order."""
        found = zeros(len(self.rows))
        count = leaves_where_more.run(self.compiled, self.rows.tree, one, other, found)
        return found[:count]

    def leaves_where_other(self, one: array[int], other: array[int]) -> array[int]:
        """Leaves whose values in two columns differ, in path order."""
        found = zeros(len(self.rows))
        count = leaves_where_other.run(self.compiled, self.rows.tree, one, other, found)
        return found[:count]


def take_snapshot(books: Books, now: int) -> Snapshot:
    """Freeze the books for one cycle."""
    rows = books.rows
    demand, held, counted = array("q", books.demand), array("q", books.held), demand_that_counts(books)
    compiled = _jit.fits(len(rows), 0)
    for column in (demand, held, counted):
        roll_up.run(compiled, rows.tree, column)
    slots = books.slots
    compiled = compiled and _largest_product(rows, slots, demand[0], held[0]) < _jit.SAFE
    return Snapshot(
        books,
        now,
        slots,
        rows.apart,
        demand,
        held,
        array("q", books.noticed),
        array("q", books.kept),
        counted,
        counted[:],
        counted[:],
        _pinned(books),
        compiled,
    )


def _largest_product(rows: Rows, slots: int, demand: int, held: int) -> int:
    """Bound on every product that the kernels form: slots or units times weights times the even mode's unit."""
    units = max(slots, demand, held, rows.configured, 1)
    unit = max(rows.configured, 1) if rows.entry.settings.distribute_evenly else 1
    return max(units * rows.largest_weight * unit, units * units)


def _pinned(books: Books) -> array[int]:
    pinned = zeros(len(books.rows))
    notices = books.notices
    for allocation, mine in notices.by_allocation.items():
        for notice in mine:
            if notices.reason[notice] == WINDOW:
                leaf = books.requests.leaf[books.allocations.request[allocation]]
                pinned[leaf] += notices.units[notice]
    return pinned
