"""The service stops, is told to stop, or is killed: what runs goes on, what is accepted stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from fairhold.client.errors import Refused
from fairhold.store.opening import open_store
from tests.faults.house import House, lives, plan, until

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from tests.faults.conftest import Open

LONG = "echo $$; while [ ! -e go ]; do sleep 0.05; done"


def pid_of(house: House, job: Job) -> int:
    return int(until(lambda: house.client.output(job)))


def test_what_runs_goes_on_and_is_taken_up_however_the_service_ends(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG, count=2)
    pid = pid_of(house, job)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT):
        status = house.kill(number)
        assert status == (-9 if number == signal.SIGKILL else 0)
        assert lives(pid)
        assert (house.state / "service.json").exists() == (number == signal.SIGKILL)
        house.serve()
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert [each["number"] for each in house.attempts(job)] == [1], "it ran once"


def test_what_ends_while_nobody_looks_is_told_later(open_house: Open) -> None:
    house = open_house()
    fails = house.submit(LONG + "; exit 7")
    pid = pid_of(house, fails)
    house.kill()
    (house.place / "go").touch()
    until(lambda: not lives(pid))
    house.serve()
    assert house.client.wait(fails, 20).exit_code == 7


def test_a_newer_plan_file_is_taken_at_the_restart_and_an_older_one_is_not(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG, consumer="/B")
    pid_of(house, job)
    house.plan.write_text(plan("{slots: 7}"))
    house.again(signal.SIGTERM)
    assert house.client.plan().version == 2
    assert f"plan 2 is in force: {house.plan} has changed" in house.said
    assert house.host("-").document["resource_groups"] == {"compute": 7}
    house.client.apply_plan(plan("{slots: 9}"), seen=2)
    house.again()
    assert f"to put it in force: fairhold plan apply {house.plan}\n" in house.said
    assert house.client.plan().version == 3, "the file is the one that was read before"
    assert house.host("-").document["resource_groups"] == {"compute": 9}
    gone = plan().replace("  B: {reclaim_grace: 300ms}\n", "").replace(", /B: {owned: 2}", "")
    house.plan.write_text(gone)
    house.kill(signal.SIGTERM)
    house.launch()
    assert house.service.wait(20) == 1
    assert "consumer-in-use" in house.said
    house.plan.write_text(plan("{slots: 9}"))
    house.serve()
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"


def test_stop_and_drain_waits_and_starts_no_more(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG, count=9)
    pid_of(house, job)
    stopping = subprocess.Popen(
        [sys.executable, "-m", "fairhold", "stop", "--drain", "--service", f"unix:{house.state}/api.sock"]
    )
    until(lambda: house.client.health()["state"] == "stopping")
    late = house.submit("echo late")
    (house.place / "go").touch()
    assert house.service.wait(20) == 0
    assert stopping.wait(20) == 0
    house.client.close()
    house.serve()
    assert house.client.wait(job, 20).tasks["done"] == 9
    assert house.client.wait(late, 20).state == "done"
    assert house.client.output(late) == b"late\n"


def test_stop_ends_the_own_agent_where_nothing_runs_and_leaves_it_where_something_does(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG)
    pid_of(house, job)
    agent = house.own_agent()
    house.fairhold("stop")
    assert house.service.wait(20) == 0
    assert lives(agent)
    house.client.close()
    (house.place / "go").touch()
    house.serve()
    assert house.client.wait(job, 20).state == "done"
    assert house.own_agent() == agent
    house.fairhold("stop")
    assert house.service.wait(20) == 0
    assert not lives(agent)
    house.client.close()
    house.serve()
    assert house.run("echo again").state == "done"


def test_stop_and_kill_ends_what_runs_and_the_next_start_goes_on(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG, count=3)
    pid = pid_of(house, job)
    agent = house.own_agent()
    assert "its tasks have stopped" in house.fairhold("stop", "--kill")
    assert house.service.wait(20) == 0
    assert not lives(pid)
    assert not lives(agent)
    house.client.close()
    (house.place / "go").touch()
    house.serve()
    assert house.client.wait(job, 20).state == "done"
    assert [each["reason"] for each in house.attempts(job)] == ["requeue", "finished"]


def test_a_plan_is_applied_whole_or_not_at_all_when_the_service_dies(open_house: Open) -> None:
    house = open_house()
    for round_ in range(3):
        before = house.client.plan().version
        body = json.dumps({"text": plan(f"{{slots: {10 + round_}}}")})
        asking = subprocess.Popen(
            [sys.executable, "-c", _PUT, str(house.state / "api.sock"), str(before), body], stdout=subprocess.PIPE
        )
        assert asking.stdout is not None
        assert asking.stdout.read(1) == b"!"
        house.kill()
        asking.communicate()
        house.serve()
        version = house.client.plan().version
        assert version in {before, before + 1}
        slots = house.host("-").document["resource_groups"]["compute"]
        assert f"slots: {slots}" in str(house.client.plan().text)
    house.kill(signal.SIGTERM)
    store = open_store(house.state)
    assert store.check() == ()
    store.close()


_PUT = """\
import socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    body = sys.argv[3].encode()
    s.sendall(b'PUT /v1/plan HTTP/1.1\\r\\nHost: fairhold\\r\\nIf-Match: "%s"\\r\\nContent-Type: application/json\\r\\n'
              b'Content-Length: %d\\r\\n\\r\\n%s' % (sys.argv[2].encode(), len(body), body))
    sys.stdout.write('!'); sys.stdout.flush()
    s.recv(1)
