"""Sections of a scenario that need no workload: what of them is wrong is told before it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP
from fairhold.errors import InputError
from fairhold.lab.expecting import Expectation, parse_expectation, unknown_consumer
from fairhold.lab.moments import Moment, read_moment
from fairhold.planio.report import listed, shown
from fairhold.planio.resources import exact_number
from fairhold.sim.experiment import Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Told
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

    Top = dict[str, Value]

WORK_KEYS = ("start_delay", "restart", "stop_delay", "checkpoint", "yields")
CYCLE_KEYS = ("min_gap", "max_interval")
SLOTS_KEYS = ("at", "resource_group", "slots")
OF_A_RECORD = ("workload", "start", "work", "outages", "slots", "scale")
"""Keys of what a record has itself."""


class Change(NamedTuple):
    """From a moment on a group that is a plain number of slots has another number."""

    at: Moment
    resource_group: str
    slots: int


def refuse_both(report: Report, top: Top) -> None:
    """A scenario has a workload, or it is a record, which has the rest of the world with it."""
    if "record" not in top:
        report.missing(top, ("workload",), (), "a scenario")
        return
    for key in OF_A_RECORD:
        if key in top:
            report.fault("duplicate-key", f"a record has its own `{key}`", "leave it out", (key,))


def read_plan_names(report: Report, top: Top) -> dict[str, str]:
    """Name of each plan → its file."""
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


def read_end(report: Report, top: Top, warm_up: int, start: int | None) -> Moment | None:
    """When the scenario ends, None = when all is over; refused here where it is too early whenever it starts.

    start : of the scenario, None = its workload says it
    """
    if "end" not in top:
        return None
    faults = len(report.faults)
    end = read_moment(report, top["end"], ("end",), start)
    first = Moment(warm_up, is_after=True) if start is None else Moment(start + warm_up)
    if len(report.faults) == faults and end.is_up_to(first):
        refuse_end(report)
    return end


def refuse_end(report: Report) -> None:
    """Nothing is left between warm-up and end."""
    report.fault("out-of-range", "the scenario ends before the measured time starts", "set a later `end`", ("end",))


def read_work(report: Report, value: Value) -> Work:
    """What starting and stopping costs."""
    node = report.mapping(value, ("work",))
    report.keys(node, WORK_KEYS, ("work",), {})
    lengths = {key: report.duration(node[key], ("work", key)) for key in WORK_KEYS[:-1] if key in node}
    return Work(**lengths, yields=report.flag(node.get("yields", False), ("work", "yields")))


def read_cycle(report: Report, value: Value) -> tuple[int, int]:
    """The rhythm of cycles: least gap, longest interval."""
    node = report.mapping(value, ("cycle",))
    report.keys(node, CYCLE_KEYS, ("cycle",), {})
    lengths = (("min_gap", MIN_GAP), ("max_interval", MAX_INTERVAL))
    gap, interval = (report.duration(node[key], ("cycle", key)) if key in node else given for key, given in lengths)
    return gap, interval


def read_slot(report: Report, value: Value) -> Told:
    """What a slot is: `{gpu: 1, cpu: 8}`."""
    node = report.mapping(value, ("slot",), what="amounts of resources")
    found = []
    for name, amount in node.items():
        number = exact_number(amount)
        if number is None or number <= 0:
            what = f"`{shown(amount)}` is not an amount above 0"
            report.fault("amount", what, "write a number such as 1 or 0.5", ("slot", name))
        else:
            found.append((name, shown(amount)))
    return tuple(found)


def read_resources(report: Report, value: Value, plans: Mapping[str, Plan]) -> tuple[str, ...]:
    """Names of the resources that are measured, which hosts of every plan that has any have to have."""
    names = report.sequence(value, ("resources",), what="resources")
    found = tuple(report.text(each, ("resources", at), what="the name of a resource") for at, each in enumerate(names))
    for at, name in enumerate(found):
        there = next((there for plan in plans.values() if (there := on_hosts(plan)) and name not in there), None)
        if name and there is not None:
            what = f"no host has the resource `{shown(name)}`"
            report.fault("unknown-resource", what, f"use {listed(there)}", ("resources", at))
    if found and plans and not any(map(on_hosts, plans.values())):
        what = "no plan of the scenario shares resources of hosts, so only slots are measured"
        report.fault("unknown-resource", what, "leave `resources` out", ("resources",))
    return found


def on_hosts(plan: Plan) -> list[str]:
    """Resources that a host of the plan has, or nodes of a cluster may have; none where it is shared in slots."""
    if any(group.selector is not None and not group.slot for group in plan.resource_groups.values()):
        return [each.name for each in plan.resources]
    hosts = [host for group in plan.resource_groups.values() for host in group.hosts if host.amounts]
    return [each.name for at, each in enumerate(plan.resources) if any(host.amounts[at] for host in hosts)]


def read_changes(report: Report, value: Value, plans: Mapping[str, Plan], start: int | None) -> list[Change]:
    """Groups that change their size."""
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
                what = f"`{shown(group)}` is not a group with a number of slots"
                mend = "name one that has `slots:` in every plan; hosts change by `outages`"
                report.fault("unknown-resource-group", what, mend, (*place, "resource_group"))
                break
        moment = read_moment(report, node.get("at", 0), (*place, "at"), start)
        found.append(Change(moment, group, report.whole(node["slots"], (*place, "slots"))))
    return found


def read_expectations(
    report: Report, value: Value, plans: Mapping[str, Plan], *, by_all: bool
) -> tuple[Expectation, ...]:
    """What must come out, of consumers that the plans have.

    by_all : whether all of them have to have each, else one
    """
    found = []
    for at, item in enumerate(report.sequence(value, ("expect",), what="expectations")):
        text = report.text(item, ("expect", at), what="an expectation such as `wait.p95(/A) < 60s`")
        try:
            expectation = parse_expectation(text)
        except InputError as error:
            fault = error.faults[0]
            report.fault(fault.code, fault.what, fault.mend, ("expect", at))
            continue
        found.append(expectation)
        unknown = unknown_consumer(expectation, plans, by_all=by_all)
        if unknown is not None:
            report.fault(unknown.code, unknown.what, unknown.mend, ("expect", at))
    return tuple(found)
