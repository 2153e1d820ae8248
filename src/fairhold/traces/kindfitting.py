"""The kinds of jobs of a consumer: sizes and lengths as a trace has them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.traces.telling import at_part
from fairhold.traces.tenants import LEVELS, JobKind, Quantiles, Services, Weighted, constant, weighted
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairhold.model.vector import Told
    from fairhold.traces.fitting import Job

CLASSES = (1, 8, 64)
"""Jobs of up to so many tasks are one kind, those above the last another: large jobs run longer."""
FEWEST = 20
"""A kind of fewer jobs goes to the one below it."""
MOST_UNITS = 12
MOST_SIZES = 12
PERCENTS = (
    *(0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 92, 94, 96, 97, 98, 99),
    *(99.5, 99.8, 100),
)
_POINTS = tuple(int(percent * (LEVELS // 100)) for percent in PERCENTS)


def kinds_of(jobs: Sequence[Job]) -> tuple[JobKind, ...]:
    """Kinds by unit and by class of size, the most frequent first; jobs of units that are rare are like the others."""
    units = Counter((job.unit, job.group) for job in jobs)
    usual = {unit for unit, _ in sorted(units.items(), key=lambda each: (-each[1], each[0]))[:MOST_UNITS]}
    found: dict[tuple[Told, str], dict[int, list[Job]]] = {}
    for job in jobs:
        if (job.unit, job.group) in usual:
            step = sum(job.tasks > size for size in CLASSES)
            found.setdefault((job.unit, job.group), {}).setdefault(step, []).append(job)
    kinds = [_kind(mine) for classes in found.values() for mine in _merged(classes)]
    return tuple(sorted(kinds, key=lambda kind: (-kind.weight, kind.unit, kind.resource_group)))


def _merged(classes: dict[int, list[Job]]) -> list[list[Job]]:
    """Classes with those of few jobs put to their neighbour."""
    found: list[list[Job]] = []
    for step in sorted(classes):
        if found and (len(classes[step]) < FEWEST or len(found[-1]) < FEWEST):
            found[-1] += classes[step]
        else:
            found.append(list(classes[step]))
    return found


def _kind(jobs: Sequence[Job]) -> JobKind:
    sizes = Counter(job.tasks for job in jobs)
    tasks: Quantiles | Weighted
    if len(sizes) == 1:
        tasks = constant(jobs[0].tasks)
    elif len(sizes) <= MOST_SIZES:
        tasks = weighted(sorted(sizes), [sizes[size] for size in sorted(sizes)])
    else:
        tasks = quantiles([job.tasks for job in jobs])
    return JobKind(
        weight=len(jobs),
        tasks=tasks,
        duration=quantiles([job.duration for job in jobs], _to_the_second),
        gang=bool(_most(job.gang for job in jobs if job.tasks > 1 or len(sizes) == 1)),
        unit=jobs[0].unit,
        priority=_most(job.priority for job in jobs),
        preemptible=bool(_most(job.preemptible for job in jobs)),
        resource_group=jobs[0].group,
    )


def _most(values: Iterable[int]) -> int:
    """The value that comes most often; of several the smallest."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def _to_the_second(micros: int) -> int:
    return micros if micros < SECOND else micros - micros % SECOND


def quantiles(values: Sequence[int], rounded: Callable[[int], int] = int) -> Quantiles:
    """The table of what so many percent do not exceed; points that a line through others meets are left out."""
    there = sorted(values)
    points = [(level, rounded(at_part(there, level) or 0)) for level in _POINTS]
    kept = [points[0]]
    for at in range(1, len(points) - 1):
        (low, below), (level, value), (high, above) = kept[-1], points[at], points[at + 1]
        if (value - below) * (high - low) != (above - below) * (level - low):
            kept.append(points[at])
    kept.append(points[-1])
    return Quantiles(tuple(level for level, _ in kept), tuple(value for _, value in kept))


def services_of(jobs: Sequence[Job], begin: int) -> tuple[Services, ...]:
    """Jobs without end, those of one instant and size together."""
    found = Counter((job.submit - begin, job.tasks, job.unit, job.priority, job.preemptible, job.group) for job in jobs)
    return tuple(
        Services(count, tasks, after, unit, priority, preemptible, group)
        for (after, tasks, unit, priority, preemptible, group), count in sorted(found.items())
    )
