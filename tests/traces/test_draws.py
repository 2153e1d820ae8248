"""Chance in whole numbers: known values, and the distributions that it is to have."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fairhold.traces.draws import LN_2, ONE, Stream, exp, ln, mixed, stream_of
from fairhold.traces.tenants import LEVELS, Quantiles, lognormal, pareto, weighted

MANY = 20_000


def test_splitmix_has_its_known_values() -> None:
    """Of the published generator with the seed 1234567."""
    stream = Stream(1234567)
    assert [stream.bits() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert mixed(0) == 0


def test_streams_are_told_apart_by_seed_and_names() -> None:
    keys = {stream_of(seed, *names) for seed in (0, 1) for names in ((), ("a",), ("b",), ("a", "b"), ("ab",), ("", ""))}
    assert len(keys) == 12


@given(st.integers(1, 2**64))
def test_logarithms_are_near(number: int) -> None:
    assert abs(ln(number) / ONE - math.log(number)) < 1 / 2**18


@given(st.integers(-8 * ONE, 30 * ONE))
def test_powers_are_near(power: int) -> None:
    assert math.isclose(exp(power) / ONE, math.exp(power / ONE), rel_tol=1e-5, abs_tol=1e-8)


def test_constants_are_right() -> None:
    assert abs(LN_2 / ONE - math.log(2)) < 1 / ONE


def test_waiting_times_are_exponential() -> None:
    stream = Stream(stream_of(1, "exponential"))
    drawn = sorted(stream.exponential() / ONE for _ in range(MANY))
    distance = max(abs((at + 1) / MANY - (1 - math.exp(-each))) for at, each in enumerate(drawn))
    assert distance < 1.63 / math.sqrt(MANY), "Kolmogorov and Smirnov at one percent"
    assert min(drawn) >= 0


def test_groups_are_geometric() -> None:
    stream = Stream(stream_of(1, "geometric"))
    drawn = Counter(stream.geometric(4 * ONE) for _ in range(MANY))
    assert abs(sum(size * count for size, count in drawn.items()) / MANY - 4) < 0.15
    assert abs(drawn[1] / MANY - 1 / 4) < 0.015
    assert {stream.geometric(ONE) for _ in range(100)} == {1}


def test_weights_are_how_often_a_value_comes() -> None:
    stream, values = Stream(stream_of(1, "weights")), weighted((5, 6, 7), (3, 0, 1))
    drawn = Counter(values.draw(stream) for _ in range(MANY))
    assert drawn.keys() == {5, 7}
    assert abs(drawn[5] / MANY - 0.75) < 0.015


def test_quantiles_are_met_and_linear_between() -> None:
    stream, table = Stream(stream_of(1, "quantiles")), Quantiles((0, LEVELS // 2, LEVELS), (0, 100, 1100))
    drawn = sorted(table.draw(stream) for _ in range(MANY))
    assert abs(drawn[MANY // 4] - 50) < 3
    assert abs(drawn[MANY * 3 // 4] - 600) < 20
    assert 0 <= drawn[0] <= drawn[-1] < 1100


def test_shapes_have_the_quantiles_that_they_are_made_of() -> None:
    stream = Stream(stream_of(1, "shapes"))
    normal, heavy = lognormal(600, 14_400, 10**9), pareto(60, 600, 10**7)
    drawn = sorted(normal.draw(stream) for _ in range(MANY))
    assert abs(drawn[MANY // 2] / 600 - 1) < 0.06
    assert abs(drawn[MANY * 9 // 10] / 14_400 - 1) < 0.06
    drawn = sorted(heavy.draw(stream) for _ in range(MANY))
    assert drawn[0] >= 60
    assert abs(drawn[MANY // 2] / 600 - 1) < 0.08
    assert abs(drawn[MANY * 3 // 4] / 6000 - 1) < 0.12, "a quarter is beyond ten times the median"
