"""One filling over all leaves of a tree, limits of branches included (R-SHARE-3).

The level λ rises from 0. A leaf gets λ · weight, up to its cap. When the leaves of a branch together reach its limit,
the branch is *frozen*: its leaves get no more. Weights are products down a path and have no common denominator of a
reasonable size, so every weight keeps its own. Exact sums are made up the tree, where a whole subtree that still rises
counts 1. An order is first found with fixed-point numbers and then confirmed exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.amounts import Amounts, path_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.kernels.columns import TreeColumns

    Part = int | Fraction
    """Part of a subtree's weight."""

_POINT = 64
"""Binary places of a level that is only compared."""
_WEIGHT_POINT = 128
"""Binary places of a weight that is only summed."""


class Stop(NamedTuple):
    """Where a leaf, or all that still rises in a frozen branch, stops: at `units`, with weight num/den.

    key : the level units · den / num in fixed point, rounded down
    """

    key: int
    row: int
    units: int
    num: int
    den: int


def fill_leaves(
    tree: TreeColumns,
    place: Sequence[int],
    size: Sequence[int],
    slots: int,
    ratio: Sequence[int],
    cap: Sequence[int],
    limit: Sequence[int],
) -> Amounts:
    """Fill `slots` over all leaves by the product of the normalised ratios on their paths, up to their caps.

    place, size : (rows,) place in path order, rows in the subtree
    ratio : (rows,) whole numbers; 0 takes no part
    cap   : (rows,) the most that a leaf takes; 0 where it takes no part
    limit : (rows,) the most that a branch takes
    """
    filling = _Filling(tree, place, size, ratio, cap)
    wanted = list(cap)
    stops: dict[int, list[Stop]] = {}
    for row in range(len(tree.parent) - 1, 0, -1):
        if tree.first[row] < tree.end[row]:
            wanted[row] = tree.total(wanted, row)
            if limit[row] < min(wanted[row], slots):  # a larger one is never met
                wanted[row] = limit[row]
                stops[row] = filling.freeze(row, limit[row], stops)
    top = filling.stops_inside(0, stops)
    level = filling.solve(0, slots, top)
    return filling.amounts(level[0] if level else None, limit)


class _Filling:
    """The numbers of one filling.

    num, den : (rows,) weights
    part     : (rows,) part of the weight that rises at the level in question, as far as it was asked for
    frozen   : branch → the level at which it is frozen
    until    : branch → rows of the stops inside that rise until then, and their part of its weight
    """

    def __init__(
        self,
        tree: TreeColumns,
        place: Sequence[int],
        size: Sequence[int],
        ratio: Sequence[int],
        cap: Sequence[int],
    ) -> None:
        self.tree, self.place, self.size, self.ratio, self.cap = tree, place, size, ratio, cap
        self.num, self.den = path_weights(tree, ratio)
        self.part: list[Part] = [0] * len(place)
        self.frozen: dict[int, Fraction] = {}
        self.until: dict[int, tuple[list[int], Part]] = {}

    def freeze(self, branch: int, limit: int, below: dict[int, list[Stop]]) -> list[Stop]:
        """Find where a branch meets its limit; returns its stops, those of what is frozen inside made one."""
        stops = self.stops_inside(branch, below)
        found = self.solve(branch, limit, stops)
        if found is None:
            return stops
        level, first = found
        self.frozen[branch] = level
        self.until[branch] = [stop.row for stop in stops[first:]], self.part[branch]
        weight = Fraction(self.num[branch], self.den[branch]) * self.part[branch]
        units = limit - sum(stop.units for stop in stops[:first])
        return [*stops[:first], _stop(branch, units, weight.numerator, weight.denominator)]

    def stops_inside(self, branch: int, below: dict[int, list[Stop]]) -> list[Stop]:
        """The stops of a subtree in the order of their levels; those in `below` are used up."""
        found: list[Stop] = []
        tree, at, end = self.tree, self.place[branch] + 1, self.place[branch] + self.size[branch]
        while at < end:
            row = tree.path[at]
            inside = below.pop(row, None)
            if inside is not None:
                found += inside
                at += self.size[row]
                continue
            if self.cap[row] > 0 and tree.first[row] == tree.end[row]:
                found.append(_stop(row, self.cap[row], self.num[row], self.den[row]))
            at += 1
        found.sort()
        _sort_ties(found)
        return found

    def solve(self, branch: int, units: int, stops: list[Stop]) -> tuple[Fraction, int] | None:
        """The level at which a subtree has `units` in all, and the first stop that is not passed; None: never.

        `part` of the subtree is that of the level afterwards.
        """
        below = [0, *accumulate(stop.units for stop in stops)]
        if below[-1] <= units:
            return None

        def level(first: int) -> Fraction:
            """The level if exactly the stops before `first` were passed."""
            self.sum_up(branch, stops[first:])
            weight = Fraction(self.num[branch], self.den[branch]) * self.part[branch]
            return (units - below[first]) / weight

        def is_high_enough(first: int) -> bool:
            return not _passes(level(first), stops[first])

        guess = _guess(units, stops, below)
        found = level(guess)
        if _passes(found, stops[guess]) or (guess and not _passes_or_meets(found, stops[guess - 1])):
            guess = bisect_left(range(len(stops)), x=True, key=is_high_enough)
            found = level(guess)
        return found, guess

    def sum_up(self, branch: int, stops: list[Stop]) -> None:
        """Set `part` of a subtree, where only the leaves of `stops` rise."""
        tree, part = self.tree, self.part
        rising = self.opened([stop.row for stop in stops])
        above = {branch}
        for row in rising:
            up = tree.parent[row]
            while up not in above:
                above.add(up)
                up = tree.parent[up]
        for row in above:
            for child in tree.children(row):
                part[child] = 0
        for row in rising:
            part[row] = self.until[row][1] if row in self.until else 1
        for row in sorted(above, reverse=True):
            part[row] = self.part_of(row)

    def part_of(self, branch: int) -> Part:
        """Part of a branch's weight that rises, of its children's."""
        children, ratio, part = self.tree.children(branch), self.ratio, self.part
        total = sum([ratio[child] for child in children])
        rises = sum([ratio[child] * part[child] for child in children])
        return Fraction(rises) / total if 0 < rises < total else int(rises > 0)

    def opened(self, rows: list[int]) -> list[int]:
        """Rows of stops, a frozen branch with others of them inside being replaced by what rises in it.

        What is closed needs no look inside: however deep limits are nested, one is summed up from the next.
        """
        if not self.until:
            return rows
        found: list[int] = []
        places = [self.place[row] for row in rows]
        heapify(places)
        while places:
            at = heappop(places)
            row = self.tree.path[at]
            if row in self.until and places and places[0] < at + self.size[row]:
                for inside in self.until[row][0]:
                    heappush(places, self.place[inside])
            else:
                found.append(row)
        return found

    def amounts(self, top: Fraction | None, limit: Sequence[int]) -> Amounts:
        """The amounts at the level `top`; None: everybody is at its cap."""
        tree, rows = self.tree, len(self.place)
        level: list[Fraction | None] = [top] * rows
        base, part = [0] * rows, self.part
        for row in range(1, rows):
            above, own = level[tree.parent[row]], self.frozen.get(row)
            level[row] = own if own is not None and (above is None or own < above) else above
        for row in range(rows - 1, -1, -1):
            at = level[row]
            if tree.first[row] == tree.end[row]:
                is_full = at is None or self.cap[row] * self.den[row] * at.denominator <= self.num[row] * at.numerator
                base[row], part[row] = (self.cap[row] if is_full else 0), int(not is_full)
            else:
                base[row], part[row] = tree.total(base, row), self.part_of(row)
                if at is not None and row and at is self.frozen.get(row):
                    # As seen from above, all of it stands still; what is inside keeps its own numbers.
                    base[row], part[row] = limit[row], 0
        return _as_amounts(level, base, part, self.num, self.den)


