"""Filling and rounding, as the definitions say them (R-FILL-1, R-FILL-2, R-ROUND-1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Number = Fraction | int
Name = TypeVar("Name", bound=str)


def fill(
    amount: Number, weights: Mapping[Name, Number], floors: Mapping[Name, Number], caps: Mapping[Name, Number]
) -> dict[Name, Fraction]:
    """R-FILL-1: x = max(f, min(c, λ·w)) at the smallest λ at which it sums to min(amount, Σ c).

    The sum is piecewise linear in λ and bends where λ·w meets a floor or a cap: the bend is looked for, and what is
    missing beyond it is met on the straight piece after it. Floors that are more than the amount stand.
    """

    def at(level: Number) -> dict[Name, Fraction]:
        return {
            name: Fraction(max(floors.get(name, 0), min(caps[name], level * weight)))
            for name, weight in weights.items()
        }

    target = min(Fraction(amount), Fraction(sum(caps[name] for name in weights)))
    bends = {Fraction(bend) / w for name, w in weights.items() if w for bend in (floors.get(name, 0), caps[name])}
    low = Fraction(0)
    for high in sorted(bends):
        if sum(at(high).values()) >= target:
            break
        low = high
    else:
        return at(low)
    below, above = sum(at(low).values()), sum(at(high).values())
    return at(low) if below >= target else at(low + (high - low) * (target - below) / (above - below))


def fill_owners_first(
    amount: Number, weights: Mapping[Name, Number], floors: Mapping[Name, Number], caps: Mapping[Name, Number]
) -> dict[Name, Fraction]:
    """R-FILL-2: siblings that own nothing share equally what those leave who own something and are at their caps."""
    poor = [name for name, weight in weights.items() if not weight]
    kept = sum(floors.get(name, 0) for name in poor)
    owners = {name: weight for name, weight in weights.items() if weight}
    found = fill(amount - kept, owners, floors, caps)
    left = amount - sum(found.values())
    return found | fill(left, dict.fromkeys(poor, 1), floors, caps)


def raised_equally(amount: Number, have: Mapping[Name, Fraction], caps: Mapping[Name, Number]) -> dict[Name, Fraction]:
    """R-QUOTA-4: the amount is added in equal parts to everybody who is below the cap."""
    room = {name: caps[name] - mine for name, mine in have.items() if caps[name] > mine}
    more = fill(amount, dict.fromkeys(room, 1), {}, room)
    return {name: mine + more.get(name, 0) for name, mine in have.items()}


def rounded(exact: Mapping[Name, Fraction], total: int, order: Callable[[Name], object]) -> dict[Name, int]:
    """R-ROUND-1: everybody's whole part, then one unit each to those with a fraction, in rank order.

    total : what the whole numbers sum to
    """
    found = {name: int(share) for name, share in exact.items()}
    parted = sorted((name for name, share in exact.items() if share % 1), key=order)  # type: ignore[arg-type]
    for name in parted[: max(0, total - sum(found.values()))]:
        found[name] += 1
    return found


def freeze(
    amount: Number,
    weights: Mapping[Name, Number],
    caps: Mapping[Name, Number],
    branches: Sequence[tuple[Number, Sequence[Name]]],
) -> dict[Name, Fraction]:
    """R-SHARE-4: one filling over all leaves; the leaves of a branch stay as they are when they reach its limit.

    branches : (limit, its leaves), deepest first: what the leaves of a branch have when it is frozen caps them above
    """
    bounds: dict[Name, Number] = dict(caps)
    for limit, leaves in branches:
        inside = {name: weights[name] for name in leaves}
        bounds |= fill(limit, inside, {}, {name: bounds[name] for name in leaves})
    return fill(amount, weights, {}, bounds)
