"""Index of hosts that have room for a unit. It is kept from cycle to cycle; only changed hosts are looked at again."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, fits, less, total

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine

MOST_SIZES = 256
"""Sizes of units of which hosts are known; beyond, all are forgotten, and looked up again."""


class FreeHosts:
    """The hosts of books that may start work, by what was idle on them, or held, when the cycle began.

    During a cycle they have no more room than that: what is placed takes of it, or gives back what it took.

    hosts : those that are not closed, in inventory order
    rooms : what is idle or held on each; room: on all of them together
    """

    def __init__(self, hosts: Iterable[Machine], dimensions: int) -> None:
        self.hosts = [host for host in hosts if not host.is_closed]
        self._at = {host: at for at, host in enumerate(self.hosts)}
        self.rooms = [_room_on(host) for host in self.hosts]
        self._able: dict[Vector, list[int]] = {}
        self.room = total(self.rooms, dimensions)

    def renew(self, hosts: Iterable[Machine]) -> None:
        """Some hosts were opened again."""
        for host in hosts:
            at = self._at.get(host)
            if at is None:
                continue
            before, now = self.rooms[at], _room_on(host)
            if now == before:
                continue
            self.rooms[at] = now
            self.room = add(less(self.room, before), now)
            for unit, able in self._able.items():
                was_able, is_able = fits(unit, before), fits(unit, now)
                if is_able and not was_able:
                    insort(able, at)
                elif was_able and not is_able:
                    del able[bisect_left(able, at)]

    def able(self, unit: Vector) -> list[int]:
        """Places in `hosts` of those where one unit would have room, were all of it for it."""
        found = self._able.get(unit)
        if found is None:
            if len(self._able) >= MOST_SIZES:
                self._able.clear()
            found = self._able[unit] = [at for at, room in enumerate(self.rooms) if fits(unit, room)]
        return found


def _room_on(host: Machine) -> Vector:
    """All that is idle or held on a host."""
    if len(host.parcels) == 1 and not host.parcels[0].kept:  # the common case
        return host.parcels[0].idle
    parts = [part for each in host.parcels for part in (each.idle, *each.kept.values())]
    return total(parts, len(host.total))
