"""Filling and rounding (SPEC §2), in exact fractions."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Number = int | Fraction
Row = tuple[Number, Number, Number]
"""Weight, floor and cap of one sibling."""


def fill(amount: Number, rows: Mapping[str, Row]) -> dict[str, Fraction]:
    """`max(floor, min(cap, λ · weight))` for the smallest λ whose sum is `min(amount, Σ cap)` (R-FILL-1).

    The sum over siblings is piecewise linear and rising in λ. It has a corner where a sibling leaves its
    floor or reaches its cap. The piece that reaches the amount is found and solved for λ.
    """

    def level(at: Fraction) -> dict[str, Fraction]:
        return {name: Fraction(max(low, min(cap, at * weight))) for name, (weight, low, cap) in rows.items()}

    def total(at: Fraction) -> Fraction:
        return sum(level(at).values(), Fraction(0))

    goal = min(Fraction(amount), sum((Fraction(cap) for _, _, cap in rows.values()), Fraction(0)))
    corners = {Fraction(0)}
    for weight, low, cap in rows.values():
        if weight > 0:
            corners |= {Fraction(low) / weight, Fraction(cap) / weight}
    points = sorted(corners)
    if total(points[0]) >= goal:
        return level(points[0])
    above = min(bisect_left(points, goal, key=total), len(points) - 1)
    left, right = points[above - 1], points[above]
    start, end = total(left), total(right)
    if end <= goal:
        return level(right)
    return level(left + (goal - start) * (right - left) / (end - start))


def round_by_rank(exact: Mapping[str, Fraction], order: Sequence[str]) -> dict[str, int]:
    """Whole parts first, then one unit each to those with a fractional part, in `order` (R-ROUND-1, S1.45)."""
    whole = {name: value.numerator // value.denominator for name, value in exact.items()}
    left = sum(exact.values(), Fraction(0)) - sum(whole.values())
    for name in order:
        if left >= 1 and exact[name] != whole[name]:
            whole[name] += 1
            left -= 1
    return whole
