"""What Kueue counts quotas of → resources of a plan: their names, units and base units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.planio.resources import NOT_A_RESOURCE
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.kueue_quotas import Pair

_BYTES = ("memory", "storage", "ephemeral-storage")
_HUGE = "hugepages-"


@dataclass(frozen=True, slots=True)
class Scale:
    """How amounts of a resource are written.

    settings : of the resource in a plan
    base     : of Kubernetes' units in one base unit: bytes, or parts of one
    unit     : of bytes, in which an amount is written; empty = a bare number
    """

    settings: Mapping[str, Written]
    base: Fraction
    unit: str = ""

    def units(self, number: Fraction) -> int:
        """A quantity in base units, rounded down."""
        return floor(number / self.base)

    def written(self, units: int) -> Written:
        """Base units as a plan has them."""
        if not self.unit or not units:
            return units * (Fraction(1) if self.unit else self.base)
        size, factor = _LARGER[self.unit]
        return f"{units // factor}{size}" if units % factor == 0 else f"{units}{self.unit}"


_LARGER = {"MiB": ("GiB", 1024), "KiB": ("MiB", 1024), "MB": ("GB", 1000), "kB": ("MB", 1000)}
"""Unit → the next larger one, and how many are in it."""
_THOUSANDTHS = Scale({"step": Fraction(1, 1000)}, Fraction(1, 1000))
_WHOLE = Scale({"base": 1}, Fraction(1))
_PARTS = Scale({}, Fraction(1, 1000))
_SIZES = tuple(
    Scale({"unit": unit, "base": base, "step": f"1{base}"}, Fraction(size), base)
    for unit, base, size in (
        *(("GiB", "MiB", 2**20), ("GB", "MB", 10**6), ("GiB", "KiB", 2**10)),
        ("GB", "kB", 10**3),
    )
)
"""In the order in which they are tried: the first in which all amounts are whole."""


def is_size(resource: str) -> bool:
    """Whether Kubernetes counts it in bytes."""
    return resource in _BYTES or resource.startswith(_HUGE)


def scale_of(resource: str, numbers: Iterable[Fraction]) -> Scale:
    """How the quantities of one resource are written."""
    numbers = tuple(numbers)
    if resource == "cpu":
        return _THOUSANDTHS
    if not is_size(resource):
        return _WHOLE if all(number.denominator == 1 for number in numbers) else _PARTS
    for scale in _SIZES:
        if all((number / scale.base).denominator == 1 for number in numbers) and max(numbers) / scale.base <= LARGEST:
            return scale
    return _SIZES[0]


def names_of(pairs: Iterable[Pair]) -> dict[Pair, str]:
    """The resource of a plan for each: as short as tells them apart, without `/`.

    A resource of one flavor keeps its name, without what is before the `/`; one of several begins with the flavor.
    """
    pairs = tuple(dict.fromkeys(pairs))
    flavors: dict[str, set[str]] = {}
    long: dict[str, set[str]] = {}
    for pair in pairs:
        flavors.setdefault(pair.resource, set()).add(pair.flavor)
        long.setdefault(_last(pair.resource), set()).add(pair.resource)
    names: dict[Pair, str] = {}
    taken: set[str] = set(NOT_A_RESOURCE)
    for pair in pairs:
        short = _last(pair.resource)
        name = short if len(long[short]) == 1 else pair.resource.replace("/", ".")
        if len(flavors[pair.resource]) > 1:
            name = f"{pair.flavor}.{name}"
        while name in taken:
            name += "-2"
        taken.add(name)
        names[pair] = name
    return names


def _last(resource: str) -> str:
    return resource.rpartition("/")[2]
