"""`columns:` of a workload: which column of a table is what, in which units."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.planio.report import kind, listed, shown
from fairhold.planio.resources import exact_number
from fairhold.planio.scalars import is_whole
from fairhold.traces.reading import ALL, Field, Reading
from fairhold.traces.rulekeys import read_table
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

TIMES = ("submit", "duration", "start", "end")
PLAIN = ("name", "tasks", "min_count", "priority", "user", "preemptible", "resource_group")
COLUMN_KEYS = (*TIMES, *PLAIN, "unit")
UNITS_OF_TIME = {
    "us": Fraction(1),
    "ms": Fraction(1000),
    "s": Fraction(SECOND),
    "m": Fraction(60 * SECOND),
    "h": Fraction(3600 * SECOND),
    "d": Fraction(86400 * SECOND),
}
FIELD_KEYS = ("column", "table", "default")


def read_columns(report: Report, value: Value, place: Place, reading: Reading) -> Reading:
    """The reading with what the section says instead of what holds for its kind."""
    stated = report.mapping(value, place, what="fields of a job with names of columns")
    report.keys(stated, COLUMN_KEYS, place, {})
    changed: dict[str, object] = {}
    for key in (*TIMES, *PLAIN):
        if key in stated:
            is_all = key == "min_count" and stated[key] == ALL
            changed[key] = ALL if is_all else _field(report, stated[key], (*place, key), is_time=key in TIMES)
    if "duration" in changed:
        changed |= {"start": None, "end": None}
    elif {"start", "end"} & changed.keys():
        changed["duration"] = None
    if "unit" in stated:
        amounts = report.mapping(stated["unit"], (*place, "unit"), what="resources with columns or amounts")
        changed["unit"] = tuple(
            (name, _field(report, each, (*place, "unit", name), is_amount=True)) for name, each in amounts.items()
        )
    return replace(reading, **changed)  # type: ignore[arg-type] # each key has its own type


def _field(report: Report, value: Value, place: Place, *, is_time: bool = False, is_amount: bool = False) -> Field:
    """One column, by its name or with more about it; a number stands for itself."""
    times = UNITS_OF_TIME["s"] if is_time else Fraction(1)
    if isinstance(value, str):
        return Field(value, times)
    if not isinstance(value, dict):
        number = exact_number(value)
        if number is None or is_time:
            what = f"expected the name of a column, found {kind(value)}"
            report.fault("wrong-type", what, "write `NAME`, or `{column: NAME, …}`", place)
        return Field(default=shown(value), times=times)
    keys = (*FIELD_KEYS, *(("unit",) if is_time else ()), *(("times", "step") if is_amount else ()))
    report.keys(value, keys, place, {})
    if "column" not in value and "default" not in value:
        report.missing(value, ("column",), place, "what comes from a table")
    default = value.get("default", "")
    return Field(
        column=report.text(value.get("column", ""), (*place, "column"), what="the name of a column"),
        times=_unit_of_time(report, value.get("unit", "s"), (*place, "unit"))
        if is_time
        else _amount(report, value.get("times", 1), (*place, "times")),
        table=read_table(report, value["table"], (*place, "table")) if "table" in value else None,
        default=default if isinstance(default, str) else shown(default),
        step=_amount(report, value["step"], (*place, "step")) if "step" in value else Fraction(0),
    )


def _unit_of_time(report: Report, value: Value, place: Place) -> Fraction:
    if not isinstance(value, str) or value not in UNITS_OF_TIME:
        what = f"expected a unit of time, found {kind(value)}"
        report.fault("unknown-word", what, f"write one of {listed(UNITS_OF_TIME)}", place)
        return Fraction(1)
    return UNITS_OF_TIME[value]


def _amount(report: Report, value: Value, place: Place) -> Fraction:
    """A factor or a step: a number or a part such as `1/1024`, which decimals can write exactly."""
    above, _, below = value.partition("/") if isinstance(value, str) else (value, "", 1)
    number, divisor = exact_number(above), exact_number(below or 1)
    if number is None or divisor is None or number <= 0 or divisor <= 0:
        what, mend = f"expected a number above 0, found {kind(value)}", "write a number or a part such as `1/1024`"
        report.fault("not-a-number", what, mend, place)
        return Fraction(1)
    found = number / divisor
    rest = found.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or not is_whole(found.denominator):
        what = f"{shown(value)} has no exact decimal form, and amounts are exact"
        report.fault("no-multiple", what, "write a part of a power of two or ten", place)
        return Fraction(1)
    return found
