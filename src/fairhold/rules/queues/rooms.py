"""How many units of a request fit on the hosts, kept up to date while units leave (SPEC §7, R-RECLAIM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, total
from fairhold.rules.pools.siting import hosts_for, packs_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, Machine, PoolBooks
    from fairhold.rules.pools.ways import Ways


class Rooms:
    """Room on every host for the units of one request: what is idle, and what leaves for it."""

    def __init__(self, books: PoolBooks, ways: Ways, asked: Asked) -> None:
        self.asked = asked
        self.hosts = hosts_for(asked, books.hosts, ways.of.get(asked))
        self._packs = packs_whole(asked)
        self._idle: dict[Machine, Vector] = {}
        self._units: dict[Machine, int] = {}
        for host in self.hosts:
            idle = total((parcel.idle for parcel in host.parcels), len(asked.unit))
            self._idle[host] = idle
            self._units[host] = count(asked.unit, idle)
        self._all = sum(self._units.values())

    def idle(self) -> Vector:
        """What is idle on all hosts together."""
        return total(self._idle.values(), len(self.asked.unit))

    def change(self, host: Machine, freed: Vector) -> None:
        """Something of a host became idle, or no longer where the amounts are negative."""
        if host in self._idle:
            idle = self._idle[host] = add(self._idle[host], freed)
            units = count(self.asked.unit, idle)
            self._all += units - self._units[host]
            self._units[host] = units

    def have(self, units: int) -> bool:
        """Whether so many fit."""
        if self._packs:
            return max(self._units.values(), default=0) >= units
        return self._all >= units

    def divided(self, units: int, first: Iterable[Machine]) -> dict[Machine, int]:
        """On which hosts so many go: on those that are named first, then in the order of the request's choice."""
        if self._packs:
            return {next(host for host in self.hosts if self._units[host] >= units): units}
        found: dict[Machine, int] = {}
        for host in dict.fromkeys([*(host for host in first if host in self._idle), *self.hosts]):
            here = min(units, self._units[host])
            if here:
                found[host] = here
                units -= here
        return found
