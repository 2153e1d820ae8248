"""What consumers with a budget have used in the current periods, and when that state changes (R-BUDGET-1)."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from fairhold.model.budget import period_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.ledger.rows import Rows
    from fairhold.model.budget import Budget

WARNED = 80
"""Percent of a budget from which on people are told."""
Key = tuple[int, str]
"""Row of a consumer in the plan's tree, and a period: what is used in a day and in a month are two numbers."""


@dataclass(slots=True)
class Meter:
    """What a consumer has used since its period began.

    amount : unit-microseconds up to `since`
    rate   : units that it holds since then
    """

    amount: int = 0
    since: int = 0
    rate: int = 0

    def at(self, now: int, begin: int) -> int:
        """Unit-microseconds at an instant, in the period that began at `begin`."""
        before = self.amount if self.since >= begin else 0
        return before + self.rate * max(0, now - max(self.since, begin))


class Spending:
    """The meters of one resource group; a consumer has one for every period of a budget that the plan gives it.

    The caller knows the time and reports every change of what is held. A budget is looked at again when `WARNED` of it
    would be used at the present rate, when it would be used up, and when its period ends; a heap gives the next such
    instant. Every start and end of
    an attempt moves these instants: `_due` has the valid one of every budget. Stale entries of the heap are removed
    before they are as many as the valid ones.

    meters : all meters that were reported or set
    told   : rows of the plan's tree of which it is on record that so much is used
    """

    def __init__(self, rows: Rows) -> None:
        plan = rows.source
        assert plan.zone is not None
        self._zone = plan.zone
        self._parent = plan.tree.parent
        entries = (entry for entry in plan.policies if rows.group.name in entry.resource_groups)
        stated = ((row, each.budget) for entry in entries for row, each in entry.consumers.items())
        self.meters: dict[Key, Meter] = {(row, budget.period): Meter() for row, budget in stated if budget is not None}
        self._above: dict[int, list[Key]] = {}
        for key in self.meters:
            self._above.setdefault(key[0], []).append(key)
        self._periods: dict[str, tuple[int, int]] = {}
        self._heap: list[tuple[int, Key]] = []
        self._due: dict[Key, int] = {}
        self._used_up: set[Key] = set()
        self._warned: set[Key] = set()
        self.told: frozenset[int] = frozenset()
        self.rows = rows
        self._budgets: dict[Key, Budget] = {}
        self.use(rows)

    def use(self, rows: Rows) -> None:
        """Use other columns: other entries are in force, or other budgets are used up."""
        if not self._budgets or rows.force != self.rows.force:
            self._budgets = {(row, budget.period): budget for row, budget in rows.controls.budgets.items()}
            self._heap, self._due, self._used_up, self._warned = [], {}, set(), set()
            for key in self._budgets:
                self._look_at(key, 0)
        self.rows = rows

    def hold(self, leaf: int, units: int, now: int) -> None:
        """A leaf (a row of the plan's tree) holds this many units more from now on; negative = fewer."""
        for key in self._line(leaf):
            self._advance(key, now)
            self.meters[key].rate += units
            self._plan(key, now)

    def set(self, row: int, amount: int, now: int, period: str = "") -> None:
        """Set what a consumer (a row of the plan's tree) has used up to now; without a period: in all its periods."""
        for key in self._above.get(row, ()):
            if period in {"", key[1]}:
                meter = self.meters[key]
                meter.amount, meter.since = amount, now
                self._look_at(key, 0)

    def advance(self, now: int) -> None:
        """Book all amounts up to now."""
        for key in self.meters:
            self._advance(key, now)

    def used(self, now: int) -> dict[int, int]:
        """Row of the plan's tree → unit-microseconds in the period at hand, of all who have a budget now."""
        return {key[0]: self.meters[key].at(now, self.period(key[1], now)[0]) for key in self._budgets}

    def next(self) -> int | None:
        """Instant at which to check budgets again; 0 = at once, None = never at the present rates."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: int) -> frozenset[int]:
        """Rows of the plan's tree whose budgets are used up at an instant; nothing is written down."""
        while (instant := self.next()) is not None and instant <= now:
            key = heappop(self._heap)[1]
            del self._due[key]
            is_used_up, is_warned = self._left(key, now) <= 0, self._left(key, now, WARNED) <= 0
            (self._used_up.add if is_used_up else self._used_up.discard)(key)
            (self._warned.add if is_warned else self._warned.discard)(key)
            self._plan(key, now)
        return frozenset(row for row, _ in self._used_up)

    @property
    def warned(self) -> frozenset[int]:
        """Rows of the plan's tree of whose budgets so much was used when it was looked last."""
        return frozenset(row for row, _ in self._warned)

    def period(self, period: str, now: int) -> tuple[int, int]:
        """Begin and end of the period of an instant."""
        known = self._periods.get(period)
        if known is None or not known[0] <= now < known[1]:
            known = self._periods[period] = period_of(self._zone, period, now)
        return known

    def _line(self, row: int) -> Iterator[Key]:
        while row > 0:
            yield from self._above.get(row, ())
            row = self._parent[row]

    def _advance(self, key: Key, now: int) -> None:
        meter = self.meters[key]
        if meter.rate or meter.amount:
            meter.amount = meter.at(now, self.period(key[1], now)[0])
        meter.since = now

    def _left(self, key: Key, now: int, percent: int = 100) -> int:
        """What is left of a part of a budget, rounded up."""
        return -(-self._budgets[key].amount * percent // 100) - self.meters[key].at(now, self.period(key[1], now)[0])

    def _plan(self, key: Key, now: int) -> None:
        """Say when a budget is looked at again."""
        self._due.pop(key, None)
        if key not in self._budgets:
            return
        left, end, rate = self._left(key, now), self.period(key[1], now)[1], self.meters[key].rate
        if left <= 0:
            self._look_at(key, end if key in self._used_up else now)
        elif key not in self._warned and self._left(key, now, WARNED) <= 0:
            self._look_at(key, now)
        elif rate:
            next_left = left if key in self._warned else self._left(key, now, WARNED)
            self._look_at(key, min(end, now - (-next_left // rate)))
        elif key in self._warned:
            self._look_at(key, end)

    def _look_at(self, key: Key, instant: int) -> None:
        if key in self._budgets:
            self._due[key] = instant
            heappush(self._heap, (instant, key))
            if len(self._heap) > 2 * len(self._budgets):
                self._heap = [(due, each) for each, due in self._due.items()]
                heapify(self._heap)


def used_up(rows: Rows, used: Mapping[int, int]) -> frozenset[int]:
    """Rows of the plan's tree whose budgets in force are used up.

    used : row of the plan's tree → unit-microseconds
    """
    budgets = rows.controls.budgets
    return frozenset(row for row, budget in budgets.items() if used.get(row, 0) >= budget.amount)