def _as_amounts(
    level: list[Fraction | None], base: list[int], part: list[Part], num: list[int], den: list[int]
) -> Amounts:
    whole, broken = list(base), bytearray(len(base))
    for row, share in enumerate(part):
        at = level[row]
        if share and at is not None:
            scale = den[row] * at.denominator * share.denominator
            more, rest = divmod(num[row] * at.numerator * share.numerator, scale)
            whole[row] += more
            broken[row] = rest > 0

    def exact(row: int) -> Fraction:
        return base[row] + Fraction(num[row], den[row]) * part[row] * (level[row] or 0)

    return Amounts(whole, broken, exact, level.__getitem__)


def _stop(row: int, units: int, num: int, den: int) -> Stop:
    return Stop((units * den << _POINT) // num, row, units, num, den)


def _sort_ties(stops: list[Stop]) -> None:
    """Put stops whose fixed-point keys are equal into their exact order; nearly always they are equal altogether."""
    start = 0
    for end in range(1, len(stops) + 1):
        if end < len(stops) and stops[end].key == stops[start].key:
            continue
        if end - start > 1 and len({stop[2:] for stop in stops[start:end]}) > 1:
            stops[start:end] = sorted(stops[start:end], key=lambda stop: Fraction(stop.units * stop.den, stop.num))
        start = end


def _guess(units: int, stops: list[Stop], below: list[int]) -> int:
    """The first stop that is not passed, by fixed-point numbers: seldom beside it."""
    point = _WEIGHT_POINT + max(stop.den.bit_length() - stop.num.bit_length() for stop in stops)
    above = [*accumulate((stop.num << point) // stop.den for stop in reversed(stops))][::-1]
    wanted = units << (_POINT + point)

    def reached(first: int) -> int:
        return (below[first] << (_POINT + point)) + stops[first].key * above[first]

    return min(bisect_left(range(len(stops)), wanted, key=reached), len(stops) - 1)


def _passes(level: Fraction, stop: Stop) -> bool:
    return level.numerator * stop.num > stop.units * stop.den * level.denominator


def _passes_or_meets(level: Fraction, stop: Stop) -> bool:
    return level.numerator * stop.num >= stop.units * stop.den * level.denominator
