"""What a live service divides: hosts that are up, and of the others what is booked on them (R-UP-1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import MachineGone, MachineSilent
from fairhold.runtime.live.views.pools import kept_queues, pools_group
from fairhold.units import SECOND
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

GPU = (("gpu", "1"),)
UP = [f"g{at:02}" for at in range(1, 9)]


def plan(policy: str, consumers: dict[str, Any]) -> str:
    """Four leaves on forty hosts of two GPUs."""
    return json.dumps(
        {
            "fairhold": 1,
            "resources": {"gpu": {}},
            "resource_groups": {"train": {"hosts": [{"name": "g[01-40]", "gpu": 2}]}},
            "consumers": {name: {"reclaim_grace": "30s"} for name in "ABCD"},
            "policies": [{"resource_groups": ["train"], "policy": policy, "consumers": consumers}],
        }
    )


QUEUES = {f"/{name}": {"deserved": {"gpu": gpus}} for name, gpus in zip("ABCD", (4, 12, 12, 12), strict=True)}


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Eight of the forty hosts have connected, the others never have."""
    found = Play.__new__(Play)
    found.report = lambda machine: Play.report(found, machine) if machine in UP else None  # type: ignore[method-assign]
    Play.__init__(found, tmp_path, plan("fair_share", QUEUES))
    return found


def ask(play: Play, consumer: str, count: int) -> str:
    job = play.submit(consumer, count, group=POOLED, unit=GPU)
    play.pass_time(SECOND)
    return job


def running(play: Play, job: str) -> int:
    return play.core.cluster.jobs[job].running


def shares(play: Play) -> dict[str, Any]:
    return {path: queue["resources"]["gpu"]["fair_share"] for path, queue in kept_queues(play.core).items()}


def total(play: Play) -> Any:
    return pools_group(play.core)["resources"]["gpu"]["total"]


def test_hosts_that_were_never_seen_are_not_divided(play: Play) -> None:
    """One queue has all that is up: those that deserve as much take their part of it back, at once."""
    first = ask(play, "/A", 30)
    assert (running(play, first), total(play)) == (16, 16)
    for path in ("/B", "/C", "/D"):
        ask(play, path, 4)
    assert shares(play) == {"/A": 4, "/B": 4, "/C": 4, "/D": 4}
    assert sum(each.notice is not None for each in play.core.cluster.attempts.values()) == 12


def test_a_silent_host_counts_with_what_runs_there(play: Play) -> None:
    job = ask(play, "/A", 15)
    on_last = [each for each in play.core.cluster.attempts.values() if each.places[0][0] == "g08"]
    assert (running(play, job), len(on_last), total(play)) == (15, 1, 16)
    play.feed(MachineSilent("g08"))
    assert (total(play), shares(play)["/A"]) == (15, 15)
    play.feed(MachineSilent("g07"))
    assert total(play) == 15
    play.end(on_last[0].name)
    assert total(play) == 14
    play.feed(MachineGone("g07"))
    assert (total(play), running(play, job)) == (12, 12)
    play.report("g08")
    assert total(play) == 14


def test_what_counts_is_the_same_after_a_restart(play: Play) -> None:
    ask(play, "/A", 15)
    play.feed(MachineSilent("g08"))
    before = play.core.cluster.machines["g08"].silent_at
    assert before
    play.restart(snapshot=True)
    assert total(play) == 16
    play.feed(MachineSilent("g08"))
    assert (total(play), play.core.cluster.machines["g08"].silent_at > before) == (15, True)
