"""Runs as a process of their own: Ctrl-C, readers that go away, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.support import PATIENT, Case, is_alive, pids, plan_document, python, until

if TYPE_CHECKING:
    from pathlib import Path

TWO = {"/A": {"owned": 1}, "/B": {"owned": 1}}
# Writes its number where the test looks for it, whole or not at all.
SLEEPS = """
import os, sys, time
name = os.path.join(sys.argv[1], str(os.getpid()))
with open(name, "w") as file:
    file.write(str(os.getpid()))
os.rename(name, name + ".pid")
time.sleep(600)
"""
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SLEEPS}"
FORKS = f"import os\nos.fork()\n{SLEEPS}"


def sleeping(folder: Path, code: str) -> Case:
    jobs = [
        {"name": "long", "consumer": "/A", "argv": python(code, str(folder)), "count": 5},
        {"name": "later", "consumer": "/B", "argv": ["true"], "count": 3, "submit": "1h"},
    ]
    return Case(folder, plan_document(2, TWO), jobs)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupt_stops_everything_and_says_what_was_not_done(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests were started by nohup, and so is the run")
    case = sleeping(tmp_path, FORKS)
    run = case.start()
    started = pids(tmp_path, 4)
    assert len(started) == 4
    os.kill(run.pid, number)
    out, err = run.communicate(timeout=PATIENT)
    assert run.returncode == code
    until(lambda: not any(map(is_alive, started)))
    assert "not done: job long of /A, 5 of 5 tasks, 2 stopped while running" in err.decode()
    assert "not done: job later of /B, 3 of 3 tasks, not submitted yet" in err.decode()
    assert "Traceback" not in err.decode()
    assert "0 tasks finished, 0 failed" in out.decode()
    assert "cancelled  long[0]" in out.decode()


def test_a_second_interrupt_kills_at_once(tmp_path: Path) -> None:
    case = sleeping(tmp_path, DEAF)
    run = case.start()
    started = pids(tmp_path, 2)
    os.kill(run.pid, signal.SIGINT)
    time.sleep(0.1)
    os.kill(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=PATIENT)
    assert run.returncode == 130
    assert not any(map(is_alive, started))
    assert "Traceback" not in err.decode()


@pytest.mark.parametrize("is_terminal", [False, True])
def test_the_run_goes_on_when_nobody_reads_any_more(tmp_path: Path, is_terminal: bool) -> None:  # noqa: FBT001
    case = Case(
        tmp_path, plan_document(2, TWO), [{"name": "a", "consumer": "/A", "argv": ["sleep", "0.1"], "count": 9}]
    )
    reader, writer = pty.openpty() if is_terminal else os.pipe()
    run = case.start(stdout=writer, TERM="xterm")
    os.close(writer)
    assert os.read(reader, 6) == b"output"
    os.close(reader)
    _, err = run.communicate(timeout=PATIENT)
    assert (run.returncode, err) == (0, b"")
    assert len(case.starts("a")) == 9


def test_an_ignored_sigchld_costs_no_exit_code(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(2, TWO), [{"name": "a", "consumer": "/A", "argv": ["false"]}])
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        run = case.start()
    finally:
        signal.signal(signal.SIGCHLD, before)
    run.communicate(timeout=PATIENT)
    assert run.returncode == 1


def test_a_live_table_on_a_terminal(tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = [
        {"name": "a", "consumer": "/A/X", "argv": ["sleep", "0.4"], "count": 3},
        {"name": "b", "consumer": "/B", "argv": ["false"]},
    ]
    consumers = {"/A": {"owned": 1}, "/A/X": {"owned": 1}, "/B": {"owned": 1}}
    case = Case(tmp_path, plan_document(2, consumers), jobs)
    reader, writer = pty.openpty()
    run = case.start(stdout=writer, TERM="xterm", COLUMNS="120", LINES="30")
    os.close(writer)
    text = _all_of(reader)
    run.communicate(timeout=PATIENT)
    assert run.returncode == 1
    for words in ("consumer", "borrowed", "reclaimed", "waiting", "█", "failed     b[0]", "3 tasks finished, 1 failed"):
        assert words in text, words


def test_plain_lines_on_a_terminal_where_asked_for(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"name": "a", "consumer": "/A", "argv": ["true"]}])
    reader, writer = pty.openpty()
    run = case.start("--plain", stdout=writer, TERM="xterm")
    os.close(writer)
    text = _all_of(reader)
    run.communicate(timeout=PATIENT)
    assert run.returncode == 0
    assert "finished   a[0]  /A" in text
    assert "\x1b" not in text


def _all_of(reader: int) -> str:
    text = b""
    while True:
        try:
            more = os.read(reader, 65536)
        except OSError:  # how a terminal says that the other side is gone
            more = b""
        if not more:
            os.close(reader)
            return text.decode()
        text += more


def test_output_of_names_that_the_encoding_does_not_have(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"name": "Überblick", "consumer": "/A", "argv": ["true"]}])
    run = case.start(PYTHONIOENCODING="ascii")
    out, err = run.communicate(timeout=PATIENT)
    assert (run.returncode, err.count(b"Traceback")) == (0, 0)
    assert b"\\xdcberblick[0]" in out


def test_the_example_price_is_right() -> None:
    from tests.runtime.support import ROOT  # noqa: PLC0415 - for this test alone

    command = python("import runpy; runpy.run_path('examples/price.py', run_name='__main__')", "--paths", "2000")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0
    assert b'"is_right": true' in done.stdout
