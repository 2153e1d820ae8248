"""Units of a request that fit on each host, kept up to date while victims are chosen (SPEC §7, R-CONTEST-4)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, less, times, total
from fairhold.rules.pools.reach import kept_for
from fairhold.rules.pools.siting import hosts_for, packs_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PendingRequest
    from fairhold.rules.pools.reservations import Reservations


class Rooms:
    """Room on every host for units of one size: what is idle, and what leaves for them.

    may_stand : whether a host is the request's to use, as far as others leave it whole; None = every host is
    """

    def __init__(
        self, asked: PendingRequest, hosts: Iterable[Machine], may_stand: Callable[[Machine], bool] | None = None
    ) -> None:
        self.unit = asked.unit
        self._may_stand = may_stand
        self._packs = packs_whole(asked)
        self._idle: dict[Machine, Vector] = {}
        self._units: dict[Machine, int] = {}
        self._all = 0
        self._sum = (0,) * len(asked.unit)
        for host in hosts:
            self._idle[host], self._units[host] = (0,) * len(asked.unit), 0
            self._set(host, _idle(host))

    def hosts(self) -> list[Machine]:
        """Hosts that will do, in the order of the request's choice."""
        return list(self._units)

    def idle(self) -> Vector:
        """What is idle on all hosts together."""
        return self._sum

    def change(self, host: Machine, freed: Vector) -> None:
        """Something of a host became idle, or no longer where the amounts are negative."""
        if host in self._idle:
            self._set(host, add(self._idle[host], freed))

    def look_again(self, hosts: Iterable[Machine]) -> None:
        """Take some hosts as they are."""
        for host in hosts:
            if host in self._idle:
                self._set(host, _idle(host))

    def _set(self, host: Machine, idle: Vector) -> None:
        units = count(self.unit, idle) if self._may_stand is None or self._may_stand(host) else 0
        self._all += units - self._units[host]
        self._sum = add(self._sum, less(idle, self._idle[host]))
        self._idle[host], self._units[host] = idle, units

    def have(self, units: int) -> bool:
        """Whether so many fit."""
        if self._packs:
            return max(self._units.values(), default=0) >= units
        return self._all >= units

    def divided(self, units: int, first: Iterable[Machine]) -> dict[Machine, int]:
        """On which hosts so many go: on those that are named first, then in the order of the request's choice."""
        return divided(self._units, units, first, packs=self._packs)


def divided(rooms: Mapping[Machine, int], units: int, first: Iterable[Machine], *, packs: bool) -> dict[Machine, int]:
    """On which hosts so many go: on those that are named first, then in the order given; all on one where they pack.

    rooms : host → units that fit there
    """
    if packs:
        return {next(host for host, here in rooms.items() if here >= units): units}
    found: dict[Machine, int] = {}
    for host in chain((host for host in first if host in rooms), rooms):
        here = min(units, rooms[host] - found.get(host, 0))
        if here > 0:
            found[host] = found.get(host, 0) + here
            units -= here
        if not units:
            break
    return found


def left_beside(asked: PendingRequest, reservations: Reservations) -> dict[Machine, Vector]:
    """Host → what those who go there for a request already leave, beside what its units on their way there need."""
    found: dict[Machine, Vector] = {}
    mine = reservations.of.get(asked, {})
    for host, reservation in mine.items():
        if reservation.victims and hosts_for(asked, [host], mine):
            there = add(reservations.freed(asked, host), kept_for(asked, host, len(asked.unit)))
            found[host] = less(there, times(asked.unit, reservation.units))
    return found


def rooms_beside(asked: PendingRequest, left: Mapping[Machine, Vector]) -> dict[Machine, int]:
    """Host → units that fit into what is left there, and what is idle."""
    return {host: count(asked.unit, add(rest, _idle(host))) for host, rest in left.items()}


def _idle(host: Machine) -> Vector:
    parcels = host.parcels
    return parcels[0].idle if len(parcels) == 1 else total((each.idle for each in parcels), len(host.total))
