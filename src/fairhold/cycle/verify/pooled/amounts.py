"""Vectors of whole base units, one number for every resource of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Amounts = tuple[int, ...]


def plus(*many: Amounts) -> Amounts:
    """The sum of one or more."""
    return tuple(sum(column) for column in zip(*many, strict=True))


def minus(one: Amounts, other: Amounts) -> Amounts:
    """The difference; may be negative."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def lower(one: Amounts, other: Amounts) -> Amounts:
    """The minimum of two vectors, by resource."""
    return tuple(min(a, b) for a, b in zip(one, other, strict=True))


def excess(one: Amounts, other: Amounts) -> Amounts:
    """The first minus the second, at least 0 for each resource."""
    return tuple(max(0, a - b) for a, b in zip(one, other, strict=True))


def scaled(one: Amounts, units: int) -> Amounts:
    """A multiple of a vector."""
    return tuple(each * units for each in one)


def fits(unit: Amounts, room: Amounts) -> bool:
    """Whether a unit fits."""
    return all(a <= b for a, b in zip(unit, room, strict=True))


def how_many(unit: Amounts, room: Amounts) -> int:
    """⌊min over resources(room / unit)⌋; 0 for a unit that needs nothing (R-POOL-3)."""
    return min((have // need for need, have in zip(unit, room, strict=True) if need), default=0)


def summed(many: Iterable[Amounts], width: int) -> Amounts:
    """The sum of any number.

    width : resources of the plan
    """
    return plus((0,) * width, *many)
