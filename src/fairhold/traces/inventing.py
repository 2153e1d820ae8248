"""Jobs of tenants, invented from a seed: whole numbers all the way, so that the same seed gives the same jobs anywhere.

Every tenant draws from streams of its own. One more, or one that changes, changes nothing of the others.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.workload import ENDLESS, Workload
from fairhold.traces.draws import ONE, Stream, stream_of
from fairhold.traces.tenants import HOUR, weighted
from fairhold.units import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.model.vector import Told
    from fairhold.traces.tenants import Tenant, Tenants

_DRAWS = 16
"""Draws that are kept for one job, so that a change of one job moves no other."""


class _Job(NamedTuple):
    """One job, before all are put in order."""

    submit: int
    consumer: int
    serial: int
    tasks: int
    duration: int
    unit: int
    min_count: int
    priority: int
    user: int
    preemptible: int


def invent(tenants: Tenants) -> Workload:
    """All jobs of the tenants, by submit, then in the order of the file."""
    tables = _Tables()
    jobs = [
        job
        for place, tenant in enumerate(tenants.tenants)
        for job in (*_services(tenants, tenant, place, tables), *_jobs(tenants, tenant, place, tables))
    ]
    jobs.sort()
    paths = tuple(tenant.path for tenant in tenants.tenants)
    columns = [array("q", column) for column in zip(*jobs, strict=True)] or [array("q")] * len(_Job._fields)
    by_name = dict(zip(_Job._fields, columns, strict=True))
    return Workload(
        name=[f"{paths[job.consumer][1:]}.{_numbered(job.serial)}" for job in jobs],
        submit=by_name["submit"],
        consumer=by_name["consumer"],
        tasks=by_name["tasks"],
        duration=by_name["duration"],
        unit=by_name["unit"],
        min_count=by_name["min_count"],
        priority=by_name["priority"],
        user=by_name["user"] if any(tables.users) else (),
        preemptible=by_name["preemptible"],
        consumers=paths,
        units=tuple(unit for unit, _ in tables.units) or ((),),
        groups=tuple(group for _, group in tables.units) if any(group for _, group in tables.units) else (),
        users=tuple(tables.users) if any(tables.users) else (),
    )


def _numbered(serial: int) -> str:
    """The end of a job's name; services are numbered from -1 downwards."""
    return str(serial) if serial >= 0 else f"service-{-serial}"


class _Tables:
    """What repeats: units with their groups, users; each with its place."""

    def __init__(self) -> None:
        self.units: dict[tuple[Told, str], int] = {}
        self.users: dict[str, int] = {}

    def unit(self, unit: Told, group: str) -> int:
        return self.units.setdefault((unit, group), len(self.units))

    def user(self, name: str) -> int:
        return self.users.setdefault(name, len(self.users))


def _services(tenants: Tenants, tenant: Tenant, place: int, tables: _Tables) -> Iterator[_Job]:
    serial = 0
    for each in tenant.services:
        unit = tables.unit(each.unit, each.resource_group)
        user = tables.user(tenant.users[0][0] if tenant.users else "")
        for _ in range(each.count):
            serial -= 1  # they come before all jobs of the same instant, and take no number of those
            yield _Job(
                tenants.begin + each.after, place, serial, each.tasks, ENDLESS, unit, 0, each.priority, user,
                int(each.preemptible),
            )  # fmt: skip


def _jobs(tenants: Tenants, tenant: Tenant, place: int, tables: _Tables) -> Iterator[_Job]:
    if not tenant.kinds:
        return
    key = stream_of(tenants.seed, "job", tenant.path)
    kinds = weighted(range(len(tenant.kinds)), [kind.weight for kind in tenant.kinds])
    units = [tables.unit(kind.unit, kind.resource_group) for kind in tenant.kinds]
    names = tenant.users or (("", 1),)
    who = weighted([tables.user(name) for name, _ in names], [weight for _, weight in names])
    for serial, submit in enumerate(submits(tenants, tenant)):
        stream = Stream(key, serial * _DRAWS)
        at = kinds.draw(stream)
        kind = tenant.kinds[at]
        tasks = max(1, kind.tasks.draw(stream))
        yield _Job(
            submit=submit,
            consumer=place,
            serial=serial,
            tasks=tasks,
            duration=ENDLESS if kind.duration is None else kind.duration.draw(stream),
            unit=units[at],
            min_count=tasks if kind.gang and tasks > 1 else 0,
            priority=kind.priority,
            user=who.draw(stream),
            preemptible=int(kind.preemptible),
        )


