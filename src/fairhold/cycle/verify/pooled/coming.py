"""What is on its way to whom, the space that is kept for it, and notices that nobody needs (R-HELD-1, R-NOTICE-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, excess, how_many, lower, minus, plus, scaled, summed
from fairhold.cycle.verify.pooled.booking import nearest_pool
from fairhold.cycle.verify.pooled.lending import booked_first, is_lendable, may_use
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.opening import is_against_reserve
from fairhold.cycle.verify.pooled.stock import keep, unkeep

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit


@dataclass(eq=False)
class Way:
    """Units of a request on their way to a host.

    pool : in which they will stand, or OWN
    goes : units under notice for it there
    """

    pool: str
    goes: list[Unit] = field(default_factory=list)
    units: int = 0

    def freed(self, width: int) -> Amounts:
        """What those that go need."""
        return summed((unit.asked.unit for unit in self.goes), width)


class Coming:
    """All that is on its way: request → host → way."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.to: dict[Asked, dict[Host, Way]] = {}
        noticed = [unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is not None]
        for unit in sorted(noticed, key=_given):
            assert unit.notice is not None
            assert unit.notice.taker is not None
            taker = unit.notice.taker
            self.way(taker, unit.host, nearest_pool(stock.terms, unit, taker.leaf)).goes.append(unit)
        for asked, hosts in self.to.items():
            for host, way in hosts.items():
                left = asked.waiting - self.units(asked)
                parcels = self._reachable(asked, host)
                freed = way.freed(stock.terms.width)
                room = plus(freed, *(parcel.room(asked.id) for parcel in parcels))
                way.units = min(left, how_many(asked.unit, room))
                keep(asked.id, parcels, excess(scaled(asked.unit, way.units), freed))

    def way(self, asked: Asked, host: Host, pool: str) -> Way:
        """The way of a request to a host; of the first that asks, the pool."""
        return self.to.setdefault(asked, {}).setdefault(host, Way(pool))

    def units(self, asked: Asked, pool: str | None = None) -> int:
        """Units on their way to a request, in one pool or in all."""
        return sum(way.units for way in self.to.get(asked, {}).values() if pool in {None, way.pool})

    def _reachable(self, asked: Asked, host: Host) -> list[Parcel]:
        """Parcels that a request could stand on in some pool, the nearest first, in booking order."""
        terms, leaf = self.stock.terms, asked.leaf
        keys = {}
        for parcel in host.parcels:
            for depth, pool in enumerate(terms.up[leaf]):
                is_there = parcel.owner == leaf if pool == leaf else is_lendable(parcel, pool)
                if is_there and may_use(terms, parcel, leaf, pool):
                    keys[parcel] = depth, booked_first(terms, parcel, leaf, pool)
                    break
        return sorted(keys, key=keys.__getitem__)

    def withdraw(self) -> list[Unit]:
        """Notices that their takers need no more, then those for nobody that have no reason any more."""
        found = [unit for asked in self.to for unit in self._of_taker(asked)]
        for unit in found:
            unit.notice = None
        nobodys = _of_nobody(self.stock)
        for unit in nobodys:
            unit.notice = None
        return found + nobodys

    def _of_taker(self, asked: Asked) -> list[Unit]:
        ways, found = self.to[asked], []
        bundles: dict[object, list[Unit]] = {}
        for way in ways.values():
            for unit in way.goes:
                if unit.notice is not None and not unit.notice.is_new:
                    bundles.setdefault(unit.asked if is_stopping(unit.asked) else unit, []).append(unit)
        for bundle in sorted(bundles.values(), key=lambda units: max(map(_latest, units)), reverse=True):
            fewer = {host: self._without(asked, host, bundle) for host in {unit.host for unit in bundle}}
            if sum(fewer.get(host, way.units) for host, way in ways.items()) >= asked.waiting:
                for unit in bundle:
                    ways[unit.host].goes.remove(unit)
                for host, units in fewer.items():
                    ways[host].units = units
                found += bundle
        for host in ways:
            self._keep_no_more(asked, host)
        return found

    def _without(self, asked: Asked, host: Host, bundle: list[Unit]) -> int:
        """Units that still come to a host if some stay."""
        way, width = self.to[asked][host], self.stock.terms.width
        freed = summed((unit.asked.unit for unit in way.goes if unit not in bundle), width)
        return min(way.units, how_many(asked.unit, plus(freed, self._kept(asked, host))))

    def _kept(self, asked: Asked, host: Host) -> Amounts:
        found = (parcel.kept[asked.id] for parcel in host.parcels if asked.id in parcel.kept)
        return summed(found, self.stock.terms.width)

    def _keep_no_more(self, asked: Asked, host: Host) -> None:
        """Keep what those on their way and those freed before still need."""
        way = self.to[asked][host]
        need = excess(scaled(asked.unit, way.units), way.freed(self.stock.terms.width))
        need = plus(need, scaled(asked.unit, self.stock.keeps.get((asked.id, host.name), 0)))
        for parcel in host.parcels:
            if asked.id in parcel.kept:
                stays = lower(parcel.kept[asked.id], need)
                need = minus(need, stays)
                unkeep(asked.id, [parcel])
                keep(asked.id, [parcel], stays)


def _of_nobody(stock: Stock) -> list[Unit]:
    """Notices for nobody whose holders are within their limits and off what is reserved."""
    used = Used(stock, (unit for unit in stock.units() if unit.notice is None))
    old = [unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is None]
    old = [unit for unit in old if unit.notice is not None and not unit.notice.is_new]
    found: list[Unit] = []
    done: set[Unit] = set()
    for unit in sorted(old, key=_latest, reverse=True):
        bundle = list(unit.asked.units) if is_stopping(unit.asked) else [unit]
        is_meant = any(is_against_reserve(stock, each) for each in bundle)
        if unit not in done and not is_meant and used.allow(unit.asked, len(bundle)):
            used.add(unit.asked, len(bundle))
            found += bundle
        done.update(bundle)
    return found


def is_stopping(asked: Asked) -> bool:
    """Whether a gang is stopped whole."""
    return asked.model.min_count > 0 and all(unit.notice is not None for unit in asked.units)


def _given(unit: Unit) -> int:
    return unit.notice.at if unit.notice else 0


def _latest(unit: Unit) -> tuple[int, int]:
    return (unit.notice.deadline, unit.notice.at) if unit.notice else (0, 0)