"""


def test_a_state_directory_may_have_any_name(open_house: Open) -> None:
    house = open_house(state="it's a Größe: 测试%40")
    assert house.run("pwd; echo out").state == "done"
    job = house.submit(LONG)
    pid_of(house, job)
    house.again()
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    assert house.fairhold("logs", "1").endswith("out\n")
    pointed = subprocess.run(
        [sys.executable, "-m", "fairhold", "jobs", "--all", "--json"], capture_output=True, check=True,
        env=os.environ | {"FAIRHOLD_STATE": str(house.place)},
    )  # fmt: skip
    assert len(json.loads(pointed.stdout)["jobs"]) == 2


def test_a_path_too_long_for_a_socket_is_told_before_anything_is_made(tmp_path: Path) -> None:
    house = House(tmp_path, state="x" * 120)
    house.launch()
    assert house.service.wait(20) == 1
    assert "socket-path" in house.said
    assert "shorter path" in house.said
    assert "Traceback" not in house.said
    assert not house.state.exists()


def test_two_services_on_one_state_directory(open_house: Open) -> None:
    house = open_house()
    job = house.submit(LONG)
    first = house.service
    house.launch()
    assert house.service.wait(20) in {1, 3}
    assert f"{first.pid}" in house.said
    assert "store-in-use" in house.said
    house.service = first
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"


@pytest.mark.parametrize("length", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_a_chain_of_jobs_and_a_restart_in_it(open_house: Open, length: int) -> None:
    house = open_house()
    last: list[Job] = []
    for number in range(length):
        last = [house.client.submit("/A" if number % 2 else "/B", ["true"], after=last, environment={}, directory="/")]
        if number == length // 2:
            house.again()
    broken = house.submit("exit 1")
    never = house.submit("true", after=[(broken, "ok")])
    assert house.client.wait(never, 20).state == "cancelled"
    with pytest.raises(Refused, match=r"never-ready|never start"):
        house.submit("true", after=[never])
    assert house.client.wait(last[0], 60).state == "done"
    jobs = house.client.jobs(finished=True, limit=0)
    assert sum(job.state == "done" for job in jobs) == length
    ends = [job.ended for job in sorted(jobs, key=lambda job: int(job.name))[:length]]
    assert ends == sorted(ends, key=str), "one after another"


def test_tries_with_pauses_go_on_over_a_restart(open_house: Open) -> None:
    house = open_house()
    script = "echo x >> tries; [ $(wc -l < tries) -ge 4 ] || exit 1"
    job = house.submit(script, retries=5, backoff="400ms")
    until((house.place / "tries").exists)
    for _ in range(3):
        house.again()
    assert house.client.wait(job, 20).state == "done"
    attempts = house.attempts(job)
    assert [each["code"] for each in attempts] == [1, 1, 1, 0]
    starts = [datetime.fromisoformat(each["started"]) for each in attempts]
    ends = [datetime.fromisoformat(each["ended"]) for each in attempts]
    pauses = [(start - end).total_seconds() for start, end in zip(starts[1:], ends, strict=False)]
    assert [pause >= least for pause, least in zip(pauses, (0.4, 0.8, 1.6), strict=True)] == [True] * 3, pauses


def test_two_users_share_a_leaf_in_turn(open_house: Open) -> None:
    house = open_house()
    script = "sleep 0.05"
    ann = house.submit(script, count=60, user="ann")
    bob = house.submit(script, count=20, user="bob")
    assert house.client.wait(bob, 40).state == "done"
    done = house.client.job(ann).tasks["done"]
    assert 12 <= done <= 40, "they went by turns"
    assert house.client.wait(ann, 40).state == "done"
