"""The water level and rounding against exact fractions (R-FILL-1, R-ROUND-1)."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairhold.kernels.fill import filled, level
from fairhold.kernels.share import round_off
from tests.kernels.trees import HUGE
from tests.oracles.filling import fill, whole

Row = tuple[int, int, int]


class CountedReads(list[int]):
    """A column that counts how often it is read, and gives up beyond a bound."""

    reads = 0
    bound = 10**9

    def __getitem__(self, at: int) -> int:  # type: ignore[override]
        self.reads += 1
        assert self.reads <= self.bound, "the search goes on and on"
        return super().__getitem__(at)


def rows(numbers: st.SearchStrategy[int], weights: st.SearchStrategy[int]) -> st.SearchStrategy[list[Row]]:
    """Weight, floor, cap with floor ≤ cap."""
    row = st.tuples(weights, numbers, numbers).map(lambda row: (row[0], min(row[1:]), max(row[1:])))
    return st.lists(row, min_size=1, max_size=8)


SMALL = rows(st.integers(0, 20), st.integers(0, 4))
WIDE = rows(st.integers(0, HUGE), st.integers(0, 7).map(lambda power: 10**power))
EQUAL_RATIOS = st.lists(st.integers(0, 9), min_size=1, max_size=8).map(
    lambda weights: [(weight, weight * 2, weight * 5) for weight in weights]
)
HUGE_WEIGHTS = rows(st.integers(0, HUGE), st.sampled_from([0, 1, HUGE, HUGE - 1]))


def solve(amount: int, group: list[Row]) -> tuple[int, int, list[Fraction]]:
    weight, floor, cap = (list(each) for each in zip(*group, strict=True))
    num, den = level(range(len(group)), amount, weight, floor, cap)
    exact = [Fraction(filled(num, den, *row), max(den, 1)) for row in group]
    return num, den, exact


@given(st.one_of(SMALL, WIDE, EQUAL_RATIOS, HUGE_WEIGHTS), st.fractions(0, 1))
def test_the_level_is_that_of_the_oracle(group: list[Row], part: Fraction) -> None:
    low, high = sum(floor for _, floor, _ in group), sum(cap for _, _, cap in group)
    amount = low + round(part * (high - low + 2))
    _, den, exact = solve(amount, group)
    assert exact == fill(amount, *zip(*group, strict=True))
    reachable = sum(cap if weight else floor for weight, floor, cap in group)
    assert sum(exact) == min(amount, reachable)
    assert (den == 0) == (reachable <= amount)


@given(st.one_of(SMALL, WIDE, EQUAL_RATIOS, HUGE_WEIGHTS), st.fractions(0, 1))
@example([(1, 0, HUGE), (10**7, 1, HUGE), (1, 10**6, 10**6)], Fraction(1, 3))
def test_the_search_ends_soon(group: list[Row], part: Fraction) -> None:
    """Every third step halves the kinks inside the bracket: the steps grow like the logarithm of the rows."""
    low, high = sum(floor for _, floor, _ in group), sum(cap for _, _, cap in group)
    weight = CountedReads(row[0] for row in group)
    weight.bound = int(len(group) * 12 * (3 * log2(2 * len(group)) + 12))
    level(range(len(group)), low + round(part * (high - low)), weight, *map(list, list(zip(*group, strict=True))[1:]))
    assert weight.reads >= len(group)


def test_floors_over_seven_decades_do_not_make_the_search_circle() -> None:
    """Floors and weights over seven decades, in opposite order: stepping by the slope alone circles between kinks."""
    group = [(10 ** (n % 8), (n * 7919) % 1000 * 10 ** (7 - n % 8), HUGE) for n in range(400)]
    low = sum(floor for _, floor, _ in group)
    weight = CountedReads(row[0] for row in group)
    weight.bound = 400 * 12 * 45
    floor, cap = [row[1] for row in group], [row[2] for row in group]
    for amount in (low, low + 1, low * 2, low * 100 + 7, HUGE * 3):
        if amount < low:
            continue
        weight.reads = 0
        num, den = level(range(400), amount, weight, floor, cap)
        assert sum(Fraction(filled(num, den, *row), den) for row in group) == amount


@pytest.mark.parametrize(
    ("amount", "group", "expected"),
    [
        pytest.param(10, [(1, 0, 99), (2, 0, 99)], ["10/3", "20/3"], id="by weight"),
        pytest.param(10, [(1, 5, 99), (4, 0, 99)], ["5", "5"], id="a floor takes from the others"),
        pytest.param(10, [(1, 0, 2), (1, 0, 99)], ["2", "8"], id="what a cap cuts off is shared again"),
        pytest.param(10, [(0, 3, 99), (1, 0, 99)], ["3", "7"], id="weight 0 stays at its floor"),
        pytest.param(10, [(1, 0, 4), (1, 0, 5)], ["4", "5"], id="all at their caps"),
        pytest.param(0, [(1, 0, 4), (0, 0, 5)], ["0", "0"], id="nothing to fill"),
        pytest.param(7, [(1, 3, 9), (1, 4, 9)], ["3", "4"], id="floors alone"),
    ],
)
def test_filling_by_hand(amount: int, group: list[Row], expected: list[str]) -> None:
    assert solve(amount, group)[2] == [Fraction(each) for each in expected]


@given(SMALL, st.fractions(0, 1), st.integers(1, 6), st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_rounding_is_that_of_the_oracle(group: list[Row], part: Fraction, unit: int, bases: list[int]) -> None:
    """Also with amounts in fractions of a slot and with a base, as in even mode."""
    base = bases[: len(group)]
    weight, floor, cap = (list(each) for each in zip(*group, strict=True))
    low, high = sum(floor), sum(cap)
    total = (sum(base) + low + round(part * (high - low))) // unit
    left = total * unit - sum(base)
    if left < low:
        return
    num, den = level(range(len(group)), left, weight, floor, cap)
    exact = [(one + two) / unit for one, two in zip(base, fill(left, weight, floor, cap), strict=True)]
    quota = [0] * len(group)
    round_off(range(len(group)), total, unit, num, den, base, weight, floor, cap, quota)
    assert quota == whole(exact, total)
    assert all(int(one) <= two <= -(-one // 1) for one, two in zip(exact, quota, strict=True))
