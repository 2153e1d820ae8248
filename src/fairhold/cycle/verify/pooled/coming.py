"""Units on their way to requests, the space held for them, and unneeded notices (R-HELD-1, R-NOTICE-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, excess, how_many, lower, minus, plus, scaled, summed
from fairhold.cycle.verify.pooled.booking import nearest_pool
from fairhold.cycle.verify.pooled.lending import is_lendable, reachable
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.opening import is_against_reserve
from fairhold.cycle.verify.pooled.siting import able_hosts, packs
from fairhold.cycle.verify.pooled.stock import keep, kept_on
from fairhold.cycle.verify.pooled.terms import OWN, TOP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit


@dataclass(eq=False)
class Way:
    """Units of a request that are on their way to a host.

    pool : in which they will stand, or OWN
    goes : units under notice for it there
    """

    pool: str = TOP
    goes: list[Unit] = field(default_factory=list)
    units: int = 0


class Coming:
    """All units on their way, and all space held: request → host → way."""

    def __init__(
        self, stock: Stock, may_stay: Callable[[list[Unit]], bool] | None = None, *, is_exact: bool = False
    ) -> None:
        """Read the notices and the held space of the stock.

        may_stay : whether some may stay for all that is not about space, None = always
        is_exact : whether a request that something is kept for gets no more than that
        """
        self.stock, self.width, self.may_stay = stock, stock.terms.width, may_stay
        self.to: dict[Asked, dict[Host, Way]] = {}
        self.staying: list[Unit] = []
        """Units of withdrawals in progress: they count as staying though their notices are still there."""
        for request, name in stock.keeps:
            self.way(stock.asked[request], stock.hosts[name])
        noticed = [unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is not None]
        for unit in sorted(noticed, key=_given):
            assert unit.notice is not None
            assert unit.notice.taker is not None
            self.way(unit.notice.taker, unit.host).goes.append(unit)
        used = Used(stock, (unit for unit in stock.units() if unit.notice is None))
        ways = [(asked, host) for asked, hosts in self.to.items() for host in sorted(hosts, key=self._last(hosts))]
        said = {(asked, host): stock.keeps.get((asked.id, host.name), self._unsaid(asked)) for asked, host in ways}
        for asked, host in sorted(ways, key=lambda each: said[each] is None):
            way, most = self.to[asked][host], said[asked, host]
            left = wanted(asked) + asked.moving - self.units(asked)
            if most is None and is_exact and any(asked.id == request for request, _ in stock.keeps):
                left = 0
            self.bring(asked, host, left if most is None else min(left, most), used if most is None else None)
            used.add(asked, way.units if way.pool != OWN else 0)

    @staticmethod
    def _last(hosts: dict[Host, Way]) -> Callable[[Host], tuple[int, int]]:
        """Key of a host: when the last of those who go there does, nobody first; of one deadline as they are listed."""

        def key(host: Host) -> tuple[int, int]:
            notices = (unit.notice for unit in hosts[host].goes)
            return max(((each.deadline, each.at) for each in notices if each is not None), default=(0, 0))

        return key

    def _unsaid(self, asked: Asked) -> int | None:
        """Units on a way without a number in the state: 0 where it has other numbers, else None: all that fit."""
        counts = any(request == asked.id and units is not None for (request, _), units in self.stock.keeps.items())
        return 0 if counts else None

    def bring_again(self) -> bool:
        """What brought nothing so far may bring something to who has its minimum, or room, by now; whether it does."""
        is_any = False
        used = Used(self.stock, (unit for unit in self.stock.units() if unit.notice is None))
        for asked, hosts in self.to.items():
            used.add(asked, sum(way.units for way in hosts.values() if way.pool != OWN))
        for asked, hosts in self.to.items():
            for host, way in hosts.items():
                more = wanted(asked) - self.units(asked)
                if way.goes and not way.units and more > 0:
                    self.bring(asked, host, more, used)
                    used.add(asked, way.units if way.pool != OWN else 0)
                    is_any = is_any or way.units > 0
        return is_any

    def bring(self, asked: Asked, host: Host, most: int, used: Used | None) -> None:
        """Let as many units come on a way as fit and as limits allow; hold idle space for them."""
        way, parcels = self.to[asked][host], reachable(self.stock.terms, asked.leaf, host)
        freed = self.freed(asked, host)
        coming = [each for each, other in self.to[asked].items() if other.units]
        can_stand = bool(able_hosts(asked, [host], coming)) and not (self.is_exclusive and self.others(asked, host))
        room = plus(freed, *(parcel.room(asked.id) for parcel in parcels))
        way.units = min(most, how_many(asked.unit, room)) if can_stand else 0
        for mine in self._inside(asked, parcels).values() if way.units else ():
            of_mine = self._freed_on(asked, host, mine)
            if how_many(asked.unit, plus(of_mine, *(each.room(asked.id) for each in mine))) >= way.units:
                parcels, freed = mine, of_mine
                break
        else:
            pool = self._pool_of_all(asked, host)
            parcels.sort(key=lambda each: each.owner != asked.leaf if pool == OWN else not is_lendable(each, pool))
        keep(asked.id, host, parcels, excess(scaled(asked.unit, way.units), freed))
        way.pool = self.pool_on(asked, host)
        if used is not None and way.pool != OWN:
            while way.units and not used.allow(asked, way.units):
                way.units -= 1
            self.keep_no_more(asked, host)

    @property
    def is_exclusive(self) -> bool:
        """Whether the packing is `exclusive`: no two leaves share a host (R-HOSTS-3)."""
        return self.stock.terms.settings.packing == "exclusive"

    def others(self, asked: Asked, host: Host, gone: Collection[Unit] = ()) -> set[str]:
        """Other leaves that stay on a host or come there, when some go beside those under notice."""
        found = {unit.asked.leaf for unit in host.units if unit.notice is None and unit not in gone}
        return (found | self.comers(host)) - {asked.leaf}

    def comers(self, host: Host) -> set[str]:
        """Leaves with units on their way to a host."""
        return {each.leaf for each, ways in self.to.items() if host in ways and ways[host].units}

    def way(self, asked: Asked, host: Host, pool: str = TOP) -> Way:
        """The way of a request to a host; a new way gets the given pool, or OWN."""
        return self.to.setdefault(asked, {}).setdefault(host, Way(pool))

    def units(self, asked: Asked, pool: str | None = None) -> int:
        """Units on their way to a request, in one pool or in all."""
        return sum(way.units for way in self.to.get(asked, {}).values() if pool in {None, way.pool})

    def freed(self, asked: Asked, host: Host) -> Amounts:
        """Space that the victims free and the request may use."""
        return self._freed_on(asked, host, reachable(self.stock.terms, asked.leaf, host))

    def freed_in(self, asked: Asked, host: Host, pool: str, without: Collection[Unit] = ()) -> Amounts:
        """The same of what is in a pool, or its own; without some of those that go."""
        return self._freed_on(asked, host, self._of_pool(asked, host, pool), without)

    def kept_in(self, asked: Asked, host: Host, pool: str) -> Amounts:
        """The part of that space that is held for the request."""
        parcels = self._of_pool(asked, host, pool)
        return summed((each.kept[asked.id] for each in parcels if asked.id in each.kept), self.width)

    def _of_pool(self, asked: Asked, host: Host, pool: str) -> list[Parcel]:
        parcels = reachable(self.stock.terms, asked.leaf, host)
        return self._inside(asked, parcels).get(pool, []) if pool != TOP else parcels

    def freed_for_it(self, asked: Asked, host: Host, without: Collection[Unit] = ()) -> Amounts:
        """What those that go have of what it will stand on."""
        return self.freed_in(asked, host, self.to[asked][host].pool, without)

    def _inside(self, asked: Asked, parcels: list[Parcel]) -> dict[str, list[Parcel]]:
        """OWN and the private pools, the nearest first, with those of some parcels that are theirs."""
        found = {OWN: [parcel for parcel in parcels if parcel.owner == asked.leaf]}
        for pool in self.stock.terms.up[asked.leaf][1:-1]:
            found[pool] = [parcel for parcel in parcels if is_lendable(parcel, pool)]
        return {pool: mine for pool, mine in found.items() if mine}

    def _freed_on(self, asked: Asked, host: Host, parcels: list[Parcel], without: Collection[Unit] = ()) -> Amounts:
        stay = (unit for unit in self.to[asked][host].goes if unit not in without)
        return summed((unit.on(parcels, self.width) for unit in stay), self.width)

    def pool_on(self, asked: Asked, host: Host) -> str:
        """The pool in which a request will stand on a host: the nearest in which enough is freed and kept for it."""
        units = self.to[asked][host].units
        for pool in self._inside(asked, reachable(self.stock.terms, asked.leaf, host)) if units else ():
            has = plus(self.freed_in(asked, host, pool), self.kept_in(asked, host, pool))
            if how_many(asked.unit, has) >= units:
                return pool
        return self._pool_of_all(asked, host)

    def _pool_of_all(self, asked: Asked, host: Host) -> str:
        """The nearest pool that has all that goes for it, and is kept for it."""
        parcels = [parcel for unit in self.to[asked][host].goes for parcel in unit.books]
        parcels += [parcel for parcel in host.parcels if asked.id in parcel.kept]
        return nearest_pool(self.stock.terms, parcels, asked.leaf)

    def look_again(self, asked: Asked) -> None:
        """What was placed comes no more, and a gang that packs gets nothing where it does not stand (R-SITE-3)."""
        own = [unit.host for unit in asked.units] if packs(asked) else []
        for host, way in self.to[asked].items():
            way.units = self.without(asked, host, ()) if not own or host in own else 0

    def withdraw(self) -> tuple[list[Unit], bool]:
        """Notices that their takers need no more; with it, whether anything that was kept is idle again."""
        found: list[Unit] = []
        is_idle = False
        self.staying = []
        for asked, ways in self.to.items():
            self.look_again(asked)
            gone, is_more = self._lower(asked, wanted(asked) + asked.moving, list(ways))
            found, is_idle = found + gone, is_idle or is_more
        return found, is_idle

    def beside_moves(self) -> dict[Asked, int]:
        """Units on their way, without those that run elsewhere until they move."""
        return {asked: max(0, units - asked.moving) for asked, units in self.shared().items()}

    def keep_places(self) -> list[Unit]:
        """Notices of units that are to move of requests for which fewer places are kept; they stay."""
        found = []
        for asked in {unit.asked: None for unit in self.stock.units()}:
            if asked.moving > self.units(asked):
                mine = [unit for unit in asked.units if unit.notice and unit.notice.reason == "consolidation"]
                found += [unit for unit in mine if unit.notice and unit.notice.taker]
        for unit in found:
            assert unit.notice is not None
            assert unit.notice.taker is not None
            self.to[unit.notice.taker][unit.host].goes.remove(unit)
        return found

    def shared(self) -> dict[Asked, int]:
        """Units on their way into share pools."""
        return {asked: sum(way.units for way in ways.values() if way.pool != OWN) for asked, ways in self.to.items()}

    def keep_anew(self) -> bool:
        """Hold all space where the next cycle will hold it; returns whether anything changed."""
        now = [(asked, host, way, way.units) for asked, ways in self.to.items() for host, way in ways.items()]
        parcels = {parcel: dict(parcel.kept) for _, host, _, _ in now for parcel in host.parcels}
        for asked, host, _, _ in now:
            for parcel in host.parcels:
                if (kept := parcel.kept.pop(asked.id, None)) is not None:
                    parcel.idle = plus(parcel.idle, kept)
        for asked, host, _, units in now:
            self.bring(asked, host, units, None)
        is_same = all(way.units == units for _, _, way, units in now)
        return not is_same or any(parcel.kept != kept for parcel, kept in parcels.items())

    def lower_shared(self, asked: Asked) -> tuple[list[Unit], bool]:
        """Let one fewer unit come into share pools; returns as `withdraw`."""
        self.staying = []
        shared = [host for host, way in self.to[asked].items() if way.pool != OWN]
        return self._lower(asked, self.units(asked) - 1, shared)

    def _lower(self, asked: Asked, most: int, hosts: list[Host]) -> tuple[list[Unit], bool]:
        """Reduce the units on their way to a number, on given hosts: first by withdrawn notices, then of the rest."""
        found = self._of_taker(asked, most, hosts)
        too_many = self.units(asked) - most
        last_first = [self.to[asked][host] for host in reversed(hosts)]
        for way in sorted(last_first, key=lambda way: bool(way.goes)):
            less = max(0, min(too_many, way.units))
            way.units, too_many = way.units - less, too_many - less
        is_idle = [self.keep_no_more(asked, host) for host in hosts]
        self.to[asked] = {host: way for host, way in self.to[asked].items() if way.units or way.goes}
        return found, any(is_idle)

    def _of_taker(self, asked: Asked, most: int, hosts: list[Host]) -> list[Unit]:
        ways = self.to[asked]
        found: list[Unit] = []
        bundles: dict[object, list[Unit]] = {}
        for way in ways.values():
            for unit in way.goes:
                bundles.setdefault(unit.asked if is_stopping(unit.asked) else unit, []).append(unit)
        for bundle in sorted(bundles.values(), key=lambda units: max(map(_latest, units)), reverse=True):
            gang = bundle[0].asked
            is_part = is_stopping(gang) and len(gang.units) > len(bundle) < gang.model.min_count
            if is_part or not any(unit.host in hosts for unit in bundle):
                continue
            fewer = {host: self.without(asked, host, bundle) for host in {unit.host for unit in bundle}}
            left = sum(fewer.get(host, way.units) for host, way in ways.items())
            if left >= min(most, self.units(asked)) and (self.may_stay is None or self.may_stay(bundle)):
                for unit in bundle:
                    ways[unit.host].goes.remove(unit)
                for host, units in fewer.items():
                    ways[host].units = units
                found += bundle
                self.staying += bundle
        return found

    def without(self, asked: Asked, host: Host, bundle: Collection[Unit]) -> int:
        """Units that still come to a host if some stay."""
        if self.is_exclusive and any(unit.host is host for unit in bundle):
            return 0
        room = plus(self.freed_for_it(asked, host, bundle), kept_on(asked.id, host, self.width))
        return min(self.to[asked][host].units, how_many(asked.unit, room))

    def keep_no_more(self, asked: Asked, host: Host) -> bool:
        """Hold only what units on their way still need; returns whether more was held."""
        need = excess(scaled(asked.unit, self.to[asked][host].units), self.freed_for_it(asked, host))
        is_idle = False
        for parcel in host.parcels:
            if asked.id in parcel.kept:
                kept = parcel.kept.pop(asked.id)
                stays = lower(kept, need)
                need, parcel.idle = minus(need, stays), plus(parcel.idle, minus(kept, stays))
                is_idle |= stays != kept
                if any(stays):
                    parcel.kept[asked.id] = stays
        return is_idle


def wanted(asked: Asked) -> int:
    """Units that may come to a request; for a gang none beyond its minimum before it has that."""
    return asked.missing or asked.waiting


def for_nobody(stock: Stock, coming: Coming) -> list[Unit]:
    """Notices without a taker that no limit needs, of units that are not on reserved parcels."""
    used = Used(stock, (unit for unit in stock.units() if unit.notice is None))
    for asked, ways in coming.to.items():
        used.add(asked, sum(way.units for way in ways.values() if way.pool != OWN))
    found: list[Unit] = []
    done: set[Unit] = set()
    nobodys = [unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is None]
    for unit in sorted(nobodys, key=_latest, reverse=True):
        bundle = list(unit.asked.units) if is_stopping(unit.asked) else [unit]
        is_meant = any(
            is_against_reserve(stock, each)
            or (each.notice is not None and each.notice.taker is not None)
            or (coming.is_exclusive and coming.comers(each.host) - {each.asked.leaf})
            for each in bundle
        )
        shared = sum(each.pool != OWN for each in bundle)
        if unit not in done and not is_meant and used.allow(unit.asked, shared):
            used.add(unit.asked, shared)
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
