"""kill -9 of everything while jobs are submitted over HTTP: an answer is a promise, a job asked for again is one."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fairhold
from fairhold.client.errors import ServiceError
from tests.faults.house import PATIENCE, SH, free_port, plan, until
from tests.live.storms import agents, judge, kill_one, supervisors

if TYPE_CHECKING:
    from fairhold.client.synchronous import Client
    from tests.faults.conftest import Open
    from tests.faults.house import House

TASK = str(Path(__file__).parents[1] / "live/task.sh")
JOBS_AT_ONCE, MOST_JOBS = 4, 12
SLOTS = 4


def kill(house: House, dice: random.Random) -> None:
    """Kill one of the three kinds of programs while something runs; a service is started again."""
    until(lambda: supervisors(house.state) or not house.client.jobs(limit=1))
    time.sleep(dice.random() * 0.05)
    victim = dice.choice(["service", "agent", "supervisor"])
    if victim == "service":
        house.again()
    else:
        kill_one(agents(house.state) if victim == "agent" else supervisors(house.state), dice)


def submit(client: Client, house: House, key: str, count: int) -> tuple[str, int]:
    """Ask until there is an answer."""
    argv = [SH, TASK, str(house.place / "work"), key, "{index}"]
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return client.submit("/A", argv, count=count, key=key, directory="/").name, count
        except ServiceError:
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.parametrize(("kills", "seed"), [(8, 1), pytest.param(300, 2, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled_when_everything_is_killed(open_house: Open, kills: int, seed: int) -> None:
    port = free_port()
    house = open_house(plan(), "--port", str(port))
    (house.place / "work").mkdir()
    token = (house.state / "token").read_text().strip()
    dice = random.Random(seed)
    with fairhold.connect(f"http://127.0.0.1:{port}", token) as client, ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        asked = []
        for number in range(kills):
            until(lambda: len(house.client.jobs(limit=MOST_JOBS)) < MOST_JOBS)
            asked += [
                (f"k{number}.{each}", pool.submit(submit, client, house, f"k{number}.{each}", dice.randint(1, 2)))
                for each in range(JOBS_AT_ONCE)
            ]
            kill(house, dice)
            assert sum(each["units"] for each in house.client.allocations()) <= SLOTS
        jobs = {key: future.result(60) for key, future in asked}
    argv = [SH, TASK, str(house.place / "work"), "all", "{index}", str(SLOTS)]
    last = house.client.submit("/A", argv, count=SLOTS, directory="/")  # each waits for the others: no slot is lost
    jobs["all"] = last.name, SLOTS
    until(lambda: not house.client.jobs(limit=1), 60)
    assert len({name for name, _ in jobs.values()}) == kills * JOBS_AT_ONCE + 1
    assert house.client.allocations() == []
    told = {name: house.client.tasks(name) for name, _ in jobs.values()}
    house.fairhold("stop", "--kill")
    recorded = judge(house.place / "work", house.state, jobs)
    for name, tasks in told.items():
        assert [task.index for task in tasks] == list(range(len(recorded[name])))
        for task, attempts in zip(tasks, recorded[name], strict=True):
            assert task.state == attempts[-1].state
            assert [(each.number, each.reason) for each in task.attempts] == [
                (each.number, each.reason) for each in attempts
            ]
    reasons = Counter(each.reason for tasks in recorded.values() for attempts in tasks for each in attempts)
    assert reasons["supervisor_lost"], "nobody was hit"
