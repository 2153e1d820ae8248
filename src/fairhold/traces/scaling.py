"""Another load, other times: a workload scaled exactly, the same way on any machine."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.workload import ENDLESS, Workload
from fairhold.traces.draws import Stream, stream_of
from fairhold.units import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = Fraction(1)
EVERYBODY = (("/", ONE),)


@dataclass(frozen=True, slots=True)
class Scaling:
    """What is changed; the cut comes first, then the factors, then the shift.

    time     : distances between submits are multiplied by it
    duration : how long tasks run is multiplied by it
    load     : (path, factor): so many times as many jobs of all leaves from there down; the deepest path holds
    start    : jobs submitted before are left out
    until    : jobs submitted from then on are left out
    begin    : where `start`, or without it the first submit, is moved to
    seed     : which jobs a factor that is not whole picks
    """

    time: Fraction = ONE
    duration: Fraction = ONE
    load: tuple[tuple[str, Fraction], ...] = EVERYBODY
    start: int | None = None
    until: int | None = None
    begin: int | None = None
    seed: int = 0


def scaled(workload: Workload, scaling: Scaling) -> Workload:
    """The workload as changed; its tables stay as they are, even where nobody uses an entry any more."""
    rows = [
        row
        for row, instant in enumerate(workload.submit)
        if (scaling.start is None or scaling.start <= instant) and (scaling.until is None or instant < scaling.until)
    ]
    if any(factor != 1 for _, factor in scaling.load):
        rows, names = _copied(workload, scaling, rows)
    else:
        names = [workload.name[row] for row in rows]
    picked = _picked(workload, rows, names)
    if not rows:
        return picked
    first = scaling.start if scaling.start is not None else picked.submit[0]
    to = first if scaling.begin is None else scaling.begin
    if scaling.time != 1 or to != first:
        times = scaling.time
        picked = replace(picked, submit=array("q", [to + int((each - first) * times) for each in picked.submit]))
    if scaling.duration != 1:
        picked = replace(
            picked,
            duration=array(
                "q",
                [each if each == ENDLESS else min(LONGEST, int(each * scaling.duration)) for each in picked.duration],
            ),
        )
    return picked


def _copied(workload: Workload, scaling: Scaling, rows: Sequence[int]) -> tuple[list[int], list[str]]:
    """Each job as often as the factor of its consumer says, copies beside it as `NAME~2`.

    Of a factor's fraction, a draw of the job's own decides, so that other consumers change nothing.
    """
    factors = [factor_of(path, scaling.load) for path in workload.consumers]
    seeds = [stream_of(scaling.seed, "load", path) for path in workload.consumers]
    found: list[int] = []
    names: list[str] = []
    met = [0] * len(factors)
    for row in rows:
        consumer = workload.consumer[row]
        factor = factors[consumer]
        draw = Stream(seeds[consumer], met[consumer]).bits()
        met[consumer] += 1
        count, rest = int(factor), factor % 1
        count += draw * rest.denominator < rest.numerator << 64
        found += [row] * count
        names += [workload.name[row] if at == 0 else f"{workload.name[row]}~{at + 1}" for at in range(count)]
    return found, names


def factor_of(path: str, load: Sequence[tuple[str, Fraction]]) -> Fraction:
    """The factor of the deepest path that a leaf is below, or is."""
    fits = [(len(above), factor) for above, factor in load if above == "/" or f"{path}/".startswith(f"{above}/")]
    return max(fits)[1] if fits else ONE


def _picked(workload: Workload, rows: Sequence[int], names: list[str]) -> Workload:
    """The workload of some of its rows."""

    def of(column: Sequence[int]) -> Sequence[int]:
        return array("q", [column[row] for row in rows]) if column else ()

    return replace(
        workload,
        name=names,
        submit=of(workload.submit),
        consumer=of(workload.consumer),
        tasks=of(workload.tasks),
        duration=of(workload.duration),
        unit=of(workload.unit),
        min_count=of(workload.min_count),
        priority=of(workload.priority),
        user=of(workload.user),
        preemptible=of(workload.preemptible),
    )
