"""Arithmetic of vectors: tuples of whole numbers, one for every resource (SPEC §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Vector = tuple[int, ...]


def add(one: Vector, other: Vector) -> Vector:
    """The sum."""
    return tuple([a + b for a, b in zip(one, other, strict=True)])


def less(one: Vector, other: Vector) -> Vector:
    """The difference; may be negative."""
    return tuple([a - b for a, b in zip(one, other, strict=True)])


def times(vector: Vector, units: int) -> Vector:
    """So many times as much."""
    return tuple([units * each for each in vector])


def common(one: Vector, other: Vector) -> Vector:
    """What both have, by resource."""
    return tuple([min(a, b) for a, b in zip(one, other, strict=True)])


def beyond(one: Vector, other: Vector) -> Vector:
    """What the one has more than the other, by resource; never negative."""
    return tuple([max(0, a - b) for a, b in zip(one, other, strict=True)])


def fits(need: Vector, room: Vector) -> bool:
    """Whether there is room in every dimension."""
    for a, b in zip(need, room, strict=True):  # noqa: SIM110 - a generator takes twice as long
        if a > b:
            return False
    return True


def count(unit: Vector, room: Vector) -> int:
    """How many units fit; a unit that needs nothing fits nowhere."""
    return min((have // each for each, have in zip(unit, room, strict=True) if each), default=0) if any(unit) else 0


def total(vectors: Iterable[Vector], dimensions: int) -> Vector:
    """The sum of many."""
    columns = list(zip(*vectors, strict=True))
    return tuple(map(sum, columns)) if columns else (0,) * dimensions
