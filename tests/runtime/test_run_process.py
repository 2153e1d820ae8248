"""Runs as a process of their own: Ctrl-C, readers that go away, terminals."""

from __future__ import annotations

import os
import pty
import re
import signal
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


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)],
)
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


CLEAN = """
import os, sys
if "FAIRHOLD_JOB" in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {})
"""
"""Takes every variable away from itself, and from what it starts."""


@pytest.mark.parametrize("code", [FORKS, DEAF, "import os\nos.fork() or os.setsid()\n" + SLEEPS, CLEAN + FORKS])
def test_nothing_outlives_a_run_that_is_killed(tmp_path: Path, code: str) -> None:
    case = sleeping(tmp_path, code)
    run = case.start()
    started = pids(tmp_path, 2 if code == DEAF else 4)
    assert all(map(is_alive, started))
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=PATIENT)
    until(lambda: not any(map(is_alive, started)))


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


@pytest.mark.parametrize("columns", [45, 60, 70, 80])
def test_a_table_on_a_narrow_terminal_keeps_whole_columns_and_lines(tmp_path: Path, columns: int) -> None:
    long = "/a-name-that-is-longer-than-a-third-of-a-line"
    jobs = [{"name": "a", "consumer": long, "argv": ["sleep", "0.3"], "count": 3}]
    case = Case(tmp_path, plan_document(2, {long: {"owned": 1}, "/B": {"owned": 1}}), jobs)
    reader, writer = pty.openpty()
    run = case.start(stdout=writer, TERM="xterm", COLUMNS=str(columns), LINES="30")
    os.close(writer)
    plain = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", _all_of(reader).partition("finished")[0])
    run.communicate(timeout=PATIENT)
    assert run.returncode == 0
    drawn = re.split(r"[\r\n]+", plain)[1:-1]  # between where the output is and the summary
    assert max(map(len, drawn)) <= columns
    heads = {tuple(line.split()) for line in drawn if line.startswith("consumer") and "held" in line}
    kept = {45: ("held", "waiting", "owned"), 60: ("owned", "held", "borrowed", "waiting")}
    assert heads
    for head in heads:
        assert set(kept.get(columns, kept[60])) <= set(head)
        assert set(head) <= {"consumer", "owned", "held", "borrowed", "lent", "reclaimed", "waiting", "running"}


def test_plain_lines_on_a_terminal_too_narrow_for_a_table(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"name": "a", "consumer": "/A", "argv": ["true"]}])
    reader, writer = pty.openpty()
    run = case.start(stdout=writer, TERM="xterm", COLUMNS="30")
    os.close(writer)
    text = _all_of(reader)
    run.communicate(timeout=PATIENT)
    assert "finished   a[0]  /A" in text
    assert "\x1b" not in text


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
