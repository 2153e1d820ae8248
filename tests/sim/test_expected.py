"""Expected starts of all jobs at once: those of the forecast of each, and a reason where there is none."""

from __future__ import annotations

import pytest

from fairhold.errors import InputError
from fairhold.orchestrator.events import GroupPaused, JobHeld
from fairhold.sim.expected import DRAWS, expected_starts
from fairhold.sim.forecast import HORIZON, Effort, forecast
from fairhold.sim.forecaster import answer
from tests.orchestrator.house import House
from tests.sim.test_forecast import HUNDRED, full, look


def test_all_starts_at_once_are_those_that_are_forecast_of_each() -> None:
    house = full()
    house.submit(count=2)
    house.submit("/A", 1)
    house.wait(0)
    found = expected_starts(look(house, HUNDRED), seed=4)
    assert found["draws"] == DRAWS
    assert set(found["jobs"]) == {"j2", "j3", "j4"}
    for job, told in found["jobs"].items():
        one = forecast(look(house, HUNDRED), job, DRAWS, 4, HORIZON)
        assert (told["p50"], told["p90"], told["why"]) == (one["p50"], one["p90"], "")
        assert told["p50"] <= told["p90"]


def test_what_cannot_be_told_has_its_reason() -> None:
    house = full()
    unknown = expected_starts(look(house, []))["jobs"]["j2"]
    assert (unknown["p50"], unknown["why"]) == (None, "no task has ended yet, so it is not known how long tasks run")
    long = expected_starts(look(house, HUNDRED), horizon=1)["jobs"]["j2"]
    assert "does not begin within" in long["why"]
    house.take(JobHeld("j2", "why"))
    assert expected_starts(look(house, HUNDRED))["jobs"]["j2"]["why"] == "it is held"
    house.submit(count=1)
    house.take(GroupPaused(next(iter(house.live.books)), grants=True, reclaims=False))
    assert "paused" in expected_starts(look(house, HUNDRED))["jobs"]["j3"]["why"]


def test_behind_many_others_no_start_is_told() -> None:
    house = full()
    for _ in range(30):
        house.submit(count=1)
    told = expected_starts(look(house, HUNDRED), draws=3, effort=Effort(100, 20))
    assert told["jobs"]["j3"]["p50"] is not None
    assert told["jobs"]["j32"]["why"].startswith("so many tasks start before it")


def test_nobody_waits_and_nothing_is_played() -> None:
    house = House(h1=1)
    house.submit(count=1)
    assert expected_starts(look(house, HUNDRED)) == {"draws": 0, "jobs": {}}


def test_the_process_of_forecasts_answers_for_all() -> None:
    house = full()
    found = look(house, [])
    asked = {"plan": "fairhold: 1", "cluster": found.document, "own": "", "now": found.now, "past": [], "nodes": {}} | {
        "all": True
    }
    with pytest.raises(InputError, match="policies"):
        answer(asked)
