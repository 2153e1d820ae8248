"""Tenants that are invented: who submits how much, when, of what length and size. Nouns and their tables."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, tzinfo
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from fairhold.traces.draws import ONE, exp, ln

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.vector import Told
    from fairhold.traces.draws import Stream

HOUR = 3_600_000_000
SIX_HOURS = 6 * HOUR
LEVELS = 100_000
"""A level of a quantile is a whole number of these parts: 50 % is 50,000."""
NORMAL = (
    *((0, -4_000_000), (10, -3_719_016), (100, -3_090_232), (500, -2_575_829), (1_000, -2_326_348)),
    *((2_500, -1_959_964), (5_000, -1_644_854), (10_000, -1_281_552), (15_000, -1_036_433), (20_000, -841_621)),
    *((25_000, -674_490), (30_000, -524_401), (35_000, -385_320), (40_000, -253_347), (45_000, -125_661)),
    *((50_000, 0), (55_000, 125_661), (60_000, 253_347), (65_000, 385_320), (70_000, 524_401), (75_000, 674_490)),
    *((80_000, 841_621), (85_000, 1_036_433), (90_000, 1_281_552), (92_500, 1_439_531), (95_000, 1_644_854)),
    *((97_500, 1_959_964), (98_500, 2_170_090), (99_000, 2_326_348), (99_500, 2_575_829), (99_800, 2_878_162)),
    *((99_900, 3_090_232), (99_950, 3_290_527), (99_990, 3_719_016), (100_000, 4_000_000)),
)
"""Quantiles of the normal distribution in millionths of its standard deviation; it is cut at four of them."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """A distribution as a table, linear between its points.

    levels : rising, from 0 to LEVELS
    values : never falling, one for each level
    """

    levels: tuple[int, ...]
    values: tuple[int, ...]

    def draw(self, stream: Stream) -> int:
        """One value."""
        at = stream.below(LEVELS << 32)
        step = min(bisect_right(self.levels, at >> 32), len(self.levels) - 1)
        low, high = self.levels[step - 1], self.levels[step]
        rise = self.values[step] - self.values[step - 1]
        return self.values[step - 1] + rise * (at - (low << 32)) // ((high - low) << 32)


@dataclass(frozen=True, slots=True)
class Weighted:
    """Values of which each comes as often as its weight says.

    ends : weights added up
    """

    values: tuple[int, ...]
    ends: tuple[int, ...]

    def draw(self, stream: Stream) -> int:
        """One value."""
        return self.values[bisect_right(self.ends, stream.below(self.ends[-1]))]


def weighted(values: Sequence[int], weights: Sequence[int]) -> Weighted:
    """The values with their weights; those of weight 0 are never drawn."""
    some = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
    return Weighted(tuple(value for value, _ in some), tuple(accumulate(weight for _, weight in some)))


def constant(value: int) -> Weighted:
    """Always the same."""
    return Weighted((value,), (1,))


def lognormal(median: int, ninth: int, most: int) -> Quantiles:
    """Lengths whose logarithm is normal.

    ninth : what nine of ten are below
    most  : none is longer
    """
    deviation = (ln(ninth) - ln(median)) * 1_000_000 // 1_281_552
    values = [min(most, median * exp(deviation * part // 1_000_000) // ONE) for _, part in NORMAL]
    return Quantiles(tuple(level for level, _ in NORMAL), tuple(values))


def pareto(least: int, median: int, most: int) -> Quantiles:
    """Lengths of which the part beyond x falls as a power of x: a heavier tail than any lognormal has."""
    power = (ln(median) - ln(least)) * ONE // ln(2)  # half are below the median
    levels = [level for level, _ in NORMAL]
    beyond = [ln(LEVELS) - ln(max(1, LEVELS - level)) for level in levels]
    values = [min(most, least * exp(each * power // ONE) // ONE) for each in beyond]
    return Quantiles(tuple(levels), (*values[:-1], max(values[-2], most)))


@dataclass(frozen=True, slots=True)
class JobKind:
    """Jobs of one kind.

    weight   : how often a job of the tenant is one of them, against the others
    duration : microseconds that each task runs; None = it never ends
    gang     : whether all tasks of a job begin together
    """

    weight: int
    tasks: Quantiles | Weighted
    duration: Quantiles | Weighted | None
    gang: bool = True
    unit: Told = ()
    priority: int = 0
    preemptible: bool = True
    resource_group: str = ""


@dataclass(frozen=True, slots=True)
class Services:
    """Jobs that run for good.

    after : microseconds after the begin at which they are submitted
    """

    count: int
    tasks: int
    after: int = 0
    unit: Told = ()
    priority: int = 0
    preemptible: bool = True
    resource_group: str = ""


@dataclass(frozen=True, slots=True)
class Bursts:
    """Jobs that come together.

    share  : part of all jobs that do
    jobs   : of one burst, in the mean; geometric
    within : microseconds after its first, in the mean
    """

    share: Fraction = Fraction(0)
    jobs: Fraction = Fraction(1)
    within: int = 0


@dataclass(frozen=True, slots=True)
class Tenant:
    """One consumer and what it submits.

    rate     : jobs a day, in the mean of a week
    hours    : weights of the 24 hours of a day, local time
    weekdays : weights of the days, Monday first
    follows  : how much of its demand goes with the factor that all share, 0 to 1
    wanders  : how much goes with a factor of its own, 0 to 1
    users    : who submits, with weights
    """

    path: str
    rate: Fraction
    hours: tuple[int, ...] = (1,) * 24
    weekdays: tuple[int, ...] = (1,) * 7
    bursts: Bursts = Bursts()
    follows: Fraction = Fraction(0)
    wanders: Fraction = Fraction(0)
    kinds: tuple[JobKind, ...] = ()
    services: tuple[Services, ...] = ()
    users: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Tenants:
    """All tenants.

    begin : instant at which they begin to submit
    length : microseconds for which they do
    every : microseconds for which a factor stays as it is
    calm  : a factor is the mean of so many draws: 1 swings most; its variance is 1/calm
    """

    seed: int
    begin: int
    length: int
    tenants: tuple[Tenant, ...]
    zone: tzinfo = UTC
    every: int = SIX_HOURS
    calm: int = 1
