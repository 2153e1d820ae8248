"""Agents of other machines: leases that end, connections that break, agents that are not what they say.

Each is a process of its own with a directory of its own, connected over TCP.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.faults.house import House, free_port, lives, plan, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cluster = Callable[..., House]

LONG = "echo $$ >> pids; while [ ! -e go ]; do sleep 0.05; done"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A service that has no host of its own, and agents on hosts h1 to h3 with two slots each."""
    made: list[House] = []

    def opened(*names: str, lease: str = "2s", hosts: str = "h1 h2 h3") -> House:
        groups = ", ".join(f"{{name: {name}, slots: 2}}" for name in hosts.split())
        port = free_port()
        house = House(tmp_path, plan(f"{{hosts: [{groups}]}}"), "--agents", f"127.0.0.1:{port}", "--lease", lease)
        house.port = port
        made.append(house.serve())
        for name in names:
            house.agent(name, port)
        until(lambda: all(house.host(name).document["connected"] for name in names))
        return house

    yield opened
    for house in made:
        house.close()


def pids(house: House) -> list[int]:
    path = house.place / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def spool_lease(house: House, name: str) -> float:
    """Until when attempts may run there, on the clock of the host's start."""
    return int((house.place / name / "spool/lease").read_text().split()[0]) / 1e6


def test_a_silent_host_has_stopped_its_work_before_it_is_given_to_another(cluster: Cluster) -> None:
    house = cluster("h1")
    job = house.submit(LONG)
    first = until(lambda: pids(house))[0]
    until(lambda: house.attempts(job)[0]["state"] == "running")
    house.agents["h1"].send_signal(signal.SIGSTOP)  # as if the cable were cut: its supervisor cannot know
    house.agent("h2", house.port)
    until(lambda: not lives(first), 10)
    (attempt,) = house.attempts(job)
    assert attempt["state"] in {"running", "unknown"}, "the service waits longer than the host"
    second = until(lambda: pids(house)[1:], 20)[0]
    assert not lives(first)
    assert lives(second)
    house.agents["h1"].send_signal(signal.SIGCONT)
    until(lambda: house.host("h1").document["connected"])
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert [(each["reason"], each["host"]) for each in house.attempts(job)] == [("host_lost", "h1"), ("finished", "h2")]
    assert len(pids(house)) == 2


def test_a_start_with_a_shorter_lease_keeps_what_was_promised_before(cluster: Cluster) -> None:
    house = cluster("h1", lease="60s")
    job = house.submit(LONG)
    (pid,) = until(lambda: pids(house))
    promised = until(lambda: spool_lease(house, "h1"))
    house.words = (*house.words[:-1], "1s")
    house.again()
    until(lambda: house.host("h1").document["connected"])
    house.kill()
    time.sleep(2.5)
    assert lives(pid), "it was promised a minute"
    assert spool_lease(house, "h1") >= promised
    house.serve()
    assert house.client.job(job).tasks["running"], "and the service has waited as long"
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert [each["reason"] for each in house.attempts(job)] == ["finished"]


def test_a_short_break_ends_nothing(cluster: Cluster) -> None:
    house = cluster("h1", lease="30s")
    job = house.submit(LONG)
    pid = until(lambda: pids(house))[0]
    for _ in range(2):
        house.agents["h1"].kill()
        house.agents["h1"].wait()
        until(lambda: house.host("h1").document["state"] == "silent")
        assert house.client.allocations()[0]["state"] == "unknown"
        house.agent("h1", house.port)
        until(lambda: house.host("h1").document["connected"])
        house.again()
        until(lambda: house.host("h1").document["connected"])
    assert lives(pid)
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert len(house.attempts(job)) == len(pids(house)) == 1


def test_an_agent_with_another_secret_gets_nothing_and_says_so(cluster: Cluster) -> None:
    house = cluster()
    wrong = house.place / "wrong"
    wrong.write_text("ab" * 32)
    wrong.chmod(0o600)
    house.agent("h1", house.port, secret=wrong)
    until(lambda: "does not verify" in house.said)
    until(lambda: "the secret differs" in (house.place / "h1.log").read_text())
    assert not house.host("h1").document["connected"]
    job = house.submit("true")
    time.sleep(0.3)
    assert house.client.job(job).state == "waiting"
    house.agents["h1"].kill()
    house.agents["h1"].wait()
    house.agent("h1", house.port)
    assert house.client.wait(job, 20).state == "done"


@pytest.mark.slow
def test_of_two_agents_with_one_name_the_second_waits_for_the_lease_of_the_first(cluster: Cluster) -> None:
    house = cluster("h1", lease="10s")
    job = house.submit(LONG)
    first = until(lambda: pids(house))[0]
    other = House(house.place / "elsewhere")
    other.state = house.state
    agent = other.agent("h1", house.port)
    try:
        until(lambda: "another agent is connected as h1" in house.said)
        assert lives(first)
        assert len(house.attempts(job)) == 1
        house.again()
        until(lambda: house.host("h1").document["connected"])
        time.sleep(0.5)
        assert lives(first)
        assert len(pids(house)) == 1, "it runs once"
        house.agents["h1"].send_signal(signal.SIGSTOP)
        until(lambda: pids(house)[1:], 30)
        assert not lives(first)
        (house.place / "go").touch()
        assert house.client.wait(job, 20).state == "done"
        assert [each["reason"] for each in house.attempts(job)] == ["host_lost", "finished"]
    finally:
        agent.kill()
        agent.wait()


