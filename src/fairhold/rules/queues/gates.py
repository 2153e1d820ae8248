"""What no placement may break: limits, and deserved quota for what is never taken back (SPEC §7, R-SERVE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import count
from fairhold.ledger.queues import is_preemptible
from fairhold.rules.pools.ways import kept_for
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.pools import Asked, PoolBooks
    from fairhold.ledger.queues import QueueTerms
    from fairhold.rules.pools.ways import Ways


class Gates:
    """What is used of all bounds while idle resource goes out: units under notice count as held.

    What is freed and held for a request counts, too, so that nobody else fills the room that it needs; the request
    itself uses that up first.
    """

    def __init__(self, books: PoolBooks, terms: QueueTerms, ways: Ways) -> None:
        self._terms = terms
        rows = len(terms.above)
        self._used = tuple([0] * rows for _ in terms.steps)
        self._fixed = tuple([0] * rows for _ in terms.steps)
        self._bounded = [any(terms.limit[at][row] < UNLIMITED for at in terms.resources) for row in range(rows)]
        for asked in books.asked.values():
            if asked.units:
                self._change(asked, len(asked.units))
        self._held: dict[Asked, int] = {}
        for asked, hosts in ways.of.items():
            units = sum(
                min(way.units, count(asked.unit, kept_for(asked, host, len(asked.unit)))) for host, way in hosts.items()
            )
            if units:
                self._held[asked] = units
                self._change(asked, units)
        self._of_held = dict(self._held)

    def allow(self, asked: Asked, units: int) -> bool:
        """Whether so many more break nothing."""
        units -= self._held.get(asked, 0)
        if units <= 0:
            return True
        terms, is_fixed = self._terms, not is_preemptible(asked)
        for row in terms.above[asked.leaf][:-1]:
            if not (is_fixed or self._bounded[row]):
                continue
            for at, need in enumerate(asked.unit):
                if need and self._used[at][row] + need * units > terms.limit[at][row]:
                    return False
                if need and is_fixed and self._fixed[at][row] + need * units > terms.deserved[at][row]:
                    return False
        return True

    def add(self, asked: Asked, units: int) -> None:
        """Units of a request are placed, or go again where the number is negative."""
        held = self._held.get(asked)
        if held is not None:
            left = min(max(held - units, 0), self._of_held[asked])
            self._held[asked] = left
            units -= held - left
        if units:
            self._change(asked, units)

    def _change(self, asked: Asked, units: int) -> None:
        kinds = (self._used,) if is_preemptible(asked) else (self._used, self._fixed)
        for at, need in enumerate(asked.unit):
            if need:
                for kind in kinds:
                    of_rows = kind[at]
                    for row in self._terms.above[asked.leaf]:
                        of_rows[row] += need * units
