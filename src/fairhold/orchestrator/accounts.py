"""The parts of the accounting: a meter for every account, the units of a leaf, who lends in a resource group."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fairhold.orchestrator.spans import Lot, apportion

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.spans import Step


class Meter:
    """Units of one account, and how they went since the span began."""

    __slots__ = ("rate", "since", "steps")

    def __init__(self, now: int) -> None:
        self.rate, self.since = 0, now
        self.steps: list[Step] = []

    def add(self, units: int, now: int) -> int:
        """So many units more from now on; returns how many steps that made."""
        before = len(self.steps)
        self.close(now)
        self.rate += units
        return len(self.steps) - before

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


class LeafAccount:
    """A leaf's units in the order of their attempts' start: the first are its own, up to what it owns.

    own, borrowed : number of the attempt → units; one attempt at most is in both, the last of `own`
    """

    __slots__ = ("borrowed", "held", "own", "owned", "path", "place", "pool", "reserved", "used")

    def __init__(self, path: str, pool: Pool, place: int, reserved: int) -> None:
        self.path, self.pool, self.place, self.reserved = path, pool, place, reserved
        self.owned = self.held = self.used = 0
        self.own: OrderedDict[int, int] = OrderedDict()
        self.borrowed: OrderedDict[int, int] = OrderedDict()


class Pool:
    """A resource group: who has room to lend, and how much is lent.

    room     : per leaf, in path order, what it owns and neither holds nor reserves
    unowned  : slots that no leaf owns; surplus : what all leaves hold above what they own
    shrinks  : it has a host that starts nothing, and so loses a slot with every unit that comes back
    dirty    : places of leaves that hold or own another number
    lots     : since the span began; was : place → room before the last of them
    parts    : slots that every leaf lends, empty where none does; sums : what came of them in the span, up to `since`
    """

    def __init__(self, books: Books, now: int) -> None:
        rows = books.rows
        self.group, self.shrinks = rows.group.name, False
        self.slots, self.rows = 0, rows
        self.leaves = [
            LeafAccount(rows.path(row), self, place, rows.plan.reserved[row]) for place, row in enumerate(rows.leaves)
        ]
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.room = [0] * len(self.leaves)
        self.unowned = self.surplus = 0
        self.dirty: dict[int, None] = {}
        self.was: dict[int, int] = {}
        self.surplus_of = [0] * len(self.leaves)
        self.parts: list[int] = []
        self.sums: list[int] = []
        self.since = now
        self.lots: list[Lot] = []
        self.begin(now)

    @property
    def amount(self) -> int:
        """Slots that are lent together."""
        return max(0, self.surplus - max(0, self.unowned))

    def begin(self, now: int) -> None:
        """A span begins."""
        self.since, self.sums = now, [0] * len(self.leaves)
        self.was = {}
        self._first_lot(now)

    def settle(self, now: int) -> bool:
        """Write down what is different for the lenders; says whether anything is."""
        if now > self.lots[-1].at:
            self.was = {}
        before = self.amount
        for place in self.dirty:
            leaf = self.leaves[place]
            surplus = max(0, leaf.held - leaf.owned)
            room = 0 if surplus else max(0, leaf.owned - max(leaf.held, leaf.reserved))
            self.surplus += surplus - self.surplus_of[place]
            self.surplus_of[place] = surplus
            if room != self.room[place]:
                self.was.setdefault(place, self.room[place])
                self.room[place] = room
        self.dirty.clear()
        if not self.was and self.amount == before == self.lots[-1].amount:
            return False
        self.advance(now)
        self.parts = apportion(self.amount, self.room) if self.amount else []
        return self._write(now)

    def _write(self, now: int) -> bool:
        """The lot of this instant; what was changed several times at it is written once, or not where it is as before.

        So the changes of an instant give the same lot together and one by one.
        """
        if len(self.lots) == 1 and self.lots[0].at == now:
            self._first_lot(now)
            return False
        if self.lots[-1].at == now:
            self.lots.pop()
        changed = tuple((place, self.room[place]) for place in sorted(self.was) if self.room[place] != self.was[place])
        if changed or self.amount != self.lots[-1].amount:
            self.lots.append(Lot(now, self.amount, changed))
            return True
        return False

    def _first_lot(self, now: int) -> None:
        room = tuple((place, slots) for place, slots in enumerate(self.room) if slots)
        self.lots = [Lot(now, self.amount, room)]

    def advance(self, now: int) -> None:
        """Count what was lent up to now."""
        self.sums, self.since = self.lent(now), now

    def lent(self, end: int) -> list[int]:
        """Unit-microseconds that every leaf has lent since the span began."""
        length = end - self.since
        if not length or not self.parts:
            return self.sums
        return [before + part * length for before, part in zip(self.sums, self.parts, strict=True)]
