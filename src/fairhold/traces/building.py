"""A table and how it is read → a workload."""

from __future__ import annotations

from array import array
from itertools import compress
from math import ceil
from operator import eq
from typing import TYPE_CHECKING, NamedTuple, cast

from fairhold.model.vector import decimal_text
from fairhold.model.workload import ENDLESS, Workload
from fairhold.planio.jobs import is_name
from fairhold.planio.report import shown
from fairhold.planio.requests import LARGEST_PRIORITY
from fairhold.traces.findings import ABSURD, GANG, HEADER, MISSING, NEGATIVE, NUMBER, ORDER, TWICE, refuse
from fairhold.traces.reading import ALL, Field, Reading
from fairhold.traces.rules import consumers_of
from fairhold.traces.sacct import TRES
from fairhold.traces.values import WORDS, column, exact, flag, instants, micros, whole
from fairhold.units import LARGEST, LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.vector import Told
    from fairhold.traces.tables import Table

MOST_TASKS = 1_000_000
"""The most tasks of one job that make sense."""
ENDLESS_WORD = "endless"
"""As a duration: the task never ends by itself."""
Numbers = list[int | None]


def build(table: Table, reading: Reading) -> Workload:
    """Make the workload; rows at fault are counted in the table's findings and left out. Raises InputError."""
    for name, pattern in reading.where:
        fits = {text: pattern.fullmatch(text) is not None for text in set(table.cells(name))}
        table = table.kept([fits[text] for text in table.cells(name)], f"`{shown(name)}` says something else")
    submit = _instants(table, reading, reading.submit, "submit")
    count_disorder(table, submit, is_fault=reading.kind == "swf")
    columns: dict[str, Numbers] = {
        "submit": submit,
        "duration": _durations(table, reading),
        "tasks": column(table, cells_of(table, reading.tasks), "`tasks`", whole(1, MOST_TASKS)),
    }
    columns["consumer"], consumers = consumers_of(table, reading.rules)
    columns["unit"], units, groups = _units(table, reading)
    columns |= _optional(table, reading, columns["tasks"])
    names = _names(table, reading)
    good = [None not in row for row in zip(*columns.values(), strict=True)]
    good = _named_once(table, names, good)
    rows = list(compress(range(len(table)), good))
    rows.sort(key=cast("list[int]", submit).__getitem__)
    user, users = _users(table, reading.user)
    picked = {key: _picked(values, rows) for key, values in columns.items()}
    return Workload(
        name=[names[row] for row in rows],
        submit=picked["submit"],
        consumer=picked["consumer"],
        tasks=picked["tasks"],
        duration=picked["duration"],
        unit=picked["unit"] if len(units) > 1 else (),
        min_count=picked.get("min_count", ()),
        priority=picked.get("priority", ()),
        user=_picked(user, rows) if users else (),
        preemptible=picked.get("preemptible", ()),
        consumers=consumers,
        units=units,
        groups=groups,
        users=users,
    )


def count_disorder(table: Table, submit: Numbers, *, is_fault: bool) -> None:
    """Count the jobs that were submitted before the one above; a fault where the format promises order."""
    last = -1
    for row, instant in enumerate(submit):
        if instant is None:
            continue
        if instant < last:
            table.findings.put_in_order(table.lines[row])
            if is_fault:
                table.findings.add(ORDER, "a job was submitted before the one above it", table.lines[row])
        last = instant


def _picked(values: Sequence[int | None], rows: Sequence[int]) -> array[int]:
    """A column of the rows that are good."""
    known = cast("Sequence[int]", values)  # good rows have all
    return array("q", [known[row] for row in rows])


def cells_of(table: Table, field: Field) -> Sequence[str]:
    """The texts of a column, defaults filled in and words of a table replaced."""
    is_absent = field.column.startswith(TRES) and field.column not in table.columns
    if not field.column or is_absent:  # which resources there are differs from cluster to cluster
        return [field.default] * len(table)
    cells = table.cells(field.column)
    if field.table is None and not field.default:
        return cells
    means = {text: (text if field.table is None else field.table.get(text, "")) or field.default for text in set(cells)}
    return [means[text] for text in cells]


def _instants(table: Table, reading: Reading, field: Field | None, key: str) -> Numbers:
    if field is None:
        what = f"there is no submit time: `{key}` has no column"
        raise refuse(HEADER, table.findings.name, what, f"write `columns: {{{key}: NAME}}`")
    return column(table, cells_of(table, field), f"`{key}`", instants(field.times, table.origin or 0, reading.zone))


def _durations(table: Table, reading: Reading) -> Numbers:
    if reading.duration is not None:
        read = micros(reading.duration.times)
        cells = cells_of(table, reading.duration)
        return column(table, cells, "`duration`", lambda text: ENDLESS if text == ENDLESS_WORD else read(text))
    if reading.start is None or reading.end is None:
        what = "there is no run time: neither `duration` nor `start` and `end` have columns"
        raise refuse(HEADER, table.findings.name, what, "write `columns: {duration: NAME}`")
    begins = _instants(table, reading, reading.start, "start")
    ends = _instants(table, reading, reading.end, "end")
    found: Numbers = []
    for row, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        length = None if begin is None or end is None else end - begin
        if length is not None and not 0 <= length <= LONGEST:
            code = NEGATIVE if length < 0 else ABSURD
            what = f"from `start` to `end` {WORDS[code]}"
            table.findings.add(code, what, table.lines[row], f"{length // 1_000_000} s")
            length = None
        found.append(length)
    return found


