"""Files that describe tenants (`fairhold_tenants: 1`), read strictly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.model.vector import decimal_text
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.report import Report, kind, shown
from fairhold.planio.requests import LARGEST_PRIORITY
from fairhold.planio.resources import exact_number
from fairhold.traces.rules import path_fault
from fairhold.traces.source import read_zone
from fairhold.traces.tenants import (
    LEVELS,
    SIX_HOURS,
    Bursts,
    JobKind,
    Quantiles,
    Services,
    Tenant,
    Tenants,
    Weighted,
    constant,
    lognormal,
    pareto,
    weighted,
)
from fairhold.units import LONGEST

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.errors import Place
    from fairhold.model.vector import Told
    from fairhold.planio.values import Value

KEYS = ("fairhold_tenants", "seed", "begin", "length", "time_zone", "factor", "tenants")
TENANT_KEYS = (*("jobs_per_day", "hours", "weekdays", "bursts", "follows", "wanders", "jobs", "services", "users"),)
KIND_KEYS = (*("weight", "tasks", "duration", "gang", "unit", "priority", "preemptible", "resource_group"),)
SERVICE_KEYS = ("count", "tasks", "after", "unit", "priority", "preemptible", "resource_group")
SHAPES = {"lognormal": ("median", "p90"), "pareto": ("least", "median")}
MOST_TASKS = 1_000_000
MOST_RATE = 100_000_000
MOST_JOBS = 20_000_000
DAY = 86_400_000_000
DEFAULT_LENGTH = 28 * DAY
_SHAPE = "write `{quantiles: [[0, 1s], [50, 10m], [100, 2d]]}`, `{shape: lognormal, median: 10m, p90: 4h}` or `endless`"


def read_tenants(path: Path) -> Tenants:
    """Read a file; raises InputError with all its faults."""
    return parse_tenants(read_text(path), str(path))


def parse_tenants(text: str, name: str) -> Tenants:
    """Read a text; raises InputError with all its faults."""
    report = Report(parse_document(text, name))
    top = report.mapping(report.document.value, (), what="a mapping with `fairhold_tenants: 1`")
    report.version(top, "fairhold_tenants")
    report.keys(top, KEYS, (), {})
    report.missing(top, ("begin", "tenants"), (), "a file of tenants")
    factor = report.mapping(top.get("factor"), ("factor",), what="a factor that all share")
    report.keys(factor, ("every", "calm"), ("factor",), {})
    every = report.duration(factor["every"], ("factor", "every")) if "every" in factor else SIX_HOURS
    if not every and "every" in factor:
        report.fault("out-of-range", "the factor would change infinitely often", "write `6h`", ("factor", "every"))
    stated = report.mapping(top.get("tenants"), ("tenants",), what="paths with what they submit")
    found = Tenants(
        seed=report.whole(top.get("seed", 0), ("seed",), most=2**53),
        begin=report.instant(top["begin"], ("begin",)) if "begin" in top else 0,
        length=report.duration(top["length"], ("length",)) if "length" in top else DEFAULT_LENGTH,
        zone=read_zone(report, top.get("time_zone", "UTC"), ("time_zone",)),
        every=every,
        calm=report.whole(factor.get("calm", 1), ("factor", "calm"), least=1, most=1000),
        tenants=tuple(_read_tenant(report, path, node) for path, node in stated.items()),
    )
    jobs = int(sum(tenant.rate for tenant in found.tenants) * found.length / DAY)
    if jobs > MOST_JOBS:
        what = f"the tenants would submit about {jobs:,} jobs, more than {MOST_JOBS:,}"
        report.fault("out-of-range", what, "lower `jobs_per_day` or `length`", ("tenants",))
    report.settle()
    return found


def _read_tenant(report: Report, path: str, value: Value) -> Tenant:
    place: Place = ("tenants", path)
    wrong = path_fault(path)
    if wrong:
        report.fault("name", wrong, "write the path of a leaf, as `/Trading/Risk`", place)
    node = report.mapping(value, place, what="what a tenant submits")
    report.keys(node, TENANT_KEYS, place, {})
    if ("jobs" in node) != ("jobs_per_day" in node):
        report.missing(node, ("jobs_per_day", "jobs"), place, "a tenant that submits jobs")
    jobs = report.sequence(node.get("jobs", []), (*place, "jobs"), what="kinds of jobs")
    services = report.sequence(node.get("services", []), (*place, "services"), what="services")
    users = report.mapping(node.get("users"), (*place, "users"), what="users with weights")
    kinds = tuple(_read_kind(report, each, (*place, "jobs", at)) for at, each in enumerate(jobs))
    if kinds and not any(each.weight for each in kinds):
        report.fault("out-of-range", "all weights are 0", "give one kind of job a weight", (*place, "jobs"))
    if users and not any(each for each in users.values()):
        report.fault("out-of-range", "all weights are 0", "give one user a weight", (*place, "users"))
    return Tenant(
        path=path,
        rate=_number(report, node.get("jobs_per_day", 0), (*place, "jobs_per_day"), most=MOST_RATE),
        hours=_weights(report, node.get("hours"), (*place, "hours"), 24),
        weekdays=_weights(report, node.get("weekdays"), (*place, "weekdays"), 7),
        bursts=_read_bursts(report, node.get("bursts"), (*place, "bursts")),
        follows=_number(report, node.get("follows", 0), (*place, "follows")),
        wanders=_number(report, node.get("wanders", 0), (*place, "wanders")),
        kinds=kinds,
        services=tuple(_read_services(report, each, (*place, "services", at)) for at, each in enumerate(services)),
        users=tuple((name, report.whole(weight, (*place, "users", name))) for name, weight in users.items()),
    )


def _read_kind(report: Report, value: Value, place: Place) -> JobKind:
    node = report.mapping(value, place, what="a kind of job")
    report.keys(node, KIND_KEYS, place, {})
    report.missing(node, ("duration",), place, "a kind of job")
    return JobKind(
        weight=report.whole(node.get("weight", 1), (*place, "weight")),
        tasks=_read_tasks(report, node.get("tasks", 1), (*place, "tasks")),
        duration=_read_duration(report, node.get("duration", "0s"), (*place, "duration")),
        gang=report.flag(node.get("gang", True), (*place, "gang")),
        unit=_read_unit(report, node.get("unit"), (*place, "unit")),
        priority=_read_priority(report, node, place),
        preemptible=report.flag(node.get("preemptible", True), (*place, "preemptible")),
        resource_group=report.text(
            node.get("resource_group", ""), (*place, "resource_group"), what="the name of a resource group"
        ),
    )


def _read_services(report: Report, value: Value, place: Place) -> Services:
    node = report.mapping(value, place, what="services")
    report.keys(node, SERVICE_KEYS, place, {})
    return Services(
        count=report.whole(node.get("count", 1), (*place, "count"), least=1, most=MOST_TASKS),
        tasks=report.whole(node.get("tasks", 1), (*place, "tasks"), least=1, most=MOST_TASKS),
        after=report.duration(node.get("after", 0), (*place, "after")),
        unit=_read_unit(report, node.get("unit"), (*place, "unit")),
        priority=_read_priority(report, node, place),
        preemptible=report.flag(node.get("preemptible", True), (*place, "preemptible")),
        resource_group=report.text(
            node.get("resource_group", ""), (*place, "resource_group"), what="the name of a resource group"
        ),
    )


def _read_priority(report: Report, node: dict[str, Value], place: Place) -> int:
    at = (*place, "priority")
    return report.whole(node.get("priority", 0), at, least=-LARGEST_PRIORITY, most=LARGEST_PRIORITY)


def _read_bursts(report: Report, value: Value, place: Place) -> Bursts:
    if value is None:
        return Bursts()
    node = report.mapping(value, place, what="bursts such as `{share: 0.4, jobs: 20, within: 10m}`")
    report.keys(node, ("share", "jobs", "within"), place, {})
    report.missing(node, ("share", "jobs", "within"), place, "a burst")
    return Bursts(
        share=_number(report, node.get("share", 0), (*place, "share")),
        jobs=_number(report, node.get("jobs", 1), (*place, "jobs"), least=1, most=10_000),
        within=report.duration(node.get("within", 0), (*place, "within")),
    )


def _number(report: Report, value: Value, place: Place, *, least: int = 0, most: int = 1) -> Fraction:
    number = exact_number(value)
    if number is None:
        report.fault("not-a-number", f"expected a number, found {kind(value)}", "write a number such as 0.5", place)
        return Fraction(least)
    if not least <= number <= most:
        code = "negative" if number < 0 else "out-of-range"
        what, mend = f"{shown(value)} is not between {least} and {most:,}", f"write one from {least} to {most}"
        report.fault(code, what, mend, place)
        return Fraction(least)
    return number


def _weights(report: Report, value: Value, place: Place, count: int) -> tuple[int, ...]:
    if value is None:
        return (1,) * count
    items = report.sequence(value, place, what="weights")
    found = tuple(report.whole(each, (*place, at)) for at, each in enumerate(items))
    if isinstance(value, list) and (len(found) != count or not any(found)):
        what = f"there are {len(found)} weights" if len(found) != count else "all weights are 0"
        report.fault("out-of-range", what, f"write {count} whole numbers, one above 0 at least", place)
        return (1,) * count
    return found


def _read_tasks(report: Report, value: Value, place: Place) -> Quantiles | Weighted:
    if not isinstance(value, dict):
        return constant(report.whole(value, place, least=1, most=MOST_TASKS))
    if "quantiles" in value:
        report.keys(value, ("quantiles",), place, {})
        return _read_quantiles(report, value["quantiles"], (*place, "quantiles"), is_time=False)
    report.keys(value, ("sizes", "weights"), place, {})
    report.missing(value, ("sizes", "weights"), place, "the number of tasks")
    sizes = report.sequence(value.get("sizes", []), (*place, "sizes"), what="numbers of tasks")
    found = [report.whole(each, (*place, "sizes", at), least=1, most=MOST_TASKS) for at, each in enumerate(sizes)]
    weights = _weights(report, value.get("weights", []), (*place, "weights"), len(found))
    return weighted(found, weights) if any(weights[: len(found)]) else constant(1)


def _read_duration(report: Report, value: Value, place: Place) -> Quantiles | Weighted | None:
    if value == "endless":
        return None
    if not isinstance(value, dict):
        return constant(report.duration(value, place))
    if "quantiles" in value:
        report.keys(value, ("quantiles",), place, {})
        return _read_quantiles(report, value["quantiles"], (*place, "quantiles"), is_time=True)
    shape = value.get("shape")
    if not isinstance(shape, str) or shape not in SHAPES:
        report.fault("unknown-word", f"expected the shape of lengths, found {kind(shape)}", _SHAPE, place)
        return None
    report.keys(value, ("shape", "most", *SHAPES[shape]), place, {})
    report.missing(value, SHAPES[shape], place, f"`{shape}`")
    low, high = (report.duration(value[key], (*place, key)) if key in value else 0 for key in SHAPES[shape])
    most = report.duration(value["most"], (*place, "most")) if "most" in value else LONGEST
    if not 0 < low <= high <= most:
        first, second = SHAPES[shape]
        mend = f"write `{first}` above 0, `{second}` not below it, and `most` not below both"
        report.fault("out-of-range", f"`{first}` and `{second}` are not in order", mend, place)
        return None
    return lognormal(low, high, most) if shape == "lognormal" else pareto(low, high, most)


def _read_quantiles(report: Report, value: Value, place: Place, *, is_time: bool) -> Quantiles:
    """Pairs of a percentage and a value, rising."""
    levels: list[int] = []
    values: list[int] = []
    for at, pair in enumerate(report.sequence(value, place, what="pairs `[percent, value]`")):
        here = (*place, at)
        if not isinstance(pair, list) or len(pair) != 2:
            report.fault("wrong-type", f"expected a pair, found {kind(pair)}", "write `[50, 10m]`", here)
            continue
        percent = _number(report, pair[0], (*here, 0), most=100) * LEVELS / 100
        levels.append(int(percent))
        values.append(
            report.duration(pair[1], (*here, 1))
            if is_time
            else report.whole(pair[1], (*here, 1), least=1, most=MOST_TASKS)
        )
        if percent.denominator != 1:
            what = f"{shown(pair[0])} % has more than three digits after the point"
            report.fault("no-multiple", what, "write at most three", (*here, 0))
    is_rising = all(low < high for low, high in pairwise(levels)) and values == sorted(values)
    if levels[:1] != [0] or levels[-1:] != [LEVELS] or not is_rising:
        what = "the percentages do not rise from 0 to 100"
        report.fault("out-of-range", what, "write them in order, from 0 to 100", place)
        return Quantiles((0, LEVELS), (1, 1))
    return Quantiles(tuple(levels), tuple(values))


def _read_unit(report: Report, value: Value, place: Place) -> Told:
    """Amounts of resources as a plan's units have them; whether there are such resources is the plan's to say."""
    told = []
    for name, stated in report.mapping(value, place, what="a unit such as `{cpu: 4, memory: 16}`").items():
        amount = exact_number(stated)
        if amount is None or amount <= 0:
            what = f"expected an amount above 0, found {kind(stated)}"
            report.fault("not-a-number", what, "write a number such as 0.5", (*place, name))
        else:
            told.append((name, decimal_text(amount)))
    return tuple(told)
