"""Share usage, usage demand and usage quota of a pool (S0.20-39, R-USAGE-1 to R-USAGE-3).

A usage is units / capacity. All usages of a pool are whole numbers of one common part of the capacities, so that sums
and comparisons are exact.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import times, total
from fairhold.rules.pools.content import capacities, parts, parts_with_lent
from fairhold.rules.pools.demands import limited
from fairhold.rules.pools.siting import most_units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit

    Part = tuple[int, int]
    """A fraction of common parts: so many, over so many."""


class Standing:
    """The usages of a pool.

    content : what the pool has on all hosts
    size   : request → what one unit of it counts, in common parts; 0 where none fits
    whole  : common parts that are a usage of 1
    usage  : row → usage by its units in the pool; units under notice count for their holder
    moved  : row → the same after all moves: without units under notice, with units on their way
    held   : request → units that it has in the pool; holders: leaf → its requests that have any
    waiting : request → units that count as waiting in it
    is_divided : whether demands and quotas have been worked out
    """

    def __init__(self, books: PoolBooks, pool: int, *, with_lent: bool = False) -> None:
        """with_lent: what the pool lent up counts as its own, as while it takes that back."""
        terms = books.terms
        self.books, self.pool = books, pool
        self.members = [each for leaf in terms.leaves if pool in terms.above[leaf] for each in books.by_leaf[leaf]]
        have = Counter(parts_with_lent(books, pool) if with_lent else parts(books, pool))
        self.content = total((times(part, hosts) for part, hosts in have.items()), terms.dimensions)
        self.capacity = capacities(have, [each.unit for each in self.members])
        self.whole = lcm(*[each for each in self.capacity.values() if each]) if self.capacity else 1
        size = {unit: self.whole // fit if fit else 0 for unit, fit in self.capacity.items()}
        self.size: dict[PendingRequest, int] = {each: size[each.unit] for each in self.members}
        self.usage: dict[int, int] = {}
        self.moved: dict[int, int] = {}
        self.held: dict[PendingRequest, int] = {}
        self.holders: dict[int, list[PendingRequest]] = {}
        self.waiting: Mapping[PendingRequest, int] = {}
        self.is_divided = False
        self._wanted: dict[int, int] = {}
        """Row → its demand in common parts if there were no share limits; _demand: the same under them."""
        self._demand: dict[int, int] = {}
        self._shares: dict[int, Part] | None = {}
        """Row → its quota in common parts; None = it is not worked out yet."""
        self._weighed: dict[tuple[int, int], Fraction] = {}
        used: dict[int, int] = {}
        moved: dict[int, int] = {}
        for asked in self.members:
            if not asked.units and not asked.away:
                continue
            held = stays = asked.away_in.get(pool, 0)
            for unit in asked.units:
                if unit.pool == pool:
                    held += 1
                    stays += unit.notice is None
            if held:
                self.held[asked] = held
                leaf, common = asked.leaf, self.size[asked]
                self.holders.setdefault(leaf, []).append(asked)
                used[leaf] = used.get(leaf, 0) + common * held
                moved[leaf] = moved.get(leaf, 0) + common * stays
        self._add_up(used, self.usage)
        self._add_up(moved, self.moved)

    def _add_up(self, of_leaf: Mapping[int, int], column: dict[int, int]) -> None:
        """Add the usage of leaves to all rows from them up to the pool."""
        above, pool = self.books.terms.above, self.pool
        for leaf, used in of_leaf.items():
            for row in above[leaf]:
                column[row] = column.get(row, 0) + used
                if row == pool:
                    break

    def _count(self, column: dict[int, int], asked: PendingRequest, units: int) -> None:
        size, pool = self.size[asked] * units, self.pool
        for row in self.books.terms.above[asked.leaf]:
            column[row] = column.get(row, 0) + size
            if row == pool:
                break

    def moves(self, asked: PendingRequest, units: int) -> None:
        """So many units are on their way to a request."""
        self._count(self.moved, asked, units)

    def renew(self, coming: Callable[[PendingRequest], int]) -> None:
        """Count anew as moved; coming: units that are on their way to a request in this pool."""
        self.moved = {}
        for asked in self.members:
            units = sum([unit.notice is None for unit in asked.units if unit.pool == self.pool])
            units += asked.away_in.get(self.pool, 0) + coming(asked)
            if units:
                self._count(self.moved, asked, units)

    def leaves(self, unit: Unit) -> None:
        """A unit was told to go."""
        if unit.pool == self.pool and unit.asked in self.size:
            self._count(self.moved, unit.asked, -1)

    def divide(self, waiting: Mapping[PendingRequest, int]) -> None:
        """Compute demands and quotas (R-USAGE-2, R-USAGE-3); values that are not needed are computed later.

        waiting : request → units that are on their way to it in this pool, or that it waits for here
        """
        terms, pool, whole = self.books.terms, self.pool, self.whole
        if most := most_units(self.books, pool, self.members):
            room = {asked: max(0, units - self.held.get(asked, 0)) for asked, units in most.items()}
            waiting = {asked: min(units, room.get(asked, units)) for asked, units in waiting.items()}
        of_leaf: dict[int, int] = {}
        backlog = self.books.backlog.of
        for asked in self.members:
            held, coming = self.held.get(asked, 0), waiting.get(asked, 0)
            if held or coming:
                size = self.size[asked]
                want = max(held * size, min(whole, (held + coming) * size))
                if asked in backlog:
                    want *= 1 + backlog[asked]
                of_leaf[asked.leaf] = of_leaf.get(asked.leaf, 0) + want
        wanted: dict[int, int] = {}
        for leaf, want in of_leaf.items():
            for row in terms.above[leaf]:
                wanted[row] = wanted.get(row, 0) + want
                if row == pool or not terms.ratio[row]:  # who takes no part is no need of those above
                    break
        self.is_divided, self.waiting, self._wanted = True, waiting, wanted
        self._demand = limited(self, wanted, waiting)
        self._shares = None
        for name in ("wanted", "demand", "quota"):
            self.__dict__.pop(name, None)

    @cached_property
    def wanted(self) -> dict[int, Fraction]:
        """Row → its usage demand without share limits; empty before `divide`."""
        return self._as_usage(self._wanted)

    @cached_property
    def demand(self) -> dict[int, Fraction]:
        """Row → its usage demand; empty before `divide`."""
        return self._as_usage(self._demand)

    @cached_property
    def quota(self) -> dict[int, Fraction]:
        """Row → its usage quota; empty before `divide`."""
        return {row: Fraction(part, over * self.whole) for row, (part, over) in self._parts().items()}

    def _as_usage(self, column: Mapping[int, int]) -> dict[int, Fraction]:
        return {row: Fraction(parts, self.whole) for row, parts in column.items()}

    def _parts(self) -> dict[int, Part]:
        """Row → its quota in common parts."""
        if self._shares is None:
            self._shares = {self.pool: (self.usage.get(self.pool, 0), 1)}
            self._divide(self.pool, self._shares)
        return self._shares

    def is_above(self, row: int) -> bool:
        """Whether a row uses more than its quota, as moved."""
        part, over = self._parts()[row]
        return self.moved.get(row, 0) * over > part

    def is_below(self, row: int, usage: int | None = None) -> bool:
        """Whether a row uses less than its quota, as moved.

        usage : common parts in place of what it uses
        """
        part, over = self._parts()[row]
        return (self.moved.get(row, 0) if usage is None else usage) * over < part

    def weighed(self, row: int) -> Fraction:
        """Minus usage / ratio of a row with a ratio, as moved; equal ones are one object, cheap to compare."""
        key = self.moved.get(row, 0), self.books.terms.ratio[row]
        found = self._weighed.get(key)
        if found is None:
            found = self._weighed[key] = Fraction(-key[0], key[1] * self.whole)
        return found

    def _divide(self, row: int, found: dict[int, Part]) -> None:
        """Share priorities from high to low; inside one by ratio, no consumer beyond its demand."""
        terms, left = self.books.terms, found[row]
        children = terms.tree.children[row]
        for priority in sorted({terms.priority[child] for child in children}, reverse=True):
            band = [child for child in children if terms.priority[child] == priority]
            left = _fill(left, band, terms.ratio, self._demand, found)
        for child in children:
            if terms.tree.children[child]:
                self._divide(child, found)


def _fill(
    amount: Part, band: list[int], ratio: tuple[int, ...], caps: Mapping[int, int], found: dict[int, Part]
) -> Part:
    """Shares at the smallest level λ at which min(cap, λ · ratio) is the amount in all, or all caps (SPEC §2).

    What is left of the amount.

    found : row → its share, filled in
    """
    left, over = amount
    for child in band:
        found[child] = 0, 1
    rest = [child for child in band if ratio[child] and caps.get(child)]
    common = lcm(*{ratio[child] for child in rest})
    rest.sort(key=lambda child: caps[child] * (common // ratio[child]))
    weight = sum([ratio[child] for child in rest])
    for at, child in enumerate(rest):
        most = caps[child] * over
        if most * weight > left * ratio[child]:  # it and all after it are at the level
            level = {each: reduced(left * each, over * weight) for each in {ratio[other] for other in rest[at:]}}
            for other in rest[at:]:
                found[other] = level[ratio[other]]
            return 0, 1
        found[child] = caps[child], 1
        left -= most
        weight -= ratio[child]
    return left, over


def reduced(part: int, over: int) -> Part:
    """A fraction in lowest terms."""
    common = gcd(part, over)
    return part // common, over // common
