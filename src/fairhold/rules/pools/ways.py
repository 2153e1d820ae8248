"""What is on its way: notices for a taker, and the space that is held for it (SPEC §6.6, R-HELD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, common, count, less, times
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.content import booking_order, is_lent_to, may_use

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, Machine, Notice, Parcel, PoolBooks, Unit


class Way:
    """Units of one request that are on their way to one host.

    victims : units under notice for it there
    units   : of the request that fit into what they free and what is held
    pool    : in which they will stand, or OWN
    """

    __slots__ = ("pool", "units", "victims")

    def __init__(self, pool: int) -> None:
        self.victims: list[Unit] = []
        self.units = 0
        self.pool = pool

    def freed(self, dimensions: int) -> Vector:
        """What the victims have."""
        found = (0,) * dimensions
        for unit in self.victims:
            found = add(found, unit.asked.unit)
        return found


class Ways:
    """All that is on its way, by request and host."""

    def __init__(self, books: PoolBooks) -> None:
        self.books = books
        self.of: dict[Asked, dict[Machine, Way]] = {}

    def way(self, asked: Asked, host: Machine, pool: int) -> Way:
        """The one of a request to a host, made where there is none."""
        mine = self.of.setdefault(asked, {})
        if host not in mine:
            mine[host] = Way(pool)
        return mine[host]

    def units(self, asked: Asked) -> int:
        """Units that are on their way to a request."""
        mine = self.of.get(asked)
        return sum(way.units for way in mine.values()) if mine else 0

    def units_in(self, asked: Asked, pool: int) -> int:
        """The same, of those that will stand in a pool."""
        mine = self.of.get(asked)
        return sum(way.units for way in mine.values() if way.pool == pool) if mine else 0

    def read(self) -> None:
        """Take in the notices that were given before, and hold what they rely on."""
        noticed = [unit for unit in self.books.units() if unit.notice is not None and unit.notice.taker is not None]
        for unit in sorted(noticed, key=lambda unit: unit.notice.serial if unit.notice else 0):
            taker = unit.notice.taker if unit.notice else None
            assert taker is not None
            self.way(taker, unit.host, pool_of(self.books, unit, taker)).victims.append(unit)
        left = {asked: asked.waiting for asked in self.of}
        for asked, hosts in self.of.items():
            for host, way in hosts.items():
                way.units = self._hold(asked, host, way, left[asked])
                left[asked] -= way.units

    def _hold(self, asked: Asked, host: Machine, way: Way, most: int) -> int:
        """Hold what is idle beside the victims for as many units as both make; how many that are."""
        dimensions = self.books.terms.dimensions
        parcels = reachable(self.books, asked, host)
        room = freed = way.freed(dimensions)
        for parcel in parcels:
            room = add(room, parcel.room(asked))
        units = min(most, count(asked.unit, room))
        hold_beyond(asked, parcels, beyond(times(asked.unit, units), freed))
        return units

    def withdraw(self) -> list[Unit]:
        """Notices beyond what their taker still waits for, latest deadline first, then the last listed."""
        gone: list[Unit] = []
        for asked in self.of:
            gone += self._withdraw_of(asked)
        return gone

    def _withdraw_of(self, asked: Asked) -> list[Unit]:
        victims = [unit for way in self.of[asked].values() for unit in way.victims if not _is_new(unit)]
        gone: list[Unit] = []
        bundles: dict[object, list[Unit]] = {}
        for unit in victims:
            bundles.setdefault(unit.asked if is_stopped_whole(unit.asked) else unit, []).append(unit)
        order = sorted(bundles.values(), key=lambda units: max(map(_latest, units)), reverse=True)
        for units in order:
            fewer = {host: self._without(asked, host, units) for host in {unit.host for unit in units}}
            others = sum(way.units for host, way in self.of[asked].items() if host not in fewer)
            if others + sum(fewer.values()) >= asked.waiting:
                for unit in units:
                    self.of[asked][unit.host].victims.remove(unit)
                for host, left in fewer.items():
                    self.of[asked][host].units = left
                gone += units
        for host in self.of[asked]:
            self._release_beyond(asked, host)
        return gone

    def _without(self, asked: Asked, host: Machine, units: list[Unit]) -> int:
        """Units of a request that are on their way to a host if some of the victims stay."""
        way = self.of[asked][host]
        room = less(way.freed(self.books.terms.dimensions), (0,) * self.books.terms.dimensions)
        for unit in units:
            if unit.host is host:
                room = less(room, unit.asked.unit)
        for parcel in host.parcels:
            if asked in parcel.kept:
                room = add(room, parcel.kept[asked])
        return min(way.units, count(asked.unit, room))

    def _release_beyond(self, asked: Asked, host: Machine) -> None:
        """What is held and no longer needed is idle again."""
        way = self.of[asked][host]
        needed = beyond(times(asked.unit, way.units), way.freed(self.books.terms.dimensions))
        freed_keeps = self.books.keeps.get((asked, host), 0)
        needed = add(needed, times(asked.unit, freed_keeps))
        for parcel in host.parcels:
            kept = parcel.kept.get(asked)
            if kept:
                stays = common(kept, needed)
                needed = less(needed, stays)
                parcel.unkeep(asked)
                if any(stays):
                    parcel.keep(asked, stays)


def hold_beyond(asked: Asked, parcels: list[Parcel], need: Vector) -> None:
    """Hold so much of what is idle in parcels for a request, as far as it is not held already."""
    for parcel in parcels:
        need = beyond(need, parcel.kept.get(asked, (0,) * len(need)))
    for parcel in parcels:
        part = common(need, parcel.idle)
        if any(part):
            parcel.keep(asked, part)
            need = less(need, part)


def reachable(books: PoolBooks, asked: Asked, host: Machine) -> list[Parcel]:
    """Parcels of a host that a request could be booked on in any pool above its leaf, in booking order."""
    terms, leaf = books.terms, asked.leaf
    found: list[tuple[int, tuple[int, ...], Parcel]] = []
    for parcel in host.parcels:
        for depth, pool in enumerate(terms.above[leaf]):
            if _is_in(parcel, leaf, pool) and may_use(terms, parcel, leaf, pool):
                found.append((depth, booking_order(terms, parcel, leaf, pool), parcel))
                break
    found.sort(key=lambda each: each[:2])
    return [each[2] for each in found]


def _is_in(parcel: Parcel, leaf: int, pool: int) -> bool:
    return parcel.owner == leaf if pool == leaf else is_lent_to(parcel, pool)


def pool_of(books: PoolBooks, unit: Unit, taker: Asked) -> int:
    """The pool in which a taker will stand where a unit goes: the nearest that has all of its parcels, or OWN."""
    owners = {parcel.owner for parcel in unit.books}
    for row in books.terms.above[taker.leaf]:
        if row == taker.leaf:
            if owners == {row}:
                return OWN
        elif row == PUBLIC or all(any(each == row for each, _ in parcel.chain) for parcel in unit.books):
            return row
    return PUBLIC


def _is_new(unit: Unit) -> bool:
    return unit.notice is not None and unit.notice.is_new


def _latest(unit: Unit) -> tuple[int, int]:
    notice: Notice | None = unit.notice
    return (notice.deadline, notice.serial) if notice else (0, 0)


def is_stopped_whole(asked: Asked) -> bool:
    """Whether a gang is stopped whole."""
    return asked.model.min_count > 0 and all(unit.notice is not None for unit in asked.units)
