"""What pools have, and usage, usage demand and usage quota in each (SPEC §6.4), with nothing under notice, slow."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tests.oracles.filling import fill
from tests.oracles.parcels import OWN, PUBLIC, World, add

if TYPE_CHECKING:
    from tests.oracles.parcels import Vector, Wish


class Pools(World):
    """A world of which every pool can be measured."""

    filled = ""
    """The pool that is being filled: what is idle in it has not been lent up yet."""

    def has_idle(self, pool: str, host: str) -> list[Vector]:
        """What is idle in a pool on a host: lent up to it, and by it no further, unless somebody inside it waits."""
        mine = (each for each in self.on(host) if self.has(pool, each))
        stays = pool == self.filled or self.is_waited_for(pool)
        return [self.idle(each) for each in mine if stays or not self.is_lent_on(pool, each.owner)]

    def is_waited_for(self, pool: str) -> bool:
        return any(len(each.units) < each.count and not self.never_fits(each) for each in self.below(pool))

    def is_lent_on(self, pool: str, owner: str) -> bool:
        """Whether a pool lends up what is idle in it of somebody's parcels: no reserve keeps it inside."""
        return PUBLIC not in {pool, owner} and not self.own(pool).get("reserved")

    def content(self, pool: str, host: str) -> Vector:
        used = (unit.wish.unit for unit in self.units() if unit.pool == pool and unit.host == host)
        return add(self.resources, *used, *self.has_idle(pool, host))

    def capacity(self, pool: str, unit: Vector) -> int:
        """Units of a size that fit, host by host, were the pool free."""
        parts = [self.content(pool, host) for host in self.hosts]
        return sum(min(have // need for need, have in zip(unit, part, strict=True) if need) for part in parts)

    def part(self, units: int, wish: Wish, pool: str) -> Fraction:
        capacity = self.capacity(pool, wish.unit)
        return Fraction(units, capacity) if capacity else Fraction(0)

    def below(self, path: str) -> list[Wish]:
        return [wish for wish in self.wishes.values() if self.is_below(wish.leaf, path)]

    def usage(self, path: str, pool: str) -> Fraction:
        return sum((self.part(self.held(wish, pool), wish, pool) for wish in self.below(path)), Fraction(0))

    def held(self, wish: Wish, pool: str) -> int:
        return sum(unit.pool == pool for unit in wish.units)

    def demand(self, path: str, pool: str) -> Fraction:
        """Of one that takes part: without those below it that do not; under limits what fits, each leaf as if alone."""
        if children := self.children(path):
            found = sum((self.demand(child, pool) for child in children if self.ratio(child)), Fraction(0))
            bounds = [path] if self.limit(path) else []
        else:
            found = sum((self.demand_of(wish, pool) for wish in self.below(path)), Fraction(0))
            bounds = [each for each in self.above(path) if self.limit(each)]
        return min(found, self.under(path, bounds, pool)) if bounds else found

    def limit(self, path: str) -> dict[str, int]:
        found: dict[str, int] = self.words.get(path, {}).get("share_limit", {})
        return found

    def under(self, path: str, bounds: list[str], pool: str) -> Fraction:
        """What somebody wants of a pool that fits under limits: outside first, then what is held, then what waits.

        Every unit has to fit under all limits from its leaf up that are inside, and under those told.
        """
        line = sorted(self.below(path), key=lambda wish: (self.place(wish.leaf), wish.order))
        room = {each: dict(self.limit(each)) for each in (*self.words, *bounds) if self.limit(each)}
        counted = dict.fromkeys(line, 0)

        def count(wish: Wish, units: int, *, is_all: bool = False) -> int:
            need = dict(zip(self.resources, wish.unit, strict=True))
            mine = [each for each in self.above(wish.leaf) if self.is_below(each, path) or each in bounds]
            left = [room[each] for each in mine if each in room]
            fits = [max(0, each[name]) // need[name] for each in left for name in each if need[name]]
            units = units if is_all else min([units, *fits])
            for each in left:
                for name in each:
                    each[name] -= units * need[name]
            return units

        for wish in line:
            count(wish, sum(unit.pool not in {OWN, pool} for unit in wish.units), is_all=True)
        line = [wish for wish in line if self.capacity(pool, wish.unit)]
        for wish in line:
            counted[wish] += count(wish, self.held(wish, pool))
        line = [wish for wish in line if self.takes_part(wish.leaf, path)]
        for wish in line:
            counted[wish] += count(wish, self.waits_in(wish, pool))
        return sum((min(Fraction(1), self.part(counted[wish], wish, pool)) for wish in line), Fraction(0))

    def waits_in(self, wish: Wish, pool: str) -> int:  # noqa: ARG002 - nothing is on its way to a pool yet
        """Units that a request waits for in a pool, or that are on their way to it there."""
        return 0 if self.never_fits(wish) else max(0, wish.count - len(wish.units))

    def demand_of(self, wish: Wish, pool: str) -> Fraction:
        held = self.held(wish, pool)
        wanted = held + self.waits_in(wish, pool)
        return max(self.part(held, wish, pool), min(Fraction(1), self.part(wanted, wish, pool)))

    def takes_part(self, path: str, above: str) -> bool:
        """Whether nobody from below `above` down to a consumer has ratio 0."""
        return all(self.ratio(up) for up in self.above(path) if up != above and self.is_below(up, above))

    def priority(self, path: str) -> int:
        found: int = self.words[path].get("share_priority", 0)
        return found

    def ratio(self, path: str) -> int:
        found: int = self.words[path].get("share_ratio", 1)
        return found

    def quotas(self, pool: str) -> dict[str, Fraction]:
        """Everybody's, from the pool's owner down: priorities from high to low, inside one filled by ratio."""
        found = {pool: self.usage(pool, pool)}
        for path in [pool, *(each for each in self.tree if each != pool and self.is_below(each, pool))]:
            left, children = found[path], self.children(path)
            for priority in sorted({self.priority(child) for child in children}, reverse=True):
                band = [child for child in children if self.priority(child) == priority]
                ratios = [self.ratio(child) for child in band]
                caps = [self.demand(child, pool) if self.ratio(child) else 0 for child in band]
                found |= zip(band, fill(left, ratios, [0] * len(band), caps), strict=True)
                left -= sum(found[child] for child in band)
        return found

    # Gangs that can never start wait for nothing (R-GANG-2)

    def never_fits(self, wish: Wish) -> bool:
        missing = wish.least - len(wish.units)
        levels = [pool for pool in self.pools() if self.is_below(wish.leaf, pool) and self.takes_part(wish.leaf, pool)]
        own = self.room(wish, OWN)
        return missing > own and not any(
            missing <= self.room(wish, pool) and missing - self.room_of_own(wish, pool) <= self.allowed(wish)
            for pool in levels
        )

    def room(self, wish: Wish, pool: str) -> int:
        """Units for which a level would have room, were all hosts empty."""
        parts = [self.usable(wish.leaf, pool, host) for host in self.hosts]
        return sum(self.fitting(wish, [parcel.amounts for parcel in part]) for part in parts)

    def room_of_own(self, wish: Wish, pool: str) -> int:
        """Those of them that would stand on the leaf's own."""
        parts = [self.usable(wish.leaf, pool, host) for host in self.hosts]
        return sum(self.fitting(wish, [each.amounts for each in part if each.owner == wish.leaf]) for part in parts)

    def fitting(self, wish: Wish, amounts: list[Vector]) -> int:
        have = add(self.resources, *amounts)
        return min(some // need for some, need in zip(have, wish.unit, strict=True) if need)

    def allowed(self, wish: Wish) -> int:
        """Units that share limits allow beside what the request holds itself."""
        held = sum(unit.pool != OWN for unit in wish.units)
        limits = [self.words[path].get("share_limit", {}) for path in self.above(wish.leaf)]
        return min(
            (
                limit[name] // need - held
                for limit in limits
                for name, need in zip(self.resources, wish.unit, strict=True)
                if need and name in limit
            ),
            default=wish.count,
        )
