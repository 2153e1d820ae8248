"""What consumers with a budget have used in the current periods, and when that state changes (R-BUDGET-1)."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from fairhold.model.budget import DOMINANT, period_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.rows import Rows
    from fairhold.model.budget import Budget, Used

WARNED = 80
"""Percent of a budget from which on people are told."""
UNITS = (1,)
"""What a unit of slots holds: one of what there is, at the place 0."""
Key = tuple[int, str, int]
"""Row of a consumer in the plan's tree, a period, and the place of what is counted (`model.budget.Used`)."""


@dataclass(slots=True)
class Meter:
    """What a consumer has used of something since its period began.

    amount : base units times microseconds up to `since`
    rate   : base units that it holds since then
    """

    amount: int = 0
    since: int = 0
    rate: int = 0

    def at(self, now: int, begin: int) -> int:
        """The amount at an instant, in the period that began at `begin`."""
        before = self.amount if self.since >= begin else 0
        return before + self.rate * max(0, now - max(self.since, begin))


class Spending:
    """The meters of one resource group; a consumer has one for all that its budgets count in each of their periods.

    The caller knows the time and reports every change of what is held. A budget is looked at again when `WARNED` of it
    would be used at the present rate, when it would be used up, and when its period ends; a heap gives the next such
    instant. Every start and end of
    an attempt moves these instants: `_due` has the valid one of every budget. Stale entries of the heap are removed
    before they are as many as the valid ones.

    budgets : row of the plan's tree → its budget in force
    meters  : all meters that were reported or set
    counts_parts : whether a budget counts dominant share, now or at another time
    hosts, groups : where it does, host, resource group → what there is of it; empty = nobody has looked yet
    told    : rows of the plan's tree of which it is on record that so much is used
    """

    def __init__(self, rows: Rows) -> None:
        plan = rows.source
        assert plan.zone is not None
        self._zone, self._parent, self._top = plan.zone, plan.tree.parent, plan.tree.first_level
        self._dominant = len(plan.resources)
        self.meters: dict[Key, Meter] = {
            (row, budget.period, at): Meter() for row, budget in rows.controls.all_budgets for at in budget.amounts
        }
        self._above: dict[int, list[Key]] = {}
        for key in self.meters:
            self._above.setdefault(key[0], []).append(key)
        self._held: dict[int, Used] = {row: {} for row in self._above}
        self.hosts: dict[str, Vector] = {}
        self.groups: dict[str, Vector] = {}
        self._there: Mapping[int, Sequence[int]] = {}
        self._periods: dict[str, tuple[int, int]] = {}
        self._heap: list[tuple[int, Key]] = []
        self._due: dict[Key, int] = {}
        self._used_up: set[Key] = set()
        self._warned: set[Key] = set()
        self.told: frozenset[int] = frozenset()
        self.rows = rows
        self.counts_parts = any(map(self._is_dominant, self.meters))
        self.budgets: Mapping[int, Budget] = {}
        self._most: dict[Key, int] = {}
        self.use(rows)

    def use(self, rows: Rows) -> None:
        """Use other columns: other entries are in force, or other budgets are used up."""
        if not rows.is_pooled and (not self.budgets or rows.force != self.rows.force):
            self.enforce(rows.controls.budgets)
        self.rows = rows

    def enforce(self, budgets: Mapping[int, Budget]) -> None:
        """These budgets are in force; row of the plan's tree → its budget."""
        if budgets is self.budgets:
            return
        self.budgets = budgets
        self._most = {
            (row, each.period, at): most for row, each in budgets.items() for at, most in each.amounts.items()
        }
        self._heap, self._due, self._used_up, self._warned = [], {}, set(), set()
        for key in self._most:
            self._look_at(key, 0)

    def hold(self, leaf: int, units: int, now: int, unit: Sequence[int] = UNITS) -> None:
        """A leaf (a row of the plan's tree) holds this many units more from now on; negative = fewer.

        unit : base units that one of them holds, by place
        """
        row = leaf
        while row > 0:
            if row in self._held:
                held = self._held[row]
                for at, each in enumerate(unit):
                    held[at] = held.get(at, 0) + units * each
                for key in self._above[row]:
                    self._run(key, now)
            row = self._parent[row]

    def have(self, there: Mapping[int, Sequence[int]], now: int) -> None:
        """What there is to divide from now on, of vectors: first-level consumer → base units by place (R-BUDGET-6)."""
        if there != self._there:
            self._there = there
            for key in self.meters:
                if self._is_dominant(key) and self._rate(key) != self.meters[key].rate:
                    self._run(key, now)

    def set(self, row: int, amount: int, now: int, period: str = "", at: int = 0) -> None:
        """Set what a consumer (a row of the plan's tree) has used up to now; without a period: in all its periods."""
        for key in self._above.get(row, ()):
            if period in {"", key[1]} and key[2] == at:
                meter = self.meters[key]
                meter.amount, meter.since = amount, now
                self._look_at(key, 0)

    def advance(self, now: int) -> None:
        """Book all amounts up to now."""
        for key in self.meters:
            self._advance(key, now)

    def used(self, now: int) -> dict[int, Used]:
        """Row of the plan's tree → what is used in the period at hand, of all who have a budget now."""
        found: dict[int, Used] = {}
        for key in self._most:
            found.setdefault(key[0], {})[key[2]] = self.meters[key].at(now, self.period(key[1], now)[0])
        return found

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
        return frozenset(row for row, *_ in self._used_up)

    @property
    def warned(self) -> frozenset[int]:
        """Rows of the plan's tree of whose budgets so much was used when it was looked last."""
        return frozenset(row for row, *_ in self._warned)

    def period(self, period: str, now: int) -> tuple[int, int]:
        """Begin and end of the period of an instant."""
        known = self._periods.get(period)
        if known is None or not known[0] <= now < known[1]:
            known = self._periods[period] = period_of(self._zone, period, now)
        return known

    def _is_dominant(self, key: Key) -> bool:
        return self.rows.is_pooled and key[2] == self._dominant

    def _run(self, key: Key, now: int) -> None:
        """A meter may run at another rate from now on."""
        self._advance(key, now)
        self.meters[key].rate = self._rate(key)
        self._plan(key, now)

    def _rate(self, key: Key) -> int:
        """Base units that are held now; of the dominant share the largest part of what there is (R-BUDGET-6)."""
        held = self._held[key[0]]
        if not self._is_dominant(key):
            return held.get(key[2], 0)
        there = self._there.get(self._top[key[0]], ())
        return max((held.get(at, 0) * DOMINANT.base // has for at, has in enumerate(there) if has), default=0)

    def _advance(self, key: Key, now: int) -> None:
        meter = self.meters[key]
        if meter.rate or meter.amount:
            meter.amount = meter.at(now, self.period(key[1], now)[0])
        meter.since = now

    def _left(self, key: Key, now: int, percent: int = 100) -> int:
        """What is left of a part of a budget, rounded up."""
        return -(-self._most[key] * percent // 100) - self.meters[key].at(now, self.period(key[1], now)[0])

    def _plan(self, key: Key, now: int) -> None:
        """Say when a budget is looked at again."""
        self._due.pop(key, None)
        if key not in self._most:
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
        if key in self._most:
            self._due[key] = instant
            heappush(self._heap, (instant, key))
            if len(self._heap) > 2 * len(self._most):
                self._heap = [(due, each) for each, due in self._due.items()]
                heapify(self._heap)


def used_up(budgets: Mapping[int, Budget], used: Mapping[int, Used]) -> frozenset[int]:
    """Rows of the plan's tree whose budgets are used up.

    used : row of the plan's tree → what it has used
    """
    return frozenset(row for row, budget in budgets.items() if budget.is_used_up(used.get(row, {})))
