"""Runs on a machine in trouble: a full disk, directories that are gone. They go on, and say what failed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from fairhold.cli.run import run_jobs
from fairhold.errors import UsageError
from fairhold.runtime.signals import Interrupts
from fairhold.runtime.wiring import LocalRun
from tests.runtime.support import Case, plan_document, python, read_document

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
    assert told.err == (
        f"fairhold: job a: cannot write to {case.output / 'a'}: {FULL}\nfairhold: job a: 4 more like this: {FULL}\n"
    )
    assert "0 tasks finished, 5 failed" in told.out


def test_tasks_that_cannot_be_started_are_said_once_a_job_and_kind_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [{"name": name, "consumer": "/A", "argv": ["/nowhere/{index}"], "count": 30} for name in "ab"]
    case = Case(tmp_path, plan_document(2, TWO), jobs)
    assert run_jobs(case.plan, case.jobs, case.output) == 1
    missing = os.strerror(errno.ENOENT)
    assert sorted(capsys.readouterr().err.splitlines()) == [
        f"fairhold: job a: 29 more like this: {missing}",
        f"fairhold: job a: cannot start /nowhere/0: {missing}",
        f"fairhold: job b: 29 more like this: {missing}",
        f"fairhold: job b: cannot start /nowhere/0: {missing}",
    ]


def test_a_record_on_a_full_disk_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fills(path: Path, *arguments: Any, **more: Any) -> Any:
        return OPEN(Path("/dev/full"), "w", **more) if path.name == "record.jsonl" else OPEN(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", fills)
    case = one_job(tmp_path, count=5)
    assert run_jobs(case.plan, case.jobs, case.output) == 3
    told = capsys.readouterr()
    assert told.err == (
        f"fairhold: the run cannot be recorded: record.jsonl: {FULL}\n"
        f"fairhold: the record ends before the run: record.jsonl: {FULL}\n"
    )
    assert "5 tasks finished" in told.out


def test_a_record_that_ends_early_ends_with_a_whole_line(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that gets full in the middle of a line."""
    case = one_job(tmp_path, count=30)
    command = f"ulimit -f 4; exec {sys.executable} -m fairhold run {case.plan} {case.jobs} --output {case.output}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.count("record.jsonl: File too large") == 2
    assert done.stderr.splitlines()[-1].startswith("fairhold: the record ends before the run")
    text = (case.output / "record.jsonl").read_text()
    assert 3000 < len(text) < 4096
    assert text.endswith("}\n")
    assert case.record()


def test_a_record_can_have_one_run_alone(tmp_path: Path) -> None:
    """Also where both runs have seen that there is none yet."""
    case = one_job(tmp_path)
    plan = read_document(plan_document(2, TWO))
    case.output.mkdir()
    (case.output / "record.jsonl").write_text("of another run\n")
    with pytest.raises(FileExistsError):
        LocalRun(plan, (), case.output, lambda _: None)
    assert (case.output / "record.jsonl").read_text() == "of another run\n"


def test_of_two_runs_at_once_in_one_directory_one_is_refused(tmp_path: Path) -> None:
    case = one_job(tmp_path, count=20)
    runs = [case.start() for _ in range(4)]
    ends = [(run.communicate()[1].decode(), run.returncode) for run in runs]
    assert sorted(code for _, code in ends) == [0, 2, 2, 2]
    refusal = f"{case.output} holds the record of another run; name a fresh directory [usage]\n"
    assert sorted(err for err, _ in ends) == ["", refusal, refusal, refusal]
    assert len(case.starts("a")) == 20


def test_a_full_standard_output_is_said_and_the_run_goes_on(tmp_path: Path) -> None:
    case = one_job(tmp_path, count=5)
    with Path("/dev/full").open("w") as full:
        run = case.start(stdout=full.fileno())
        _, err = run.communicate()
    assert err.decode() == f"fairhold: standard output cannot be written: {FULL}; the run goes on\n"
    assert run.returncode == 3
    assert len(case.starts("a")) == 5


@pytest.mark.parametrize("code", [0, 1])
def test_a_closed_standard_output_is_said_where_nothing_else_is_wrong(tmp_path: Path, code: int) -> None:
    case = one_job(tmp_path, argv=["sh", "-c", f"exit {code}"])
    command = f"{sys.executable} -m fairhold run {case.plan} {case.jobs} --output {case.output} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr.startswith("fairhold: standard output cannot be written: ")
    assert done.returncode == (code or 3)
    assert len(case.starts("a")) == 1


def test_a_folder_that_a_job_cannot_have_is_found_before_the_start(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    jobs = [
        {"name": "good", "consumer": "/A", "argv": ["touch", str(gate)]},
        {"name": "bad", "consumer": "/A", "argv": ["true"]},
    ]
    case = Case(tmp_path, plan_document(2, TWO), jobs)
    case.output.mkdir()
    (case.output / "bad").write_text("")
    with pytest.raises(UsageError, match="output/bad for the output of job bad: there is a file of its name"):
        run_jobs(case.plan, case.jobs, case.output)
    assert not gate.exists()
    assert not (case.output / "record.jsonl").exists()


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
    assert run_jobs(case.plan, case.jobs, case.output) == 3
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
    ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = {number: signal.getsignal(number) for number in ending}
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
