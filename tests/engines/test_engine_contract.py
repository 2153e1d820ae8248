"""The contract of engines (S1.55-62): starts, notices, stops, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from fairhold.orchestrator.events import Outcome
from fairhold.orchestrator.instructions import Start, Stop, Withdraw
from tests.engines.contract import (
    ENGINES,
    Bench,
    is_alive,
    open_descriptors,
    opened,
    own_children,
    reclaim_file,
    until_gone,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FINISHED, FAILED, STOPPED = Outcome.FINISHED, Outcome.FAILED, Outcome.STOPPED
SLEEP = "import time; print('here', flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
# It writes past the buffers: a signal that comes before `print` has returned finds them in use.
HEARS = """
import os, signal, sys, time
def told(*_):
    try:
        os.write(1, open(os.environ["FAIRHOLD_RECLAIM_FILE"], "rb").read() + b"\\n")
    except OSError:
        os.write(1, b"no file\\n")
    if sys.argv[1] != "stay":
        sys.exit(int(sys.argv[1]))
signal.signal(signal.SIGTERM, told)
os.write(1, b"here\\n")
while True:
    time.sleep(600)
"""
# A child of its own that outlives it: in its session, in a group of its own, or in a session of its own.
LEAVES = """
import os, subprocess, sys
how = {"session": {}, "group": {"process_group": 0}, "away": {"start_new_session": True},
    "stranger": {"start_new_session": True, "env": {}}}[sys.argv[1]]
