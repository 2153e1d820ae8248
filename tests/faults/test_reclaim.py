"""Slots are taken back from real processes: what they are told, what they keep, what a restart in between changes."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.client.errors import ServiceError
from tests.faults.house import lives, plan, until

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from tests.faults.conftest import Open
    from tests.faults.house import House

WORK = "echo $$ >> pids; while [ ! -e go ]; do sleep 0.05; done"


def borrowed(house: House, script: str, **more: Any) -> Job:
    """A job of /A that uses the slots of /B too, and runs."""
    job = house.submit(script, count=4, **more)
    until(lambda: [task.state for task in house.client.tasks(job)] == ["running"] * 4)
    time.sleep(0.2)  # until its shells have set their traps
    return job


def noticed(house: House) -> list[dict[str, object]]:
    """Allocations that are under notice."""
    return [each for each in house.client.allocations() if each["deadline"]]


def test_a_task_learns_why_saves_its_state_and_goes_on_where_it_was(open_house: Open) -> None:
    house = open_house(plan(grace="20s"))
    script = """
        saved=$FAIRHOLD_JOB_DIRECTORY/saved
        if [ -e $saved ]; then echo "went on from $(cat $saved)"; exit 0; fi
        trap 'cat $FAIRHOLD_RECLAIM_FILE; echo step 7 > $saved; exit 75' USR1
        while [ ! -e go ]; do sleep 0.05; done
    """
    job = borrowed(house, script, signal="USR1")
    began = datetime.now(UTC)
    own = house.submit("true", consumer="/B", count=2)
    assert house.client.wait(own, 15).state == "done", "they yield at once, long before the deadline"
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"
    twice = [task for task in range(4) if len(house.attempts(job, task)) == 2]
    assert len(twice) == 2
    first, second = house.attempts(job, twice[0])
    assert (first["reason"], first["code"]) == ("yielded", 75)
    assert second["reason"] == "finished"
    told = json.loads(house.client.output(job, twice[0], 1).splitlines()[-1])  # `sh` tells of its child's end before
    assert (told["reason"], told["for"], told["attempt"]) == ("quota", "/B", 1)
    deadline = datetime.fromisoformat(told["deadline"])
    assert 15 < (deadline - began).total_seconds() < 25
    assert house.client.output(job, twice[0], 2) == b"went on from step 7\n"
    (why,) = [each for each in house.client.explain(job)["reclaims"] if each["attempt"] == first["attempt"]]
    assert why["for"] == "/B"
    assert "/B" in house.fairhold("explain", job.name)


def test_the_signal_comes_the_lead_before_the_deadline_and_the_deaf_are_killed_at_it(open_house: Open) -> None:
    house = open_house(plan(grace="4s"))
    job = borrowed(house, "trap 'date +%s.%N > told.$FAIRHOLD_TASK' USR1; " + WORK, signal="USR1", lead="2s")
    own = house.submit("true", consumer="/B", count=2)
    notices = until(lambda: noticed(house))
    assert len(notices) == 2
    assert house.client.wait(own, 30).state == "done"
    for notice in notices:
        deadline = datetime.fromisoformat(str(notice["deadline"])).timestamp()
        signalled = float((house.place / f"told.{notice['task']}").read_text())
        assert deadline - 2.1 < signalled < deadline
        first = house.attempts(job, int(str(notice["task"])))[0]
        assert (first["reason"], first["signal"]) == ("reclaim", 9)
        assert first["detail"] == "stopped at its deadline"
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"


@pytest.mark.parametrize("is_back_in_time", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_service_that_dies_in_a_grace_neither_shortens_nor_lengthens_it(
    open_house: Open, *, is_back_in_time: bool
) -> None:
    grace = 12 if is_back_in_time else 1
    house = open_house(plan(grace=f"{grace}s"))
    job = borrowed(house, "trap '' TERM; " + WORK)
    pids = [int(line) for line in (house.place / "pids").read_text().split()]
    own = house.submit("true", consumer="/B", count=2)
    before = until(lambda: noticed(house))
    house.kill()
    if not is_back_in_time:
        until(lambda: sum(lives(pid) for pid in pids) == 2, 20)  # at their deadline, by their own supervisors
    house.serve()
    if is_back_in_time:
        assert [each["deadline"] for each in noticed(house)] == [each["deadline"] for each in before]
        assert all(lives(pid) for pid in pids)
    assert house.client.wait(own, 30).state == "done"
    for notice in before:
        first = house.attempts(job, int(str(notice["task"])))[0]
        assert first["reason"] == "reclaim"
        late = datetime.fromisoformat(first["ended"]) - datetime.fromisoformat(str(notice["deadline"]))
        assert late.total_seconds() > -0.2
    (house.place / "go").touch()
    assert house.client.wait(job, 20).state == "done"


def test_a_notice_that_is_withdrawn_leaves_the_task_alone(open_house: Open) -> None:
    house = open_house(plan(grace="90s"))
    job = borrowed(house, "trap 'echo told' TERM; " + WORK)
    own = house.submit("sleep 60", consumer="/B", count=2)
    until(lambda: len(noticed(house)) == 2)
    files = until(lambda: list(house.state.glob("jobs/1/*.reclaim.json")))
    house.again()
    assert len(noticed(house)) == 2
    house.client.cancel(own)
    until(lambda: not noticed(house))
    until(lambda: not any(file.exists() for file in files))
    (house.place / "go").touch()
    done = house.client.wait(job, 20)
    assert (done.state, done.tasks["reclaimed"]) == ("done", 0), house.client.tasks(job)
    assert all(len(house.attempts(job, task)) == 1 for task in range(4))


def test_a_task_that_fills_the_disk_stops_new_work_until_there_is_room(small_disk: Path, open_house: Open) -> None:
    house = open_house(place=small_disk)
    fill = house.submit("dd if=/dev/zero of=fill bs=1M; while [ -e fill ]; do sleep 0.1; done")
    until(lambda: not os.statvfs(small_disk).f_bavail)

    def refused() -> ServiceError | None:
        try:
            house.submit("true")
        except ServiceError as error:  # the store may find room of its own once more, where it was not yet tidied up
            return error if house.client.health()["state"] == "trouble" else None
        return None

    error = until(refused)
    assert (error.status, error.code) == (507, "store-full")
    assert house.client.job(fill).state == "running"
    (house.place / "fill").unlink()
    assert house.client.wait(fill, 20).state == "done"
    until(lambda: house.client.health()["state"] == "ok")
    assert house.run("true").state == "done"
