"""What is under notice and on its way, and what of it is needless (SPEC §6.2, §6.6), slow."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tests.oracles.parcels import OWN, PUBLIC, add, less
from tests.oracles.sweeping import FirstSweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.oracles.parcels import Parcel, Unit, Vector, Wish


@dataclass(eq=False)
class Coming:
    """A unit on its way, and on what it will stand."""

    wish: Wish
    host: str
    books: dict[Parcel, Vector]


class Notice(NamedTuple):
    unit: Unit
    taker: Wish
    seconds: int


class Moving(FirstSweep):
    """Notices are in `notices`, in the order given."""

    notices: list[Notice]
    told: Sequence[Notice] = ()
    """Those given before."""
    coming: list[Coming]
    due: Mapping[Unit, int] = MappingProxyType({})
    """In how many seconds units were to go of which the notice is withdrawn."""

    quota: Mapping[str, Fraction] = MappingProxyType({})
    """Of the pool inside which it is compared; empty where owners and private pools take back."""
    retaking = False
    """Whether a private pool takes back: what it lent up counts in its capacity then."""

    def waiting(self, wish: Wish) -> int:
        coming = sum(each.wish is wish for each in self.coming)
        return 0 if self.waits_for_nothing(wish) else max(0, wish.count - len(wish.units) - coming)

    def waits_for_nothing(self, wish: Wish) -> bool:
        """Whether a gang can never start, or all of it goes: what it got would be all that it has (R-TAKE-4)."""
        return self.never_fits(wish) or (bool(wish.units) and self.is_stopped_whole(wish))

    def waits_in(self, wish: Wish, pool: str) -> int:
        """What waits, and what is on its way to the pool."""
        there = sum(each.wish is wish and self.goes_to(wish, each.host) == pool for each in self.coming)
        return self.waiting(wish) + there

    def wanted(self, wish: Wish) -> int:
        """Units that may still be asked for: of a gang none beyond its minimum until it has that."""
        if len(wish.units) >= wish.least:
            return self.waiting(wish)
        coming = sum(each.wish is wish for each in self.coming)
        return max(0, wish.least - len(wish.units) - coming) if self.waiting(wish) else 0

    def coming_to(self, wish: Wish, host: str) -> list[Coming]:
        return [each for each in self.coming if each.wish is wish and each.host == host]

    def moved(self, path: str, pool: str, without: Iterable[Unit] = ()) -> Fraction:
        """Usage where what is under notice is gone and what is on its way is there."""
        gone = {notice.unit for notice in self.notices} | set(without)
        there = [unit.wish for unit in self.units() if unit.pool == pool and unit not in gone]
        there += [each.wish for each in self.coming if self.goes_to(each.wish, each.host) == pool]
        return sum((self.part(1, wish, pool) for wish in there if self.is_below(wish.leaf, path)), Fraction(0))

    def goes_to(self, wish: Wish, host: str) -> str:
        """Where all that is on its way to a request on one host counts: as its own, or in the nearest that has it."""
        books = [each.books for each in self.coming if each.wish is wish and each.host == host]
        if all(parcel.owner == wish.leaf for some in books for parcel in some):
            return OWN
        parcels = [parcel for some in books for parcel in some if parcel.owner != wish.leaf]
        way = [pool for pool in self.pools() if self.is_below(wish.leaf, pool)]
        return next((pool for pool in way if all(self.has(pool, each) for each in parcels)), PUBLIC) if parcels else OWN

    # On what it stands

    def stands_on(
        self, wish: Wish, pool: str, host: str, victims: list[Unit], *, more: bool = False
    ) -> dict[Parcel, Vector] | None:
        """On what one more unit would stand: what is idle for it, what its notices free, and what victims free.

        What is taken back is for a unit that stands on that alone (it is not said how); more: what comes of itself may
        stand on anything.
        """
        usable = self.usable(wish.leaf, pool, host)
        free = [(each, add(self.resources, self.idle_for(wish, each), *freed(victims, each))) for each in usable]
        outer = [
            each
            for level in self.pools()
            if self.is_below(wish.leaf, level) and self.takes_part(wish.leaf, level)
            for each in self.usable(wish.leaf, level, host)
        ]
        left = [(each, bound(self.left_of(wish, each))) for each in dict.fromkeys(outer) if each not in usable]
        if self.quota or more:  # first on what goes for it, then on what is idle, the nearest first
            some_of = {each: bound(some) for each, some in free}
            goes = {each: least_of(some, bound(self.left_of(wish, each))) for each, some in some_of.items()}
            near = [each for each in self.reach(wish, host, PUBLIC) if each in some_of]
            idle = {each: less(some_of[each], goes[each]) for each in dict.fromkeys([*near, *usable])}
            return self.booked_twice(wish.unit, goes, idle | dict(left))
        room = add(self.resources, *(some for _, some in free))
        levels = [OWN, *self.pools()]
        if levels.index(self.goes_to(wish, host)) > levels.index(pool):  # what comes stands elsewhere as far as it can
            comes = [
                each.books[parcel] for each in self.coming_to(wish, host) for parcel in usable if parcel in each.books
            ]
            spare = zip(add(self.resources, *comes), add(self.resources, *(some for _, some in left)), strict=True)
            room = add(self.resources, room, tuple(min(pair) for pair in spare))
        return {} if not any(bound(less(wish.unit, room))) else None

    def idle_for(self, wish: Wish, parcel: Parcel) -> Vector:
        """What is idle, less what is held of it for others; and what its own notices leave."""
        others = [self.left_of(other, parcel) for other in self.wishes.values() if other is not wish]
        held = [tuple(min(0, one) for one in some) for some in others]
        return add(self.resources, self.idle(parcel), self.left_of(wish, parcel), *held)

    def left_of(self, wish: Wish, parcel: Parcel) -> Vector:
        """What notices for a request free of a parcel beyond what is coming; below 0 what is held of what is idle."""
        gone = freed([each.unit for each in self.notices if each.taker is wish], parcel)
        needed = [each.books[parcel] for each in self.coming if each.wish is wish and parcel in each.books]
        return less(add(self.resources, *gone), *needed)

    def reached(self, wish: Wish, unit: Unit, most: str) -> Vector:
        """What a unit uses of parcels that the taker may use in a pool, and in those inside it."""
        among = self.reach(wish, unit.host, most)
        return add(self.resources, *(part for parcel, part in unit.books.items() if parcel in among))

    def levels(self, wish: Wish, most: str) -> list[str]:
        """Its own, and the pools in which it takes part, the nearest first, up to one."""
        way = [OWN, *(pool for pool in self.pools() if self.is_below(wish.leaf, pool))]
        way = way[: way.index(most) + 1]
        return [pool for pool in way if pool == OWN or self.takes_part(wish.leaf, pool)]

    def book_again(self, wish: Wish, host: str) -> bool:
        """What is on its way stands on what those that still go leave, in the nearest pool that has enough.

        What that does not give is held of what is idle there, on what is nearest first.
        """
        come = self.coming_to(wish, host)
        levels = self.levels(wish, PUBLIC)
        for pool in levels:
            parcels = self.nearest_first(wish, host)
            if pool != levels[-1]:
                parcels = [each for each in self.reach(wish, host, pool) if self.has(pool, each, wish.leaf)]
            for each in come:
                each.books = {}
            for each in come:
                freed_first = {parcel: bound(self.left_of(wish, parcel)) for parcel in parcels}
                idle_then = {parcel: self.idle_beside(parcel) for parcel in parcels}
                books = self.booked_twice(wish.unit, freed_first, idle_then)
                if books is None:
                    break
                each.books = books
            else:
                return True
        return False

    def nearest_first(self, wish: Wish, host: str) -> list[Parcel]:
        """All that a request may use on a host; first what is of the pool that has all that goes for it there."""
        parcels = self.reach(wish, host, PUBLIC)
        gone = [each for one in self.notices if one.taker is wish and one.unit.host == host for each in one.unit.books]
        way = [OWN, *(pool for pool in self.pools() if self.is_below(wish.leaf, pool))]
        level = next((pool for pool in way if all(self.has(pool, each, wish.leaf) for each in gone)), PUBLIC)
        return sorted(parcels, key=lambda each: not self.has(level, each, wish.leaf))

    def reach(self, wish: Wish, host: str, most: str) -> list[Parcel]:
        """Parcels that a request may use in a pool, and in those inside it, the nearest first."""
        levels = self.levels(wish, most)
        return list(dict.fromkeys(each for pool in levels for each in self.usable(wish.leaf, pool, host)))

    def idle_beside(self, parcel: Parcel) -> Vector:
        """What is idle of a parcel and held for nobody."""
        every = [self.left_of(each, parcel) for each in self.wishes.values()]
        return bound(add(self.resources, self.idle(parcel), *(tuple(min(0, one) for one in some) for some in every)))

    def booked_twice(
        self, need: Vector, first: Mapping[Parcel, Vector], then: Mapping[Parcel, Vector]
    ) -> dict[Parcel, Vector] | None:
        """On what a unit is booked: all that it finds of the first, before any of the rest."""
        books: dict[Parcel, Vector] = {}
        for source in (first, then):
            for parcel, some in source.items():
                part = tuple(min(pair) for pair in zip(need, some, strict=True))
                if any(part):
                    books[parcel] = add(self.resources, part, *([books[parcel]] if parcel in books else []))
                    need = less(need, part)
        return None if any(need) else books

    # Limits

    def has_room_under_limits(self, wish: Wish, books: dict[Parcel, Vector], host: str) -> bool:
        """Whether one more may be on its way."""
        self.coming.append(Coming(wish, host, books))
        found = self.goes_to(wish, host) == OWN or self.is_within_limits(wish)
        self.coming.pop()
        return found

    def is_within_limits(self, wish: Wish) -> bool:
        """Whether all limits hold: what is under notice is gone, what is on its way is there."""
        gone = {notice.unit for notice in self.notices}
        found = True
        for path in self.above(wish.leaf):
            there = [unit.wish for unit in self.units() if unit.pool != OWN and unit not in gone]
            there += [each.wish for each in self.coming if self.goes_to(each.wish, each.host) != OWN]
            used = add(self.resources, *(each.unit for each in there if self.is_below(each.leaf, path)))
            limit = self.limit(path)
            for name, have, need in zip(self.resources, used, wish.unit, strict=True):
                found &= not need or have <= limit.get(name, have)
        return found

    # What is needless

    def withdraw(self) -> None:
        """Notices without which as much comes are withdrawn, the latest deadline first, then the last listed.

        What comes needs what they free and what is held beside it, of what is in the pool in which it counts. A gang
        that stops whole stays noticed whole, or not at all.
        """
        done: set[Unit] = set()
        for notice in sorted(self.notices, key=self.latest, reverse=True):
            wish, mine = notice.taker, self.together(notice)
            units = [each.unit for each in mine]
            fewer = {host: self.comes_without(wish, host, units) for host in {unit.host for unit in units}}
            is_needless = all(left == len(self.coming_to(wish, host)) for host, left in fewer.items())
            if notice.unit not in done and not self.stays_in_part(units) and is_needless:
                self.notices = [each for each in self.notices if each not in mine]
                for host in fewer:
                    self.book_again(wish, host)
            done.update(units)

    def look_again(self) -> None:
        """New notices without which as much comes, nothing of it further out, are not given; the last given first."""
        done: set[Unit] = set()
        for notice in [each for each in reversed(self.notices) if each not in self.told]:
            mine = [each for each in self.together(notice) if each not in self.told]
            units = [each.unit for each in mine]
            if notice in self.notices and notice.unit not in done and not self.stays_in_part(units):
                self.can_do_without(notice.taker, mine)
            done.update(units)

    def can_do_without(self, wish: Wish, mine: list[Notice]) -> None:
        """Drop notices of one request for another, if that gets as much; it comes elsewhere then."""
        before, books = [*self.notices], [(each, each.books) for each in self.coming]
        order = [OWN, *self.pools()]
        stands = {host: len(self.coming_to(wish, host)) for host in self.hosts}
        far = {host: order.index(self.goes_to(wish, host)) for host in self.hosts if stands[host]}
        units = [each.unit for each in mine]
        fewer = {host: self.comes_without(wish, host, units) for host in {unit.host for unit in units}}
        nearest = min((far[host] for host, left in fewer.items() if left < stands[host]), default=0)
        self.notices = [each for each in self.notices if each not in mine]
        for host, left in fewer.items():
            for each in self.coming_to(wish, host)[left:]:
                self.coming.remove(each)
            assert self.book_again(wish, host)
        there = {each.unit.host for each in before if each.taker is wish} | {host for host in stands if stands[host]}
        for host in self.hosts:
            most = min(nearest, far[host]) if self.coming_to(wish, host) else nearest
            while host in there and sum(each.wish is wish for each in self.coming) < sum(stands.values()):
                if not self.comes_within(wish, host, order[: most + 1]):
                    break
        is_less = sum(each.wish is wish for each in self.coming) < sum(stands.values())
        if is_less or not self.is_within_limits(units[0].wish):
            self.notices, self.coming = before, [each for each, _ in books]
            for each, some in books:
                each.books = some

    def comes_within(self, wish: Wish, host: str, pools: list[str]) -> bool:
        """Let one unit more come to a host, if all that come there count in some pools then."""
        before = [(each, each.books) for each in self.coming_to(wish, host)]
        for each, _ in before:
            each.books = {}
        able = any(self.most_in(wish, host, pool) > len(before) for pool in pools if pool in self.levels(wish, PUBLIC))
        for each, books in before:
            each.books = books
        if able:
            self.coming.append(Coming(wish, host, {}))
            assert self.book_again(wish, host)
        return able

    def most_in(self, wish: Wish, host: str, pool: str) -> int:
        """Units of a request that fit into what goes for it and is idle of a pool's part on a host."""
        part = [each for each in self.reach(wish, host, PUBLIC) if self.has(pool, each, wish.leaf)]
        rooms = [add(self.resources, bound(self.left_of(wish, each)), self.idle_beside(each)) for each in part]
        room = add(self.resources, *rooms)
        return min(have // need for have, need in zip(room, wish.unit, strict=True) if need)

    def latest(self, notice: Notice) -> tuple[int, int]:
        return max((each.seconds, self.notices.index(each)) for each in self.together(notice))

    def together(self, notice: Notice) -> list[Notice]:
        """Of a gang that stops whole all notices for the same request."""
        if not self.is_stopped_whole(notice.unit.wish):
            return [notice]
        return [each for each in self.notices if (each.unit.wish, each.taker) == (notice.unit.wish, notice.taker)]

    def is_stopped_whole(self, wish: Wish) -> bool:
        return wish.least > 0 and {each.unit for each in self.notices}.issuperset(wish.units)

    def stays_in_part(self, units: list[Unit]) -> bool:
        """Whether too few of a gang that stops whole would stay."""
        wish = units[0].wish
        return self.is_stopped_whole(wish) and len(units) < min(wish.least, len(wish.units))

    def comes_without(self, wish: Wish, host: str, units: list[Unit]) -> int:
        """Units that still come to a host if some of those that go for them stay."""
        pool, comes = self.goes_to(wish, host), len(self.coming_to(wish, host))
        mine = [each.unit for each in self.notices if each.taker is wish and each.unit.host == host]
        gone = add(self.resources, *(self.reached(wish, unit, pool) for unit in mine))
        needed = tuple(comes * each for each in wish.unit)
        stays = [self.reached(wish, unit, pool) for unit in mine if unit in units]
        left = add(self.resources, less(gone, *stays), bound(less(needed, gone)))
        return min([comes, *(have // need for have, need in zip(left, wish.unit, strict=True) if need)])

    # Measured as in the first sweep, but with what is on its way, and what a pool takes back

    def content(self, pool: str, host: str) -> Vector:
        if not self.retaking or pool == PUBLIC:
            return super().content(pool, host)
        mine = [each for each in self.on(host) if self.has(pool, each)]
        inner = [
            unit for unit in self.units() if unit.pool == OWN or (unit.pool != pool and self.is_below(unit.pool, pool))
        ]
        used = [unit.books[parcel] for unit in inner for parcel in mine if parcel in unit.books]
        return less(add(self.resources, *(each.amounts for each in mine)), *used)


def bound(amounts: Vector) -> Vector:
    """Nothing below 0."""
    return tuple(max(0, each) for each in amounts)


def least_of(one: Vector, other: Vector) -> Vector:
    """The smaller of each."""
    return tuple(min(pair) for pair in zip(one, other, strict=True))


def freed(units: list[Unit], parcel: Parcel) -> list[Vector]:
    return [unit.books[parcel] for unit in units if parcel in unit.books]
