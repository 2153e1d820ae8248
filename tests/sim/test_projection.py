"""A copy of a cluster that is played on does what the cluster itself would do, and leaves that alone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from fairhold.orchestrator import changes as said
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.planio.plan import parse_plan
from fairhold.sim import projection as onward
from fairhold.sim.experiment import Experiment
from fairhold.sim.play import Simulation
from fairhold.sim.projection import Projection
from tests.orchestrator.house import House
from tests.sim.scenes import SECOND, EventTrace, jobs_of, plan_of, random_jobs

OWNERS: dict[str, Any] = {"/A": {"owned": 8}, "/B": {"owned": 12}}
_TOLD = (said.Started, said.Noticed, said.Withdrawn, said.Stopping, said.Ended, said.JobEnded)


def copied(live: Any, plan: Any, now: int) -> Any:
    return thaw(freeze(live.cluster), open_cluster_books(plan, now), forgets=True, own="")


def told(lines: list[tuple[int, said.Change]], since: int) -> list[tuple[int, said.Change]]:
    """What happens to tasks after an instant; the number of the cycle that told somebody is left away."""
    return [
        (now, change._replace(cycle=0) if isinstance(change, said.Noticed) else change)
        for now, change in lines
        if now > since and isinstance(change, _TOLD)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_played_on_is_what_happens(seed: int) -> None:
    plan, jobs = plan_of(OWNERS), random_jobs(seed, ["/A", "/B"], gangs=seed % 2 == 0)
    whole = EventTrace()
    Simulation(Experiment(plan, jobs, 0), [whole]).run()
    half = 65 * SECOND  # all jobs have come, and no cycle is due
    first = Simulation(Experiment(plan, jobs, 0, half))
    first.run()
    before = freeze(first.live.cluster)
    assert before["attempts"]
    rest: list[tuple[int, said.Change]] = []
    length = dict(zip(jobs.name, jobs.duration, strict=True))
    copy = Projection(
        copied(first.live, plan, half),
        half,
        lambda _, attempt: attempt.started + length[attempt.job.name],
        lambda now, changes: rest.extend((now, change) for change in changes),
    )
    assert copy.run_until(10_000 * SECOND)
    assert told(rest, half) == told(whole.lines, half)
    assert freeze(first.live.cluster) == before


def test_a_time_limit_ends_a_task_and_what_has_none_runs_on() -> None:
    house = House(h1=2)
    house.submit(count=1, time_limit=60 * SECOND)
    house.submit(count=1)
    house.submit("/A", count=1)
    copy = Projection(copied(house.live, house.plan, house.now), house.now)
    assert sorted(copy.live.attempts) == [1, 2]
    copy.run_until(3_000 * SECOND)
    running = {attempt.job.name for attempt in copy.live.attempts.values()}
    assert running == {"j2", "j3"}
    assert house.live.attempts.keys() == {1, 2}


def test_what_is_being_stopped_is_gone_at_once() -> None:
    house = House(h1=2)
    house.submit(count=2)
    house.submit("/A", count=1)
    house.wait(3 * SECOND)
    assert [attempt.stopping for attempt in house.live.attempts.values()].count("reclaim") == 1
    copy = Projection(copied(house.live, house.plan, house.now), house.now)
    copy.run_until(house.now + SECOND)
    assert sorted(attempt.job.name for attempt in copy.live.attempts.values()) == ["j1", "j2"]


def test_a_story_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onward, "MOST_EVENTS", 10)
    house = House(h1=2)
    house.submit(count=1_000, time_limit=SECOND)
    copy = Projection(copied(house.live, house.plan, house.now), house.now)
    assert not copy.run_until(2_000 * SECOND)
    assert copy.events == 10


def test_a_clock_that_calls_again_and_again_is_cut() -> None:
    """Every step of history calls for a cycle while somebody waits, for ever."""
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h1", "gpu": 2}]}},
        "consumers": {"A": {}, "B": {}},
        "policies": [
            {
                "resource_groups": ["compute"],
                "policy": "fair_share",
                "settings": {"k": 1, "half_life": "20s", "usage_window": "60s"},
                "consumers": {"/A": {"deserved": {"gpu": 1}}, "/B": {"deserved": {"gpu": 1}}},
            }
        ],
    }
    plan = parse_plan(json.dumps(document), "plan")[0]
    jobs = replace(jobs_of((0, "/A", 3, 1e6), (0, "/B", 3, 1e6)), units=((("gpu", "1"),),))
    before = Simulation(Experiment(plan, jobs, 0, end=9 * SECOND), [EventTrace()])
    before.run()
    copy = Projection(copied(before.live, plan, before.now), before.now)
    assert not copy.run_until(7 * 24 * 3600 * SECOND, 20)
    assert copy.wakes == 20
    assert copy.now < 200 * SECOND
