"""kill -9 of everything while jobs are submitted over HTTP: an answer is a promise, a job asked for again is one."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fairhold
from fairhold.client.errors import ServiceError
from tests.faults.house import PATIENCE, SH, free_port, plan, until
from tests.live.storms import agents, judge, kill_one, supervisors

if TYPE_CHECKING:
    from fairhold.client.synchronous import Client
    from tests.faults.conftest import Open
    from tests.faults.house import House

VECTORS = """\
fairhold: 1
cluster: house
resources: {cpu: {}, gpu: {}}
resource_groups: {compute: {hosts: [{name: desk, cpu: 4, gpu: 2}]}}
consumers:
  A: {reclaim_grace: 300ms}
  B: {reclaim_grace: 300ms}
policies:
  - resource_groups: [compute]
    policy: multidimensional
    consumers: {/B: {own: [{resource_group: compute, per_host: {cpu: 2, gpu: 1}}]}}
"""
"""A host of four processors and two GPUs, half of which /B owns and lends."""
UNITS = ({"cpu": 1}, {"cpu": 1, "gpu": 1}, {"cpu": 2}, {"cpu": 0.5, "gpu": 1})
TASK = str(Path(__file__).parents[1] / "live/task.sh")
JOBS_AT_ONCE, MOST_JOBS = 4, 12
SLOTS = 4
MANY = 50


def kill(house: House, dice: random.Random) -> None:
    """Kill one of the three kinds of programs while something runs; a service is started again."""
    until(lambda: supervisors(house.state) or not house.client.jobs(limit=1))
    time.sleep(dice.random() * 0.05)
    victim = dice.choice(["service", "agent", "supervisor"])
    if victim == "service":
        house.again()
    else:
        kill_one(agents(house.state) if victim == "agent" else supervisors(house.state), dice)


def submit(client: Client, house: House, key: str, count: int, **terms: Any) -> tuple[str, int]:
    """Ask until there is an answer."""
    argv = [SH, TASK, str(house.place / "work"), key, "{index}"]
    consumer = terms.pop("consumer", "/A")
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return client.submit(consumer, argv, count=count, key=key, directory="/", **terms).name, count
        except ServiceError:
            assert time.monotonic() < end
            time.sleep(0.05)


def check_amounts(house: House) -> None:
    """No host uses more than it has, and nobody has the GPU of another."""
    rows = house.client.allocations()
    assert sum(Fraction(row["unit"]["cpu"]) for row in rows) <= SLOTS
    numbers = [number for row in rows for number in row["devices"]]
    assert len(numbers) == len(set(numbers)) <= 2


@pytest.mark.parametrize(
    ("kills", "seed", "is_vector"),
    [
        (8, 1, False),
        (6, 3, True),
        pytest.param(300, 2, False, marks=pytest.mark.slow),
        pytest.param(300, 4, True, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_or_doubled_when_everything_is_killed(
    open_house: Open, kills: int, seed: int, *, is_vector: bool
) -> None:
    port = free_port()
    house = open_house(*((VECTORS, "--host", "desk") if is_vector else (plan(),)), "--port", str(port))
    (house.place / "work").mkdir()
    token = (house.state / "token").read_text().strip()
    dice = random.Random(seed)

    def terms() -> dict[str, Any]:
        return {"unit": dice.choice(UNITS), "consumer": dice.choice(("/A", "/B"))} if is_vector else {}

    with fairhold.connect(f"http://127.0.0.1:{port}", token) as client, ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        asked = []
        for number in range(kills):
            until(lambda: len(house.client.jobs(limit=MOST_JOBS)) < MOST_JOBS)
            asked += [
                (key, pool.submit(submit, client, house, key, dice.randint(1, 2), **terms()))
                for key in (f"k{number}.{each}" for each in range(JOBS_AT_ONCE))
            ]
            kill(house, dice)
            if is_vector:
                check_amounts(house)
            else:
                assert sum(each["units"] for each in house.client.allocations()) <= SLOTS
        jobs = {key: future.result(60) for key, future in asked}
    argv = [SH, TASK, str(house.place / "work"), "all", "{index}", str(SLOTS)]
    unit = {"cpu": 1, "gpu": 0.5} if is_vector else None
    # Each waits for the others: no slot is lost, and nothing of a host.
    last = house.client.submit("/A", argv, count=SLOTS, directory="/", unit=unit)
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
    assert kills < MANY or reasons["supervisor_lost"], "nobody was hit"  # a few may all hit others
