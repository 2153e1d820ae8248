"""On which host a unit goes, and gangs that go whole or not at all (SPEC §6.5, R-POOL-2, R-PLACE-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits
from fairhold.ledger.pools import OWN, Machine, Parcel, PoolBooks, place, remove
from fairhold.rules.pools.content import parcels_for, room_in
from fairhold.rules.pools.siting import choice, hosts_for, is_choosy, packs_whole, will_do

if TYPE_CHECKING:
    from fairhold.ledger.pools import Asked, Unit
    from fairhold.rules.pools.limits import Limits


class Placing:
    """Places units on what is idle in one pool, or of one leaf's own of one preference; idle space only shrinks.

    pool       : level whose idle content is used: a pool, or the leaf itself
    hosts      : on which there may be some, in inventory order
    preference : of own parcels that are used, None = of all
    """

    def __init__(
        self, books: PoolBooks, pool: int, limits: Limits, hosts: list[Machine], preference: int | None = None
    ) -> None:
        self.books, self.pool, self.limits, self.preference = books, pool, limits, preference
        able = [host for host in hosts if not host.is_closed]
        self.hosts = [host for host in able if any(parcel.level == pool for parcel in host.parcels)]
        self._at: dict[object, int] = {}
        self._keeps = {asked for host in self.hosts for parcel in host.parcels for asked in parcel.kept}

    def _parcels(self, host: Machine, asked: Asked) -> list[Parcel]:
        found = parcels_for(self.books.terms, host, asked.leaf, self.pool)
        if self.preference is not None:
            found = [each for each in found if each.preference == self.preference]
        return found

    def _fits(self, host: Machine, asked: Asked) -> list[Parcel] | None:
        parcels = self._parcels(host, asked) if will_do(asked, host) else []
        if parcels and fits(asked.unit, room_in(parcels, asked, self.books.terms.dimensions)):
            return parcels if self._is_open(host, asked) else None
        return None

    def _is_open(self, host: Machine, asked: Asked) -> bool:
        """Whether a host is not another leaf's, where each goes to one (`exclusive`)."""
        if self.books.terms.settings.packing != "exclusive":
            return True
        return all(unit.asked.leaf == asked.leaf for unit in host.units)

    def _kind(self, asked: Asked) -> object:
        """What requests have in common that fit on the same hosts."""
        terms, leaf = self.books.terms, asked.leaf
        if asked in self._keeps or asked.siting is not None:
            return asked
        if leaf in terms.own or terms.settings.packing == "exclusive":
            return asked.unit, leaf
        bounds = tuple(row for row in terms.above[leaf] if row in terms.pool_grace) if terms.pool_grace else ()
        return asked.unit, terms.grace[leaf], bounds

    def host_for(self, asked: Asked, among: list[Machine] | None = None) -> tuple[Machine, list[Parcel]] | None:
        """The host for the next unit, with its parcels in booking order; None = it fits nowhere.

        among : hosts that are asked, None = all
        """
        hosts, is_balanced = self.hosts, self.books.terms.settings.packing == "balanced"
        if is_balanced or is_choosy(asked) or among is not None:
            able = [(host, parcels) for host in among or hosts if (parcels := self._fits(host, asked)) is not None]
            return min(
                able,
                key=lambda each: (choice(asked, each[0]), is_balanced and workload(each[0]), each[0].place),
                default=None,
            )
        kind = self._kind(asked)
        for at in range(self._at.get(kind, 0), len(hosts)):
            parcels = self._fits(hosts[at], asked)
            if parcels is not None:
                self._at[kind] = at
                return hosts[at], parcels
        self._at[kind] = len(hosts)
        return None

    def put(self, asked: Asked, units: int) -> list[Unit]:
        """Place so many units, or none; those on what their own leaf owns are no part of the pool."""
        if self.pool != asked.leaf and not self.limits.allow(asked, units):
            return []
        if packs_whole(asked):
            tries = ([host] for host in hosts_for(asked, self.hosts))
            return next((placed for one in tries if (placed := self._put_among(asked, units, one))), [])
        return self._put_among(asked, units, None)

    def _put_among(self, asked: Asked, units: int, among: list[Machine] | None) -> list[Unit]:
        """The same, on some hosts alone."""
        placed: list[Unit] = []
        kind = self._kind(asked)
        begin = self._at.get(kind, 0)
        for _ in range(units):
            found = self.host_for(asked, among)
            if found is None:
                for unit in reversed(placed):
                    self.take_back(unit)
                self._at[kind] = begin
                return []
            placed.append(self._put_on(asked, *found))
        return placed

    def _put_on(self, asked: Asked, host: Machine, parcels: list[Parcel]) -> Unit:
        unit = place(self.books, asked, host, self.pool, parcels)
        if all(parcel.owner == asked.leaf for parcel in unit.books):
            unit.pool = OWN
        else:
            self.limits.add(asked, 1)
        return unit

    def take_back(self, unit: Unit) -> None:
        """A unit of a gang that does not fit goes again."""
        if unit.pool != OWN:
            self.limits.add(unit.asked, -1)
        remove(unit)


def workload(host: Machine) -> Fraction:
    """The largest part in use of any dimension (S2.21)."""
    used = [sum(unit.asked.unit[at] for unit in host.units) for at in range(len(host.total))]
    return max((Fraction(one, all_) for one, all_ in zip(used, host.total, strict=True) if all_), default=Fraction(0))


def next_units(asked: Asked, waiting: int) -> int:
    """Units that a request takes in one turn: all that a gang misses of its minimum, else one."""
    missing = asked.model.min_count - asked.held
    return missing if missing > 0 else min(1, waiting)
