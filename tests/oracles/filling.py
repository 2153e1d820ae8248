"""Filling and rounding, exact and slow (SPEC §2): the kernel's search is replaced by a walk over all kinks."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Number = int | Fraction


def at_level(level: Number, weight: Number, floor: Number, cap: Number) -> Fraction:
    """What a row has when the water stands at `level`; weight 0 stays at its floor."""
    return Fraction(max(floor, min(cap, level * weight)) if weight else floor)


def fill(amount: Number, weights: Sequence[Number], floors: Sequence[Number], caps: Sequence[Number]) -> list[Fraction]:
    """The filling of `amount` over rows; rows of weight 0 take no part. amount ≥ Σ floors."""
    rows = list(zip(weights, floors, caps, strict=True))

    def filled(level: Number) -> list[Fraction]:
        return [at_level(level, *row) for row in rows]

    kinks = sorted({Fraction(edge) / weight for weight, *edges in rows if weight for edge in edges} | {Fraction(0)})
    below = Fraction(0)
    for kink in kinks:
        if sum(filled(kink)) >= amount:
            low, high = sum(filled(below)), sum(filled(kink))
            level = below + (kink - below) * (amount - low) / (high - low) if high > low else kink
            return filled(level)
        below = kink
    return filled(below)


def whole(exact: Sequence[Fraction], amount: int) -> list[int]:
    """Whole parts, then one unit each to those with a fraction, the first before others, until `amount` is reached."""
    units = [int(share) for share in exact]
    for at, share in enumerate(exact):
        if sum(units) < amount and share.denominator > 1:
            units[at] += 1
    return units
