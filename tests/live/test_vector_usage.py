"""Usage of units of hosts' resources: own is what stands on own hosts, also where a unit comes to stand elsewhere."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobChanged
from tests.live.play import START, Play
from tests.live.test_usage import integral, naive, told
from tests.live.test_vector_views import PLAN

if TYPE_CHECKING:
    from pathlib import Path

HOST = {"cpu": 8, "memory": 64, "gpu": 4}
LEAVES = ("/A", "/B", "/C")


def plan_of(**owned: list[str]) -> str:
    """Two hosts, and who owns which of them."""
    plan = PLAN | {"resource_groups": {"gpu": {"hosts": [{"name": name, **HOST} for name in ("h1", "h2")]}}}
    own = {f"/{leaf}": {"own": [{"resource_group": "gpu", "hosts": hosts}]} for leaf, hosts in owned.items()}
    return json.dumps(plan | {"policies": [plan["policies"][0] | {"consumers": own}]})


PLANS = (plan_of(A=["h1"], B=["h2"]), plan_of(A=["h1", "h2"]))


def wander(play: Play, random: Random, steps: int) -> None:
    """Let a number of things happen."""

    def ask(_: Random) -> None:
        unit = (("gpu", "1"), ("cpu", random.choice("12")))
        user, units = random.choice(["ann", "bob"]), random.choice([1, 1, 2])
        play.submit(random.choice(LEAVES), random.randint(1, 6), user=user, group=POOLED, unit=unit, units=units)

    def move(_: Random) -> None:
        if jobs := [job.name for job in play.core.orchestrator.jobs.values() if not job.is_over]:
            play.feed(JobChanged(random.choice(jobs), consumer=random.choice(LEAVES)))

    def change(_: Random) -> None:
        play.core.apply_plan(random.choice(PLANS), "ann", "", play.core.version)

    def start_again(_: Random) -> None:
        play.restart(snapshot=random.random() < 0.5)

    weights: dict[Any, int] = {ask: 8, play._end: 9, play._run: 3, play._stop: 2, move: 2, play._machine: 1}
    weights |= {change: 1, start_again: 1}
    for _ in range(steps):
        play.pass_time(random.choice([0, 1, 700, 60_000, 900_000, 40_000_000]))
        with suppress(InputError):  # of a job for which nothing can be done now
            random.choices(list(weights), list(weights.values()))[0](random)
        if random.random() < 0.2:
            play.commit()
    play.commit()


@pytest.mark.parametrize("seed", range(1, 4))
def test_usage_of_vectors_is_the_integral_of_the_log(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, PLANS[seed % 2])
    wander(play, random, 120)
    now = play.clock.instant
    entries = play.store.entries(0, limit=10**6)
    assert any(entry.body.startswith('["Rebooked"') for entry in entries)
    pieces = naive(play.store, entries, now)
    assert {row[3] for row, *_ in pieces} == {"own", "borrowed", "lent", "lost", "up", "down"}
    instants = [START, now, *(random.choice(entries).at for _ in range(6))]
    instants += [random.randrange(START, now) for _ in range(6)]
    for _ in range(15):
        since, until = sorted(random.sample(instants, 2))
        assert told(play, since, until) == (integral(pieces, since, until), since, until)
    play.store.close()
