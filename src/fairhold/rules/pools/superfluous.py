"""Drops notices of a cycle that proved unnecessary after its last reclaim (SPEC §6.6, R-NOTICE-3).

Victims are chosen unit by unit, each time on the best host at that moment. So the victims for a later unit may be
enough for an earlier one as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import count, total
from fairhold.ledger.pools import OWN
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.content import free_of
from fairhold.rules.pools.reach import is_in
from fairhold.rules.pools.reservation import given
from fairhold.rules.pools.siting import hosts_for
from fairhold.rules.pools.victims import is_stopped_whole, stays_in_part
from fairhold.rules.pools.withdrawing import let_stay, may_stay

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.ledger.pools import Machine, PendingRequest, Unit
    from fairhold.rules.pools.sweeps import Sweeps


def spare_superfluous(found: Sweeps) -> bool:
    """Drop notices of this cycle without which all takers get as much, the latest first; whether any was dropped."""
    review, is_any = _Review(found), False
    done: set[Unit] = set()
    for unit in sorted(found.noticed, key=given, reverse=True):
        taker = unit.notice.taker if unit.notice is not None else None
        if taker is None or unit in done:
            continue
        units = _together(unit, taker)
        done.update(units)
        if not stays_in_part(units) and may_stay(found.books, found.reservations, units):
            is_any |= review.spares(taker, units)
    return is_any


def _together(unit: Unit, taker: PendingRequest) -> list[Unit]:
    """A unit that was told now, or of a gang that stops whole all that were told now for the same request."""
    if not is_stopped_whole(unit.asked):
        return [unit]
    notices = ((each, each.notice) for each in unit.asked.units)
    return [each for each, notice in notices if notice is not None and notice.is_new and notice.taker is taker]


class _Review:
    """Tries to let units stay by what else goes for their takers."""

    def __init__(self, found: Sweeps) -> None:
        self.found, self.reservations, self.books = found, found.reservations, found.books
        self._hosts: dict[PendingRequest, dict[Machine, bool]] = {}
        """Taker → hosts where something goes for it or is held, in its order, and whether there is room for more."""

    def spares(self, taker: PendingRequest, units: list[Unit]) -> bool:
        """Let units that go for a request stay, if it gets as much; whether they do."""
        there = None if self._are_awaited(taker, units) else self._without(taker, units)
        if there is None:
            return False
        let_stay(self.found, units)
        mine = self.reservations.of[taker]
        for unit in units:
            mine[unit.host].drops(unit)
        for host, number in there.items():
            for parcel in host.parcels:
                parcel.unkeep(taker)
            self.reservations.hold(taker, host, number)
        self.reservations.forget_empty(taker)
        self._hosts.clear()
        return True

    def _are_awaited(self, taker: PendingRequest, units: list[Unit]) -> bool:
        """Whether others rely on units to leave their hosts, where no two leaves share one (R-HOSTS-3)."""
        return are_alone(self.books) and any(
            each is not taker and each.leaf != unit.asked.leaf and unit.host in mine and mine[unit.host].units > 0
            for each, mine in self.reservations.of.items()
            for unit in units
        )

    def _without(self, taker: PendingRequest, units: list[Unit]) -> dict[Machine, int] | None:
        """Host → units that come there instead if some of the victims stay, where these are others.

        None = fewer would come in all, or some would stand further out than they do.
        """
        mine, pools = self.reservations.of[taker], [OWN, *self.books.terms.above[taker.leaf][1:]]
        found = {host: self.reservations.without(taker, host, units) for host in {unit.host: None for unit in units}}
        losing = [mine[host] for host, number in found.items() if number < mine[host].units]
        missing = sum(mine[host].units - number for host, number in found.items())
        if not missing:
            return found
        nearest = min(pools.index(reservation.pool) for reservation in losing)
        for host in [host for host, has_room in self._hosts_of(taker).items() if has_room or host in found]:
            stands = found.get(host, mine[host].units)
            far = min(nearest, pools.index(mine[host].pool)) if stands else nearest
            most = max(self._most(taker, host, pool, units) for pool in pools[: far + 1])
            if more := max(0, min(missing, most - stands)):
                found[host], missing = stands + more, missing - more
        return None if missing else found

    def _hosts_of(self, taker: PendingRequest) -> dict[Machine, bool]:
        if taker not in self._hosts:
            mine = self.reservations.of[taker]
            hosts = hosts_for(taker, sorted(mine, key=lambda host: host.place), mine)
            self._hosts[taker] = {host: self._most(taker, host, None, ()) > mine[host].units for host in hosts}
        return self._hosts[taker]

    def _most(self, taker: PendingRequest, host: Machine, pool: int | None, stay: Collection[Unit]) -> int:
        """Units of a request that fit into what goes for it on a host, and is idle there, if some stay.

        pool : within the part of which all of them stand, or OWN; None = wherever they could
        """
        if not self.reservations.may_stand(taker, host) or (
            are_alone(self.books) and any(each.host is host for each in stay)
        ):
            return 0
        level, dimensions = taker.leaf if pool == OWN else pool, self.books.terms.dimensions
        parcels = self.reservations.reach(taker, host)
        among = {each for each in parcels if level is None or is_in(each, taker.leaf, level)}
        goes = (each for each in self.reservations.of[taker][host].victims if each not in stay)
        rooms = [each.room(taker) for each in parcels if each in among]
        return count(taker.unit, total([*rooms, *(free_of(each, among, dimensions) for each in goes)], dimensions))
