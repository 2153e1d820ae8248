"""The service's time: it rises, at its own pace or at half of it, and comes back to the time of day."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from fairhold.runtime.clock import WallClock, time_of_day
from fairhold.runtime.live.opening import Rising
from fairhold.units import SECOND

if TYPE_CHECKING:
    import pytest

NOW = 1_800_000_000 * SECOND
HOUR = 3600 * SECOND
DAY = 24 * HOUR


class Machine:
    """A machine's clocks: one that goes on, and the time of day, which is set."""

    def __init__(self) -> None:
        self.instant = NOW
        self.set_by = 0

    def now(self) -> int:
        return self.instant

    def told(self) -> int:
        return self.instant + self.set_by


def rising(machine: Machine, last: int = 0) -> Rising:
    return Rising(last, machine, machine.told)


def test_a_service_whose_clock_is_set_back_an_hour_is_right_again_two_hours_later() -> None:
    machine = Machine()
    now = rising(machine)
    machine.instant += DAY
    assert now() == machine.told()
    machine.set_by = -HOUR
    machine.instant += HOUR
    assert now() - machine.told() == HOUR // 2
    machine.instant += HOUR
    assert now() == machine.told()
    machine.instant += DAY
    assert now() == machine.told()


def test_a_start_after_the_clock_was_set_back_catches_up_too() -> None:
    machine = Machine()
    now = rising(machine, last=NOW + HOUR)
    machine.instant += HOUR
    assert now() == NOW + HOUR + HOUR // 2
    again = rising(machine, last=now())
    machine.instant += HOUR + SECOND
    assert again() == machine.told()


STEPS = st.lists(
    st.tuples(
        st.one_of(st.integers(1, 1000), st.integers(1, 2 * HOUR)),
        st.one_of(st.just(0), st.integers(-2 * HOUR, 2 * HOUR)),
        st.booleans(),
    ),
    max_size=30,
)


@given(st.integers(-HOUR, HOUR), STEPS)
@example(HOUR, [(1, 0, True), (1, -1, False)])
def test_time_rises_at_half_of_its_pace_at_least_and_never_faster(
    ahead: int, steps: list[tuple[int, int, bool]]
) -> None:
    machine = Machine()
    now = rising(machine, last=NOW + ahead)
    before = now()
    for passed, set_by, looks in steps:
        machine.set_by += set_by
        assert now.look() == before, "the clock was set, and no time has passed"
        machine.instant += passed
        seen = now.look() if looks else before
        after = now()
        assert seen <= after
        assert passed / 2 <= after - before <= passed
        before = after
    machine.instant += 2 * max(0, before - machine.told())
    assert now() <= max(machine.told(), before) + 1, "it has caught up"


def test_the_real_clock_goes_on_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, began, slept = WallClock(), time.monotonic_ns(), 0

    def read(which: int) -> int:
        return began + (slept if which == time.CLOCK_BOOTTIME else 0)

    monkeypatch.setattr(time, "clock_gettime_ns", read)
    monkeypatch.setattr(time, "monotonic_ns", lambda: began)
    before = clock.now()
    slept = HOUR * 1000
    assert clock.now() - before == HOUR


def test_the_time_of_day_is_that_of_the_machine() -> None:
    assert abs(time_of_day() - time.time_ns() // 1000) < HOUR
