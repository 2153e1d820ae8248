"""Scenario files: which plans are played, on which workload, on which machines, and what must come out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP
from fairhold.errors import InputError
from fairhold.lab.expecting import Expectation, parse_expectation
from fairhold.lab.outages import Span, moment, read_outages
from fairhold.lab.records import digest_of, read_record
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.plan import read_plan
from fairhold.planio.report import Report, shown
from fairhold.planio.resources import exact_number
from fairhold.sim.scene import Resizing, Scene, Work
from fairhold.traces.findings import Findings
from fairhold.traces.workload import read_workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Told
    from fairhold.planio.values import Value

    _Rest = tuple[tuple[str, ...], int, Told, tuple[int, int], tuple[Expectation, ...]]

KEYS = (
    *("fairhold_scenario", "plan", "plans", "workload", "start", "end", "warm_up", "slot", "work", "cycle"),
    *("outages", "slots", "resources", "expect", "record"),
)
OF_A_RECORD = ("workload", "start", "work", "outages", "slots")
"""Keys of what a record has itself."""
WORK_KEYS = ("start_delay", "restart", "stop_delay", "checkpoint", "yields")
CYCLE_KEYS = ("min_gap", "max_interval")
SLOTS_KEYS = ("at", "resource_group", "slots")
SEEDS_APART = 1_000_003
"""What the seeds of two draws of a workload differ by: more than seeds that people write."""
PIECES = 240
"""Pieces into which the time is cut for plots."""


@dataclass(frozen=True)
class Scenario:
    """A scenario that was read.

    scenes    : name of the plan → what is played
    begin     : instant from which it is measured: after the warm-up
    piece     : microseconds between two points of a plot
    resources : of groups shared in vectors, those that are measured; () = all that hosts have
    expect    : what must come out
    findings  : what was left out of the workload
    """

    scenes: Mapping[str, Scene]
    begin: int
    piece: int
    resources: tuple[str, ...]
    expect: tuple[Expectation, ...]
    findings: Findings


def read_scenario(path: str | Path, draw: int = 0, other: Path | None = None) -> Scenario:
    """Read a scenario and all that it names; names of files start at its folder.

    draw  : number of the draw: what chance decides is drawn anew for each
    other : a plan file that is played, too, under that name

    Raises InputError with all faults of the scenario, or of the first plan or trace that has any.
    """
    folder = Path.cwd() if str(path) == "/dev/stdin" else Path(path).absolute().parent
    return parse_scenario(read_text(path), str(path), folder, draw, other)


def plan_names(path: str | Path) -> list[str]:
    """Names of the plans of a scenario; none where it cannot be read, which `read_scenario` tells."""
    try:
        document = parse_document(read_text(path), str(path))
    except InputError:
        return []
    return list(_plans(Report(document), document.value if isinstance(document.value, dict) else {}))


def plan_file(path: str | Path, name: str) -> Path:
    """The file of one of the plans of a scenario that can be read."""
    document = parse_document(read_text(path), str(path))
    paths = _plans(Report(document), document.value if isinstance(document.value, dict) else {})
    return Path(path).absolute().parent / paths[name]


def parse_scenario(text: str, name: str, folder: Path, draw: int = 0, other: Path | None = None) -> Scenario:
    """Read a scenario from its text; name: of the file, as faults show it. Raises InputError as `read_scenario`."""
    report = Report(parse_document(text, name))
    top = report.mapping(report.document.value, (), what="a mapping with `fairhold_scenario: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold_scenario")
    report.keys(top, KEYS, (), {})
    _of_one_kind(report, top)
    paths = _plans(report, top) | ({} if other is None else {str(other): str(other.absolute())})
    work = _work(report, top.get("work"))
    min_gap, max_interval = _cycle(report, top.get("cycle"))
    slot = _amounts(report, top.get("slot"))
    expect = _expect(report, top)
    resources = _resources(report, top)
    warm_up = report.duration(top.get("warm_up", 0), ("warm_up",))
    _check_times(report, top)
    if report.faults:
        report.settle()
    plans = {label: read_plan(folder / path, places=True)[0] for label, path in paths.items()}
    if "record" in top:
        rest = resources, warm_up, slot, (min_gap, max_interval), expect
        return _of_record(
            report, top, folder, {label: (folder / paths[label], plan) for label, plan in plans.items()}, rest
        )
    workload, findings = read_workload(report, _drawn(top["workload"], draw), ("workload",), folder)
    first = workload.submit[0] if len(workload) else 0
    last = workload.submit[-1] if len(workload) else 0
    start = report.instant(top["start"], ("start",)) if "start" in top else first
    end = moment(report, top["end"], ("end",), start) if "end" in top else None
    if end is not None and end <= start + warm_up:
        report.fault("out-of-range", "the scenario ends before anything is measured", "set a later `end`", ("end",))
    outages = read_outages(report, top.get("outages", []), plans, Span(start, end or last, draw))
    resizings = _resizings(report, top.get("slots", []), plans, start)
    report.settle()
    scenes = {
        label: Scene(plan, workload, start, end, work, outages, resizings, slot, min_gap, max_interval)
        for label, plan in plans.items()
    }
    begin = start + warm_up
    piece = max(1, -(-((end or last) - begin) // PIECES))
    return Scenario(scenes, begin, piece, resources, expect, findings)


def _check_times(report: Report, top: dict[str, Value]) -> None:
    """Add the faults of `start` and `end` that show before the workload is read, which their values need."""
    if "start" in top and "record" not in top:
        report.instant(top["start"], ("start",))
    if "end" in top:
        moment(report, top["end"], ("end",), 0)


def _resources(report: Report, top: dict[str, Value]) -> tuple[str, ...]:
    named = report.sequence(top.get("resources", []), ("resources",), what="resources")
    return tuple(report.text(each, ("resources", at), what="the name of a resource") for at, each in enumerate(named))


def _of_one_kind(report: Report, top: dict[str, Value]) -> None:
    """A scenario has a workload, or it is a record, which has the rest of the world with it."""
    if "record" not in top:
        report.missing(top, ("workload",), (), "a scenario")
        return
    for key in OF_A_RECORD:
        if key in top:
            report.fault("duplicate-key", f"a record has its own `{key}`", "leave it out", (key,))


def _of_record(
    report: Report, top: dict[str, Value], folder: Path, plans: Mapping[str, tuple[Path, Plan]], rest: _Rest
) -> Scenario:
    """A scenario that plays what was recorded; plans: label → file, plan."""
    resources, warm_up, slot, (min_gap, max_interval), expect = rest
    file = report.text(top["record"], ("record",), what="a file of `fairhold record`")
    report.settle()
    found = read_record(folder / file)
    story = found.story
    end = moment(report, top["end"], ("end",), story.begin) if "end" in top else story.end
    if end <= story.begin + warm_up:
        report.fault("out-of-range", "the scenario ends before anything is measured", "set a later `end`", ("end",))
    report.settle()
    scenes = {
        label: Scene(
            *(plan, found.workload, story.begin, min(end, story.end)),
            slot=slot,
            min_gap=min_gap,
            max_interval=max_interval,
            story=story,
            is_replay=digest_of(read_text(path)) == found.digest,
        )
        for label, (path, plan) in plans.items()
    }
    begin = story.begin + warm_up
    piece = max(1, -(-(end - begin) // PIECES))
    return Scenario(scenes, begin, piece, resources, expect, Findings(str(folder / file), "job"))


def _drawn(workload: Value, draw: int) -> Value:
    """The section of a workload with the seed of a draw; the first draw is that of the files."""
    if not draw or not isinstance(workload, dict):
        return workload
    stated = workload.get("seed", 0)
    return workload | {"seed": stated + draw * SEEDS_APART if isinstance(stated, int) else stated}


def _plans(report: Report, top: dict[str, Value]) -> dict[str, str]:
    """Name → file."""
    if "plans" in top and "plan" in top:
        report.fault("duplicate-key", "a scenario has `plan`, or `plans`", "write all under `plans:`", ("plan",))
    if "plans" in top:
        found = report.mapping(top["plans"], ("plans",), what="names of plans and their files")
        if not found:
            report.fault("missing-key", "there is no plan", "name one: `plans: {now: plan.yaml}`", ("plans",))
        return {key: report.text(value, ("plans", key), what="a file") for key, value in found.items()}
    if "plan" not in top:
        report.fault("missing-key", "a scenario needs `plan` or `plans`", "add `plan:`", ())
        return {}
    return {"plan": report.text(top["plan"], ("plan",), what="a file")}


def _work(report: Report, value: Value) -> Work:
    node = report.mapping(value, ("work",))
    report.keys(node, WORK_KEYS, ("work",), {})
    lengths = {key: report.duration(node[key], ("work", key)) for key in WORK_KEYS[:-1] if key in node}
    return Work(**lengths, yields=report.flag(node.get("yields", False), ("work", "yields")))


def _cycle(report: Report, value: Value) -> tuple[int, int]:
    node = report.mapping(value, ("cycle",))
    report.keys(node, CYCLE_KEYS, ("cycle",), {})
    lengths = (("min_gap", MIN_GAP), ("max_interval", MAX_INTERVAL))
    gap, interval = (report.duration(node[key], ("cycle", key)) if key in node else given for key, given in lengths)
    return gap, interval


def _amounts(report: Report, value: Value) -> Told:
    """What a slot is: `{gpu: 1, cpu: 8}`."""
    node = report.mapping(value, ("slot",), what="amounts of resources")
    found = []
    for name, amount in node.items():
        number = exact_number(amount)
        if number is None or number <= 0:
            what = f"`{shown(amount)}` is no amount above 0"
            report.fault("amount", what, "write a number such as 1 or 0.5", ("slot", name))
        else:
            found.append((name, shown(amount)))
    return tuple(found)


def _resizings(report: Report, value: Value, plans: Mapping[str, Plan], start: int) -> tuple[Resizing, ...]:
    found = []
    for at, item in enumerate(report.sequence(value, ("slots",), what="changes of groups")):
        place: Place = ("slots", at)
        node = report.mapping(item, place)
        report.keys(node, SLOTS_KEYS, place, {})
        report.missing(node, SLOTS_KEYS[1:], place, "a change of slots")
        if not {"resource_group", "slots"} <= node.keys():
            continue
        group = report.text(node["resource_group"], (*place, "resource_group"), what="the name of a resource group")
        for plan in plans.values():
            known = plan.resource_groups.get(group)
            if known is None or known.hosts:
                what = f"`{shown(group)}` is no group of a plain number of slots"
                mend = "name one that has `slots:` in every plan; hosts change by `outages`"
                report.fault("unknown-resource-group", what, mend, (*place, "resource_group"))
                break
        instant = moment(report, node.get("at", 0), (*place, "at"), start)
        found.append(Resizing(instant, group, report.whole(node["slots"], (*place, "slots"))))
    return tuple(found)


def _expect(report: Report, top: dict[str, Value]) -> tuple[Expectation, ...]:
    found = []
    for at, item in enumerate(report.sequence(top.get("expect", []), ("expect",), what="expectations")):
        text = report.text(item, ("expect", at), what="an expectation such as `wait.p95(/A) < 60s`")
        try:
            found.append(parse_expectation(text))
        except InputError as error:
            fault = error.faults[0]
            report.fault(fault.code, fault.what, fault.mend, ("expect", at))
    return tuple(found)
