"""kill -9 of everything while jobs are submitted over HTTP: an answer is a promise, a job asked for again is one."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fairhold
from fairhold.client.errors import ServiceError
from fairhold.store.opening import open_store
from tests.faults.house import PATIENCE, SH, free_port, plan, processes, until

if TYPE_CHECKING:
    from fairhold.client.synchronous import Client
    from tests.faults.conftest import Open
    from tests.faults.house import House

TASK = str(Path(__file__).parents[1] / "live/task.sh")
JOBS_AT_ONCE = 4


def kill(house: House, dice: random.Random) -> None:
    """Kill one of the three kinds of programs; a service is started again."""
    victim = dice.choice(["service", "agent", "supervisor"])
    if victim == "service":
        house.again()
        return
    agent = house.own_agent()
    family = set(processes(str(house.state))) & set(processes("/agent/__main__.py"))
    found = [agent] if victim == "agent" else sorted(family - {agent})
    if found and found[0] in family:
        with suppress(ProcessLookupError):
            os.kill(dice.choice(found), signal.SIGKILL)


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
            asked += [
                (f"k{number}.{each}", pool.submit(submit, client, house, f"k{number}.{each}", dice.randint(1, 4)))
                for each in range(JOBS_AT_ONCE)
            ]
            time.sleep(dice.random() * 0.05)
            kill(house, dice)
        jobs = {key: future.result(60) for key, future in asked}
    until(lambda: not house.client.jobs(limit=1), 60)
    assert len({name for name, _ in jobs.values()}) == kills * JOBS_AT_ONCE
    assert house.client.allocations() == []
    for key, (name, count) in jobs.items():
        tasks = house.client.tasks(name)
        assert [task.index for task in tasks] == list(range(count))
        for task in tasks:
            path = house.place / f"work/{key}.{task.index}.starts"
            starts = path.read_text().split() if path.exists() else []  # its supervisor may have died first
            assert len(starts) == len(set(starts)), "an attempt ran twice"
            assert {int(start) for start in starts} <= {each.number for each in task.attempts}, "one is not on record"
    assert not (house.place / "work/twice").exists()
    house.kill(signal.SIGTERM)
    store = open_store(house.state)
    assert store.check() == ()
    store.close()
