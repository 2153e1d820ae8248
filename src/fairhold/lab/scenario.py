"""Scenario files: which plans are played, on which workload, on which machines, and what must come out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import InputError
from fairhold.lab.expecting import unknown_consumer
from fairhold.lab.foreseen import refuse_no_jobs, refuse_no_time, refuse_unreadable
from fairhold.lab.hostscale import HostScale, read_scale, read_scaled_plan, scaled_document
from fairhold.lab.outages import Span, hosts_of_all, outages_of, read_outages
from fairhold.lab.records import digest_of, read_record
from fairhold.lab.scenariokeys import (
    Change,
    read_changes,
    read_cycle,
    read_end,
    read_expectations,
    read_plan_names,
    read_resources,
    read_slot,
    read_work,
    refuse_both,
    refuse_end,
)
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import Report
from fairhold.sim.experiment import Experiment, Resizing, Work
from fairhold.traces.findings import Findings
from fairhold.traces.source import Source, read_source
from fairhold.traces.workload import make_workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Fault
    from fairhold.lab.expecting import Expectation
    from fairhold.lab.moments import Moment
    from fairhold.lab.outages import Told as Outages
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Told
    from fairhold.planio.values import Value

KEYS = (
    *("fairhold_scenario", "plan", "plans", "workload", "start", "end", "warm_up", "slot", "work", "cycle"),
    *("outages", "slots", "scale", "resources", "expect", "record"),
)
SEEDS_APART = 1_000_003
"""What the seeds of two draws of a workload differ by: more than seeds that people write."""
PIECES = 240
"""Pieces into which the time is cut for plots."""


@dataclass(frozen=True)
class Scenario:
    """A scenario that was read.

    experiments    : name of the plan → what is played
    begin     : instant from which it is measured: after the warm-up
    piece     : microseconds between two points of a plot
    resources : of groups shared in vectors, those that are measured; () = all that hosts have
    expect    : what must come out
    findings  : what was left out of the workload
    """

    experiments: Mapping[str, Experiment]
    begin: int
    piece: int
    resources: tuple[str, ...]
    expect: tuple[Expectation, ...]
    findings: Findings


class Asked(NamedTuple):
    """What a command asks of a scenario.

    plan   : the only one that is measured, empty = all
    expect : what must come out of it, beside what the scenario says
    """

    plan: str = ""
    expect: tuple[Expectation, ...] = ()


def read_scenario(path: str | Path, draw: int = 0, other: Path | None = None, asked: Asked | None = None) -> Scenario:
    """Read a scenario and all that it names; names of files start at its folder.

    draw  : number of the draw: what chance decides is drawn anew for each
    other : a plan file that is played, too, under that name
    asked : None = nothing is expected of what is played

    Raises InputError with all faults of the scenario, of its plans, of a file of tenants and of what is asked, and
    where its trace or record is not there; then with those of its trace or record, and of what only these let tell.
    """
    return parse_scenario(read_text(path), str(path), _folder_of(path), draw, other, asked=asked)


def check_scenario(path: str | Path) -> list[str]:
    """Names of its plans; raises InputError with all that `read_scenario` tells before it reads a trace or record."""
    return list(_read_all(read_text(path), str(path), _folder_of(path), draw=0, other=None, asked=Asked())[1].plans)


def _folder_of(path: str | Path) -> Path:
    return Path.cwd() if str(path) == "/dev/stdin" else Path(path).absolute().parent


def plan_names(path: str | Path) -> list[str]:
    """Names of the plans of a scenario; none where it cannot be read, which `read_scenario` tells."""
    try:
        return list(_top_of(path)[1])
    except InputError:
        return []


def plan_document(path: str | Path, name: str) -> dict[str, Any]:
    """The document of one of the plans of a scenario that can be read, with its hosts scaled as the scenario says."""
    report, files, top = _top_of(path)
    file = Path(path).absolute().parent / files[name]
    text = read_text(file)
    plan, document = parse_plan(text, str(file))[0], parse_document(text, str(file)).value
    return scaled_document(document, plan, read_scale(report, top.get("scale")))


def _top_of(path: str | Path) -> tuple[Report, dict[str, str], dict[str, Value]]:
    """Of a scenario: whom faults are told, its plans and their files, what stands at its top."""
    document = parse_document(read_text(path), str(path))
    report, top = Report(document), document.value if isinstance(document.value, dict) else {}
    return report, read_plan_names(report, top), top


class _Sections(NamedTuple):
    """What a scenario says but for its jobs."""

    plans: Mapping[str, Plan]
    start: int | None
    end: Moment | None
    warm_up: int
    work: Work
    cycle: tuple[int, int]
    slot: Told
    outages: Outages
    changes: list[Change]
    resources: tuple[str, ...]
    expect: tuple[Expectation, ...]
    source: Source | None
    record: Path | None


def parse_scenario(
    text: str, name: str, folder: Path, draw: int = 0, other: Path | None = None, *, asked: Asked | None = None
) -> Scenario:
    """Read a scenario from its text; name: of the file, as faults show it. Raises InputError as `read_scenario`."""
    report, said, files = _read_all(text, name, folder, draw=draw, other=other, asked=asked)
    if said.record is not None:
        return _of_record(report, said, said.record, files)
    return _of_workload(report, said, draw)


def _read_all(
    text: str, name: str, folder: Path, *, draw: int, other: Path | None, asked: Asked | None
) -> tuple[Report, _Sections, Mapping[str, Path]]:
    """All but the jobs, and the files of the plans; raises InputError with all that is wrong."""
    report = Report(parse_document(text, name))
    top = report.mapping(report.document.value, (), what="a mapping with `fairhold_scenario: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold_scenario")
    report.keys(top, KEYS, (), {})
    refuse_both(report, top)
    names = read_plan_names(report, top)
    files = {label: folder / file for label, file in names.items() if file}
    files |= {} if other is None else {str(other): other.absolute()}
    plans, broken = _read_plans(report, files, read_scale(report, top.get("scale")))
    is_whole = plans.keys() == files.keys() >= names.keys()
    said = _read_sections(report, top, plans if is_whole else {}, folder, draw=draw, asked=asked)
    if "record" in top:
        report.text(top["record"], ("record",), what="a file of `fairhold record`")
    broken += refuse_unreadable(report, top, folder)
    if asked is not None:
        measured = _measured(said.plans, asked)
        broken += tuple(fault for each in asked.expect if (fault := unknown_consumer(each, measured)) is not None)
    if report.faults or broken:
        raise InputError((*report.document.locate(report.faults), *broken))
    return report, said, files


def _measured(plans: Mapping[str, Plan], asked: Asked | None) -> Mapping[str, Plan]:
    if asked is None or not asked.plan:
        return plans
    return {name: plan for name, plan in plans.items() if name == asked.plan}


def _read_plans(
    report: Report, files: Mapping[str, Path], scale: HostScale
) -> tuple[dict[str, Plan], tuple[Fault, ...]]:
    """The plans that can be read, and what is wrong with the others; what the scenario says of them goes to the report.

    A group that is scaled is one of every plan.
    """
    plans: dict[str, Plan] = {}
    broken: dict[Fault, None] = {}
    for label, file in files.items():
        try:
            plans[label] = read_scaled_plan(file, scale)
        except InputError as error:
            for fault in error.faults:
                if fault.file:
                    broken[fault] = None
                elif fault not in report.faults:
                    report.faults.append(fault)
    scale.refuse_unknown(report, plans.values())
    return plans, tuple(broken)


def _read_sections(
    report: Report,
    top: dict[str, Value],
    plans: Mapping[str, Plan],
    folder: Path,
    *,
    draw: int,
    asked: Asked | None,
) -> _Sections:
    """All that can be told without the workload.

    plans : all of them; none = some cannot be read, and what only they know is not looked for
    """
    is_stated = "start" in top and "record" not in top
    faults = len(report.faults)
    start = report.instant(top["start"], ("start",)) if is_stated else None
    start = None if len(report.faults) > faults else start
    warm_up = report.duration(top.get("warm_up", 0), ("warm_up",))
    source = None
    if "workload" in top and "record" not in top:
        source = read_source(report, _drawn(top["workload"], draw), ("workload",), folder)
    end = read_end(report, top, warm_up, start)
    if source is not None and len(report.faults) == faults:
        refuse_no_time(report, source.scaling, start, end, warm_up)
    return _Sections(
        plans,
        start,
        end,
        warm_up,
        read_work(report, top.get("work")),
        read_cycle(report, top.get("cycle")),
        read_slot(report, top.get("slot")),
        read_outages(report, top.get("outages", []), hosts_of_all(plans.values()) if plans else None, start),
        read_changes(report, top.get("slots", []), plans, start),
        read_resources(report, top.get("resources", []), plans),
        read_expectations(report, top.get("expect", []), _measured(plans, asked), by_all=asked is not None),
        source,
        folder / str(top["record"]) if "record" in top else None,
    )


def _of_workload(report: Report, said: _Sections, draw: int) -> Scenario:
    """A scenario that plays jobs."""
    assert said.source is not None, "a section without faults is a source"
    workload, findings = make_workload(said.source)
    first = workload.submit[0] if len(workload) else 0
    last = workload.submit[-1] if len(workload) else 0
    start = first if said.start is None else said.start
    begin = start + said.warm_up
    end = None if said.end is None else said.end.at(start)
    if end is not None and end <= begin:
        refuse_end(report)
    else:
        refuse_no_jobs(report, workload, start, begin, end)
    outages = outages_of(report, said.outages, Span(start, end or last, draw))
    report.settle()
    resizings = tuple(Resizing(each.at.at(start), each.resource_group, each.slots) for each in said.changes)
    experiments = {
        label: Experiment(plan, workload, start, end, said.work, outages, resizings, said.slot, *said.cycle)
        for label, plan in said.plans.items()
    }
    piece = max(1, -(-((end or last) - begin) // PIECES))
    return Scenario(experiments, begin, piece, said.resources, said.expect, findings)


def _of_record(report: Report, said: _Sections, file: Path, files: Mapping[str, Path]) -> Scenario:
    """A scenario that plays what was recorded; files: of the plans."""
    found = read_record(file)
    event_trace = found.event_trace
    begin = event_trace.begin + said.warm_up
    end = event_trace.end if said.end is None else said.end.at(event_trace.begin)
    if end <= begin:
        refuse_end(report)
    report.settle()
    plans = {label: (plan, digest_of(read_text(files[label]))) for label, plan in said.plans.items()}
    one = Experiment(
        *(next(iter(said.plans.values())), found.workload, event_trace.begin, min(end, event_trace.end)),
        slot=said.slot,
        min_gap=said.cycle[0],
        max_interval=said.cycle[1],
        event_trace=event_trace,
    )
    experiments = of_record(one, plans, found.digest)
    piece = max(1, -(-(end - begin) // PIECES))
    return Scenario(experiments, begin, piece, said.resources, said.expect, Findings(str(file), "job"))


def of_record(one: Experiment, plans: Mapping[str, tuple[Plan, str]], digest: str) -> dict[str, Experiment]:
    """A record under each of some plans, as it was under the plan of the record.

    one    : of the record, under any plan
    plans  : name → plan, and the digest of its text; digest: of the text of the plan of the record
    """
    return {name: replace(one.under(plan), is_replay=of_text == digest) for name, (plan, of_text) in plans.items()}


def _drawn(workload: Value, draw: int) -> Value:
    """The section of a workload with the seed of a draw; the first draw is that of the files."""
    if not draw or not isinstance(workload, dict):
        return workload
    stated = workload.get("seed", 0)
    return workload | {"seed": stated + draw * SEEDS_APART if isinstance(stated, int) else stated}
