"""A real service and its agent on a machine whose clock is set back an hour and later put right."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.house import PATIENCE, plan, until

if TYPE_CHECKING:
    from tests.faults.conftest import Open

CLOCK = r"""
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && access(getenv("CLOCK_IS_BACK"), F_OK) == 0) now->tv_sec -= 3600;
    return failed;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec, now->tv_usec = found.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    return now ? *now = found.tv_sec : found.tv_sec;
}
"""
"""Loaded before the system's own library: an hour less as long as a file is there."""


@pytest.fixture
def back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file is there, programs that are started from now on see the clock set back."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler is here")
    source, library, back = tmp_path / "clock.c", tmp_path / "clock.so", tmp_path / "back"
    source.write_text(CLOCK)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    environment = {"LD_PRELOAD": str(library), "CLOCK_IS_BACK": str(back)}
    back.touch()
    command = [sys.executable, "-c", "import time; print(time.time())"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    assert 3500 < time.time() - float(done.stdout) < 3700
    back.unlink()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return back


def test_everything_goes_on_when_the_clock_is_set_back_an_hour(open_house: Open, tmp_path: Path, back: Path) -> None:
    began = datetime.now(UTC)
    house = open_house(plan())
    go = tmp_path / "go"
    stubborn = house.submit(f"trap '' TERM; echo x >> begun; until [ -e {go} ]; do sleep 0.05; done", count=4)
    until(lambda: (tmp_path / "begun").exists() and len((tmp_path / "begun").read_text().split()) == 4)
    back.touch()

    tried = house.submit("[ -e failed ] || { touch failed; exit 1; }", consumer="/B", retries=1, backoff="1s")
    assert house.client.wait(tried, PATIENCE).state == "done", "neither a grace nor a pause takes an hour"
    assert [each["reason"] for each in house.attempts(tried)] == ["failed", "finished"]
    reclaimed = [each["reason"] for task in range(4) for each in house.attempts(stubborn, task)]
    assert "reclaim" in reclaimed

    for is_back in (True, False):  # started anew while it is back, and when it is right again
        if not is_back:
            back.unlink()
        house.again(signal.SIGTERM)
        assert house.run("true", consumer="/B").state == "done"
    go.touch()
    assert house.client.wait(stubborn, PATIENCE).state == "done"

    events = house.client.events()["events"]
    instants = [datetime.fromisoformat(each["at"]) for each in events]
    assert began <= instants[0]
    assert instants == sorted(instants)
    for job in house.client.jobs(finished=True):
        assert job.submitted is not None
        assert job.ended is not None
        assert began <= job.submitted < job.ended <= datetime.now(UTC)
    maps = [Path(f"/proc/{pid}/maps").read_text() for pid in (house.service.pid, house.own_agent())]
    assert all("clock.so" in each for each in maps)
