"""`resources:` of a plan, and amounts of them: exact, in whole base units (SPEC §11)."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.vector import Resource, amount_text
from fairhold.planio.names import check_name
from fairhold.planio.report import kind, listed, shown
from fairhold.planio.scalars import Written, is_whole
from fairhold.units import LARGEST, size_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.vector import Vector
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

RESOURCE_KEYS = ("unit", "base", "step", "overcommit")
NOT_A_RESOURCE = ("name", "slots", "labels")
"""Keys of a host that say something else."""
LONGEST_UNIT = 20
FINEST = 2**30
"""Most base units in one declared unit."""
MOST_OVERCOMMIT = 1000
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")
_PLACE = ("resources",)
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,2})?")
_QUANTITY = re.compile(r"(-?[0-9]{1,30}(?:\.[0-9]{1,60})?)\s*([^\s0-9.+-].*)")
_TINY = 1e-30


class Known(NamedTuple):
    """The resources of a plan by name, to read amounts with.

    resources : in plan order
    at        : name → place in that order
    """

    resources: tuple[Resource, ...]
    at: dict[str, int]


def known(resources: tuple[Resource, ...]) -> Known:
    """The resources of a plan with their places."""
    return Known(resources, {resource.name: at for at, resource in enumerate(resources)})


def read_resources(report: Report, value: Value) -> tuple[Resource, ...]:
    """Read the resources in plan order."""
    resources = []
    for name, node in report.mapping(value, _PLACE, what="the resources").items():
        place = (*_PLACE, name)
        check_name(report, name, place)
        if name in NOT_A_RESOURCE:
            what = f"`{name}` of a host means something else"
            report.fault("name", what, "give the resource another name", place)
        resources.append(_read_resource(report, name, report.mapping(node, place, what="a resource"), place))
    return tuple(resources)


def _read_resource(report: Report, name: str, node: dict[str, Value], place: Place) -> Resource:
    report.keys(node, RESOURCE_KEYS, place, {})
    unit = _read_unit(report, node["unit"], (*place, "unit")) if "unit" in node else ""
    base = _default_base(unit)
    if "base" in node:
        base = _read_base(report, node["base"], (*place, "base"), unit) or base
    whole = Resource(name, unit, base, base)
    step = read_amount(report, node["step"], (*place, "step"), whole, least=1) if "step" in node else base
    overcommit = Fraction(1)
    if "overcommit" in node:
        overcommit = _read_overcommit(report, node["overcommit"], (*place, "overcommit"))
    return Resource(name, unit, base, step or base, overcommit)


def _read_unit(report: Report, value: Value, place: Place) -> str:
    unit = report.text(value, place, what="a unit such as `GiB`")
    if not unit.isprintable() or len(unit) > LONGEST_UNIT:
        report.fault(
            "name", f"`{shown(unit)}` is not a unit", f"use at most {LONGEST_UNIT} printable characters", place
        )
        return ""
    return unit


def _default_base(unit: str) -> int:
    """A thousandth; of a size in bytes the next smaller one, of a byte itself."""
    if unit == _SIZES[0]:
        return 1
    return 1024 if unit in _SIZES else 1000


def _read_base(report: Report, value: Value, place: Place, unit: str) -> int:
    """Base units in one declared unit; 0, and a fault, where it is none."""
    for sizes, factor in ((_SIZES, 1024), (_DECIMAL_SIZES, 1000)):
        if isinstance(value, str) and {value, unit} <= set(sizes) and sizes.index(value) <= sizes.index(unit):
            return _bounded(report, factor ** (sizes.index(unit) - sizes.index(value)), place)
    number = exact_number(value)
    if number is None or number <= 0 or number.numerator != 1:
        what = f"the base unit {kind(value)} does not divide one {shown(unit) or 'unit'}"
        report.fault("base-unit", what, "write a fraction such as 0.001, 0.5 or 1", place)
        return 0
    return _bounded(report, number.denominator, place)


def _bounded(report: Report, base: int, place: Place) -> int:
    if base <= FINEST:
        return base
    report.fault("base-unit", f"one unit would have more than {FINEST} base units", "write a larger base unit", place)
    return 0


def _read_overcommit(report: Report, value: Value, place: Place) -> Fraction:
    number = exact_number(value)
    if number is None:
        report.fault("not-a-number", f"expected a number, found {kind(value)}", "write a number such as 1.5", place)
        return Fraction(1)
    if not 0 < number <= MOST_OVERCOMMIT:
        code = "negative" if number < 0 else "out-of-range"
        what = f"{shown(value)} is not above 0 and at most {MOST_OVERCOMMIT}"
        report.fault(code, what, "write 1 to use exactly what there is", place)
        return Fraction(1)
    return number


def read_vector(report: Report, value: Value, place: Place, resources: Known, *, what: str) -> Vector:
    """Read amounts of some resources, those left out 0; where one is at fault it is 0, too."""
    return full(
        resources,
        [
            (at, read_amount(report, stated, here, resources.resources[at]))
            for at, stated, here in stated_members(report, value, place, resources, what)
        ],
    )


def read_amounts(
    report: Report, value: Value, place: Place, resources: Known, *, what: str, least: int = 0, most: int = LARGEST
) -> tuple[tuple[int, int], ...]:
    """Read (place of the resource, base units) of those that are stated, in plan order."""
    return tuple(
        sorted(
            (at, read_amount(report, stated, here, resources.resources[at], least=least, most=most))
            for at, stated, here in stated_members(report, value, place, resources, what)
        )
    )


def stated_members(
    report: Report, value: Value, place: Place, resources: Known, what: str
) -> list[tuple[int, Value, Place]]:
    """(place of the resource, what is stated, where) of every resource that a mapping names."""
    found: list[tuple[int, Value, Place]] = []
    for name, stated in report.mapping(value, place, what=what).items():
        if name in resources.at:
            found.append((resources.at[name], stated, (*place, name)))
        else:
            unknown_resource(report, name, resources, (*place, name))
    return found


def unknown_resource(report: Report, name: str, resources: Known, place: Place) -> None:
    """Refuse a resource that the plan does not declare."""
    if name in NOT_A_RESOURCE and resources.at:
        what = f"`{name}` is not a resource: this takes amounts of what hosts have"
        report.fault("unknown-resource", what, f"name some of {listed(resources.at)}", place)
        return
    declare = f"add it to the plan: `resources: {{{shown(name)}: {{}}}}`"
    close = report.suggest(name, resources.at)
    mend = f"{close} Else {declare}" if close else declare
    report.fault("unknown-resource", f"there is no resource `{shown(name)}`", mend, place)


def full(resources: Known, amounts: Sequence[tuple[int, int]]) -> Vector:
    """The vector of stated amounts."""
    stated = dict(amounts)
    return tuple(stated.get(at, 0) for at in range(len(resources.resources)))


def read_amount(
    report: Report, value: Value, place: Place, resource: Resource, *, least: int = 0, most: int = LARGEST
) -> int:
    """Read an amount as base units, at least `least` and at most `most` of them; else a fault and `least`.

    A bare number is in the declared unit; with a unit it is converted: `32GiB` of a resource in MiB.
    """
    number = exact_number(value)
    quantity = _QUANTITY.fullmatch(value) if number is None and isinstance(value, str) else None
    if quantity:
        scale = _scale(quantity[2], resource.unit)
        if scale is None:
            what = f"`{shown(value)}` of `{shown(resource.name)}` has a unit that cannot be converted"
            report.fault("amount-unit", what, _unit_mend(resource, quantity[1]), place)
            return least
        number = Fraction(quantity[1]) * scale
    if number is None:
        unit = f" in {shown(resource.unit)}" if resource.unit else ""
        report.fault("not-a-number", f"expected an amount, found {kind(value)}", f"write a number{unit}", place)
        return least
    if number < 0:
        mend = "write an amount above 0" if least else "write 0 or more"
        report.fault("negative", f"{shown(value)} is below 0", mend, place)
    elif number * resource.base > most:
        largest = amount_text(resource, most // resource.base * resource.base)
        report.fault("out-of-range", f"{shown(value)} is more than {largest}", "write a smaller amount", place)
    elif number and (number * resource.base).denominator != 1:
        nearest = max(1, round(number * resource.base))
        what = f"{shown(value)} of `{shown(resource.name)}` is not a whole multiple of {_with_unit(resource, 1)}"
        mend = f"write {_with_unit(resource, nearest)}, or a smaller `base` of `{shown(resource.name)}` in the plan"
        report.fault("no-multiple", what, mend, place)
    elif number * resource.base < least:
        report.fault(
            "out-of-range", f"{shown(value)} is not above 0", "write an amount above 0, or leave it out", place
        )
    else:
        return int(number * resource.base)
    return least


def _with_unit(resource: Resource, amount: int) -> str:
    """An amount with its unit: whole in a smaller unit of bytes where the base unit is one, `31MiB`; else declared."""
    for sizes, factor in ((_SIZES, 1024), (_DECIMAL_SIZES, 1000)):
        for at, size in enumerate(sizes):
            if resource.unit in sizes and factor ** (sizes.index(resource.unit) - at) == resource.base:
                return f"{amount}{size}"
    return f"{amount_text(resource, amount)}{shown(resource.unit)}"


def _scale(unit: str, declared: str) -> Fraction | None:
    """How many declared units are in one `unit`; None where it cannot be converted."""
    if unit == declared:
        return Fraction(1)
    size, whole = size_unit(unit), size_unit(declared)
    return Fraction(size, whole) if size and whole else None


def _unit_mend(resource: Resource, number: str) -> str:
    if not resource.unit:
        return "write a bare number such as 1 or 0.5: the plan declares no unit of this resource"
    of_size = ", or in a unit of bytes such as MiB, GiB or GB" if size_unit(resource.unit) else ""
    return f"write it in {shown(resource.unit)}, as {number}{shown(resource.unit)}{of_size}"


def exact_number(value: Value) -> Fraction | None:
    """The number that is written, exactly; None where it is none. What is too large to count stays too large."""
    if is_whole(value):
        return Fraction(value)
    if isinstance(value, str):
        return Fraction(value) if _NUMBER.fullmatch(value) else None
    if not isinstance(value, float):
        return None
    if abs(value) > LARGEST * FINEST:
        return Fraction(LARGEST * FINEST) * (1 if value > 0 else -1)
    text = value.text if isinstance(value, Written) else repr(value)
    if abs(value) >= _TINY:
        return Fraction(Decimal(text))
    has_digit = any(digit in "123456789" for digit in re.split("[eE]", text)[0])
    return Fraction(-1 if text.startswith("-") else 1, 10**30) if has_digit else Fraction(0)
