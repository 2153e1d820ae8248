"""Exact amounts of consumers as whole parts and fractions, and their rounding from the top (R-ROUND-1, R-SHARE-4)."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from fairhold.kernels.columns import TreeColumns


class Amounts(NamedTuple):
    """An exact amount of slots for every row.

    whole  : (rows,) whole parts
    broken : (rows,) 1 where there is a fraction beside it
    exact  : row → the amount itself
    level  : row → λ that gives it, in slots for each whole weight; None where everybody inside is at its cap
    """

    whole: Sequence[int]
    broken: Sequence[int]
    exact: Callable[[int], Fraction]
    level: Callable[[int], Fraction | None]

    def up(self, row: int) -> int:
        """The amount of a row, rounded up."""
        return self.whole[row] + self.broken[row]


def path_weights(tree: TreeColumns, ratio: Sequence[int]) -> tuple[list[int], list[int]]:
    """Weight of every row among all: the product of the normalised ratios on its path, numerators and denominators.

    A product down a deep path can be of any size, so that these are plain whole numbers; a branch's are reduced.
    """
    num, den = [1] * len(tree.parent), [1] * len(tree.parent)
    for row, children in tree.families():
        total = sum([ratio[child] for child in children])
        one, other = _reduced(num[row], den[row] * max(total, 1))
        for child in children:
            num[child], den[child] = one * ratio[child], other
    return num, den


def round_from_the_top(tree: TreeColumns, amounts: Amounts, out: array[int]) -> None:
    """Round children's exact amounts to the whole number of their parent, level by level.

    Whole parts first, then one unit each to rows with a fraction, in the rows' order (R-ROUND-1). A parent's exact
    amount is its children's sum, so that what is left of its whole number never exceeds the rows with a fraction.

    out : (rows,) whole slots
    """
    out[0] = amounts.whole[0]
    whole, broken = amounts.whole, amounts.broken
    for row, children in tree.families():
        left = out[row] - sum([whole[child] for child in children])
        for child in children:
            out[child] = whole[child]
            if left > 0 and broken[child]:
                out[child] += 1
                left -= 1


def fill_exactly(
    num: int, den: int, weights: Sequence[int], caps: Sequence[int]
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Fill num/den slots over siblings by weight up to caps, without floors: their amounts, and λ, as fractions.

    λ has the denominator 0 where everybody is at its cap; weight 0 has the amount 0.
    """
    left, weight = num, sum(weights)
    if not any(r and num * r > cap * den * weight for r, cap in zip(weights, caps, strict=True)):
        return [(num * r, den * weight) if r else (0, 1) for r in weights], (num, den * weight)
    amounts = [(0, 1)] * len(weights)
    # By the level at which each meets its cap: a fraction with the whole weights as denominators, compared exactly.
    order = sorted((at for at, r in enumerate(weights) if r), key=lambda at: _Ratio(caps[at], weights[at]))
    for place, at in enumerate(order):
        if left * weights[at] < caps[at] * den * weight:
            for other in order[place:]:
                amounts[other] = (left * weights[other], den * weight)
            return amounts, (left, den * weight)
        amounts[at] = (caps[at], 1)
        left -= caps[at] * den
        weight -= weights[at]
    return amounts, (0, 0)


class _Ratio:
    """A fraction that sorts exactly and costs nothing to make."""

    __slots__ = ("den", "num")

    def __init__(self, num: int, den: int) -> None:
        self.num, self.den = num, den

    def __lt__(self, other: _Ratio) -> bool:
        return self.num * other.den < other.num * self.den


def _reduced(num: int, den: int) -> tuple[int, int]:
    divisor = gcd(num, den)
    return num // divisor, den // divisor


def fill_down(tree: TreeColumns, slots: int, ratio: Sequence[int], cap: Sequence[int]) -> Amounts:
    """Exact amounts by filling top-down, every parent's amount over its children by ratio, never rounded (R-SHARE-3).

    cap : (rows,) the most that a row takes; a parent's at most its children's sum
    """
    amount: list[tuple[int, int]] = [(0, 1)] * len(tree.parent)
    level: dict[int, tuple[int, int]] = {}
    amount[0] = (min(slots, cap[0]), 1)
    for row, children in tree.families():
        weights = [ratio[child] for child in children]
        if not any(weights):
            continue
        amount[row] = _reduced(*amount[row])
        filled, level[row] = fill_exactly(*amount[row], weights, [cap[child] for child in children])
        for child, share in zip(children, filled, strict=True):
            amount[child] = share

    def level_of(row: int) -> Fraction | None:
        num, den = level.get(tree.parent[row], (0, 0))
        return Fraction(num, den) if den else None

    return Amounts(
        [num // den for num, den in amount],
        bytearray(num % den > 0 for num, den in amount),
        lambda row: Fraction(*amount[row]),
        level_of,
    )
