"""The parts of the accounting: the meter of an account, the units of a leaf, the lenders of a resource group."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import told_of
from fairhold.orchestrator.spans import Lot, apportion, unit_text

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

    __slots__ = ("borrowed", "counted", "deserved", "held", "own", "owned", "path", "place", "pool", "reserved", "used")

    def __init__(self, path: str, pool: Pool, place: int, reserved: int) -> None:
        self.path, self.pool, self.place, self.reserved = path, pool, place, reserved
        self.owned = self.held = self.used = 0
        self.own: OrderedDict[int, int] = OrderedDict()
        self.borrowed: OrderedDict[int, int] = OrderedDict()
        self.counted: dict[int, tuple[Key, ...]] = {}
        self.deserved: Deserved | None = None


class Pool:
    """A resource group: the leaves that have slots to lend, and how many are lent.

    room     : place of a leaf in path order → what it owns and neither holds nor reserves, where that is not 0
    unowned  : slots that no leaf owns; surplus : what all leaves hold above what they own
    is_pooled : its units are of vectors, for which no lenders are recorded
    forces   : the policy entries in force when it was looked at last what queues deserve
    shrinks  : it has a host that starts nothing, and so loses a slot with every unit that comes back
    dirty    : places of leaves that hold or own another number since it was settled
    lots     : since the span began
    parts    : place → slots that a leaf lends; sums : what came of them in the span, up to `since`
    """

    def __init__(self, books: Books, now: int) -> None:
        rows = books.rows
        self.group, self.shrinks = rows.group.name if books.vectors is None else POOLED, False
        self.slots, self.rows = 0, rows
        self.is_pooled = books.vectors is not None
        self.forces: list[InForce] | None = None
        self.leaves = [
            LeafAccount(rows.path(row), self, place, rows.plan.reserved[row]) for place, row in enumerate(rows.leaves)
        ]
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.room: dict[int, int] = {}
        self.unowned = self.surplus = 0
        self.dirty: dict[int, None] = {}
        self.surplus_of = [0] * len(self.leaves)
        self.parts: dict[int, int] = {}
        self.sums: list[int] = []
        self.since = now
        self.lots: list[Lot] = []
        self._texts: dict[Vector, str] = {}
        self.begin(now)

    def unit_text(self, unit: Vector) -> str:
        """A unit of a vector as `Key` says it."""
        if unit not in self._texts:
            self._texts[unit] = unit_text(told_of(self.rows.source.resources, unit))
        return self._texts[unit]

    @property
    def amount(self) -> int:
        """Slots that are lent together."""
        return max(0, self.surplus - max(0, self.unowned))

    def begin(self, now: int) -> None:
        """A span begins; all is settled."""
        self.since, self.sums = now, [0] * len(self.leaves)
        self.lots = [Lot(now, self.amount, tuple(sorted(self.room.items())))]

    def settle(self, now: int) -> bool:
        """Write down what is different for the lenders from an instant on, once for all that happened at it.

        Says whether anything was written.
        """
        if not self.dirty and self.amount == self.lots[-1].amount:
            return False
        changed = {}
        for place in self.dirty:
            leaf = self.leaves[place]
            surplus = max(0, leaf.held - leaf.owned)
            room = 0 if surplus else max(0, leaf.owned - max(leaf.held, leaf.reserved))
            self.surplus += surplus - self.surplus_of[place]
            self.surplus_of[place] = surplus
            if room != self.room.get(place, 0):
                changed[place] = room
                self.room[place] = room
                if not room:
                    del self.room[place]
        self.dirty.clear()
        if not changed and self.amount == self.lots[-1].amount:
            return False
        self.sums, self.since = self.lent(now), now
        places = sorted(self.room) if self.amount else []
        self.parts = dict(zip(places, apportion(self.amount, [self.room[place] for place in places]), strict=True))
        self.lots.append(Lot(now, self.amount, tuple(sorted(changed.items()))))
        return True

    def lent(self, end: int) -> list[int]:
        """Unit-microseconds that every leaf has lent since the span began."""
        length = end - self.since
        if not length or not self.parts:
            return self.sums
        sums = self.sums[:]
        for place, part in self.parts.items():
            sums[place] += part * length
        return sums
