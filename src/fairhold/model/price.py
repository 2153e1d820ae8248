"""What an hour of a resource costs: for whom, of which kind of use, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

PRICED = ("own", "borrowed", "lent", "lost")
"""Kinds of use that may have a price of their own."""
CREDITED = ("lent", "lost")
"""Kinds for which their price is paid back."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a resource.

    resource : name, or `slots`
    per_hour : of one of its declared units, or of one slot
    consumer : path; also of all below it that have no price nearer by; empty = of everybody
    kind     : one of PRICED; empty = own and borrowed
    since, until : from when, and to before when; 0 = without a border
    """

    resource: str
    per_hour: Fraction
    consumer: str = ""
    kind: str = ""
    since: int = 0
    until: int = 0

    @property
    def is_bounded(self) -> bool:
        """Whether it holds for a time only."""
        return bool(self.since or self.until)

    def holds_at(self, instant: int) -> bool:
        """Whether it holds at an instant."""
        return self.since <= instant and (not self.until or instant < self.until)


@dataclass(frozen=True, slots=True)
class PriceList:
    """All prices of a plan.

    currency : a word; empty = there are no prices
    """

    currency: str = ""
    prices: tuple[Price, ...] = ()

    def borders(self) -> tuple[int, ...]:
        """Instants at which a price changes, in order."""
        return tuple(sorted({each for price in self.prices for each in (price.since, price.until) if each}))

    def of(self, resource: str, consumer: str, kind: str, instant: int) -> Fraction | None:
        """The price that holds: of the nearest consumer, of just this kind, of just this time; each before the next.

        None where there is none. What is credited has a price of its own kind only.
        """
        found: tuple[tuple[int, bool, bool], Fraction] | None = None
        for price in self.prices:
            is_of_kind = price.kind == kind or (not price.kind and kind not in CREDITED)
            is_above = not price.consumer or f"{consumer}/".startswith(f"{price.consumer}/")
            if price.resource == resource and is_of_kind and is_above and price.holds_at(instant):
                rank = len(price.consumer), bool(price.kind), price.is_bounded
                if found is None or rank > found[0]:
                    found = rank, price.per_hour
        return found[1] if found else None


NO_PRICES = PriceList()
