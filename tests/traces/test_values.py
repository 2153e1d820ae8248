"""Texts of tables as whole numbers, exactly."""

from __future__ import annotations

from datetime import UTC
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairhold.traces.values import exact, instants, micros
from fairhold.units import LONGEST, SECOND


@given(st.from_regex(r"[-+]?[0-9]{1,9}(\.[0-9]{1,12})?", fullmatch=True), st.sampled_from([1, 1000, SECOND]))
def test_numbers_of_time_are_rounded_to_the_nearest_microsecond(text: str, times: int) -> None:
    nearest = round(Fraction(text) * times)
    read = micros(Fraction(times))(text)
    assert read == (nearest if 0 <= nearest <= LONGEST else "trace-negative" if nearest < 0 else "trace-absurd")
    begin = 10**16
    assert instants(Fraction(times), begin, UTC)(text) == begin + nearest


@given(st.text(alphabet="0123456789.eE+- ", max_size=12))
def test_a_number_is_what_python_reads_as_one(text: str) -> None:
    try:
        number = Fraction(text.strip())
    except ValueError:
        assert exact(text) is None
    else:
        assert exact(text) in (number, None)
