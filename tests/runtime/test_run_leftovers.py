"""What a run leaves on the machine: nothing where it ends by itself, nothing that matters where it is killed."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from fairhold.engines.processes import start_of
from tests.runtime.support import PATIENT, Case, is_alive, pids, plan_document, python, until

if TYPE_CHECKING:
    from pathlib import Path

TWO = {"/A": {"owned": 1}, "/B": {"owned": 1}}
# Leaves both its session and its environment, and is handed to another parent when its own ends.
DETACHES = """
import os, sys, time
if os.fork():
    time.sleep(0.3)
    os._exit(0)
os.setsid()
os.execve(sys.executable, [sys.executable, "-c", sys.argv[2], sys.argv[1]], {})
"""
SLEEPS = """
import os, sys, time
name = os.path.join(sys.argv[1], str(os.getpid()))
with open(name, "w") as file:
    file.write(str(os.getpid()))
os.rename(name, name + ".pid")
time.sleep(600)
"""


def test_who_leaves_session_and_environment_does_not_outlive_the_run(tmp_path: Path) -> None:
    argv = python(DETACHES, str(tmp_path), SLEEPS)
    case = Case(tmp_path, plan_document(2, TWO), [{"name": "a", "consumer": "/A", "argv": argv}])
    run = case.start()
    (left,) = pids(tmp_path, 1)
    _, err = run.communicate(timeout=PATIENT)
    assert (run.returncode, err) == (0, b"")
    assert not is_alive(left)


def test_a_run_that_was_killed_does_not_matter_to_the_next(tmp_path: Path) -> None:
    jobs = [{"name": "a", "consumer": "/A", "argv": python(SLEEPS, str(tmp_path)), "count": 4}]
    killed = Case(tmp_path, plan_document(2, TWO), jobs)
    run = killed.start()
    started = {pid: start_of(pid) for pid in pids(tmp_path, 2)}  # a number may be given to another process soon
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=PATIENT)

    (tmp_path / "next").mkdir()
    quick = Case(tmp_path / "next", plan_document(2, TWO), [jobs[0] | {"argv": ["true"]}])
    run = quick.start()
    out, err = run.communicate(timeout=PATIENT)
    assert (run.returncode, err) == (0, b"")
    assert b"4 tasks finished, 0 failed" in out
    assert len(quick.starts("a")) == 4

    # Its own folder is kept as it was, for whoever wants to know what happened.
    before = {path: path.read_bytes() for path in killed.output.rglob("*") if path.is_file()}
    run = killed.start()
    _, err = run.communicate(timeout=PATIENT)
    assert run.returncode == 2
    assert b"name a fresh directory" in err
    assert {path: path.read_bytes() for path in killed.output.rglob("*") if path.is_file()} == before
    until(lambda: not any(is_alive(pid) and start_of(pid) == start for pid, start in started.items()))
