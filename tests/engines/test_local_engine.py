"""What is particular to the engine of this machine."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines import local, processes
from fairhold.engines.files import folder_name
from fairhold.engines.local import LocalEngine
from fairhold.engines.processes import survey
from fairhold.engines.watch import Watch
from fairhold.model.job import Job
from fairhold.orchestrator.events import Outcome, TaskEnded
from fairhold.orchestrator.instructions import Start
from tests.engines.contract import ENGINES, open_descriptors, opened

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("job", "folder"),
    [
        ("risk", "risk"),
        ("Überblick 1.5", "Überblick 1.5"),
        ("a/b", "a%2Fb"),
        ("a%2Fb", "a%252Fb"),
        ("..", "%2E%2E"),
        (".hidden", "%2Ehidden"),
        ("record.jsonl", "record%2Ejsonl"),
        ("a~b", "a%7Eb"),
    ],
)
def test_folder_of_a_job(job: str, folder: str) -> None:
    assert folder_name(job) == folder


def test_folders_of_long_names_are_short_and_differ() -> None:
    names = {folder_name("ü" * 300 + ending) for ending in "abc"}
    assert len(names) == 3
    assert all(len(name.encode()) < 256 for name in names)


def test_children_are_watched_without_descriptors_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with opened(ENGINES["local"], tmp_path) as bench:
        quick, slow = bench.start(["true"]), bench.start(["sleep", "600"])
        assert bench.wait(quick) == [Outcome.FINISHED]
        bench.stop(slow)
        assert bench.wait(slow) == [Outcome.STOPPED]


def test_more_children_than_files_may_be_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 2 * (open_descriptors() + 20)  # half is the engine's, and what is open already fits into the rest
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        with opened(ENGINES["local"], tmp_path) as bench:
            attempts = [bench.start(["sleep", "0.3"]) for _ in range(most // 2 + 50)]
            assert set(bench.wait(*attempts)) == {Outcome.FINISHED}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_a_full_machine_fails_the_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", refuse)
    job = Job("job", 1, "compute", ("true",))
    engine = LocalEngine({"job": job}, ("/", "/A"), tmp_path)
    engine.execute([Start(1, "job", 0, 1, "compute", "")])
    assert engine.events(60.0) == [TaskEnded(1, Outcome.FAILED)]
    assert engine.how(1) == f"cannot start true: {os.strerror(number)}"
    assert engine.how(1) == ""
    engine.close()


def test_a_name_that_the_file_system_does_not_have_fails_the_attempt(tmp_path: Path) -> None:
    engine = LocalEngine({"a\0b": Job("a\0b", 1, "compute", ("true",))}, ("/", "/A"), tmp_path)
    engine.execute([Start(1, "a\0b", 0, 1, "compute", "")])
    assert engine.events(60.0) == [TaskEnded(1, Outcome.FAILED)]
    assert "cannot write to" in engine.how(1)
    engine.close()


def test_a_full_disk_fails_every_task_and_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complaints: list[str] = []
    engine = LocalEngine({"job": Job("job", 1, "compute", ("true",))}, ("/", "/A"), tmp_path, complaints.append)
    monkeypatch.setattr(type(tmp_path), "open", no_space)
    engine.execute(Start(at + 1, "job", at, 1, "compute", "") for at in range(3))
    assert [event.outcome for event in engine.events(60.0)] == [Outcome.FAILED] * 3
    assert complaints == [f"job job: {engine.how(3)}"]
    assert engine.how(1) == f"cannot write to {tmp_path / 'job'}: {os.strerror(errno.ENOSPC)}"
    engine.close()


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_task_that_writes_to_a_full_disk_fails_by_itself(tmp_path: Path) -> None:
    for job in ("job-1", "job-2"):
        (tmp_path / job).mkdir()
        (tmp_path / job / "0.1.out").symlink_to("/dev/full")
    with opened(ENGINES["local"], tmp_path) as bench:
        prints, missing = bench.python("print('x', flush=True)"), bench.start(["/nowhere/no-such-program"])
        assert bench.wait(prints, missing) == [Outcome.FAILED, Outcome.FAILED]


def test_a_notice_that_cannot_be_written_is_given_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", no_space)
    with opened(ENGINES["local"], tmp_path) as bench:
        attempt = bench.start(["sleep", "600"])
        bench.notify(attempt)
        assert bench.wait(attempt) == [Outcome.STOPPED]
        assert bench.complaints == [f"job job-1: cannot write to {tmp_path / 'job-1'}: {os.strerror(errno.ENOSPC)}"]
    assert [file.name for file in (tmp_path / "job-1").iterdir()] == ["0.1.out"]


def test_what_cannot_be_killed_is_named_and_does_not_hold_the_end_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "PATIENCE", 0.1)
    monkeypatch.setattr(local, "_LAST_WAIT", 0.1)
    monkeypatch.setattr(processes, "terminate", lambda _: None)
    monkeypatch.setattr(processes, "kill", lambda _: None)
    before = open_descriptors()
    with opened(ENGINES["local"], tmp_path) as bench:
        assert isinstance(bench.engine, LocalEngine)
        bench.start(["sleep", "600"])
        (child,) = bench.engine._running.values()
        bench.stop(1)
        assert bench.engine.events(0.1) == []
        bench.engine.close()
        assert bench.complaints == [f"job job-1: process {child.process.pid} could not be stopped"]
        child.process.kill()
        child.process.wait()
    assert open_descriptors() == before


def test_a_number_that_was_given_again_is_not_killed() -> None:
    child = subprocess.Popen(["sleep", "600"])
    started = processes.start_of(child.pid)
    assert started is not None
    processes._kill_one(child.pid, started - 1)
    assert child.poll() is None
    processes._kill_one(child.pid, started)
    assert child.wait() == -signal.SIGKILL
    processes._kill_one(child.pid, started)


def test_without_descriptors_a_process_is_killed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["sleep", "600"])
    started = processes.start_of(child.pid)
    assert started is not None
    monkeypatch.setattr(os, "pidfd_open", no_space)
    processes._kill_one(child.pid, started)
    assert child.wait() == -signal.SIGKILL


def test_how_a_failure_is_told(tmp_path: Path) -> None:
    with opened(ENGINES["local"], tmp_path) as bench:
        assert isinstance(bench.engine, LocalEngine)
        by_exit, by_signal = bench.python("raise SystemExit(9)"), bench.python("import os; os.abort()")
        bench.wait(by_exit, by_signal)
        assert bench.engine.how(by_exit) == "exit 9"
        assert bench.engine.how(by_signal) == "killed by SIGABRT"


def test_wake_ends_the_wait_now_or_the_next_time(tmp_path: Path) -> None:
    engine = LocalEngine({}, ("/",), tmp_path)
    engine.wake()
    assert engine.events(60.0) == []
    timer = threading.Timer(0.1, engine.wake)
    timer.start()
    assert engine.events(60.0) == []
    timer.join()
    engine.close()
    engine.wake()


def test_a_child_that_the_system_watches_no_more_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    before = open_descriptors()
    child = subprocess.Popen(["true"])
    monkeypatch.setattr(watch._selector, "register", no_space)
    watch.add(child.pid)
    assert open_descriptors() == before
    assert watch.ended(60.0) == [child.pid]
    child.wait()
    watch.close()


def test_a_watch_forgets_what_it_drops() -> None:
    watch = Watch()
    child = subprocess.Popen(["true"])
    watch.add(child.pid)
    assert watch.ended(60.0) == [child.pid]
    watch.drop(child.pid)
    assert watch.ended(0.0) == []
    child.wait()
    watch.close()
    watch.close()


def test_a_survey_sees_this_process_as_it_is() -> None:
    own = next(process for process in survey() if process.pid == os.getpid())
    assert (own.parent, own.group, own.session) == (os.getppid(), os.getpgid(0), os.getsid(0))


def test_a_task_in_the_foreground_is_shown_its_own_gpus(tmp_path: Path) -> None:
    with opened(ENGINES["local"], tmp_path) as bench:
        bench.jobs["j"] = Job("j", 1, "compute", ("env",), environment={"CUDA_VISIBLE_DEVICES": "0,1"})
        bench.engine.execute([Start(1, "j", 0, 1, "compute", "", devices=(3,))])
        assert bench.wait(1) == [Outcome.FINISHED]
    (output,) = tmp_path.glob("**/0.1.out")
    assert {"CUDA_VISIBLE_DEVICES=3", "FAIRHOLD_DEVICES=3"} <= set(output.read_text().splitlines())
