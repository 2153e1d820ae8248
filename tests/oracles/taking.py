"""The second sweep of vector plans: who takes which units from whom (SPEC §6.2, §6.6), all parts tried, slow.

Begins where nothing is under notice. No gangs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tests.oracles.parcels import OWN, PUBLIC, add, less
from tests.oracles.sweeping import FirstSweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.oracles.parcels import Parcel, Unit, Vector, Wish

ENDLESS = Fraction(10**9)


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


class Take(NamedTuple):
    """What a unit would take on one host, and how over-used each victim was when it was picked."""

    host: str
    victims: list[Unit]
    overuse: list[list[Fraction]]


class SecondSweep(FirstSweep):
    """Notices are in `notices`, in the order given."""

    is_in_vain = False
    """Whether something was to go that the first sweep had placed: it is not placed then (R-SWEEP-3)."""

    quota: Mapping[str, Fraction] = MappingProxyType({})
    """Of the pool inside which it is compared; empty where owners and private pools take back."""
    retaking = False
    """Whether a private pool takes back: what it lent up counts in its capacity then."""

    def reclaim(self) -> None:
        """All levels until nobody takes anything; then what is needless is withdrawn, and all of it again."""
        self.notices: list[Notice] = []
        self.coming: list[Coming] = []
        before: list[Notice] | None = None
        while before != self.notices:
            before = [*self.notices]
            self.take_all()
            self.withdraw()

    def take_all(self) -> None:
        """Owners, private pools from below, the public pool; again, until nobody takes anything."""
        before = -1
        while before != len(self.notices):
            before = len(self.notices)
            for leaf in sorted(self.leaves(), key=self.place):
                while self.take_for(leaf, OWN):
                    pass
            for pool in self.pools():
                self.retaking = True
                self.in_turns(pool)
                self.retaking = False
                self.quota = self.quotas(pool)
                self.in_turns(pool)
                self.quota = {}

    def withdraw(self) -> None:
        """Notices without which as much comes are withdrawn, the latest deadline first, then the last listed.

        What comes needs what they free and what is held beside it, whosever parcels of the host that is of.
        """
        for _, notice in sorted(enumerate(self.notices), key=lambda each: (-each[1].seconds, -each[0])):
            wish, host = notice.taker, notice.unit.host
            comes = [each for each in self.coming if each.wish is wish and each.host == host]
            mine = [each.unit for each in self.notices if each.taker is wish and each.unit.host == host]
            gone = add(self.resources, *(self.reached(wish, unit) for unit in mine))
            needed = add(self.resources, *(wish.unit for _ in comes))
            left = add(self.resources, less(gone, self.reached(wish, notice.unit)), bound(less(needed, gone)))
            if not any(bound(less(needed, left))):
                self.notices = [each for each in self.notices if each is not notice]
                self.book_again(wish, host)

    def book_again(self, wish: Wish, host: str) -> None:
        """What is on its way stands on what those that still go leave, in the nearest pool that has enough."""
        come = [each for each in self.coming if each.wish is wish and each.host == host]
        pools = [pool for pool in self.pools() if self.is_below(wish.leaf, pool) and self.takes_part(wish.leaf, pool)]
        for pool in (OWN, *pools):
            for each in come:
                each.books = {}
            for each in come:
                usable = self.usable(wish.leaf, pool, host)
                freed_first = [(parcel, bound(self.left_of(wish, parcel))) for parcel in usable]
                idle_then = [(parcel, bound(self.idle_for(wish, parcel, pool))) for parcel in usable]
                books = self.booked(wish.unit, freed_first) or self.booked(wish.unit, idle_then)
                if books is None:
                    break
                each.books = books
            else:
                return

    def reached(self, wish: Wish, unit: Unit) -> Vector:
        """What a unit uses of parcels that the taker may use in any pool."""
        pools = [pool for pool in self.pools() if self.is_below(wish.leaf, pool)]
        way = [OWN, *(pool for pool in pools if self.takes_part(wish.leaf, pool))]
        among = {each for pool in way for each in self.usable(wish.leaf, pool, unit.host)}
        return add(self.resources, *(part for parcel, part in unit.books.items() if parcel in among))

    # Who takes

    def in_turns(self, pool: str) -> None:
        """After every take all that wait are asked again."""
        open_: list[str] = []
        while True:
            open_ = open_ or [leaf for leaf in self.leaves(pool) if self.takes_part(leaf, pool) and self.waits(leaf)]
            leaf = self.turn(pool, open_, self.moved)
            if not leaf:
                return
            if self.take_for(leaf, pool):
                open_ = []
            else:
                open_.remove(leaf)
                if not open_:
                    return

    def waits(self, leaf: str) -> bool:
        return any(self.waiting(wish) for wish in self.wishes_of(leaf))

    def waiting(self, wish: Wish) -> int:
        return max(0, wish.count - len(wish.units) - sum(each.wish is wish for each in self.coming))

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

    # What may go

    def may_go(self, wish: Wish, pool: str, unit: Unit, picked: list[Unit]) -> bool:
        """Whether a unit may be taken for a request in a pool, after some others."""
        if wish.leaf == unit.wish.leaf:
            return False
        return self.is_owed(unit, pool, wish.leaf) if not self.quota else self.is_above(wish, pool, unit, picked)

    def is_owed(self, unit: Unit, pool: str, leaf: str) -> bool:
        """A unit of an outer pool on what a leaf owns, or a private pool lent up; not one of its own descendants'."""
        owner = leaf if pool == OWN else pool
        lent = [each for each in unit.books if self.has(pool, each, leaf)]
        inner = unit.pool == OWN or self.is_below(unit.pool, owner)
        return bool(lent) and not inner and not self.is_below(unit.wish.leaf, owner)

    def is_above(self, wish: Wish, pool: str, unit: Unit, picked: list[Unit]) -> bool:
        """A unit of the pool: the taker's sibling is below its quota, those from the giver's down are above theirs."""
        if unit.pool != pool:
            return False
        taker, giver, *below = self.siblings(wish, unit)
        is_short = self.moved(taker, pool) < self.quota[taker]
        return is_short and all(self.moved(path, pool, picked) > self.quota[path] for path in (giver, *below))

    def siblings(self, wish: Wish, unit: Unit) -> list[str]:
        """Below the lowest common ancestor that of the taker, then that of the giver and all from there down."""
        mine, theirs = self.way(wish.leaf, unit.pool), self.way(unit.wish.leaf, unit.pool)
        level = next(at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1])
        return [mine[level], *theirs[level:]]

    def is_fair(self, wish: Wish, pool: str, take: Take) -> bool:
        """After the take, of equal priority, no giver has less than the taker, by ratio; ratio 0 has too much.

        The unit counts in the pool; so it must be, too, where all that is on its way to the host counts elsewhere.
        """
        noticed, coming = len(self.notices), len(self.coming)
        more = self.part(1, wish, pool)
        counted = [self.moved(self.siblings(wish, unit)[0], pool, take.victims) + more for unit in take.victims]
        self.give_notice(wish, pool, take, 1)
        found = True
        for unit, then in zip(take.victims, counted, strict=True):
            taker, giver, *_ = self.siblings(wish, unit)
            if self.priority(taker) <= self.priority(giver) and self.ratio(giver):
                mine = max(then, self.moved(taker, pool)) / self.ratio(taker)
                found &= self.moved(giver, pool) / self.ratio(giver) >= mine
        del self.notices[noticed:], self.coming[coming:]
        return found

    def keeps_limits(self, wish: Wish, pool: str, take: Take) -> bool:
        """Whether no share limit is broken when the victims are gone and one unit comes."""
        noticed, coming = len(self.notices), len(self.coming)
        self.give_notice(wish, pool, take, 1)
        found = len(self.coming) > coming
        del self.notices[noticed:], self.coming[coming:]
        return found

    def has_room_under_limits(self, wish: Wish, books: dict[Parcel, Vector], host: str) -> bool:
        """Whether one more may be on its way: what is under notice is gone, what is on its way is there."""
        self.coming.append(Coming(wish, host, books))
        is_own = self.goes_to(wish, host) == OWN
        gone = {notice.unit for notice in self.notices}
        found = True
        for path in self.above(wish.leaf) if not is_own else ():
            there = [unit.wish for unit in self.units() if unit.pool != OWN and unit not in gone]
            there += [each.wish for each in self.coming if self.goes_to(each.wish, each.host) != OWN]
            used = add(self.resources, *(each.unit for each in there if self.is_below(each.leaf, path)))
            limit = self.limit(path)
            for name, have, need in zip(self.resources, used, wish.unit, strict=True):
                found &= not need or have <= limit.get(name, have)
        self.coming.pop()
        return found

    def way(self, leaf: str, pool: str) -> list[str]:
        """From below a pool's owner down to a leaf."""
        return [path for path in reversed(self.above(leaf)) if path != pool and self.is_below(path, pool)]

    # Which units

    def take_for(self, leaf: str, pool: str) -> bool:
        """One unit of the first request that may take it, on the best part."""
        for wish in self.wishes_of(leaf):
            takes = [self.on_part(wish, pool, host) for host in self.hosts] if self.waiting(wish) else []
            found = [take for take in takes if take and (not self.quota or self.is_fair(wish, pool, take))]
            found = [take for take in found if self.keeps_limits(wish, pool, take)]
            if found:
                best = found[0]
                for take in found[1:]:
                    best = take if self.is_better(take, best) else best
                self.is_in_vain |= any(unit in self.placed for unit in best.victims)
                self.give_notice(wish, pool, best, self.waiting(wish))
                return True
        return False

    def on_part(self, wish: Wish, pool: str, host: str) -> Take | None:
        """Units in victim order until it fits; then those not needed are given back, the last picked first."""
        picked: list[Unit] = []
        overuse: list[list[Fraction]] = []
        noticed = {notice.unit for notice in self.notices}
        while self.stands_on(wish, pool, host, picked) is None:
            on_host = [
                unit for unit in self.units() if unit.host == host and unit not in noticed and unit not in picked
            ]
            helps = set(self.usable(wish.leaf, pool, host)).intersection
            on_host = [unit for unit in on_host if helps(unit.books)]
            able = [unit for unit in on_host if self.may_go(wish, pool, unit, picked)]
            if not able:
                return None
            unit = self.first_victim(able, picked)
            overuse.append(self.overuse(unit, picked))
            picked.append(unit)
        for unit in reversed(picked[:]):
            rest = [each for each in picked if each is not unit]
            if self.stands_on(wish, pool, host, rest) is not None:
                del overuse[picked.index(unit)]
                picked = rest
        return Take(host, picked, overuse) if picked else None

    def stands_on(
        self, wish: Wish, pool: str, host: str, victims: list[Unit], *, more: bool = False
    ) -> dict[Parcel, Vector] | None:
        """On what one more unit would stand: what is idle for it, what its notices free, and what victims free.

        An owner takes for a unit that stands on its own; more: what comes of itself then may stand on anything.
        """
        usable = self.usable(wish.leaf, pool, host)
        free = [(each, add(self.resources, self.idle_for(wish, each, pool), *freed(victims, each))) for each in usable]
        outer = [
            each
            for level in self.pools()
            if self.is_below(wish.leaf, level) and self.takes_part(wish.leaf, level)
            for each in self.usable(wish.leaf, level, host)
        ]
        if pool != OWN or more or self.goes_to(wish, host) != OWN:
            free += [(each, self.left_of(wish, each)) for each in dict.fromkeys(outer) if each not in usable]
        return self.booked(wish.unit, [(each, bound(some)) for each, some in free])

    def idle_for(self, wish: Wish, parcel: Parcel, pool: str) -> Vector:
        """What is idle, less what is held of it for others; and what its own notices leave.

        Where it is compared, what a private pool has lent up is not its own.
        """
        if self.quota and self.is_lent_on(pool, parcel.owner):
            return self.left_of(wish, parcel)
        others = [self.left_of(other, parcel) for other in self.wishes.values() if other is not wish]
        held = [tuple(min(0, one) for one in some) for some in others]
        return add(self.resources, self.idle(parcel), self.left_of(wish, parcel), *held)

    def left_of(self, wish: Wish, parcel: Parcel) -> Vector:
        """What notices for a request free of a parcel beyond what is coming; below 0 what is held of what is idle."""
        gone = freed([each.unit for each in self.notices if each.taker is wish], parcel)
        needed = [each.books[parcel] for each in self.coming if each.wish is wish and parcel in each.books]
        return less(add(self.resources, *gone), *needed)

    def give_notice(self, wish: Wish, pool: str, take: Take, most: int) -> None:
        """The victims go; what they free and what is idle brings as many units as fit."""
        for unit in take.victims:
            bounds = [most for parcel in unit.books for most in self.bounds(parcel, unit.wish.leaf, unit.pool)]
            self.notices.append(Notice(unit, wish, min([self.grace(unit.wish.leaf), *bounds])))
        most += len(self.coming)
        while len(self.coming) < most and (books := self.stands_on(wish, pool, take.host, [], more=True)) is not None:
            if not self.has_room_under_limits(wish, books, take.host):
                return
            self.coming.append(Coming(wish, take.host, books))

    # Victim order

    def first_victim(self, able: list[Unit], picked: list[Unit]) -> Unit:
        """Of the outermost pool; lowest priority, largest usage / ratio, last in plan order; then by `victims`."""
        pool = next(each for each in reversed(self.pools()) if any(unit.pool == each for unit in able))
        able, path = [unit for unit in able if unit.pool == pool], pool
        while children := [
            each for each in self.children(path) if any(self.is_below(unit.wish.leaf, each) for unit in able)
        ]:
            path = max(children, key=lambda each: (*self.surplus(each, pool, picked), self.tree.index(each)))
        able = [unit for unit in able if unit.wish.leaf == path]
        return max(
            able,
            key=lambda unit: (*self.youth(unit), list(self.wishes).index(unit.wish.id), unit.wish.units.index(unit)),
        )

    def surplus(self, path: str, pool: str, picked: list[Unit]) -> tuple[int, Fraction]:
        used = self.moved(path, pool, picked)
        return -self.priority(path), used / self.ratio(path) if self.ratio(path) else ENDLESS

    def overuse(self, unit: Unit, picked: list[Unit]) -> list[Fraction]:
        """The outermost pool first; then level by level the share priority and usage / ratio."""
        found = [Fraction(self.pools().index(unit.pool))]
        for path in self.way(unit.wish.leaf, unit.pool):
            found += [Fraction(each) for each in self.surplus(path, unit.pool, picked)]
        return found

    def youth(self, unit: Unit) -> tuple[str | float, ...]:
        """Larger goes first."""
        priority, submitted, _ = unit.wish.order
        young = int(submitted[14:16]), instant(unit.started or self.now)
        way = self.settings.get("victims", "youngest")
        return (-young[0], -young[1]) if way == "oldest" else young if way == "youngest" else (priority, *young)

    def is_better(self, take: Take, other: Take) -> bool:
        for mine, theirs in zip(take.overuse, other.overuse, strict=False):
            for a, b in zip(mine, theirs, strict=False):
                if a != b:
                    return a > b
        if len(take.victims) != len(other.victims):
            return len(take.victims) < len(other.victims)
        return [self.youth(unit) for unit in take.victims] > [self.youth(unit) for unit in other.victims]

    # Measured as in the first sweep, but with what is on its way, and what a pool takes back

    def waits_in(self, wish: Wish, pool: str) -> int:
        """What waits, and what is on its way to the pool."""
        there = sum(each.wish is wish and self.goes_to(wish, each.host) == pool for each in self.coming)
        return self.waiting(wish) + there

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


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def freed(units: list[Unit], parcel: Parcel) -> list[Vector]:
    return [unit.books[parcel] for unit in units if parcel in unit.books]
