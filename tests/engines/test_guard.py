"""The guard: what it kills when its engine is killed, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairhold.engines import guard as guards
from fairhold.engines import processes
from fairhold.engines.guard import Guard, left
from tests.runtime.support import is_alive, until

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = b"FAIRHOLD_RECLAIM_FILE=/nowhere"
SLEEP = ["sleep", "600"]


def line(*values: object) -> bytes:
    return json.dumps(values).encode() + b"\n"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEP, start_new_session=True) as process:
        yield process
        process.kill()


def test_what_is_left_are_the_attempts_that_are_not_over() -> None:
    me = os.getpid()
    mine = line(me, processes.start_of(me), "A=b")
    gone = line(2**22 + 1, 5, "A=c")  # no system has so large a number
    assert left([mine, gone]) == ({me: b"A=b", 2**22 + 1: b"A=c"}, b"")
    assert left([mine, gone, line(me)]) == ({2**22 + 1: b"A=c"}, b"")
    assert left([mine, gone, b"[7, 8"]) == ({me: b"A=b", 2**22 + 1: b"A=c"}, b"")
    assert left([mine, line()]) == ({}, b"")
    # Its number belongs to another process by now.
    assert left([line(me, 1, "A=b")]) == ({}, b"")
    soon = line(None, None, "A=b")
    assert left([soon]) == left([gone, line(2**22 + 1), soon]) == ({}, b"A=b")
    assert left([soon, mine]) == ({me: b"A=b"}, b"")
    assert left([soon, line(None)]) == left([soon, line()]) == ({}, b"")


def test_what_was_about_to_start_is_killed_by_its_mark() -> None:
    """The engine died before it could tell that the child runs, or even before the child was the command."""
    mark = f"{MARK.decode()}-{os.getpid()}"
    guard = opened()
    guard.starting(mark.encode())
    process = guard._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    name, _, value = mark.partition("=")
    time.sleep(0.1)
    environment = {**os.environ, name: value}
    with subprocess.Popen(SLEEP, start_new_session=True, env=environment) as late:
        assert late.wait(30) == -9
    assert process.wait(30) == 0


def opened() -> Guard:
    guard = Guard(pytest.fail)
    guard.open()
    return guard


def test_a_pipe_that_closes_without_a_good_bye_kills(child: subprocess.Popen[bytes]) -> None:
    guard = opened()
    guard.started(child.pid, MARK)
    process = guard._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert child.wait(30) == -9
    assert process.wait(30) == 0


def test_a_good_bye_leaves_everything_alone(child: subprocess.Popen[bytes]) -> None:
    guard = opened()
    guard.started(child.pid, MARK)
    process = guard._process
    assert process is not None
    guard.close()
    guard.close()
    assert process.returncode == 0
    assert is_alive(child.pid)


def test_a_guard_that_was_killed_stops_nothing(child: subprocess.Popen[bytes]) -> None:
    guard = opened()
    assert guard._process is not None
    guard._process.kill()
    until(lambda: guard._process is not None and not is_alive(guard._process.pid))
    guard.started(child.pid, MARK)
    guard.over(child.pid)
    guard.close()
    assert is_alive(child.pid)


def test_a_guard_that_cannot_be_had_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    guard = Guard(told.append)
    guard.open()
    guard.started(1, MARK)
    guard.close()
    assert told == [
        "if this process is killed, its tasks continue, because no guard could be started: No such file or directory"
    ]


def test_the_guard_starts_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file there that is called like a module of the library is nobody's business."""
    for name in ("json", "signal", "fairhold"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert Path(guards.__file__).is_absolute()
    guard = opened()
    process = guard._process
    guard.close()
    assert process is not None
    assert process.returncode == 0
