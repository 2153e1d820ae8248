"""Share limits: what a consumer may hold in all share pools together (SPEC §6.4, R-LIMIT-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit


class Limits:
    """What is used of every share limit.

    used : row with a limit → base units in share pools, by place of the resource
    coming : request → units on their way to it that count, too
    is_bound : whether there is anything that some request could break
    """

    def __init__(self, books: PoolBooks, units: Iterable[Unit], away: Iterable[PendingRequest] | None = None) -> None:
        """away: requests whose units on hosts that are down count, too; None = all."""
        self._terms = books.terms
        self.used = {row: [0] * books.terms.dimensions for row in books.terms.limit}
        self.is_bound = bool(self.used)
        self.coming: Mapping[PendingRequest, int] = {}
        for unit in units if self.used else ():
            if unit.pool != OWN:
                self.add(unit.asked, 1)
        for asked in (books.asked.values() if away is None else away) if self.used and books.away else ():
            self.add(asked, asked.away_shared)

    def add(self, asked: PendingRequest, units: int) -> None:
        """Units of a request came, or went where the number is negative."""
        for row in self._terms.above[asked.leaf] if self.used else ():
            used = self.used.get(row)
            if used:
                for at, need in enumerate(asked.unit):
                    used[at] += need * units

    def allow(self, asked: PendingRequest, units: int) -> bool:
        """Whether so many more break no limit."""
        for row in self._terms.above[asked.leaf] if self.used else ():
            for at, most in self._terms.limit.get(row, ()):
                if asked.unit[at] and self.used[row][at] + asked.unit[at] * units > most:
                    return False
        return True

    def is_for(self, asked: PendingRequest) -> bool:
        """Whether any limit counts units of a request."""
        return bool(self.used) and any(row in self.used for row in self._terms.above[asked.leaf])

    def full(self, asked: PendingRequest) -> list[int]:
        """Rows that one unit more would bring above a limit."""
        return [
            row
            for row in self._terms.above[asked.leaf]
            if any(
                asked.unit[at] and self.used[row][at] + asked.unit[at] > most
                for at, most in self._terms.limit.get(row, ())
            )
        ]

    def expect(self, coming: Mapping[PendingRequest, int]) -> bool:
        """Count units on their way in place of those that were before; whether there are fewer of any request."""
        before, self.coming = self.coming, coming if self.used else {}
        for asked, units in before.items():
            self.add(asked, -units)
        for asked, units in self.coming.items():
            self.add(asked, units)
        return any(self.coming.get(asked, 0) < units for asked, units in before.items())

    def allow_idle(self, asked: PendingRequest) -> bool:
        """Whether one more on something idle breaks none: what is on its way to others counts, its own does not."""
        return self.allow(asked, 1 - self.coming.get(asked, 0))

    def broken(self) -> list[int]:
        """Rows that hold more than their limit, the deepest first, then in plan order."""
        over = [row for row in self.used if any(self.used[row][at] > most for at, most in self._terms.limit[row])]
        return sorted(over, key=lambda row: (-len(self._terms.above[row]), row))
