"""What usage costs by the prices of the plan in force, in exact fractions of its currency."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from fairhold.model.price import CREDITED
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fractions import Fraction

    from fairhold.model.price import PriceList
    from fairhold.orchestrator.spans import Key

HOUR = 3600 * SECOND


class Costs:
    """The prices of a plan, by numbered periods in which none of them changes."""

    def __init__(self, prices: PriceList) -> None:
        self.currency = prices.currency
        self._prices = prices
        self._borders = prices.borders()
        self._rates: dict[tuple[str, str, str, int], Fraction | None] = {}

    def period_of(self, instant: int) -> int:
        """The period of an instant: as many borders are before it, or at it."""
        return bisect_right(self._borders, instant)

    def of(self, key: Key, period: int, resource: str, amount: Fraction) -> Fraction | None:
        """What an account pays for so many resource-microseconds, below 0 what it is paid; None = there is no price."""
        place = resource, key.consumer, key.kind, period
        if place not in self._rates:
            self._rates[place] = self._prices.of(*place[:3], self._borders[period - 1] if period else 0)
        rate = self._rates[place]
        if rate is None:
            return None
        cost = rate * amount / HOUR
        return -cost if key.kind in CREDITED else cost
