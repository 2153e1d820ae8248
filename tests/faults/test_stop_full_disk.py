"""`stop --kill` ends in time, whatever cannot be written or seen; the next start takes up what became of the tasks."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from fairhold.client.errors import ServiceError
from tests.faults.house import free_port, plan, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.house import House

    Open = Callable[..., House]

LARGE = {"LARGE": "x" * 120_000}
"""What cannot be written where something else was written just now."""


def fill(place: Path) -> None:
    with suppress(OSError), (place / "fill").open("ab", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def unwritten_job(house: House, number: int) -> bool:
    """Fill the disk up to the last byte; whether a job was decided that stays unwritten. It leaves a file."""
    fill(house.place)
    with suppress(ServiceError):
        house.submit(f"touch job-{number}", environment=LARGE)
    time.sleep(0.7)  # the service tries again
    return "1 new job" in (house.client.health()["trouble"] or "")


def test_a_job_whose_start_waits_for_room_keeps_no_stop_from_its_end(small_disk: Path, open_house: Open) -> None:
    house = open_house(place=small_disk)
    script = "echo $$ >> ran; [ -e again ] || sleep 1000"
    job = house.submit(script)
    until((house.place / "ran").exists)
    number = next(each for each in range(20) if unwritten_job(house, each))
    began = time.monotonic()
    said = house.fairhold("stop", "--kill")
    assert time.monotonic() - began < 20
    assert house.service.wait(5) == 0
    assert "not written: 1 new job, " in said
    assert "the service and its tasks have stopped" in said
    house.client.close()
    (house.place / "fill").unlink()
    (house.place / "again").touch()
    house.serve()
    assert house.client.wait(job, 20).state == "done"
    assert [each["reason"] for each in house.attempts(job)] == ["requeue", "finished"]
    assert len((house.place / "ran").read_text().split()) == 2
    assert not (house.place / f"job-{number}").exists(), "nothing ran that is not on record"


@pytest.mark.slow
def test_a_host_that_is_silent_keeps_no_stop_from_its_end(open_house: Open) -> None:
    port = free_port()
    house = open_house(plan("{hosts: [{name: h1, slots: 2}]}"), "--agents", f"127.0.0.1:{port}", "--lease", "10m")
    house.agent("h1", port)
    until(lambda: house.host("h1").document["connected"])
    job = house.submit("echo $$ >> ran; while [ ! -e go ]; do sleep 0.05; done")
    until((house.place / "ran").exists)
    house.agents["h1"].send_signal(signal.SIGSTOP)
    house.fairhold("stop", "--kill", "--no-wait")
    assert house.service.wait(40) == 0
    assert "stopped 1 task, which may still run on h1" in house.said
    house.client.close()
    os.kill(house.agents["h1"].pid, signal.SIGCONT)
    house.serve()
    (house.place / "go").touch()
    assert house.client.wait(job, 30).state == "done"
    assert [each["reason"] for each in house.attempts(job)] == ["requeue", "finished"]