def _optional(table: Table, reading: Reading, tasks: Numbers) -> dict[str, Numbers]:
    """The columns that a workload may leave empty."""
    found: dict[str, Numbers] = {}
    if reading.min_count == ALL:
        if any(each != 1 for each in tasks if each is not None):
            found["min_count"] = [0 if each == 1 else each for each in tasks]
    elif isinstance(reading.min_count, Field):
        together = column(table, cells_of(table, reading.min_count), "`min_count`", whole(0, MOST_TASKS))
        for row, (least, count) in enumerate(zip(together, tasks, strict=True)):
            if least is not None and count is not None and least > count:
                what = "`min_count` is more than `tasks`"
                table.findings.add(GANG, what, table.lines[row], f"{least} of {count}")
                together[row] = None
        if any(together):
            found["min_count"] = together
    if reading.priority is not None:
        reads = whole(-LARGEST_PRIORITY, LARGEST_PRIORITY)
        found["priority"] = column(table, cells_of(table, reading.priority), "`priority`", reads)
    if reading.preemptible is not None:
        found["preemptible"] = column(table, cells_of(table, reading.preemptible), "`preemptible`", flag)
    return {key: values for key, values in found.items() if key == "min_count" or not _is_default(key, values)}


def _is_default(key: str, values: Numbers) -> bool:
    default = 1 if key == "preemptible" else 0
    return all(map(eq, values, [default] * len(values)))


def _units(table: Table, reading: Reading) -> tuple[Numbers, tuple[Told, ...], tuple[str, ...]]:
    """The place of each row's unit, the units, and their resource groups."""
    if not reading.unit and reading.resource_group is None:
        return [0] * len(table), ((),), ()
    cells = [cells_of(table, field) for _, field in reading.unit]
    groups = cells_of(table, reading.resource_group) if reading.resource_group else [""] * len(table)
    known: dict[tuple[str, ...], int | Wrong] = {}
    places: dict[tuple[Told, str], int] = {}
    found: Numbers = []
    for row, key in enumerate(zip(groups, *cells, strict=True)):
        if key not in known:
            unit = unit_of(reading.unit, key[1:])
            if reading.unit and not unit and reading.kind != "fairhold":  # whose rows of zeros are slots
                unit = Wrong(MISSING, "the unit needs nothing of any resource")
            known[key] = unit if isinstance(unit, Wrong) else places.setdefault((unit, key[0]), len(places))
        value = known[key]
        if isinstance(value, int):
            found.append(value)
        else:
            found.append(None)
            table.findings.add(value.code, value.what, table.lines[row], value.text)
    units = tuple(unit for unit, _ in places) or ((),)
    named = tuple(group for _, group in places)
    return found, units, named if any(named) else ()


class Wrong(NamedTuple):
    """Why amounts make no unit."""

    code: str
    what: str
    text: str = ""


def unit_of(fields: Sequence[tuple[str, Field]], texts: Sequence[str]) -> Told | Wrong:
    """The unit that amounts make, or what is wrong."""
    told: list[tuple[str, str]] = []
    for (resource, field), text in zip(fields, texts, strict=True):
        what = f"`unit.{shown(resource)}`"
        if not text:
            return Wrong(MISSING, f"{what} {WORDS[MISSING]}")
        number = exact(text)
        code = NUMBER if number is None else NEGATIVE if number < 0 else ABSURD if number > LARGEST else ""
        if number is None or code:
            return Wrong(code, f"{what} {WORDS[code]}", text)
        amount = number * field.times
        if field.step:
            amount = ceil(amount / field.step) * field.step
        if amount:
            told.append((resource, decimal_text(amount)))
    return tuple(told)


def _names(table: Table, reading: Reading) -> Sequence[str]:
    """The names of jobs; those that a request may not have are replaced by one after their line."""
    if reading.name is None:
        return [f"job-{line}" for line in table.lines]
    cells = cells_of(table, reading.name)
    return [text if is_name(text) else f"job-{line}" for text, line in zip(cells, table.lines, strict=True)]


def _named_once(table: Table, names: Sequence[str], good: list[bool]) -> list[bool]:
    """Of jobs with one name only the first is good; the others are counted."""
    if len(set(names)) == len(names):
        return good
    seen: set[str] = set()
    for row, name in enumerate(names):
        if not good[row]:
            continue
        if name in seen:
            table.findings.add(TWICE, "a job has the same name as one above it", table.lines[row], name)
            good[row] = False
        seen.add(name)
    return good


def _users(table: Table, field: Field | None) -> tuple[list[int], tuple[str, ...]]:
    """The place of each row's user, and the users; those that are empty are one of their own."""
    if field is None or (field.column and field.column not in table.columns and not field.default):
        return [], ()
    cells = cells_of(table, field)
    if not any(cells):
        return [], ()
    places: dict[str, int] = {}
    return [places.setdefault(text, len(places)) for text in cells], tuple(places)
