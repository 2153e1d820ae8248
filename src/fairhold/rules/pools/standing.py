"""Share usage, usage demand and usage quota of a pool (S0.20-39, R-USAGE-1 to R-USAGE-3).

A usage is units / capacity. All usages of a pool are whole numbers of one common part of the capacities, so that sums
and comparisons are exact.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import times, total
from fairhold.ledger.pools import OWN
from fairhold.rules.pools.content import capacities, parts, parts_with_lent
from fairhold.rules.pools.siting import most_units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ledger.pools import Asked, PoolBooks, Unit


class Standing:
    """How a pool is used.

    content : what the pool has on all hosts
    size   : request → what one unit of it counts, in common parts; 0 where none fits
    whole  : common parts that are a usage of 1
    usage  : row → what its units in the pool count, those under notice with their holder
    moved  : row → the same as moved: what is under notice is gone, what is on its way is there
    demand, quota : row → what it wants and deserves, empty as long as nobody asked
    waiting : request → units that count as waiting in it; wanted: row → its demand if there were no share limits
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
        self.size: dict[Asked, int] = {each: size[each.unit] for each in self.members}
        self.usage: dict[int, int] = {}
        self.moved: dict[int, int] = {}
        self.held: dict[Asked, int] = {}
        self.quota: dict[int, Fraction] = {}
        self.demand: dict[int, Fraction] = {}
        self._bounds: dict[int, tuple[int, int]] = {}
        """Row → its quota in common parts, rounded down and up."""
        self._weighed: dict[tuple[int, int], Fraction] = {}
        self.waiting: Mapping[Asked, int] = {}
        self.wanted: dict[int, Fraction] = {}
        for asked in self.members:
            here = [unit for unit in asked.units if unit.pool == pool] if asked.units else ()
            if here:
                self.held[asked] = len(here)
                self._count(self.usage, asked, len(here))
                self._count(self.moved, asked, sum(unit.notice is None for unit in here))

    def _count(self, column: dict[int, int], asked: Asked, units: int) -> None:
        size, pool = self.size[asked] * units, self.pool
        for row in self.books.terms.above[asked.leaf]:
            column[row] = column.get(row, 0) + size
            if row == pool:
                break

    def uses(self, asked: Asked, units: int) -> None:
        """Units of a request came into the pool, as far as usages go."""
        self._count(self.usage, asked, units)

    def moves(self, asked: Asked, units: int) -> None:
        """So many units are on their way to a request."""
        self._count(self.moved, asked, units)

    def renew(self, coming: Callable[[Asked], int]) -> None:
        """Count anew as moved; coming: units that are on their way to a request in this pool."""
        self.moved = {}
        for asked in self.members:
            here = sum(unit.notice is None for unit in asked.units if unit.pool == self.pool)
            self._count(self.moved, asked, here + coming(asked))

    def leaves(self, unit: Unit) -> None:
        """A unit was told to go."""
        if unit.pool == self.pool and unit.asked in self.size:
            self._count(self.moved, unit.asked, -1)

    def divide(self, waiting: Mapping[Asked, int]) -> None:
        """Work out demands and quotas (R-USAGE-2, R-USAGE-3).

        waiting : request → units that are on their way to it in this pool, or that it waits for here
        """
        terms = self.books.terms
        if most := most_units(self.books, self.pool, self.members):
            room = {asked: max(0, units - self.held.get(asked, 0)) for asked, units in most.items()}
            waiting = {asked: min(units, room.get(asked, units)) for asked, units in waiting.items()}
        wanted: dict[int, int] = {}
        for asked in self.members:
            want = self._wanted(asked, waiting.get(asked, 0))
            for row in terms.above[asked.leaf]:
                wanted[row] = wanted.get(row, 0) + want
                if row == self.pool or not terms.ratio[row]:  # who takes no part is no need of those above
                    break
        self.waiting, self.wanted = waiting, {row: Fraction(want, self.whole) for row, want in wanted.items()}
        self.demand = _limited(self, self.wanted, waiting)
        self.quota = {self.pool: Fraction(self.usage.get(self.pool, 0), self.whole)}
        self._divide(self.pool)
        parts = {row: (quota.numerator * self.whole, quota.denominator) for row, quota in self.quota.items()}
        self._bounds = {row: (part // over, -(-part // over)) for row, (part, over) in parts.items()}

    def is_above(self, row: int) -> bool:
        """Whether a row uses more than its quota, as moved."""
        return self.moved.get(row, 0) > self._bounds[row][0]

    def is_below(self, row: int) -> bool:
        """Whether a row uses less than its quota, as moved."""
        return self.moved.get(row, 0) < self._bounds[row][1]

    def weighed(self, row: int) -> Fraction:
        """Minus usage / ratio of a row with a ratio, as moved; equal ones are one object, cheap to compare."""
        key = self.moved.get(row, 0), self.books.terms.ratio[row]
        found = self._weighed.get(key)
        if found is None:
            found = self._weighed[key] = Fraction(-key[0], key[1] * self.whole)
        return found

    def _wanted(self, asked: Asked, waiting: int) -> int:
        """Usage demand of a request, in common parts."""
        held, size = self.held.get(asked, 0), self.size[asked]
        return max(held * size, min(self.whole, (held + waiting) * size))

    def _divide(self, row: int) -> None:
        """Share priorities from high to low; inside one by ratio, nobody beyond its demand."""
        terms, left = self.books.terms, self.quota[row]
        children = terms.tree.children[row]
        for priority in sorted({terms.priority[child] for child in children}, reverse=True):
            band = [child for child in children if terms.priority[child] == priority]
            shares, left = _fill(left, band, terms.ratio, self.demand)
            self.quota |= shares
        for child in children:
            if terms.tree.children[child]:
                self._divide(child)


def _fill(
    amount: Fraction, band: list[int], ratio: tuple[int, ...], caps: Mapping[int, Fraction]
) -> tuple[dict[int, Fraction], Fraction]:
    """Shares at the smallest level λ at which min(cap, λ · ratio) is the amount in all, or all caps (SPEC §2).

    With them, what is left of the amount. It is counted in whole numbers of one common part.
    """
    share = dict.fromkeys(band, Fraction(0))
    rest = [child for child in band if ratio[child] and caps.get(child)]
    whole = lcm(amount.denominator, *{caps[child].denominator for child in rest})
    common = lcm(*{ratio[child] for child in rest})
    most = {child: caps[child].numerator * (whole // caps[child].denominator) for child in rest}
    rest.sort(key=lambda child: most[child] * (common // ratio[child]))
    left, weight = amount.numerator * (whole // amount.denominator), sum(ratio[child] for child in rest)
    for at, child in enumerate(rest):
        if most[child] * weight > left * ratio[child]:  # it and all after it are at the level
            level = {part: Fraction(left * part, whole * weight) for part in {ratio[each] for each in rest[at:]}}
            share |= {each: level[ratio[each]] for each in rest[at:]}
            return share, Fraction(0)
        share[child] = caps[child]
        left -= most[child]
        weight -= ratio[child]
    return share, Fraction(left, whole)


def _limited(standing: Standing, wanted: dict[int, Fraction], waiting: Mapping[Asked, int]) -> dict[int, Fraction]:
    """Demands where only units that fit under share limits count; each leaf as if alone (R-LIMIT-2)."""
    terms = standing.books.terms
    if not terms.limit:
        return wanted
    found: dict[int, Fraction] = {}

    def of(row: int, limits: list[tuple[int, ...]]) -> Fraction:
        mine = terms.limit.get(row, ())
        below = [*limits, (row,)] if mine else limits
        children = terms.tree.children[row]
        if children:
            parts = {child: of(child, below) for child in children}
            demand = sum((part for child, part in parts.items() if terms.ratio[child]), Fraction(0))
            if mine:
                demand = min(demand, _under(standing, row, row, waiting))
        else:
            demand = wanted.get(row, Fraction(0))
            for (limited,) in below:
                demand = min(demand, _under(standing, row, limited, waiting))
        found[row] = demand
        return demand

    of(standing.pool, [(row,) for row in terms.above[standing.pool][1:] if row in terms.limit])
    return found


def _under(standing: Standing, row: int, limited: int, waiting: Mapping[Asked, int]) -> Fraction:
    """What of a consumer's demand fits under the limit of a row, its requests taken in their order.

    What it holds takes room first, and before that what it holds in other share pools.
    """
    terms = standing.books.terms
    room = dict(terms.limit[limited])
    mine = [each for each in standing.members if row in terms.above[each.leaf]]
    for asked in mine:
        outside = sum(unit.pool not in {OWN, standing.pool} for unit in asked.units)
        for at in room:
            room[at] -= times(asked.unit, outside)[at]
    line = [each for each in mine if standing.size[each]]
    line.sort(key=lambda each: (terms.position[each.leaf], each.order))
    counted = dict.fromkeys(line, 0)
    for column in (standing.held, waiting):
        for asked in line:
            units = column.get(asked, 0)
            units = min([units, *[max(0, room[at]) // asked.unit[at] for at in room if asked.unit[at]]])
            for at in room:
                room[at] -= units * asked.unit[at]
            counted[asked] += units
    parts = (Fraction(units, standing.capacity[asked.unit]) for asked, units in counted.items())
    return sum((min(Fraction(1), part) for part in parts), Fraction(0))
