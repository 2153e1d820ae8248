"""The section `workload:` of a scenario, read strictly: every fault with its place, before any trace is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from fractions import Fraction
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fairhold.planio.report import listed, shown
from fairhold.planio.resources import exact_number
from fairhold.planio.zones import zone_mend
from fairhold.traces.columnkeys import read_columns
from fairhold.traces.reading import KNOWN, Reading, by_nodes
from fairhold.traces.rulekeys import read_pattern, read_rules
from fairhold.traces.scaling import Scaling

if TYPE_CHECKING:
    import re
    from pathlib import Path

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

TENANTS = "tenants"
KINDS = (*KNOWN, TENANTS)
COMMON_KEYS = ("kind", "file", "from", "until", "begin", "scale", "seed")
TRACE_KEYS = ("columns", "consumers", "where", "faults", "time_zone")
OWN_KEYS = {
    "csv": ("separator", "fields"),
    "sacct": ("fields", "tasks"),
    "pods": ("label",),
    TENANTS: ("length",),
}
"""Kind → keys that no other kind has."""
SCALE_KEYS = ("time", "duration", "load")
MOST_SCALE = 1_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """What a workload is made of.

    reading : how a trace is read, None = tenants are invented
    tenants : file that describes them
    length  : microseconds for which they submit, None = as their file says
    seed    : what the invention and the scaling draw from, None = as the file of tenants says, else 0
    """

    reading: Reading | None
    tenants: Path | None
    scaling: Scaling
    length: int | None = None
    seed: int | None = None


def read_source(report: Report, value: Value, place: Place, folder: Path) -> Source | None:
    """Read the section; faults go to the report, and None comes back where there are any.

    folder : where names of files start
    """
    faults = len(report.faults)
    node = report.mapping(value, place, what="a workload such as `{kind: swf, file: log.swf.gz}`")
    report.missing(node, ("kind", "file"), place, "a workload")
    kind = report.text(node["kind"], (*place, "kind"), what="a kind of workload") if "kind" in node else ""
    if kind and kind not in KINDS:
        mend = report.suggest(kind, KINDS, f"write one of {listed(KINDS)}")
        report.fault("unknown-word", f"there is no kind `{shown(kind)}` of workload", mend, (*place, "kind"))
    if len(report.faults) > faults:
        return None
    trace_keys = () if kind == TENANTS else TRACE_KEYS
    report.keys(node, (*COMMON_KEYS, *trace_keys, *OWN_KEYS.get(kind, ())), place, {})
    file = folder / report.text(node["file"], (*place, "file"), what="the name of a file")
    seed = report.whole(node["seed"], (*place, "seed"), most=2**53) if "seed" in node else None
    scaling = _read_scaling(report, node, place, seed or 0)
    length = report.duration(node["length"], (*place, "length")) if "length" in node else None
    reading = None if kind == TENANTS else _read_reading(report, node, place, replace(KNOWN[kind], file=file), folder)
    if len(report.faults) > faults:
        return None
    return Source(reading, file if kind == TENANTS else None, scaling, length, seed)


def _read_reading(report: Report, node: dict[str, Value], place: Place, known: Reading, folder: Path) -> Reading:
    reading = known
    if node.get("tasks", "cpus") == "nodes":
        reading = by_nodes(reading)
    elif node.get("tasks", "cpus") != "cpus":
        what, mend = "`tasks` is neither `cpus` nor `nodes`", "write `cpus` or `nodes`"
        report.fault("unknown-word", what, mend, (*place, "tasks"))
    if "columns" in node:
        reading = read_columns(report, node["columns"], (*place, "columns"), reading)
    if "consumers" in node:
        reading = replace(reading, rules=read_rules(report, node["consumers"], (*place, "consumers"), folder))
    elif not known.rules:
        what = "a workload of a table needs `consumers`"
        report.fault("missing-key", what, 'add `consumers: [{to: "/{COLUMN}"}]`', place)
    if not known.rules:  # a plain table
        stated = report.mapping(node.get("columns"), (*place, "columns"), what="names of columns")
        report.missing(stated, ("submit",), (*place, "columns"), "a table of jobs")
        if not stated.keys() & {"duration", "start", "end"}:
            report.missing(stated, ("duration",), (*place, "columns"), "a table of jobs")
    return replace(
        reading,
        where=_read_where(report, node.get("where"), (*place, "where")),
        is_fatal=_read_faults(report, node.get("faults", "fatal"), (*place, "faults")),
        zone=read_zone(report, node.get("time_zone", "UTC"), (*place, "time_zone")),
        separator=_read_separator(report, node.get("separator", reading.separator), (*place, "separator")),
        fields=_read_names(report, node.get("fields", []), (*place, "fields")),
        label=report.text(node.get("label", reading.label), (*place, "label"), what="the name of a label"),
    )


def read_zone(report: Report, value: Value, place: Place) -> tzinfo:
    """A time zone by its name."""
    name = report.text(value, place, what="the name of a time zone")
    if name in ("UTC", ""):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        report.fault("time-zone", f"there is no time zone `{shown(name)}`", zone_mend(report, name), place)
        return UTC


def _read_where(report: Report, value: Value, place: Place) -> tuple[tuple[str, re.Pattern[str]], ...]:
    stated = report.mapping(value, place, what="columns with expressions")
    found = [(name, read_pattern(report, each, (*place, name))) for name, each in stated.items()]
    return tuple((name, pattern) for name, pattern in found if pattern is not None)


def _read_faults(report: Report, value: Value, place: Place) -> bool:
    """Whether rows at fault are fatal."""
    if value not in ("skip", "fatal"):
        what = "`faults` is neither `skip` nor `fatal`"
        report.fault("unknown-word", what, "write `skip` or `fatal`", place)
    return value != "skip"


def _read_separator(report: Report, value: Value, place: Place) -> str:
    text = report.text(value, place, what="a character between values")
    if isinstance(value, str) and (len(text) != 1 or text in '"\r\n'):
        report.fault("out-of-range", "values are separated by one character", 'write `","`, `";"` or `"\\t"`', place)
    return text[:1] or ","


def _read_names(report: Report, value: Value, place: Place) -> tuple[str, ...]:
    items = report.sequence(value, place, what="names of columns")
    names = tuple(report.text(item, (*place, at), what="the name of a column") for at, item in enumerate(items))
    for at, name in enumerate(names):
        if name in names[:at]:
            report.fault("duplicate-key", f"there are two columns `{shown(name)}`", "name each once", (*place, at))
    return names


def _read_scaling(report: Report, node: dict[str, Value], place: Place, seed: int) -> Scaling:
    at = (*place, "scale")
    stated = report.mapping(node.get("scale"), at, what="factors such as `{load: 1.5}`")
    report.keys(stated, SCALE_KEYS, at, {})
    load = stated.get("load", 1)
    here = (*at, "load")
    by_path = load if isinstance(load, dict) else {"/": load}
    faults = len(report.faults)
    instants = {key: report.instant(node[key], (*place, key)) for key in ("from", "until", "begin") if key in node}
    if len(report.faults) > faults:
        instants = {}  # one that is none is not compared
    if "from" in instants and "until" in instants and instants["from"] >= instants["until"]:
        report.fault("out-of-range", "`until` is not after `from`", "write a later instant", (*place, "until"))
    return Scaling(
        time=_factor(report, stated.get("time", 1), (*at, "time")),
        duration=_factor(report, stated.get("duration", 1), (*at, "duration")),
        load=tuple(
            (path, _factor(report, each, (*here, path) if isinstance(load, dict) else here, least=Fraction(0)))
            for path, each in by_path.items()
        ),
        start=instants.get("from"),
        until=instants.get("until"),
        begin=instants.get("begin"),
        seed=seed,
    )


def _factor(report: Report, value: Value, place: Place, least: Fraction = Fraction(1, MOST_SCALE)) -> Fraction:
    number = exact_number(value)
    if number is None:
        report.fault("not-a-number", "expected a factor", "write a number such as 1.5", place)
        return Fraction(1)
    if not least <= number <= MOST_SCALE:
        what = f"{shown(value)} is not a factor" if number >= 0 else f"{shown(value)} is below 0"
        report.fault("out-of-range", what, f"write a number above 0 and up to {MOST_SCALE}", place)
        return Fraction(1)
    return number
