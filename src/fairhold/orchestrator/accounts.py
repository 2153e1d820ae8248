"""The parts of the accounting: the meter of an account, the units of a leaf, the lenders of a resource group."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import told_of
from fairhold.orchestrator.lending import Lenders
from fairhold.orchestrator.owned import owned_slots
from fairhold.orchestrator.spans import unit_text

if TYPE_CHECKING:
    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.ledger.books import Books
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.spans import Key, Step


class Meter:
    """Units of one account, and their changes since the span began."""

    __slots__ = ("rate", "since", "steps")

    def __init__(self, now: int) -> None:
        self.rate, self.since = 0, now
        self.steps: list[Step] = []

    def add(self, units: int, now: int) -> int:
        """Add units from now on; returns how many steps that made."""
        made = 0
        if now > self.since:
            before = len(self.steps)
            self.close(now)
            made = len(self.steps) - before
        self.rate += units
        return made

    def close(self, now: int) -> None:
        """Write the rate down up to now."""
        if now > self.since:
            if self.rate:
                if self._goes_on():
                    self.steps[-1] = (self.steps[-1][0], now, self.rate)
                else:
                    self.steps.append((self.since, now, self.rate))
            self.since = now

    def until(self, end: int) -> tuple[Step, ...]:
        """The steps up to an instant that is not before the latest change; nothing is written down."""
        if end <= self.since or not self.rate:
            return tuple(self.steps)
        if self._goes_on():
            return (*self.steps[:-1], (self.steps[-1][0], end, self.rate))
        return (*self.steps, (self.since, end, self.rate))

    def _goes_on(self) -> bool:
        """The last step is of the same rate and ends where the next begins."""
        return bool(self.steps) and self.steps[-1][1:] == (self.since, self.rate)


class Deserved:
    """What a queue deserves, and what its leaf's attempts have of it, in the order of their starts.

    left  : what they leave of it
    units, own : attempt → its amounts, and what of them lies within
    is_stale : one of them has gone, and others may move up
    """

    __slots__ = ("_short", "is_stale", "left", "own", "units", "whole")

    def __init__(self, whole: Vector) -> None:
        self.whole, self.left = whole, whole
        self.units: dict[int, Vector] = {}
        self.own: dict[int, Vector] = {}
        self._short: set[int] = set()
        self.is_stale = False

    def put_in(self, attempt: int, unit: Vector) -> Vector:
        """What of one that has come lies within; `line_up` says it later where others are to move up."""
        self.is_stale |= bool(self.units) and attempt < next(reversed(self.units))
        self.units[attempt] = unit
        return self._take(attempt)

    def put_out(self, attempt: int) -> None:
        """One has gone."""
        own = self.own.pop(attempt)
        del self.units[attempt]
        self._short.discard(attempt)
        self.is_stale |= bool(self._short) and any(own)
        self.left = add(self.left, own)

    def line_up(self) -> None:
        """Give each what it finds room for, of every resource by itself, those before it first."""
        self.left, self.is_stale = self.whole, False
        self._short.clear()
        self.units = dict(sorted(self.units.items()))
        for attempt in self.units:
            self._take(attempt)

    def _take(self, attempt: int) -> Vector:
        unit = self.units[attempt]
        own = self.own[attempt] = common(unit, self.left)
        self.left = less(self.left, own)
        if own != unit:
            self._short.add(attempt)
        return own


class LeafAccount:
    """A leaf's slots in the order of their attempts' start: the first are its own, up to what it owns.

    own, borrowed : number of the attempt → slots; one attempt at most is in both, the last of `own`
    counted : the same of units of vectors: number → the keys that count it, one for what is own and one for the rest
    deserved : of a queue; None = it is none now
    """

    __slots__ = ("borrowed", "counted", "deserved", "held", "own", "owned", "path", "pool", "row", "used")

    def __init__(self, path: str, pool: Pool, row: int) -> None:
        self.path, self.pool, self.row = path, pool, row
        self.owned = self.held = self.used = 0
        self.own: OrderedDict[int, int] = OrderedDict()
        self.borrowed: OrderedDict[int, int] = OrderedDict()
        self.counted: dict[int, tuple[Key, ...]] = {}
        self.deserved: Deserved | None = None


class Pool:
    """A resource group: its leaves, and whose slots are lent.

    is_pooled : its units are of vectors, for which no lenders are recorded
    forces   : the policy entries in force when it was looked at last what queues deserve
    shrinks  : it has a host that starts nothing, and so loses a slot with every unit that comes back
    dirty    : rows of leaves that hold another number since it was settled
    lenders  : of slots; None = they have to be counted anew
    lent     : row of a lender → slots, as recorded
    """

    def __init__(self, books: Books) -> None:
        rows = books.rows
        self.group, self.shrinks = rows.group.name if books.vectors is None else POOLED, False
        self.slots, self.rows = 0, rows
        self.is_pooled = books.vectors is not None
        self.forces: list[InForce] | None = None
        self.leaves = [LeafAccount(rows.path(row), self, row) for row in rows.leaves]
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.dirty: dict[LeafAccount, None] = {}
        self.lenders: Lenders | None = None
        self.lent: dict[int, int] = {}
        self._texts: dict[Vector, str] = {}

    def unit_text(self, unit: Vector) -> str:
        """A unit of a vector as `Key` says it."""
        if unit not in self._texts:
            self._texts[unit] = unit_text(told_of(self.rows.source.resources, unit))
        return self._texts[unit]

    def settle(self) -> dict[int, int]:
        """Row of a lender → how many slots more it lends than was recorded; once for all changes of an instant."""
        if not self.dirty or self.is_pooled:
            return {}
        if self.lenders is None:
            owned = owned_slots(self.rows, self.slots)
            self.lenders = Lenders(self.rows.tree, owned, self.rows.plan.reserved, self.slots)
            self.dirty = dict.fromkeys(self.leaves)
        for leaf in self.dirty:
            self.lenders.hold(leaf.row, leaf.held)
        self.dirty.clear()
        before, self.lent = self.lent, self.lenders.now().lenders(self.rows.tree)
        rows = dict.fromkeys((*before, *self.lent))
        return {row: more for row in rows if (more := self.lent.get(row, 0) - before.get(row, 0))}
