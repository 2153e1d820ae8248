"""Expectations: what they compare, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.lab.expecting import parse_expectation, unknown_consumer
from tests.sim.scenes import plan_of

HOUR = 3_600_000_000
SHARED: dict[str, Any] = {
    "base": 1,
    "utilisation": 954_000,
    "fairness": 990_000,
    "consumers": {
        "/": {"lost": 3 * HOUR // 2, "stopped": 4},
        "/A": {
            "wait": {"p95": 61_000_000, "count": 7},
            "slowdown": {"mean": 1_500, "count": 7},
            "longest": 0,
            "lost": 0,
            "stopped": 0,
        },
    },
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("wait.p95(/A) < 61s", False),
        ("wait.p95(/A) <= 1m1s", True),
        (" wait.p95( /A )>60s ", True),
        ("wait.count(/A) == 7", True),
        ("slowdown.mean(/A) <= 1.5", True),
        ("slowdown.mean(/A) < 1.499", False),
        ("longest(/A) == 0", True),
        ("lost(/) < 1.5h", False),
        ("lost(/) <= 1.5", True),
        ("stopped(/) < 5", True),
        ("utilisation(/) >= 95%", True),
        ("utilisation(/) >= 95.5%", False),
        ("fairness(/) > 98%", True),
        ("fairness(/) > 0", True),
    ],
)
def test_what_holds(text: str, holds: bool) -> None:  # noqa: FBT001
    assert parse_expectation(text).holds(SHARED) is holds


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is not an expectation"),
        ("wait(/A) < 60s", "has several values"),
        ("wait.p42(/A) < 60s", "has several values"),
        ("longest.p95(/A) < 60s", "has one value"),
        ("patience(/A) < 60s", "there is no measure"),
        ("wait.p95(/A) < 60", "is not a bound"),
        ("wait.p95(/A) < -60s", "is not a bound"),
        ("stopped(/A) < 1.5", "is not a bound"),
        ("utilisation(/A) > 5%", "is of the whole cluster"),
        ("fairness(/) >= 0.9", "is not a bound"),
        ("utilisation(/) >= 98", "is not a bound"),
        ("wait.p95(/A) != 60s", "is not an expectation"),
        ("wait.p95(/A) < 60s or true", "is not an expectation"),
    ],
)
def test_what_is_none(text: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        parse_expectation(text)


def test_a_consumer_that_is_not_there_is_told_with_the_nearest_that_is() -> None:
    plans = {"a": plan_of({"/Trading": {"owned": 1}}), "b": plan_of({"/Research": {"owned": 1}})}
    expectation = parse_expectation("stopped(/Tradng) < 1")
    fault = unknown_consumer(expectation, plans)
    assert fault is not None
    assert fault.what == "`stopped(/Tradng) < 1`: there is no consumer `/Tradng`"
    assert fault.mend == "did you mean `/Trading`?"
    fault = unknown_consumer(parse_expectation("stopped(/Trading) < 1"), plans)
    assert fault is not None
    assert fault.what.endswith("there is no consumer `/Trading` in `b`")
    assert unknown_consumer(parse_expectation("stopped(/) < 1"), plans) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wait.p95(/A) < 60s", "1m1s"),
        ("lost(/) < 1h", "1.5h"),
        ("utilisation(/) > 1%", "95.40%"),
        ("slowdown.mean(/A) < 1", "1.500"),
        ("stopped(/) < 5", "4"),
        ("wait.count(/A) > 0", "7"),
        ("slowdown.count(/A) > 0", "7"),
    ],
)
def test_numbers_in_their_units(text: str, words: str) -> None:
    each = parse_expectation(text)
    assert each.words(each.found(SHARED)) == words


@pytest.mark.parametrize(
    ("text", "mend"),
    [("due(/A) < 1h", "write `deficit(/A) < 1h`"), ("withheld.max(/) <= 10m", "write `starvation.max(/) <= 10m`")],
)
def test_a_number_that_had_another_name_is_answered_with_its_name(text: str, mend: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_expectation(text)
    assert [fault.mend for fault in caught.value.faults] == [mend]
