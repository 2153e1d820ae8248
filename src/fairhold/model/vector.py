"""Vectors: named resources in whole base units, what a consumer owns of hosts, and parcels (SPEC §6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Vector = tuple[int, ...]
"""Amounts in base units, one for every resource of the plan, in its order."""

DEFAULT_PREFERENCE = 5


@dataclass(frozen=True, slots=True)
class Resource:
    """A dimension of hosts and units.

    unit       : what amounts in files are in, as `GiB`; empty = a plain number
    base       : base units in one declared unit: an amount in a file is `amount · base`, whole
    step       : base units that parts of hosts are rounded down to
    overcommit : of a host's amount so many times as much may be used, rounded down
    """

    name: str
    unit: str = ""
    base: int = 1000
    step: int = 1000
    overcommit: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Owning:
    """One entry under `own:`: what a consumer owns of a resource group; exactly one way of saying it is set.

    hosts     : whole hosts by number
    percent   : whole hosts by part of those that are up, a child's of its parent's, exact
    remaining : all whole hosts that are left
    names     : whole hosts by name
    per_host  : of every host: (place of the resource, part or amount in base units); those left out follow
    total     : in all: (place of the resource, amount in base units); those left out follow
    preference : 1 is best, 10 worst; None = the parent's for the group, else 5
    reserved   : never lent; of a mid-level consumer: not beyond its own private pool
    lend_grace : microseconds within which a borrower has to let go, None = no bound
    reclaim_before_next_level : taken back before anything worse is used
    """

    resource_group: str
    hosts: int | None = None
    percent: Fraction | None = None
    remaining: bool = False
    names: tuple[str, ...] = ()
    per_host: tuple[tuple[int, Fraction | int], ...] = ()
    total: tuple[tuple[int, int], ...] = ()
    preference: int | None = None
    reserved: bool = False
    lend_grace: int | None = None
    reclaim_before_next_level: bool = False


@dataclass(frozen=True, slots=True)
class Parcel:
    """A piece of a host that a consumer owns and its children do not, as adjusted so far.

    consumer : row of the owner
    """

    host: str
    consumer: int
    amounts: Vector


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """What one of several entries of `own` of a consumer has of a host, what those below it own included.

    consumer : row of the owner
    entry    : place in its list, from 0
    """

    host: str
    consumer: int
    entry: int
    amounts: Vector


def steps_of(resources: Iterable[Resource]) -> Vector:
    """What parts of hosts are rounded down to, in base units."""
    return tuple([resource.step for resource in resources])


def part_of(own: Owning, whole: Vector, steps: Sequence[int]) -> Vector:
    """What an entry by host asks of one: those left out follow the largest part named, rounded down to the step."""
    wanted = {at: int(said * whole[at]) if isinstance(said, Fraction) else said for at, said in own.per_host}
    parts = [
        said if isinstance(said, Fraction) else Fraction(said, whole[at]) for at, said in own.per_host if whole[at]
    ]
    return in_steps(whole, wanted, min(Fraction(1), max(parts, default=Fraction(0))), steps)


def in_steps(there: Vector, wanted: Mapping[int, int], rest: Fraction, steps: Sequence[int]) -> Vector:
    """Of what there is so much as is wanted, and so large a part of what is left out; all of it, or whole steps."""
    found = []
    for at, have in enumerate(there):
        part = min(have, wanted[at]) if at in wanted else int(have * rest)
        found.append(part if part == have else part - part % steps[at])
    return tuple(found)


def amount(resource: Resource, units: int) -> int | float | str:
    """Base units as a file writes them, in the declared unit: a whole number, else exact, as text where need be."""
    return number(Fraction(units, resource.base)) if units % resource.base else units // resource.base


def number(value: Fraction) -> int | float | str:
    """A number that was written as a decimal: as one where that is exact, else as text."""
    if value.denominator == 1:
        return value.numerator
    text = decimal_text(value)
    found = float(text)
    return found if repr(found) == text else text


def amount_text(resource: Resource, units: int) -> str:
    """Base units as a decimal in the declared unit, exact; the base unit is a decimal."""
    return decimal_text(Fraction(units, resource.base))


def amounts_document(resources: Sequence[Resource], vector: Vector) -> dict[str, int | float | str]:
    """Name → amount of what is not 0, in plan order."""
    return {resource.name: amount(resource, units) for resource, units in zip(resources, vector, strict=True) if units}


Told = tuple[tuple[str, str], ...]
"""A vector in names and decimals of declared units, exact, whatever the base units are: (resource, amount)."""


def told_of(resources: Sequence[Resource], vector: Vector) -> Told:
    """What of a vector is not 0, in plan order."""
    pairs = zip(resources, vector, strict=True)
    return tuple((resource.name, amount_text(resource, units)) for resource, units in pairs if units)


def vector_of(resources: Sequence[Resource], told: Iterable[tuple[str, str]]) -> Vector | None:
    """The reverse, maybe with the resources of another plan; None where they have not all of it in whole base units."""
    at = {resource.name: place for place, resource in enumerate(resources)}
    found = [0] * len(resources)
    for name, text in told:
        if name not in at:
            return None
        units = Fraction(text) * resources[at[name]].base
        if units.denominator != 1:
            return None
        found[at[name]] = int(units)
    return tuple(found)


def parts_document(
    resources: Sequence[Resource], parts: Iterable[tuple[int, Fraction | int]]
) -> dict[str, int | float | str]:
    """Name → amount, or percentage of what there is, of (place of the resource, amount or part)."""
    return {
        resources[at].name: f"{decimal_text(each * 100)}%"
        if isinstance(each, Fraction)
        else amount(resources[at], each)
        for at, each in parts
    }


def own_document(resources: Sequence[Resource], own: Owning) -> dict[str, object]:
    """An entry under `own:` as a plan writes it; what has its default is left out."""
    found: dict[str, object] = {"resource_group": own.resource_group}
    if own.hosts is not None:
        found["hosts"] = own.hosts
    elif own.percent is not None:
        found["hosts"] = f"{decimal_text(own.percent * 100)}%"
    elif own.remaining:
        found["hosts"] = "remaining"
    elif own.names:
        found["hosts"] = list(own.names)
    elif own.per_host:
        found["per_host"] = parts_document(resources, own.per_host)
    else:
        found["total"] = parts_document(resources, own.total)
    if own.preference is not None:
        found["preference"] = own.preference
    if own.lend_grace is not None:
        found["lend_grace"] = format_duration(own.lend_grace)
    flags = {"reserved": own.reserved, "reclaim_before_next_level": own.reclaim_before_next_level}
    return found | {key: True for key, is_set in flags.items() if is_set}


def resource_document(resource: Resource) -> dict[str, int | float | str]:
    """What a plan says of a resource, with what holds by itself."""
    return {
        "unit": resource.unit,
        "base": amount(resource, 1),
        "step": amount(resource, resource.step),
        "overcommit": number(resource.overcommit),
    }


def decimal_text(value: Fraction) -> str:
    """A number that was written as a decimal, exactly."""
    sign, value = "-" if value < 0 else "", abs(value)
    text, rest = f"{sign}{value.numerator // value.denominator}", value % 1
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{text}.{digits}" if digits else text
