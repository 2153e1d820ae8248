"""A record played as it was, and under another plan: both outcomes side by side, in the units of people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.lab.comparing import differences
from fairhold.lab.records import digest_of, workload_of
from fairhold.lab.report.amounts import HOUR
from fairhold.lab.report.data import resources_of
from fairhold.lab.report.verdict import sufferers, verdict
from fairhold.lab.report.views import over_time
from fairhold.lab.scenario import PIECES, Scenario, of_record
from fairhold.lab.simulating import simulate
from fairhold.orchestrator.events import JobSubmitted, TaskEnded
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Experiment
from fairhold.sim.summary import MILLION
from fairhold.traces.findings import Findings
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.lab.comparing import Difference
    from fairhold.lab.recording import Record
    from fairhold.lab.report.amounts import Unit
    from fairhold.lab.report.data import Resource
    from fairhold.lab.report.views import View

    Document = dict[str, Any]

BEFORE, AFTER = "before", "after"
"""As it was, and under the other plan."""
MOST_ROWS, MOST_DIFFERENCES = 200, 200
"""Consumers of each resource, and differences, that are told."""
_TIMES = {"wait.mean": "wait_mean", "wait.p95": "wait_p95", "wait.max": "wait_max", "longest": "longest"}
_HOURS = {"use": "used", "borrowed": "borrowed", "deficit": "deficit", "lost": "lost"}
_TOLD = {**_TIMES, **_HOURS}
_COUNTS = {"submitted": "tasks", "finished": "finished", "notified": "notified", "stopped": "stopped"}


def play_both(record: Record, text: str) -> Document:
    """What comes of a record as it was, and under the plan of a text; InputError where that is no plan.

    Amounts are in slots or declared units, of time in hours of them; waits in seconds, parts of the whole from 0 to 1.
    """
    trace, first = record.event_trace, record.plans[0]
    workload = workload_of(trace)
    texts = {BEFORE: first, AFTER: text}
    plans = {name: (parse_plan(each, name)[0], digest_of(each)) for name, each in texts.items()}
    one = Experiment(plans[BEFORE][0], workload, trace.begin, trace.end, event_trace=trace)
    piece = max(1, -(-(trace.end - trace.begin) // PIECES))
    experiments = of_record(one, plans, digest_of(first))
    scenario = Scenario(experiments, trace.begin, piece, (), (), Findings("the record", "job"))
    documents = {name: simulate(scenario, name) for name in experiments}
    return {
        "record": _record(record),
        "as_recorded": _as_recorded(documents[BEFORE]),
        "otherwise": documents[AFTER].get("otherwise"),
        "shared": [_resource(each) for each in resources_of(documents)],
        "differences": _differences(documents),
        "never_run": [_never(name, each) for name, found in documents.items() for each in found["never_run"]],
    }


def _record(record: Record) -> Document:
    trace = record.event_trace
    return {
        "begin": format_instant(trace.begin),
        "end": format_instant(trace.end),
        "jobs": sum(isinstance(line.what, JobSubmitted) for line in trace.lines),
        "ends": sum(isinstance(line.what, TaskEnded) for line in trace.lines),
        "changes": len(trace.decided),
        "plans": list(record.versions),
        "left_out": dict(record.left_out),
        "is_cut": record.is_cut,
    }


def _as_recorded(document: Document) -> Document | None:
    """Whether the same was decided; None where nothing was."""
    found = document.get("as_recorded")
    return None if found is None else {"recorded": None, "played": None} | found


def _never(name: str, told: Document) -> Document:
    return {"under": name} | {key: told[key] for key in ("consumer", "jobs", "first", "what")}


def _resource(resource: Resource) -> Document:
    """One resource under both plans; None under one that does not share it."""
    (view, points), *_ = resource.views
    side = partial(_side, resource, view, points)
    consumers: dict[str, int] = {}
    for _, shared in resource.of.values():
        for path, each in shared["consumers"].items():
            consumers[path] = consumers.get(path, 0) + each["demand"] + each["owned"]
    told = sorted(sorted(consumers, key=lambda path: (path != "/", -consumers[path], path))[:MOST_ROWS])
    group, name = resource.key
    return {
        "resource_group": group,
        "resource": name,
        "unit": resource.unit.many,
        "hours": resource.unit.hour,
        BEFORE: side(BEFORE),
        AFTER: side(AFTER),
        "consumers": [
            {"consumer": path} | {name: _numbers(resource, name, path) for name in (BEFORE, AFTER)} for path in told
        ],
        "left_out": len(consumers) - len(told),
    }


def _side(resource: Resource, view: View, points: int, name: str) -> Document | None:
    """What comes of a resource under one plan."""
    if name not in resource.of:
        return None
    document, shared = resource.of[name]
    series = over_time(name, document, shared, view, points=points, unit=resource.unit)
    return {
        "utilisation": shared["utilisation"] / MILLION,
        "fairness": shared["fairness"] / MILLION,
        "preempted": sum(units for *_, units in shared["taken"]),
        "preempted_again": sum(units for *_, units in shared["preempted_again"]),
        "verdict": [line._asdict() for line in verdict(document, shared, resource.unit)],
        "fares_badly": [{"consumer": each.path, "why": each.why} for each in sufferers(shared, resource.unit)],
        "over_time": {
            "from": format_instant(document["begin"]),
            "step": series[0]["step"] / 1000 if series else 0,
            "consumers": [
                {"consumer": each["consumer"]} | {key: each["columns"][key] for key in ("own", "borrowed", "waiting")}
                for each in series
            ],
        },
    }


def _numbers(resource: Resource, name: str, path: str) -> Document | None:
    """Those of a consumer under one plan; None where it is not there."""
    found = resource.of.get(name)
    if found is None or path not in found[1]["consumers"]:
        return None
    one: Mapping[str, Any] = found[1]["consumers"][path]
    numbers = {f"wait.{key}": value for key, value in one["wait"].items()} | {**one}
    return {
        **{told: numbers[key] for key, told in _COUNTS.items()},
        **{told: _seconds(numbers[key]) for key, told in _TIMES.items()},
        **{told: _hours(numbers[key], resource.unit) for key, told in _HOURS.items()},
    }


def _seconds(micros: int) -> float:
    return round(micros / SECOND, 3)


def _hours(amount: int, unit: Unit) -> float:
    return round(amount / (HOUR * unit.base), 3)


def _differences(documents: Mapping[str, Document]) -> list[Document]:
    """Numbers that differ in what is told of them, the weightiest first."""
    found = [_difference(each) for each in differences(documents[BEFORE], documents[AFTER]) if each.what in _TOLD]
    return [each for each in found if each[BEFORE] != each[AFTER]][:MOST_DIFFERENCES]


def _difference(each: Difference) -> Document:
    scale = SECOND if each.what in _TIMES else HOUR  # amounts are in units already
    return {
        "resource_group": each.resource_group,
        "resource": each.resource,
        "consumer": each.consumer,
        "number": _TOLD[each.what],
        BEFORE: round(each.before / scale, 3),
        AFTER: round(each.after / scale, 3),
    }
