"""Runs on a machine in trouble: a full disk, directories that are gone. They go on, and say what failed."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from fairhold.cli.run import run_jobs
from fairhold.errors import UsageError
from fairhold.runtime.signals import Interrupts
from tests.runtime.support import Case, plan_document, python

TWO = {"/A": {"owned": 1}, "/B": {"owned": 1}}
FULL = os.strerror(errno.ENOSPC)
OPEN, WRITE_TEXT = Path.open, Path.write_text


def no_space(path: Path) -> OSError:
    return OSError(errno.ENOSPC, FULL, str(path))


def one_job(folder: Path, **more: Any) -> Case:
    return Case(folder, plan_document(2, TWO), [{"name": "a", "consumer": "/A", "argv": ["true"], **more}])


def test_on_a_full_disk_tasks_fail_with_their_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(path: Path, *arguments: Any, **more: Any) -> Any:
        if path.suffix == ".out":
            raise no_space(path)
        return OPEN(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", refuses)
    case = one_job(tmp_path, count=5)
    assert run_jobs(case.plan, case.jobs, case.output) == 1
    told = capsys.readouterr()
    assert told.out.count(f"  /A  (cannot write to {case.output / 'a'}: {FULL})") == 5
    assert told.err == f"fairhold: job a: cannot write to {case.output / 'a'}: {FULL}\n"
    assert "0 tasks finished, 5 failed" in told.out


def test_a_record_on_a_full_disk_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fills(path: Path, *arguments: Any, **more: Any) -> Any:
        return OPEN(Path("/dev/full"), "w", **more) if path.name == "record.jsonl" else OPEN(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", fills)
    case = one_job(tmp_path, count=5)
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    told = capsys.readouterr()
    assert told.err == f"fairhold: the run cannot be recorded: record.jsonl: {FULL}\n"
    assert "5 tasks finished" in told.out


def test_a_state_that_cannot_be_kept_ends_the_record_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(path: Path, *arguments: Any, **more: Any) -> Any:
        if path.name.endswith(".state.json"):
            raise no_space(path)
        return WRITE_TEXT(path, *arguments, **more)

    monkeypatch.setattr(Path, "write_text", refuses)
    gate = str(tmp_path / "gate")
    waits = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
    touches = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()"
    jobs: list[dict[str, Any]] = [
        {"name": "b", "consumer": "/B", "argv": python(waits, gate), "count": 2},
        {"name": "a", "consumer": "/A", "argv": python(touches, gate), "submit": "100ms"},
    ]
    case = Case(tmp_path, plan_document(2, TWO), jobs)
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    told = capsys.readouterr()
    assert told.err.count("the run cannot be recorded") == 1
    assert "3 tasks finished" in told.out


def test_an_output_directory_that_disappears_fails_what_comes_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "output"
    code = "import shutil, sys; shutil.rmtree(sys.argv[1])"
    removes: dict[str, Any] = {"name": "first", "consumer": "/A", "argv": python(code, str(output))}
    after: dict[str, Any] = {"name": "after", "consumer": "/A", "argv": ["true"], "count": 2}
    plan = plan_document(1, {"/A": {"owned": 1}})
    case = Case(tmp_path, plan, [removes, after])
    assert run_jobs(case.plan, case.jobs, output) == 1
    told = capsys.readouterr()
    assert "1 task finished, 2 failed" in told.out
    assert f"job after: cannot write to {output / 'after'}: No such file" in told.err


def test_no_room_for_temporary_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(**_: Any) -> str:
        raise no_space(tmp_path)

    monkeypatch.setattr(tempfile, "mkdtemp", refuses)
    case = one_job(tmp_path)
    with pytest.raises(UsageError, match="--output"):
        run_jobs(case.plan, case.jobs)


def test_a_folder_that_is_gone_is_no_place_for_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = one_job(tmp_path)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="cannot use"):
        run_jobs(case.plan, case.jobs, Path("output"))


def test_a_handler_that_is_not_python_s_is_not_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    set_handler = signal.signal

    def forgets(number: signal.Signals, handler: Any) -> None:
        set_handler(number, handler)

    monkeypatch.setattr(signal, "signal", forgets)
    try:
        with Interrupts(lambda: None, lambda: None) as interrupts:
            pass
    finally:
        for number, handler in before.items():
            set_handler(number, handler)
    assert interrupts.first is None
