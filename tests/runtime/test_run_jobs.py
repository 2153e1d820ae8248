"""Whole runs of small job files in this process (S1.55-62)."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.run import run_jobs
from fairhold.cycle.document import run_cycle
from fairhold.errors import InputError, UsageError
from fairhold.planio.plan import read_plan
from fairhold.planio.state import read_state
from fairhold.runtime.lines import PlainView
from fairhold.runtime.loop import Ending
from fairhold.runtime.summary import summary
from fairhold.runtime.wiring import LocalRun
from tests.runtime.support import Case, plan_document, python

if TYPE_CHECKING:
    from pathlib import Path

TWO = {"/A": {"owned": 1}, "/B": {"owned": 1}}
# Runs until the other side has had its turn; a reclaim may stop it any time.
WAITS = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{WAITS}"
TOUCHES = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()"


def borrowing(folder: Path, code: str, grace: str) -> Case:
    """B takes both slots and keeps them until a task of A has run; A comes later and owns one of them."""
    gate = str(folder / "gate")
    jobs: list[dict[str, Any]] = [
        {"name": "b", "consumer": "/B", "argv": python(code, gate), "count": 4},
        {"name": "a", "consumer": "/A", "argv": python(TOUCHES, gate), "submit": "100ms"},
    ]
    return Case(folder, plan_document(2, TWO, grace), jobs)


@pytest.mark.parametrize("code", [WAITS, DEAF])
def test_a_reclaimed_task_gives_way_and_runs_again_in_front(tmp_path: Path, code: str) -> None:
    case = borrowing(tmp_path, code, "300ms")
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    assert len(case.instructions("Notify")) == 1
    starts = case.starts("b")
    taken = next(index for index, attempt in starts if attempt == 2)
    assert taken in {0, 1}
    assert starts.index((taken, 2)) == 2, "before tasks 2 and 3"
    assert sorted(index for index, _ in starts) == sorted([0, 1, 2, 3, taken])
    ended = [line["outcome"] for line in case.record() if line["kind"] == "TaskEnded"]
    assert sorted(ended) == ["finished"] * 5 + ["stopped"]
    notice = json.loads((case.output / "b" / f"{taken}.1.reclaim.json").read_text())
    assert (notice["reason"], notice["for"]) == ("quota", "/A")


def test_lines_and_summary_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = borrowing(tmp_path, WAITS, "10s")
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[-1] == f"output in {case.output}"
    for words in ("submitted  b  /B  (4 tasks)", "  /B: 10.000s to give its slot back, for /A"):
        assert any(words in line for line in lines), words
    notice = next(at for at, line in enumerate(lines) if " notice     b[" in line)
    reclaimed = next(at for at, line in enumerate(lines) if " reclaimed  b[" in line)
    assert notice < reclaimed
    assert lines[reclaimed].endswith("  /B  (in time; back at the front of the queue)")
    table = {line.split()[0]: line.split()[1:7] for line in lines if line.startswith("/")}
    # owned, finished, failed, peak borrowed, peak lent, reclaimed
    assert table == {"/A": ["1", "1", "0", "0", "1", "0"], "/B": ["1", "4", "0", "1", "0", "1"]}
    assert lines[-2].startswith("5 tasks finished, 0 failed in ")
    assert "at most 1 slot borrowed and 1 lent at once; 1 slot reclaimed, 1 attempt stopped and run again" in lines[-2]
    assert not any("more without tasks" in line for line in lines)


def test_what_does_not_give_way_is_reclaimed_at_its_deadline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = borrowing(tmp_path, DEAF, "300ms")
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    assert " reclaimed  b[" in (out := capsys.readouterr().out)
    assert "; back at the front of the queue)" in out


def test_what_ends_under_notice_with_its_work_done_has_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
    case = borrowing(tmp_path, f"{code}{WAITS}", "10s")
    case.jobs.write_text(case.jobs.read_text().replace("100ms", "1500ms"))  # both have set their handler by then
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    out = capsys.readouterr().out
    assert "  /B  (in time before its slot was reclaimed)" in out
    assert " reclaimed  b[" not in out


def test_recorded_states_lead_to_the_recorded_decisions(tmp_path: Path) -> None:
    case = borrowing(tmp_path, WAITS, "300ms")
    run_jobs(case.plan, case.jobs, case.output)
    plan, _ = read_plan(case.plan)
    cycles = [line for line in case.record() if "state" in line]
    assert cycles
    for cycle in cycles:
        document = run_cycle(plan, read_state(case.output / cycle["state"], plan)).document
        for part in ("grants", "reclaims", "withdrawn"):
            assert _units(document[part]) == _units(cycle[part])


def _units(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    keys = ("consumer", "request", "units", "for", "deadline", "reason")
    return sorted(tuple(str(row.get(key)) for key in keys) for row in rows)


def test_a_failed_task_makes_the_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [
        {"name": "good", "consumer": "/A", "argv": ["true"], "count": 3},
        {"name": "bad", "consumer": "/B", "argv": python("raise SystemExit({index} % 2 * 3)"), "count": 4},
        {"name": "missing", "consumer": "/B", "argv": ["/nowhere/no-such-program"], "count": 3},
    ]
    case = Case(tmp_path, plan_document(2, TWO), jobs)
    assert run_jobs(case.plan, case.jobs, case.output) == 1
    told = capsys.readouterr()
    assert "5 tasks finished, 5 failed" in told.out
    assert "failed     bad[1]  /B  (exit 3)" in told.out
    assert told.err.count("no-such-program") == 1
    assert "cannot start /nowhere/no-such-program" in (case.output / "missing" / "2.1.out").read_text()


@pytest.mark.parametrize(
    ("slots", "consumers", "why"),
    [
        (2, {"/A": {"owned": 2}, "/B": {"limit": 0}}, "the limit of /B is 0"),
        (0, {"/A": {}, "/B": {}}, "the resource group compute has no slots"),
        (2, {"/A": {"owned": 2, "reserved": 2}, "/B": {}}, "what others reserve leaves nothing of the 2 slots"),
    ],
)
def test_what_can_never_run_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], slots: int, consumers: dict[str, Any], why: str
) -> None:
    jobs = [{"name": "b", "consumer": "/B", "argv": ["true"], "count": 2}]
    if slots:
        jobs.append({"name": "a", "consumer": "/A", "argv": ["true"], "submit": "50ms"})
    case = Case(tmp_path, plan_document(slots, consumers), jobs)
    assert run_jobs(case.plan, case.jobs, case.output) == 1
    told = capsys.readouterr()
    assert "the waiting tasks can never run" in told.err
    assert f"not done: job b of /B, 2 of 2 tasks: {why}" in told.err
    assert ("1 task finished" if slots else "0 tasks finished") in told.out


def test_a_run_outside_the_main_thread(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"consumer": "/A", "argv": ["true"], "count": 5}])
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run_jobs(case.plan, case.jobs, case.output)))
    thread.start()
    thread.join(60)
    assert codes == [0]


def test_hosts_are_all_played_by_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_document(2, TWO) | {"resource_groups": {"compute": {"hosts": [{"name": "h[1-2]", "slots": 1}]}}}
    case = Case(tmp_path, plan, [{"name": "a", "consumer": "/A", "argv": ["sleep", "0.1"], "count": 2}])
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    assert sorted(row["host"] for row in case.instructions("Start")) == ["h1", "h2"]
    assert "on h2" in capsys.readouterr().out


def test_the_directory_of_an_earlier_run_is_refused(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"consumer": "/A", "argv": ["true"]}])
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    before = (case.output / "record.jsonl").read_bytes()
    with pytest.raises(UsageError, match="another run"):
        run_jobs(case.plan, case.jobs, case.output)
    assert (case.output / "record.jsonl").read_bytes() == before


def test_an_output_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"consumer": "/A", "argv": ["true"]}])
    with pytest.raises(UsageError, match="cannot use"):
        run_jobs(case.plan, case.jobs, case.plan / "below-a-file")


def test_a_fault_in_a_file_starts_nothing(tmp_path: Path) -> None:
    jobs = [{"consumer": "/A", "argv": ["true"]}, {"consumer": "/C", "argv": ["true"]}]
    case = Case(tmp_path, plan_document(1, TWO), jobs)
    with pytest.raises(InputError):
        run_jobs(case.plan, case.jobs, case.output)
    assert not case.output.exists()


def test_without_a_name_the_output_goes_to_a_fresh_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    case = Case(tmp_path, plan_document(1, TWO), [{"consumer": "/A", "argv": ["true"]}])
    assert run_jobs(case.plan, case.jobs) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[-1]
    assert lines[0].startswith(f"output in {tmp_path}/fairhold-run-")


def test_warnings_of_the_plan_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(tmp_path, plan_document(1, TWO), [{"consumer": "/A", "argv": ["true"]}])
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    told = capsys.readouterr()
    assert told.err.startswith("warning: ")
    assert "overcommitted" in told.err
    assert "(1 more without tasks)" in told.out


def test_the_summary_has_consumers_in_plan_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever came first, and whoever has the better rank."""
    document = plan_document(3, {"/C": {"owned": 1}, "/A": {"owned": 1, "rank": 2}, "/B": {"owned": 1, "rank": 1}})
    jobs = [{"consumer": path, "argv": ["true"]} for path in ("/B", "/A", "/C")]
    case = Case(tmp_path, document, jobs)
    assert run_jobs(case.plan, case.jobs, case.output, plain=True) == 0
    table = capsys.readouterr().out.partition("consumer ")[2]
    assert [line.split()[0] for line in table.splitlines()[1:4]] == ["/C", "/A", "/B"]


def test_without_any_task_there_is_no_table(tmp_path: Path) -> None:
    plan, _ = read_plan(Case(tmp_path, plan_document(2, TWO), []).plan)
    run = LocalRun(plan, [], tmp_path, lambda _: None)
    assert run.carry_out(PlainView(lambda _: None)) is Ending.DONE
    lines = list(summary(run.orchestrator, run.tally, run.elapsed, tmp_path))
    assert [line[:16] for line in lines[:2]] == ["", "0 tasks finished"]
