"""Checks for every placement: limits, and deserved amounts for non-preemptible units (SPEC §7, R-SERVE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.queues import is_preemptible
from fairhold.rules.pools.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.ledger.queues import Queues


class Gates(Limits):
    """What is used of limits, and of what is deserved by units that are not preemptible; those under notice count.

    What is on its way to a request counts, too, so that nobody else fills the room that it needs.
    """

    def __init__(self, books: PoolBooks, queues: Queues) -> None:
        """queues: as the cycle began."""
        self._queues = queues.terms
        self._on_way: dict[PendingRequest, int] = {}
        self._fixed = tuple(each[:] for each in queues.fixed_before)
        super().__init__(books, (), ())
        self.is_bound |= queues.has_fixed
        for row in self.used:
            self.used[row] = [held[row] - more[row] for held, more in zip(queues.before, queues.stated, strict=True)]

    def add(self, asked: PendingRequest, units: int) -> None:
        """Units of a request came, or went where the number is negative."""
        super().add(asked, units)
        self._add_fixed(asked, units)

    def _add_fixed(self, asked: PendingRequest, units: int) -> None:
        if units and not is_preemptible(asked):
            for at, need in enumerate(asked.unit):
                for row in self._queues.above[asked.leaf] if need else ():
                    self._fixed[at][row] += need * units

    def allow(self, asked: PendingRequest, units: int) -> bool:
        """Whether so many more break nothing."""
        return super().allow(asked, units) and (is_preemptible(asked) or self._is_deserved(asked, units))

    def _is_deserved(self, asked: PendingRequest, units: int) -> bool:
        """Whether all queues on the way up deserve so many more for good."""
        deserved = self._queues.deserved
        return all(
            self._fixed[at][row] + need * units <= deserved[at][row]
            for at, need in enumerate(asked.unit)
            if need
            for row in self._queues.above[asked.leaf][:-1]
        )

    def arrived(self, asked: PendingRequest, units: int) -> None:
        """Units of a request came, as far as they were on their way to it in place of those."""
        known = min(units, self._on_way.get(asked, 0))
        self._on_way[asked] = self._on_way.get(asked, 0) - known
        self.add(asked, units - known)

    def expect(self, coming: Mapping[PendingRequest, int]) -> bool:
        """Count units on their way in place of those that were before; whether there are fewer of any request."""
        before = self._on_way
        self.coming = self._on_way = dict(coming)
        for asked, units in before.items():
            self.add(asked, -units)
        for asked, units in coming.items():
            self.add(asked, units)
        return any(coming.get(asked, 0) < units for asked, units in before.items())
