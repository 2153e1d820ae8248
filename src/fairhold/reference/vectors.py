"""Amounts of several resources, in base units, one for every resource of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.model.vector import Vector


def total_of(vectors: Iterable[Vector], width: int) -> Vector:
    """The sum, also of none. width : how many resources there are."""
    found = [0] * width
    for vector in vectors:
        for at, amount in enumerate(vector):
            found[at] += amount
    return tuple(found)


def times(unit: Vector, number: int) -> Vector:
    """So many of a unit; a negative number takes away."""
    return tuple(need * number for need in unit)


def beyond(need: Vector, there: Vector) -> Vector:
    """What is needed beyond what is there, resource by resource."""
    return tuple(max(0, one - other) for one, other in zip(need, there, strict=True))


def units_in(unit: Vector, room: Vector) -> int:
    """How many units fit into an amount."""
    return max(0, min(have // need for need, have in zip(unit, room, strict=True) if need))