def submits(tenants: Tenants, tenant: Tenant) -> Iterator[int]:
    """The instants at which a tenant submits, bursts together.

    Single jobs and bursts come as one Poisson process, whose rate goes with hour, weekday and factors: the waiting time
    to the next is used up by what the rate adds up to. How much a job comes after its burst's first is exponential.
    """
    share, mean = tenant.bursts.share, tenant.bursts.jobs
    rate = tenant.rate * (1 - share + share / mean)  # of singles and bursts together
    burst = share / mean / (1 - share + share / mean)
    size = int(mean * ONE)
    arrivals = Stream(stream_of(tenants.seed, "arrivals", tenant.path))
    bursts = stream_of(tenants.seed, "bursts", tenant.path)
    end = tenants.begin + tenants.length
    for number, instant in enumerate(_arrivals(tenants, tenant, int(rate * ONE), arrivals)):
        yield instant
        if not share:
            continue
        stream = Stream(mixed_key(bursts, number))
        if stream.bits() * burst.denominator < burst.numerator << 64:
            for _ in range(stream.geometric(size) - 1):
                later = instant + tenant.bursts.within * stream.exponential() // ONE
                if later < end:
                    yield later


def mixed_key(key: int, number: int) -> int:
    """The key of a stream for each number."""
    return Stream(key, number).bits()


def _arrivals(tenants: Tenants, tenant: Tenant, rate: int, stream: Stream) -> Iterator[int]:
    """Instants of a Poisson process of so many a day (fixed point), by hour, weekday and factors."""
    whole = sum(tenant.hours) * sum(tenant.weekdays)
    if not whole or not rate:
        return
    shared = _factor(tenants, tenant.follows.as_integer_ratio(), "shared")
    own = _factor(tenants, tenant.wanders.as_integer_ratio(), "own", tenant.path)
    left = stream.exponential()
    end = tenants.begin + tenants.length
    for begin in range(tenants.begin - tenants.begin % HOUR, end, HOUR):
        hour, weekday = _local(begin, tenants)
        weight = 7 * tenant.hours[hour] * tenant.weekdays[weekday]
        hazard = (rate * weight // whole) * shared(begin) // ONE * own(begin) // ONE
        if not hazard:
            continue
        used = 0
        while used + left < hazard:
            used += left
            left = stream.exponential()
            instant = begin + used * HOUR // hazard
            if tenants.begin <= instant < end:
                yield instant
        left -= hazard - used


def _local(instant: int, tenants: Tenants) -> tuple[int, int]:
    """Hour and weekday, Monday 0, of an instant where the tenants live."""
    if tenants.zone is UTC:
        hours = instant // HOUR
        return hours % 24, (hours // 24 + 3) % 7
    moment: datetime = (EPOCH + timedelta(microseconds=instant)).astimezone(tenants.zone)
    return moment.hour, moment.weekday()


def _factor(tenants: Tenants, part: tuple[int, int], *names: str) -> Callable[[int], int]:
    """What demand is multiplied by at an instant, in fixed point: 1 in the mean, and never below 1 less the part."""
    key = stream_of(tenants.seed, *names)
    above, below = part

    def at(instant: int) -> int:
        if not above:
            return ONE
        epoch = (instant - tenants.begin) // tenants.every + 1  # an hour before the begin is in the first of all
        stream = Stream(mixed_key(key, epoch))
        swing = sum(stream.exponential() for _ in range(tenants.calm)) // tenants.calm
        return (ONE * (below - above) + swing * above) // below

    return at
