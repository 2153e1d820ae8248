"""Share limits: what consumers have in all share pools together (R-LIMIT-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.terms import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Asked, Stock, Unit


class Used:
    """Use of limits: (path, place of the resource) → base units.

    on_way : request → units on their way that count, too
    """

    def __init__(self, stock: Stock, units: Iterable[Unit]) -> None:
        self.terms = stock.terms
        self.units: Counter[tuple[str, int]] = Counter()
        self.on_way: dict[Asked, int] = {}
        for unit in units:
            if unit.pool != OWN:
                self.add(unit.asked)
        for asked in stock.asked.values():
            self.add(asked, self.away_units(asked))

    def away_units(self, asked: Asked) -> int:
        """Units on hosts that are down; they count, too."""
        return asked.away.total() - asked.away[OWN]

    def add(self, asked: Asked, units: int = 1) -> None:
        """Add units of a request; may be negative."""
        for path in self.terms.up[asked.leaf]:
            for at in self.terms.limit.get(path, ()):
                self.units[path, at] += asked.unit[at] * units

    def allow(self, asked: Asked, units: int) -> bool:
        """Whether a number of further units stays within all limits of the resources that they need."""
        return not any(
            asked.unit[at] and self.units[path, at] + asked.unit[at] * units > most
            for path in self.terms.up[asked.leaf]
            for at, most in self.terms.limit.get(path, {}).items()
        )

    def count_coming(self, coming: dict[Asked, int]) -> bool:
        """Set the units on their way that count; returns whether some request has fewer than before."""
        has_fewer = any(units > coming.get(asked, 0) for asked, units in self.on_way.items())
        for asked in {**self.on_way, **coming}:
            self.add(asked, coming.get(asked, 0) - self.on_way.get(asked, 0))
        self.on_way = coming
        return has_fewer and bool(self.terms.limit)

    def allow_beside_others(self, asked: Asked) -> bool:
        """Whether a unit may be placed on idle resources; units on their way to the same request do not count."""
        return self.allow(asked, 1 - self.on_way.get(asked, 0))

    def over(self, path: str) -> list[int]:
        """Resources of which a consumer has more than its limit."""
        return [at for at, most in self.terms.limit.get(path, {}).items() if self.units[path, at] > most]

    def broken(self) -> list[str]:
        """Consumers above a limit, the deepest first, then in plan order."""
        paths = [path for path in self.terms.limit if self.over(path)]
        return sorted(paths, key=lambda path: (-len(self.terms.up[path]), self.terms.place[path]))
