"""Tenants calibrated from a trace: what each consumer submitted, how much, when, of what length and size.

Everything is counted in whole numbers and exact fractions, so that the same trace gives the same file anywhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.workload import ENDLESS
from fairhold.traces.kindfitting import kinds_of, services_of
from fairhold.traces.tenants import HOUR, SIX_HOURS, Bursts, Tenant, Tenants
from fairhold.units import EPOCH, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.model.vector import Told
    from fairhold.model.workload import Workload

DAY = 24 * HOUR
CELL = HOUR // 6
"""Bursts are seen in how much the numbers of jobs of neighbouring cells differ."""
FEWEST_FOR_HOURS, FEWEST_FOR_DAYS = 200, 50
"""With fewer jobs a rhythm could not be told from chance."""
MOST_USERS = 100
FINEST = 100
"""Weights are whole numbers up to this, and parts whole hundredths."""
LARGEST_BURST = 1000


class Job(NamedTuple):
    """A job of a trace, apart from its consumer."""

    submit: int
    tasks: int
    duration: int
    unit: Told
    gang: bool
    priority: int
    preemptible: bool
    user: str
    group: str


@dataclass
class _Rhythm:
    """What a consumer is expected to submit in every hour."""

    rate: Fraction
    hours: tuple[int, ...]
    weekdays: tuple[int, ...]


class _Span:
    """The hours of the trace: how often each hour of each weekday was there."""

    def __init__(self, first: int, last: int, zone: tzinfo) -> None:
        self.begin = first - first % DAY
        self.length = (last - self.begin) // DAY * DAY + DAY
        self.zone = zone
        self.cells = [self.local(begin) for begin in range(self.begin, self.begin + self.length, HOUR)]
        self.there = Counter(self.cells)

    def local(self, instant: int) -> tuple[int, int]:
        """Hour and weekday of an instant."""
        if self.zone is UTC:
            return instant // HOUR % 24, (instant // DAY + 3) % 7
        moment = (EPOCH + timedelta(microseconds=instant)).astimezone(self.zone)
        return moment.hour, moment.weekday()

    def at(self, instant: int) -> int:
        """Which hour of the span an instant is in."""
        return (instant - self.begin) // HOUR


def jobs_of(workloads: Iterable[Workload]) -> dict[str, list[Job]]:
    """Consumer → its jobs, by submit."""
    found: dict[str, list[Job]] = {}
    for workload in workloads:
        for row, consumer in enumerate(workload.consumer):
            unit = workload.unit[row] if workload.unit else 0
            tasks = workload.tasks[row]
            job = Job(
                submit=workload.submit[row],
                tasks=tasks,
                duration=workload.duration[row],
                unit=workload.units[unit],
                gang=tasks == 1 or bool(workload.min_count and workload.min_count[row] == tasks),
                priority=workload.priority[row] if workload.priority else 0,
                preemptible=bool(workload.preemptible[row]) if workload.preemptible else True,
                user=workload.users[workload.user[row]] if workload.user else "",
                group=workload.groups[unit] if workload.groups else "",
            )
            found.setdefault(workload.consumers[consumer], []).append(job)
    for jobs in found.values():
        jobs.sort(key=lambda job: job.submit)
    return found


def fit(jobs: dict[str, list[Job]], zone: tzinfo = UTC, every: int = SIX_HOURS) -> Tenants | None:
    """Tenants that submit like the consumers of a trace; None where it has no jobs."""
    if not any(jobs.values()):
        return None
    first = min(mine[0].submit for mine in jobs.values())
    last = max(mine[-1].submit for mine in jobs.values())
    span = _Span(first, last, zone)
    ending = {path: [job for job in mine if job.duration != ENDLESS] for path, mine in sorted(jobs.items())}
    rhythms = {path: _rhythm(span, mine) for path, mine in ending.items()}
    spreads = {path: _spread(mine) for path, mine in ending.items()}
    parts = _parts(span, ending, rhythms, spreads, every)
    tenants = [
        Tenant(
            path=path,
            rate=rhythms[path].rate,
            hours=rhythms[path].hours,
            weekdays=rhythms[path].weekdays,
            bursts=_bursts(mine, spreads[path]),
            follows=parts[path][0],
            wanders=parts[path][1],
            kinds=kinds_of(mine),
            services=services_of([job for job in jobs[path] if job.duration == ENDLESS], span.begin),
            users=_users(jobs[path]),
        )
        for path, mine in ending.items()
    ]
    return Tenants(0, span.begin, span.length, tuple(tenants), zone, every)


def _users(jobs: Sequence[Job]) -> tuple[tuple[str, int], ...]:
    """Those who submitted most, by how much."""
    counts = Counter(job.user for job in jobs if job.user)
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_USERS])


def _rhythm(span: _Span, jobs: Sequence[Job]) -> _Rhythm:
    """Jobs a day, and weights of hours and weekdays; the rate makes the expected number the one that was there."""
    counts = Counter(span.cells[span.at(job.submit)] for job in jobs)
    hours = _weights(24, 0, span.there, counts if len(jobs) >= FEWEST_FOR_HOURS else Counter())
    weekdays = _weights(7, 1, span.there, counts if len(jobs) >= FEWEST_FOR_DAYS else Counter())
    there = sum(count * hours[hour] * weekdays[day] for (hour, day), count in span.there.items())
    rate = Fraction(len(jobs) * sum(hours) * sum(weekdays), 7 * there) if there else Fraction(0)
    return _Rhythm(Fraction(round(rate * 1000), 1000), hours, weekdays)


def _weights(
    count: int, which: int, there: Counter[tuple[int, int]], jobs: Counter[tuple[int, int]]
) -> tuple[int, ...]:
    """Jobs for each hour that was there, so that the largest is `FINEST`; the mean for what was not there at all."""
    had, saw = [0] * count, [0] * count
    for key, number in there.items():
        had[key[which]] += number
        saw[key[which]] += jobs[key]
    if not sum(saw):
        return (1,) * count
    mean = Fraction(sum(saw), sum(had))
    rates = [Fraction(seen, hours) if hours else mean for seen, hours in zip(saw, had, strict=True)]
    return tuple(round(rate * FINEST / max(rates)) for rate in rates)


def _spread(jobs: Sequence[Job]) -> Fraction:
    """How much more the numbers of jobs of neighbouring cells differ than chance would have it; 1 = not at all.

    Of neighbours the slow changes of the rate fall out.
    """
    counts = Counter(job.submit // CELL for job in jobs)
    if len(counts) < 2:
        return Fraction(1)
    squares = sum((count - counts[cell + 1]) ** 2 for cell, count in counts.items())
    squares += sum(count * count for cell, count in counts.items() if cell - 1 not in counts)
    return max(Fraction(1), Fraction(squares, 2 * len(jobs)))


def _bursts(jobs: Sequence[Job], spread: Fraction) -> Bursts:
    """Bursts of which the spread is 1 + 2 · share · (jobs - 1), as that of geometric groups is."""
    if spread < Fraction(12, 10):
        return Bursts()
    share = Fraction(round((1 - 1 / spread) * FINEST), FINEST)
    mean = min(Fraction(LARGEST_BURST), 1 + (spread - 1) / (2 * share))
    gaps = sorted(later.submit - sooner.submit for sooner, later in pairwise(jobs))
    gap = gaps[len(gaps) // 2]
    within = max(SECOND, min(CELL // 2, int(gap * mean)))
    return Bursts(share, Fraction(round(mean * FINEST), FINEST), within - within % SECOND)


def _parts(
    span: _Span,
    jobs: dict[str, list[Job]],
    rhythms: dict[str, _Rhythm],
    spreads: dict[str, Fraction],
    every: int,
) -> dict[str, tuple[Fraction, Fraction]]:
    """Path → how much of the demand goes with what all share, and how much with a factor of its own.

    Of what was submitted in each epoch less what was to be expected: what goes with the sum of the others is shared,
    and what is left of the variance, chance and bursts apart, is its own. Factors have variance 1.
    """
    epochs = -(-span.length // every)
    expected = {path: _expected(span, rhythm, every, epochs) for path, rhythm in rhythms.items()}
    odd: dict[str, list[int]] = {}
    for path, mine in jobs.items():
        counts = Counter((job.submit - span.begin) // every for job in mine)
        odd[path] = [counts[at] * _FIXED - each for at, each in enumerate(expected[path])]
    all_odd = [sum(column) for column in zip(*odd.values(), strict=True)]
    all_expected = [sum(column) for column in zip(*expected.values(), strict=True)]
    together = _squares(all_odd) - sum(map(_squares, odd.values()))
    whole = _squares(all_expected) - sum(map(_squares, expected.values()))
    mean = _root(Fraction(together, whole)) if whole > 0 and together > 0 else Fraction(0)
    found = {}
    for path, mean_of in expected.items():
        with_others = sum(each * (of_all - each) for each, of_all in zip(odd[path], all_odd, strict=True))
        weight = sum(each * (of_all - each) for each, of_all in zip(mean_of, all_expected, strict=True))
        shared = _part(Fraction(with_others, weight) / mean) if mean and weight else Fraction(0)
        chance = int(spreads[path] * _FIXED * sum(mean_of))
        variance = Fraction(_squares(odd[path]) - chance, _squares(mean_of) or 1)
        if len(jobs[path]) < FEWEST_FOR_DAYS:
            found[path] = Fraction(0), Fraction(0)
            continue
        left = (1 + variance) / (1 + shared * shared) - 1
        found[path] = shared, _part(_root(left)) if left > 0 else Fraction(0)
    return found


_FIXED = 1 << 20


def _expected(span: _Span, rhythm: _Rhythm, every: int, epochs: int) -> list[int]:
    """Jobs that are to be expected in every epoch, in fixed point."""
    unit = rhythm.rate * 7 * _FIXED / (sum(rhythm.hours) * sum(rhythm.weekdays))
    found = [0] * epochs
    for at, (hour, day) in enumerate(span.cells):
        found[at * HOUR // every] += rhythm.hours[hour] * rhythm.weekdays[day]
    return [int(each * unit) for each in found]


def _squares(values: Sequence[int]) -> int:
    return sum(each * each for each in values)


def _root(number: Fraction) -> Fraction:
    """The square root, down to thousandths."""
    return Fraction(isqrt(int(number * 1_000_000)), 1000)


def _part(number: Fraction) -> Fraction:
    """A part between 0 and 1 in hundredths."""
    return Fraction(round(min(Fraction(1), max(Fraction(0), number)) * FINEST), FINEST)
