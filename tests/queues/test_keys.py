"""Ratios as sort keys are in the order of the ratios, and equal where these are."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from fairhold.rules.queues.queue_metrics import weighed

HELD = st.integers(0, 10**15)
WHOLE = st.integers(1, 10**15)
DOUBLES = st.floats(1e-9, 1e9).map(lambda each: Fraction(each) * 10**6)
"""Fair shares as KAI has them, in base units."""


@given(HELD, HELD, st.one_of(WHOLE, DOUBLES), st.one_of(WHOLE, DOUBLES))
@example(10**15 - 1, 10**15 - 2, 10**15, 10**15 - 1)
@example(1, 2, 3, 6)
def test_keys_are_in_the_order_of_the_ratios(
    one: int, other: int, of: Fraction | int, of_other: Fraction | int
) -> None:
    first, second = weighed(one, of), weighed(other, of_other)
    assert (first < second) == (Fraction(one) / of < Fraction(other) / of_other)
    assert (first == second) == (Fraction(one) / of == Fraction(other) / of_other)


def test_what_is_held_of_nothing_is_above_all_others() -> None:
    assert weighed(0, 0) == weighed(0, 5) < weighed(10**15, 1) < weighed(1, 0)