@pytest.mark.slow
def test_a_lease_made_shorter_does_not_shorten_the_one_before(cluster: Cluster) -> None:
    house = cluster("h1", lease="8s")
    job = house.submit(LONG)
    first = until(lambda: pids(house))[0]
    house.agents["h1"].send_signal(signal.SIGSTOP)
    ends = spool_lease(house, "h1")
    house.again(signal.SIGTERM, "--lease", "1s")
    house.agent("h2", house.port)
    second = until(lambda: pids(house)[1:], 40)[0]
    assert time.clock_gettime(time.CLOCK_BOOTTIME) > ends
    assert not lives(first)
    assert lives(second)
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"


def test_a_host_on_which_nothing_can_start_is_closed_with_its_reason(cluster: Cluster) -> None:
    house = cluster("h1")
    jobs = house.place / "h1/jobs"
    jobs.write_text("in the way")
    job = house.submit("true", count=3)
    until(lambda: house.host("h1").document["state"] == "closed")
    reason = "it could not start 5 attempts in a row"
    assert house.host("h1").document["reason"].startswith(reason)
    assert reason in house.fairhold("hosts")
    waits = house.client.job(job)
    assert (waits.state, waits.tasks["waiting"]) == ("waiting", 3)
    refused = house.attempts(job)
    assert {each["reason"] for each in refused} == {"refused"}
    assert "cannot write to" in refused[0]["detail"]
    jobs.unlink()
    assert "h1: up" in house.fairhold("hosts", "open", "h1")
    assert house.client.wait(job, 20).state == "done"


def test_a_job_that_fails_on_three_hosts_is_held(cluster: Cluster) -> None:
    house = cluster("h1", "h2", "h3")
    job = house.submit("sleep 0.1; exit 9", count=30)
    until(lambda: house.client.job(job).state == "held")
    until(lambda: not house.client.job(job).tasks["running"])
    held = house.client.job(job)
    assert "failed on 3 hosts" in held.text
    assert "failed on 3 hosts" in house.fairhold("show", job.name)
    assert held.tasks["waiting"] > 0
    house.client.cancel(job)
    assert house.client.wait(job, 20).state == "cancelled"


def test_a_host_whose_spool_is_lost_runs_nothing_beyond_its_lease(cluster: Cluster) -> None:
    house = cluster("h1")
    job = house.submit(LONG)
    first = until(lambda: pids(house))[0]
    house.agents["h1"].kill()
    house.agents["h1"].wait()
    (house.place / "h1/spool").rename(house.place / "h1/lost")
    ends = int((house.place / "h1/lost/lease").read_text().split()[0]) / 1e6
    house.agent("h1", house.port)
    until(lambda: "its spool is new" in house.said)
    until(lambda: not lives(first), 10)
    until(lambda: pids(house)[1:], 20)
    assert time.clock_gettime(time.CLOCK_BOOTTIME) > ends
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert not lives(first)


SAVES = "mkdir $FAIRHOLD_JOB_DIRECTORY/deep; head -c 300000 /dev/zero > $FAIRHOLD_JOB_DIRECTORY/deep/model"


def test_output_and_files_of_another_host_are_read_through_its_agent(cluster: Cluster) -> None:
    house = cluster("h2")
    job = house.run(f"echo here; {SAVES}")
    assert house.fairhold("logs", job.name) == "here\n"
    (result,) = house.client.results(job)
    assert (result.output, result.text) == (b"here\n", "here\n")
    (folder,) = house.client.files(job)
    assert (folder.name, folder.kind) == ("deep", "folder")
    assert "model  300000" in house.fairhold("files", job.name, "deep")
    target = house.place / "copy"
    house.fairhold("fetch", job.name, "deep/model", "--output", str(target))
    assert target.read_bytes() == bytes(300_000)
    assert "cannot-write" in house.fairhold("fetch", job.name, "deep/model", "--output", str(target))
    assert house.client.file(job, "deep/model") == bytes(300_000)
    for path in ("deep/none", "../0.1.out", "deep"):
        assert "no-file" in house.fairhold("fetch", job.name, path, "--output", "-"), path
    assert "no-file" in house.fairhold("files", job.name, "none")


def test_a_host_that_is_away_is_named_and_waited_for(cluster: Cluster) -> None:
    house = cluster("h2", lease="30s")
    job = house.submit("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two")
    until(lambda: house.client.output(job) == b"one\n")
    house.agents["h2"].kill()
    house.agents["h2"].wait()
    until(lambda: not house.host("h2").document["connected"])
    said = house.fairhold("logs", job.name)
    assert "host `h2`" in said
    assert "host-away" in said
    follower = house.start("logs", job.name, "-f")
    (house.place / "go").touch()
    house.agent("h2", house.port)
    said, _ = follower.communicate(timeout=20)
    assert "waiting for it" in said
    assert said.endswith("one\ntwo\n")


def test_lines_of_a_running_task_come_as_they_are_written(cluster: Cluster) -> None:
    house = cluster("h1")
    job = house.submit("for n in 1 2 3; do echo $n; sleep 0.3; done")
    assert house.fairhold("logs", f"{job.name}.0", "-f") == "1\n2\n3\n"


def test_folders_of_forgotten_jobs_go_on_every_host(cluster: Cluster) -> None:
    house = cluster("h1")
    old, running = house.submit("echo said"), house.submit(LONG)
    house.client.wait(old, 20)
    until(lambda: pids(house))
    folders = house.place / "h1/jobs"
    for name in (old.name, running.name, "9999"):
        (folders / name / "0.dir").mkdir(parents=True, exist_ok=True)
        os.utime(folders / name, (0, 0))
    time.sleep(1.1)
    house.again(signal.SIGTERM, "--keep-jobs", "1s")
    until(lambda: [path.name for path in folders.iterdir()] == [running.name])
    (house.place / "go").touch()
    assert house.client.wait(running, 20).state == "done"
