"""When a waiting job will start: the quantiles are those of what is drawn, and what is not known is said."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.orchestrator.freeze import freeze
from fairhold.sim.forecast import DRAWS, HORIZON, Lookout, Past, _running, forecast, quantile
from fairhold.units import format_instant
from tests.orchestrator.house import House

SECOND = 1_000_000
HUNDRED = [("/B", length * SECOND) for length in range(1, 101)]


def look(house: House, past: list[tuple[str, int]]) -> Lookout:
    return Lookout(house.plan, freeze(house.live.cluster), "", house.now, Past(past))


def full() -> House:
    """One unit, held by job j1 of /B; j2 of /B waits."""
    house = House(h1=1)
    house.submit(count=1)
    house.submit(count=1)
    assert [attempt.job.name for attempt in house.live.attempts.values()] == ["j1"]
    return house


def after(house: House, said: str | None) -> float:
    """Seconds from now."""
    assert said is not None
    return next(at for at in range(400) if format_instant(house.now + at * SECOND)[:19] == said[:19])


def test_the_quantiles_are_those_of_what_the_holder_has_yet_to_run() -> None:
    house = full()
    house.wait(50 * SECOND)
    found = forecast(look(house, HUNDRED), "j2", draws=400, seed=3)
    # Of 1 to 100 seconds, those above 50 are drawn alike.
    assert 22 <= after(house, found["p50"]) <= 28
    assert 43 <= after(house, found["p90"]) <= 48
    assert (found["draws"], found["begun"], found["tasks"]) == (400, 400, 100)
    assert found["run_times"] == [{"consumer": "/B", "from": "/B", "tasks": 100}]
    assert found["never"] is None


def test_equal_states_and_seeds_give_equal_answers() -> None:
    house = full()
    first = forecast(look(house, HUNDRED), "j2", draws=20, seed=1)
    assert forecast(look(house, HUNDRED), "j2", draws=20, seed=1) == first
    assert forecast(look(house, HUNDRED), "j2", draws=20, seed=2) != first


def test_a_consumer_with_little_history_runs_as_those_around_it() -> None:
    house = full()
    others = [("/A", 10 * SECOND)] * 6
    found = forecast(look(house, [*others, ("/B", 99 * SECOND)]), "j2")
    assert found["run_times"] == [{"consumer": "/B", "from": "/", "tasks": 7}]
    assert any("nearest consumer above" in each for each in found["assumptions"])
    assert after(house, found["p50"]) <= 10


def test_without_history_limits_count_and_without_limits_nothing_is_known() -> None:
    house = House(h1=1)
    house.submit(count=1, time_limit=60 * SECOND)
    house.submit(count=1)
    house.submit(count=1)
    limited = look(house, [])
    found = forecast(limited, "j2", draws=3)
    assert 58 <= after(house, found["p90"]) <= 60
    assert found["run_times"] == [{"consumer": "/B", "from": None, "tasks": 0}]
    last = forecast(limited, "j3", draws=3)
    assert (last["p50"], last["p90"], last["begun"]) == (None, None, 0)
    assert any("not looked at further" in each for each in last["assumptions"])


def test_who_has_run_longer_than_any_before_runs_as_long_again() -> None:
    house = full()
    house.wait(200 * SECOND)
    found = forecast(look(house, HUNDRED), "j2", draws=5)
    assert 198 <= after(house, found["p50"]) <= 201


def test_of_a_job_that_has_begun_the_next_task_is_forecast() -> None:
    house = House(h1=2)
    house.submit(count=1)
    house.submit(count=3)
    assert [attempt.job.name for attempt in house.live.attempts.values()] == ["j1", "j2"]
    house.wait(50 * SECOND)
    found = forecast(look(house, HUNDRED), "j2", draws=400, seed=3)
    assert (found["waiting"], found["started"], found["begun"], found["never"]) == (2, 1, 400, None)
    # The first of two that end, each drawn from 51 to 100 seconds: at the square root of a half, and of nine tenths.
    assert 12 <= after(house, found["p50"]) <= 18
    assert 31 <= after(house, found["p90"]) <= 38
    (job,) = [each for each in house.live.jobs.values() if each.name == "j2"]
    assert job.waiting == 2


def test_a_task_that_starts_anew_is_none_that_has_waited() -> None:
    house = full()
    running = {"j1": {0}}
    assert _running(house.live.cluster, ("j1",)) == running
    assert _running(house.live.cluster, ()) == {}


def test_what_cannot_start_says_why() -> None:
    house = House(h1=1)
    house.submit(count=1, is_held=True)
    found = forecast(look(house, HUNDRED), "j1")
    assert (found["never"]["code"], found["p50"], found["draws"]) == ("held", None, 0)
    house.submit(count=1)
    for name, code in (("j9", "unknown-job"), ("j2", "job-runs")):  # all of its one task has begun
        with pytest.raises(InputError, match=code):
            forecast(look(house, HUNDRED), name)


def test_forecasting_leaves_the_state_alone() -> None:
    house = full()
    before = freeze(house.live.cluster)
    forecast(look(house, HUNDRED), "j2", draws=5)
    assert freeze(house.live.cluster) == before


def test_the_process_answers_with_faults_as_well() -> None:
    house = full()
    text = "fairhold: 1\nconsumers: {A: {}}\n"
    asked: dict[str, Any] = {"plan": text, "cluster": {}, "own": "", "now": house.now, "past": [], "nodes": {}}
    asked |= {"job": "1", "draws": DRAWS, "seed": 0, "horizon": HORIZON}
    command = (sys.executable, "-m", "fairhold.sim.forecaster")
    said = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    assert [code for code, _, _ in json.loads(said.stdout)["faults"]] == ["missing-key", "missing-key"]


@pytest.mark.parametrize(
    ("instants", "p50", "p90"), [([1, 2, 3, 4], 2, 4), ([5, None], 5, None), ([None], None, None), ([7], 7, 7)]
)
def test_quantiles_count_what_did_not_begin(instants: list[int | None], p50: int | None, p90: int | None) -> None:
    assert (quantile(instants, 50), quantile(instants, 90)) == (p50, p90)
