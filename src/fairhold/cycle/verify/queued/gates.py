"""Bounds that no placement of queues may exceed (R-SERVE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.queued.table import is_preemptible

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Asked, Stock
    from fairhold.cycle.verify.queued.table import Table


class Gates(Used):
    """Limits, and deserved amounts for units that are not preemptible (R-SERVE-2)."""

    def __init__(self, stock: Stock, table: Table) -> None:
        self.table = table
        self.fixed: dict[tuple[str, int], int] = {}
        super().__init__(stock, stock.units())

    def away_units(self, asked: Asked) -> int:
        """All units: a queue owns no hosts."""
        return asked.away.total()

    def add(self, asked: Asked, units: int = 1) -> None:
        """Add units of a request; may be negative."""
        super().add(asked, units)
        for path in self.table.queues[asked.leaf].up if not is_preemptible(asked) else ():
            for at in self.table.width:
                self.fixed[path, at] = self.fixed.get((path, at), 0) + asked.unit[at] * units

    def allow(self, asked: Asked, units: int) -> bool:
        """Whether a number of further units is within all bounds."""
        if is_preemptible(asked):
            return super().allow(asked, units)
        return super().allow(asked, units) and all(
            self.fixed.get((path, at), 0) + asked.unit[at] * units <= self.table.deserves(path, at)
            for path in self.table.queues[asked.leaf].up[:-1]
            for at in self.table.width
            if asked.unit[at]
        )

    def count_coming(self, coming: dict[Asked, int]) -> bool:
        """As for pools, also where nothing is limited."""
        has_fewer = any(units > coming.get(asked, 0) for asked, units in self.on_way.items())
        super().count_coming(coming)
        return has_fewer
