"""On which host a unit goes, and gangs that go whole or not at all (SPEC §6.5, R-POOL-2, R-PLACE-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits
from fairhold.ledger.pools import OWN, Machine, Parcel, PoolBooks, place, remove
from fairhold.rules.pools.content import parcels_for, room_in

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
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
        parcels = self._parcels(host, asked)
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
        if asked in self._keeps:
            return asked
        if leaf in terms.own or terms.settings.packing == "exclusive":
            return asked.unit, leaf
        bounds = tuple(row for row in terms.above[leaf] if row in terms.pool_grace) if terms.pool_grace else ()
        return asked.unit, terms.grace[leaf], bounds

    def host_for(self, asked: Asked) -> tuple[Machine, list[Parcel]] | None:
        """The host for the next unit, with its parcels in booking order; None = it fits nowhere."""
        hosts = self.hosts
        if self.books.terms.settings.packing == "balanced":
            able = [(host, parcels) for host in hosts if (parcels := self._fits(host, asked)) is not None]
            return min(able, key=lambda each: (workload(each[0]), each[0].place)) if able else None
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
        placed: list[Unit] = []
        kind = self._kind(asked)
        begin = self._at.get(kind, 0)
        kept = self._kept_for(asked)
        for _ in range(units):
            found = self._host_of_own(asked) or self.host_for(asked)
            if found is None or not self._is_within(asked, found[1]):
                for unit in reversed(placed):
                    self.take_back(unit)
                for parcel, amount in kept.items():
                    parcel.unkeep(asked)
                    parcel.keep(asked, amount)
                self._at[kind] = begin
                return []
            placed.append(self._put_on(asked, *found))
        return placed

    def _kept_for(self, asked: Asked) -> dict[Parcel, Vector]:
        """What is held for a request, by parcel."""
        if asked not in self._keeps:
            return {}
        return {each: each.kept[asked] for host in self.hosts for each in host.parcels if asked in each.kept}

    def _host_of_own(self, asked: Asked) -> tuple[Machine, list[Parcel]] | None:
        """For a gang, the first host on which its leaf's own leftovers are enough for a unit (R-TAKE-4)."""
        if not asked.model.min_count or self.pool == asked.leaf or asked.leaf not in self.books.terms.own:
            return None
        for host in self.hosts:
            parcels = self._parcels(host, asked)
            if self._is_own(asked, parcels) and self._is_open(host, asked):
                return host, parcels
        return None

    def _is_own(self, asked: Asked, parcels: list[Parcel]) -> bool:
        """Whether a unit will stand on what its own leaf owns, which comes first."""
        own = [each for each in parcels if each.owner == asked.leaf]
        return fits(asked.unit, room_in(own, asked, self.books.terms.dimensions))

    def _is_within(self, asked: Asked, parcels: list[Parcel]) -> bool:
        """Whether share limits allow a unit; what stands on its leaf's own does not count (R-LIMIT-1)."""
        return self.limits.allow(asked, 1) or self._is_own(asked, parcels)

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
