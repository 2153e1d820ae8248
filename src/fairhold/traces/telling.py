"""What a workload holds, as data: counts, consumers, and load over time, all in whole numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.model.workload import ENDLESS
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.model.workload import Workload
    from fairhold.traces.findings import Findings

Document = dict[str, Any]
SPANS = 24
"""Into how many spans the time is divided."""
_SPAN_LENGTHS = tuple(SECOND * each for each in (1, 10, 60, 600, 3600, 6 * 3600))
_DAY = 86_400 * SECOND


class Held(NamedTuple):
    """What one consumer has in a workload.

    work : microseconds of all tasks that end
    """

    jobs: int
    tasks: int
    work: int
    endless: int
    median: int | None
    ninth: int | None
    largest: int


def document_of(workload: Workload, findings: Findings) -> Document:
    """The whole as a document: faults apart."""
    held = by_consumer(workload)
    return {
        "file": findings.name,
        "rows": findings.rows,
        "jobs": len(workload),
        "passed_over": dict(findings.passed),
        "put_in_order": findings.disordered,
        "put_in_order_first": findings.first_disordered,
        "first": format_instant(workload.submit[0]) if len(workload) else None,
        "last": format_instant(workload.submit[-1]) if len(workload) else None,
        "users": len({user for user in workload.user if workload.users[user]}) if workload.users else 0,
        "units": [dict(unit) or {"slots": 1} for unit in workload.units],
        "consumers": {
            path: {
                "jobs": each.jobs,
                "tasks": each.tasks,
                "unit_seconds": each.work // SECOND,
                "endless_tasks": each.endless,
                "median_s": None if each.median is None else each.median / SECOND,
                "p90_s": None if each.ninth is None else each.ninth / SECOND,
                "largest_job": each.largest,
            }
            for path, each in sorted(held.items())
        },
        "load": [
            {"from": format_instant(begin), "jobs": jobs, "units": work // length}
            for begin, length, jobs, work in load_of(workload)
        ],
    }


def by_consumer(workload: Workload) -> dict[str, Held]:
    """Consumer → what it has; only those that have jobs."""
    rows: dict[int, list[int]] = {}
    for row, consumer in enumerate(workload.consumer):
        rows.setdefault(consumer, []).append(row)
    return {workload.consumers[consumer]: _held(workload, mine) for consumer, mine in rows.items()}


def _held(workload: Workload, rows: list[int]) -> Held:
    tasks = [workload.tasks[row] for row in rows]
    pairs = [(workload.duration[row], workload.tasks[row]) for row in rows]
    ending = sorted(length for length, _ in pairs if length != ENDLESS)
    return Held(
        jobs=len(rows),
        tasks=sum(tasks),
        work=sum(length * count for length, count in pairs if length != ENDLESS),
        endless=sum(count for length, count in pairs if length == ENDLESS),
        median=at_part(ending, 50_000),
        ninth=at_part(ending, 90_000),
        largest=max(tasks),
    )


def at_part(values: list[int], level: int) -> int | None:
    """What so many of 100,000 parts of sorted values are not above; None where there are none."""
    return values[(len(values) - 1) * level // 100_000] if values else None


def load_of(workload: Workload) -> list[tuple[int, int, int, int]]:
    """(begin, length, jobs submitted, work that came with them) of equal spans, the whole of days where it can be."""
    if not len(workload):
        return []
    first, last = workload.submit[0], workload.submit[-1]
    least = (last - first) // SPANS + 1
    days = -(-least // _DAY) * _DAY
    length = next((each for each in _SPAN_LENGTHS if each >= least), days)
    begin = first - first % (min(_DAY, length))
    count = (last - begin) // length + 1
    jobs, work = [0] * count, [0] * count
    for submit, tasks, duration in zip(workload.submit, workload.tasks, workload.duration, strict=True):
        at = (submit - begin) // length
        jobs[at] += 1
        work[at] += tasks * duration if duration != ENDLESS else 0
    begins = range(begin, begin + (count + 1) * length, length)
    return [
        (low, high - low, *each)
        for (low, high), each in zip(pairwise(begins), zip(jobs, work, strict=True), strict=True)
    ]


def csv_lines(workload: Workload) -> Iterable[list[str]]:
    """The project's own table: a head, then a row a job; `kind: fairhold` reads it back as it was."""
    resources = list(dict.fromkeys(name for unit in workload.units for name, _ in unit))
    head = ["name", "submit", "consumer", "duration", "tasks", "min_count", "priority", "user", "preemptible"]
    yield [*head, "resource_group", *(f"unit.{name}" for name in resources)]
    units = [[dict(unit).get(name, "") for name in resources] for unit in workload.units]

    def told(column: Sequence[int], row: int, default: int) -> int:
        return column[row] if column else default

    for row, name in enumerate(workload.name):
        unit = told(workload.unit, row, 0)
        length = workload.duration[row]
        yield [
            name,
            format_instant(workload.submit[row]),
            workload.consumers[workload.consumer[row]],
            "endless" if length == ENDLESS else seconds(length),
            str(workload.tasks[row]),
            str(told(workload.min_count, row, 0)),
            str(told(workload.priority, row, 0)),
            workload.users[told(workload.user, row, 0)] if workload.users else "",
            "true" if told(workload.preemptible, row, 1) else "false",
            workload.groups[unit] if workload.groups else "",
            *units[unit],
        ]


def seconds(micros: int) -> str:
    """A length of time in seconds, exactly."""
    whole, rest = divmod(micros, SECOND)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)