child = subprocess.Popen([sys.executable, "-c", "import signal, time; "
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('child', flush=True); time.sleep(600)"], **how)
print("pid", child.pid, flush=True)
if len(sys.argv) > 2:
    child.wait()
child.returncode = 0
"""


@pytest.fixture(params=ENGINES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with opened(ENGINES[request.param], tmp_path) as bench:
        yield bench


def child_of(bench: Bench, attempt: int) -> int:
    bench.wait_for_text(attempt, "child")
    printed = bench.wait_for_text(attempt, "pid ")  # who starts it may come to print after it
    return int(printed.split("pid ")[1].split()[0])


@pytest.mark.parametrize(("status", "outcome"), [(0, FINISHED), (1, FAILED), (77, FAILED)])
def test_exit_status_is_the_outcome(bench: Bench, status: int, outcome: Outcome) -> None:
    assert bench.wait(bench.python(f"raise SystemExit({status})")) == [outcome]


def test_death_by_a_signal_of_its_own_is_a_failure(bench: Bench) -> None:
    assert bench.wait(bench.python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")) == [FAILED]


def test_output_and_errors_go_to_the_attempt_s_file(bench: Bench) -> None:
    attempt = bench.python("import os; os.write(1, b'out '); os.write(2, b'err')")
    bench.wait(attempt)
    assert bench.printed(attempt) == "out err"


def test_environment_names_the_attempt(bench: Bench, tmp_path: Path) -> None:
    names = ("JOB", "TASK", "ATTEMPT", "CONSUMER", "RECLAIM_FILE")
    code = f"import os; print(*(os.environ['FAIRHOLD_' + name] for name in {names}))"
    attempt = bench.python(code, index=3, number=2, environment={"FAIRHOLD_JOB": "overridden"})
    bench.wait(attempt)
    expected = f"job-1 3 2 /A {tmp_path / 'job-1' / '3.2.reclaim.json'}\n"
    assert bench.file(attempt, index=3, number=2).read_text() == expected


def test_index_directory_and_environment_of_the_job_without_a_shell(bench: Bench, tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), os.environ['COLOUR'], sys.argv[1:], sys.stdin.read() == '')"
    folder = tmp_path / "a folder"
    folder.mkdir()
    attempt = bench.python(
        code, "{index}-{index}", "$HOME; *", index=7, directory=str(folder), environment={"COLOUR": "blue"}
    )
    bench.wait(attempt)
    assert bench.file(attempt, index=7).read_text() == f"{folder} blue ['7-7', '$HOME; *'] True\n"


def test_what_cannot_be_started_fails_and_says_why(bench: Bench, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    missing = bench.start(["/nowhere/no-such-program"])
    lost = bench.start([sys.executable, "-c", ""], directory=str(tmp_path / "gone"))
    no_program = bench.start([str(text)])
    too_long = bench.start([sys.executable, "-c", "", "x" * 4_000_000])
    assert bench.wait(missing, lost, no_program, too_long) == [FAILED] * 4
    assert "cannot start /nowhere/no-such-program: No such file" in bench.printed(missing)
    assert f"cannot work in the directory {tmp_path / 'gone'}: No such file" in bench.printed(lost)
    assert "Permission denied" in bench.printed(no_program)
    assert "Argument list too long" in bench.printed(too_long)
    assert len(bench.complaints) == 4


def test_what_no_process_can_be_given_fails_and_says_why(bench: Bench) -> None:
    no_words, empty = bench.start([]), bench.start([""])
    nul, nul_name = bench.start(["true", "a\0b"]), bench.start(["a\0b"])
    nul_value = bench.start(["true"], environment={"COLOUR": "bl\0ue"})
    no_name = bench.start(["true"], environment={"A=B": "1"})
    large = bench.start(["true"], environment={"LARGE": "x" * 4_000_000})
    long_name = bench.start(["x" * 4_000_000])
    attempts = (no_words, empty, nul, nul_name, nul_value, no_name, large, long_name)
    assert bench.wait(*attempts) == [FAILED] * len(attempts)
    assert bench.printed(no_words) == bench.printed(empty) == "fairhold: the command is empty\n"
    for attempt in (nul, nul_name, nul_value):
        assert "null byte" in bench.printed(attempt)
    assert "illegal environment variable name" in bench.printed(no_name)
    assert "Argument list too long" in bench.printed(large)
    assert len(bench.printed(long_name)) < 400
    assert len(bench.complaints) == len(attempts)


def test_an_empty_argument_is_an_argument(bench: Bench) -> None:
    attempt = bench.python("import sys; print(sys.argv[1:])", "", "x", "")
    assert bench.wait(attempt) == [FINISHED]
    assert bench.printed(attempt) == "['', 'x', '']\n"


def test_attempts_that_cannot_be_started_leave_no_descriptor_and_no_zombie(bench: Bench) -> None:
    before, children = open_descriptors(), own_children()
    attempts = [bench.start(["/nowhere/no-such-program"]) for _ in range(50)]
    assert set(bench.wait(*attempts)) == {FAILED}
    assert (open_descriptors(), own_children()) == (before, children)


def test_a_cause_is_said_once_a_job(bench: Bench) -> None:
    first = bench.start(["/nowhere/no-such-program"])
    bench.engine.execute([Start(first + number, "job-1", number, 1, "compute", "") for number in range(1, 6)])
    assert bench.wait(*range(first, first + 6)) == [FAILED] * 6
    assert len(bench.complaints) == 1


def test_an_output_file_that_cannot_be_written_fails_the_attempt(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "job-1").write_text("in the way")
    assert bench.wait(bench.python("")) == [FAILED]
    assert "cannot write" in bench.complaints[0]


def test_stop_kills_what_ignores_sigterm(bench: Bench) -> None:
    attempt = bench.python(DEAF)
    bench.wait_for_text(attempt, "here")
    bench.notify(attempt)
    assert bench.engine.events(0.1) == []
    bench.stop(attempt)
    assert bench.wait(attempt) == [STOPPED]


def test_the_reclaim_file_is_there_before_the_signal(bench: Bench) -> None:
    attempt = bench.python(HEARS, "0")
    bench.wait_for_text(attempt, "here")
    bench.notify(attempt, deadline=1_767_603_600_500_000)
    assert bench.wait(attempt) == [FINISHED]
    expected = {"reason": "quota", "for": "/B", "deadline": "2026-01-05T09:00:00.500000Z", "attempt": 1}
    assert reclaim_file(bench, attempt) == expected
    assert '"for": "/B"' in bench.printed(attempt)


def test_who_is_noticed_and_ends_without_its_work_done_was_stopped(bench: Bench) -> None:
    by_itself, by_the_signal = bench.python(HEARS, "3"), bench.python(SLEEP)
    for attempt in (by_itself, by_the_signal):
        bench.wait_for_text(attempt, "here")
        bench.notify(attempt)
    assert bench.wait(by_itself, by_the_signal) == [STOPPED, STOPPED]


def test_withdraw_removes_the_file_and_a_later_notice_writes_it_anew(bench: Bench) -> None:
    attempt = bench.python(HEARS, "stay")
    bench.wait_for_text(attempt, "here")
    bench.notify(attempt, taker="/B")
    bench.wait_for_text(attempt, "/B")
    bench.engine.execute([Withdraw(attempt)])
    assert not bench.file(attempt, "reclaim.json").exists()
    bench.notify(attempt, taker="")
    bench.wait_for_text(attempt, "null")
    assert reclaim_file(bench, attempt)["for"] is None
    bench.stop(attempt)
    assert bench.wait(attempt) == [STOPPED]


def test_instructions_for_what_has_ended_are_passed_over(bench: Bench) -> None:
    attempt = bench.python("")
    bench.wait(attempt)
    bench.notify(attempt)
    bench.engine.execute([Withdraw(attempt), Stop(attempt), Stop(99)])
    assert bench.engine.events(0.0) == []


@pytest.mark.parametrize("how", ["session", "group", "away", "stranger"])
def test_what_outlives_its_leader_is_killed(bench: Bench, how: str) -> None:
    attempt = bench.python(LEAVES, how)
    assert bench.wait(attempt) == [FINISHED]
    until_gone(int(bench.printed(attempt).split("pid ")[1].split()[0]))


@pytest.mark.parametrize("how", ["session", "group", "away", "stranger"])
def test_stop_reaches_the_children(bench: Bench, how: str) -> None:
    attempt = bench.python(LEAVES, how, "wait")
    child = child_of(bench, attempt)
    assert is_alive(child)
    bench.stop(attempt)
    assert bench.wait(attempt) == [STOPPED]
    until_gone(child)


def test_what_left_session_and_environment_goes_with_its_attempt_and_not_with_another(bench: Bench) -> None:
    first = bench.python(LEAVES, "stranger", "wait")
    older = child_of(bench, first)
    second = bench.start(["sh", "-c", "setsid env -i sh -c 'sleep 600 & echo pid $$; echo child; wait' & sleep 0.3"])
    younger = child_of(bench, second)
    assert bench.wait(second) == [FINISHED]
    assert is_alive(older)
    bench.stop(first)
    assert bench.wait(first) == [STOPPED]
    until_gone(older, younger)
    bench.engine.close()
    assert str(younger) not in own_children()


def test_a_flood_of_output(bench: Bench) -> None:
    attempt = bench.python("import sys\nfor _ in range(160): sys.stdout.write('x' * 65536)")
    assert bench.wait(attempt) == [FINISHED]
    assert bench.file(attempt).stat().st_size == 160 * 65536


def test_many_quick_tasks_leave_no_descriptor_open(bench: Bench) -> None:
    before = open_descriptors()
    attempts = [bench.start(["true"]) for _ in range(200)]
    assert set(bench.wait(*attempts)) == {FINISHED}
    assert open_descriptors() == before


def test_events_waits_for_the_first_end(bench: Bench) -> None:
    assert bench.engine.events(0.0) == []
    bench.python("import time; time.sleep(0.2)")
    started = time.monotonic()
    assert [event.outcome for event in bench.engine.events(60.0)] == [FINISHED]
    assert time.monotonic() - started < 50


def test_close_leaves_nothing_and_says_how_it_ended(bench: Bench) -> None:
    gentle, deaf, forks = bench.python(SLEEP), bench.python(DEAF), bench.python(LEAVES, "away", "wait")
    child = child_of(bench, forks)
    bench.wait_for_text(gentle, "here")
    bench.wait_for_text(deaf, "here")
    bench.engine.close()
    until_gone(child)
    bench.take(bench.engine.events(1.0))
    assert bench.ended == {gentle: STOPPED, deaf: STOPPED, forks: STOPPED}
    bench.engine.close()
    assert bench.engine.events(1.0) == []


def test_close_gives_a_moment_to_finish(bench: Bench) -> None:
    attempt = bench.python(HEARS, "0")
    bench.wait_for_text(attempt, "here")
    bench.engine.close()
    bench.take(bench.engine.events(0.0))
    assert bench.ended == {attempt: FINISHED}


def test_children_of_others_are_left_alone(bench: Bench) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "raise SystemExit(5)"])
    attempt = bench.python("")
    bench.wait(attempt)
    bench.engine.close()
    assert stranger.wait() == 5


def test_a_task_has_a_session_of_its_own(bench: Bench) -> None:
    attempt = bench.python("import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())")
    bench.wait(attempt)
    assert bench.printed(attempt) == "True\n"


def test_it_works_outside_the_main_thread(bench: Bench) -> None:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.extend(bench.wait(bench.python("raise SystemExit(4)"))))
    thread.start()
    thread.join(60)
    assert outcomes == [FAILED]


def test_an_exit_status_taken_by_somebody_else_is_a_failure(bench: Bench) -> None:
    attempt = bench.python("import os; print(os.getpid(), flush=True)")
    pid = int(bench.wait_for_text(attempt, "\n"))
    os.waitpid(pid, 0)
    assert bench.wait(attempt) == [FAILED]


def test_sigterm_reaches_other_groups_of_the_session(bench: Bench) -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', sys.argv[1], '0'], process_group=0); "
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.exit(child.wait())"
    )
    attempt = bench.python(code, HEARS)
    bench.wait_for_text(attempt, "here")
    bench.notify(attempt)
    assert bench.wait(attempt) == [FINISHED]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_close_reports_within_its_patience_when_hurried(bench: Bench) -> None:
    hurry = getattr(bench.engine, "hurry", None)
    if hurry is None:
        pytest.skip("an engine that cannot be hurried")
    attempt = bench.python(DEAF)
    bench.wait_for_text(attempt, "here")
    hurry()
    bench.engine.close()
    bench.take(bench.engine.events(0.0))
    assert bench.ended == {attempt: STOPPED}
