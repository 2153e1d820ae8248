"""Gangs over several hosts: any of these is drained or lost, and the gang stops whole."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.faults.house import free_port, plan, until

if TYPE_CHECKING:
    from fairhold.client.answers import Job
    from tests.faults.conftest import Open
    from tests.faults.house import House

LONG = "echo $$ >> pids; exec sleep 60"


@pytest.fixture
def gang(open_house: Open) -> tuple[House, Job]:
    """A gang runs on the service's own machine in front, and on `h2`."""
    hosts = "{hosts: [{name: desk, slots: 2}, {name: h2, slots: 2}]}"
    port = free_port()
    house = open_house(plan(hosts), "--host", "desk", "--agents", f"127.0.0.1:{port}", "--lease", "1s")
    house.agent("h2", port)
    until(lambda: house.host("h2").document["connected"])
    job = house.submit(LONG, units=4)
    until(lambda: [each["state"] for each in house.attempts(job)] == ["running"])
    return house, job


def test_a_drain_of_its_second_host_stops_a_gang_whole(gang: tuple[House, Job]) -> None:
    house, job = gang
    assert house.host("h2").document["running"] == 1
    house.fairhold("hosts", "drain", "h2", "--reason", "new memory")
    until(lambda: house.host("h2").document["running"] == 0)
    (ended,) = house.attempts(job)
    assert (ended["host"], ended["reason"]) == ("desk", "reclaim")
    assert house.client.job(job).tasks["waiting"] == 1


def test_a_gang_that_loses_its_second_host_stops_and_runs_again_when_it_is_back(gang: tuple[House, Job]) -> None:
    house, job = gang
    house.agents["h2"].send_signal(signal.SIGSTOP)
    until(lambda: house.attempts(job)[0]["reason"] == "host_lost")
    waits = house.client.job(job)
    assert (waits.tasks["waiting"], waits.tasks["failed"]) == (1, 0)
    assert [each.document["running"] for each in house.client.hosts()] == [0, 0]
    house.agents["h2"].send_signal(signal.SIGCONT)
    until(lambda: [each["state"] for each in house.attempts(job)][1:] == ["running"])
