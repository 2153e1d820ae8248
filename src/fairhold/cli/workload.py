"""`workload show` and `workload convert`: what a trace or invented tenants come to."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fairhold.cli.files import fault_document, print_json, print_text
from fairhold.cli.table import table
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.errors import Fault, InputError, UsageError, printable
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.report import Report, listed
from fairhold.planio.zones import zones_of
from fairhold.runtime.outlet import tell, warn
from fairhold.traces.fitting import fit, jobs_of
from fairhold.traces.reading import KNOWN
from fairhold.traces.scaling import Scaling
from fairhold.traces.source import Source, read_source
from fairhold.traces.telling import by_consumer, csv_lines, document_of, load_of
from fairhold.traces.tenantwriting import tenants_text
from fairhold.traces.workload import make_workload
from fairhold.units import SECOND, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.model.workload import Workload
    from fairhold.traces.findings import Findings

_BAR = 40
_HOUR = 3600 * SECOND
_SCENARIOS = (".yaml", ".yml", ".json")


def show_workload(path: Path, kind: str, *, as_json: bool) -> int:
    """Print what a workload holds; 1 where rows are at fault and that is fatal, else 0."""
    source = source_of(path, kind)
    is_fatal = source.reading is not None and source.reading.is_fatal
    workload, findings = make_workload(_lenient(source))
    findings.is_fatal = is_fatal
    faults = findings.faults()
    if as_json:
        print_json(document_of(workload, findings) | {"faults": [fault_document(fault) for fault in faults]})
    else:
        print_text(_text(workload, findings))
        for fault in faults:
            (tell if is_fatal else warn)(str(fault))
    return 1 if faults and is_fatal else 0


def convert_workload(path: Path, kind: str, output: Path | None, *, skip: bool = False) -> None:
    """Write a workload as the project's own table; skip: rows at fault are left out."""
    if output is not None:
        refuse_same(output, path, "--output names the workload")
    workload, findings = _made(path, kind, skip=skip)
    for fault in findings.faults():
        warn(str(fault))
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(csv_lines(workload))
    _write(file.getvalue(), output)


def fit_workload(paths: Sequence[Path], kind: str, zone: str, output: Path | None, *, skip: bool = False) -> None:
    """Write tenants that submit like the consumers of workloads; skip: rows at fault are left out."""
    workloads = []
    try:
        where = UTC if zone == "UTC" else ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        mend = zones_of(zone) or "write one as Europe/Zurich"
        raise UsageError(f"there is no time zone {zone}; {mend}") from None
    for path in paths:
        if output is not None:
            refuse_same(output, path, "--output names the workload")
        workload, findings = _made(path, kind, skip=skip)
        for fault in findings.faults():
            warn(str(fault))
        workloads.append(workload)
    tenants = fit(jobs_of(workloads), where)
    names = ", ".join(str(path) for path in paths)
    if tenants is None:
        raise InputError([Fault("empty", "there are no jobs to imitate", "name a workload with jobs", file=names)])
    _write(tenants_text(tenants, names), output)


def _made(path: Path, kind: str, *, skip: bool) -> tuple[Workload, Findings]:
    source = source_of(path, kind)
    return make_workload(_lenient(source) if skip else source)


def _write(text: str, output: Path | None) -> None:
    if output is None or output == STANDARD_OUTPUT:
        print_text(text.removesuffix("\n"))
    else:
        write_whole(output, text)


def source_of(path: Path, kind: str) -> Source:
    """What a file names: a trace of a kind, tenants, or the section of a scenario. Raises InputError, UsageError."""
    if kind:
        known = {name: reading for name, reading in KNOWN.items() if reading.rules}
        if kind not in known:
            raise UsageError(f"--kind must be one of {listed(known)}; other tables need a file with `workload:`")
        return Source(replace(known[kind], file=path), None, Scaling())
    if path.suffix not in _SCENARIOS:
        if ".swf" in path.suffixes:
            return Source(replace(KNOWN["swf"], file=path), None, Scaling())
        raise UsageError(f"the kind of {path.name} is not clear: name it with --kind, or in a file with `workload:`")
    document = parse_document(read_text(path), str(path))
    if isinstance(document.value, dict) and "fairhold_tenants" in document.value:
        return Source(None, path, Scaling())
    report = Report(document)
    top = report.mapping(document.value, (), what="a mapping with `workload:`")
    report.missing(top, ("workload",), (), "a scenario")
    report.settle()
    source = read_source(report, top["workload"], ("workload",), path.parent)
    report.settle()
    assert source is not None, "a section without faults is a source"
    return source


def _lenient(source: Source) -> Source:
    """The same, with whatever is at fault left out."""
    if source.reading is None:
        return source
    return replace(source, reading=replace(source.reading, is_fatal=False))


def _disorder(findings: Findings) -> str:
    """How many jobs were put in order, and where the first few stood."""
    first = ", ".join(map(str, findings.first_disordered))
    word = findings.word if findings.disordered == 1 else f"{findings.word}s"
    more = ", …" if findings.disordered > len(findings.first_disordered) else ""
    return f"{_many(findings.disordered, 'job')} submitted before the one above, in {word} {first}{more}"


def _text(workload: Workload, findings: Findings) -> str:
    asking = len({user for user in workload.user if workload.users[user]}) if workload.users else 0
    users = f", {_many(asking, 'user')}" if asking else ""
    held = by_consumer(workload)
    rows_there = "" if findings.word == "job" else f" of {_many(findings.rows, findings.word)}"
    found = f"{_many(len(workload), 'job')}{rows_there}, {_many(len(held), 'consumer')}{users}"
    lines = [f"{printable(findings.name)}: {found}"]
    lines += [f"skipped: {why}, {count:,}" for why, count in findings.passed.items()]
    if findings.disordered:
        lines.append(f"put in order: {_disorder(findings)}")
    if not held:
        return "\n".join(lines)
    first, last = workload.submit[0], workload.submit[-1]
    lines.append(f"submitted from {format_instant(first)} to {format_instant(last)}")
    head = ("jobs", "tasks", "unit-hours", "endless", "median", "p90", "largest", "consumer")
    rows = [
        (
            each.jobs,
            each.tasks,
            each.work // _HOUR,
            each.endless,
            _length(each.median),
            _length(each.ninth),
            each.largest,
            path,
        )
        for path, each in sorted(held.items())
    ]
    lines += ["", table(head, rows, room=0), "", *_loads(workload)]
    return "\n".join(lines)


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _length(micros: int | None) -> str | None:
    """A length of time to the second."""
    return None if micros is None else format_duration(micros - micros % SECOND if micros > SECOND else micros)


def _loads(workload: Workload) -> list[str]:
    """A line for every span: what was submitted in it, and how many units would be busy with that for as long."""
    spans = load_of(workload)
    units = [work // length for _, length, _, work in spans]
    most = max(units) or 1
    rows = [
        (format_instant(begin), jobs, busy, "#" * (busy * _BAR // most))
        for (begin, _, jobs, _), busy in zip(spans, units, strict=True)
    ]
    return [f"Load, in spans of {format_duration(spans[0][1])}:", table(("from", "jobs", "units", ""), rows, room=0)]
