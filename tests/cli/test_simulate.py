"""`fairhold simulate` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairhold.cli import simulating
from tests.cli.test_commands import fairhold
from tests.lab.test_scenario import HOSTS, JOBS, PLAN, WORKLOAD, text_of

STATIC = PLAN.replace("/A: {owned: 2}, /B: {owned: 2}", "/A: {owned: 2, limit: 2}, /B: {owned: 2, limit: 2}")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    for name, text in (("plan.yaml", PLAN), ("hosts.yaml", HOSTS), ("static.yaml", STATIC), ("jobs.csv", JOBS)):
        (tmp_path / name).write_text(text)
    file = tmp_path / "scenario.yaml"
    file.write_text(text_of())
    return file


def test_a_table_says_who_waited_and_who_lost(scenario: Path) -> None:
    out = fairhold("simulate", str(scenario)).stdout
    assert "2 units preempted, 0 of them preempted again" in out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("/")}
    assert rows["/A"][1:5] == ["2", "2s", "2s", "2s"]
    assert rows["/B"][1] == "4"


def test_what_was_expected_and_did_not_come_out_exits_1(scenario: Path) -> None:
    passed = fairhold("simulate", str(scenario), "--assert", "wait.max(/A) <= 2s")
    assert "plan: wait.max(/A) <= 2s holds: 2s" in passed.stdout
    failed = fairhold("simulate", str(scenario), "--assert", "wait.max(/A) < 2s", exits=1)
    assert "does not hold: 2s" in failed.stdout
    wrong = fairhold("simulate", str(scenario), "--assert", "wait.max(/X) < 2s", exits=1)
    assert "[unknown-consumer]" in wrong.stderr


def test_plans_are_compared(scenario: Path) -> None:
    scenario.write_text(text_of(plans={"static": "static.yaml", "lent": "plan.yaml"}).replace("plan: plan.yaml\n", ""))
    out = fairhold("simulate", str(scenario), "-j", "2").stdout
    assert "# lent instead of static: differences, the largest first" in out
    row = next(line.split() for line in out.split("# lent instead")[1].splitlines() if line.startswith("/B"))
    assert row == ["/B", "wait.mean", "50s", "0s"]
    only = fairhold("simulate", str(scenario), "--plan", "lent", "--json").stdout
    assert list(json.loads(only)["plans"]) == ["lent"]
    fairhold("simulate", str(scenario), "--plan", "rented", exits=2)


def test_of_several_resources_each_number_has_its_own_and_waits_are_told_once(tmp_path: Path) -> None:
    """/A has no limit in the one plan, and in the other one of a CPU: what it uses of both resources is otherwise."""
    for name, limit in (("free", "{}"), ("limited", "{share_limit: {cpu: 1}}")):
        (tmp_path / f"{name}.yaml").write_text(
            "fairhold: 1\nresources: {cpu: {}, gpu: {}}\n"
            "resource_groups: {g: {hosts: [{name: h, cpu: 4, gpu: 8}]}}\nconsumers: {A: {}, B: {}}\n"
            f"policies: [{{resource_groups: [g], policy: multidimensional, consumers: {{/A: {limit}}}}}]\n"
        )
    (tmp_path / "tenants.yaml").write_text(
        "fairhold_tenants: 1\nseed: 1\nbegin: 2026-01-05T00:00:00Z\nlength: 1h\n"
        "tenants: {/A: {jobs_per_day: 240, jobs: [{unit: {cpu: 1, gpu: 2}, tasks: 2, gang: false, duration: 10m}]}}\n"
    )
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "fairhold_scenario: 1\nplans: {free: free.yaml, limited: limited.yaml}\n"
        "workload: {kind: tenants, file: tenants.yaml}\nend: 1h\n"
        "expect: [wait.max(/A) <= 1s, use(/A) < 2h]\n"
    )
    out = fairhold("simulate", str(file), exits=1).stdout
    rows = [line.split() for line in out.split("# limited instead of free")[1].splitlines() if line.startswith("/A")]
    assert [row[-1] for row in rows if row[1] == "wait.mean"] == ["-"]
    assert [row[-1] for row in rows if row[1] == "use"] == ["gpu", "cpu"]
    said = [line.partition(": ")[2] for line in out.splitlines() if line.startswith("limited: ")]
    assert [line.rpartition(":")[0] for line in said] == [
        "wait.max(/A) <= 1s does not hold",
        "use(/A) < 2h holds of cpu",
        "use(/A) < 2h does not hold of gpu",
    ]


def test_results_are_the_same_bytes_again(scenario: Path, tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        fairhold("simulate", str(scenario), "-o", str(tmp_path / name), "--no-report")
        found.append(
            {file.relative_to(tmp_path / name): file.read_bytes() for file in (tmp_path / name).rglob("*.json*")}
        )
    assert found[0] == found[1]
    assert Path("summary.json") in found[0]


def test_jobs_that_can_never_run_are_told(scenario: Path) -> None:
    (scenario.parent / "jobs.csv").write_text(JOBS.replace("A,30", "C,30"))
    out = fairhold("simulate", str(scenario)).stdout
    assert "1 job of /C can never run, such as" in out


def test_what_is_expected_of_nothing_says_so(scenario: Path) -> None:
    out = fairhold("simulate", str(scenario), "--assert", "release.max(/A) < 1s").stdout
    assert "plan: release.max(/A) < 1s holds: 0s, but nothing was measured" in out


NEVER = JOBS + "A,30,9,10\n"
"""Nine tasks that begin together, on four slots."""


@pytest.mark.parametrize(("path", "holds"), [("/A", False), ("/", False), ("/B", True)])
def test_what_is_expected_of_jobs_that_can_never_run_does_not_hold(scenario: Path, path: str, *, holds: bool) -> None:
    (scenario.parent / "jobs.csv").write_text(NEVER)
    stated = json.loads(json.dumps(WORKLOAD))
    stated["columns"]["min_count"] = "all"
    scenario.write_text(text_of(workload=stated, expect=[f"wait.max({path}) <= 1h"]))
    gate = ("simulate", str(scenario))
    told = fairhold(*gate, exits=0 if holds else 1).stdout
    assert ("and 1 job of it can never run" in told) is not holds
    assert f"wait.max({path}) <= 1h {'holds' if holds else 'does not hold'}: " in told
    ignored = fairhold(*gate, "--ignore-never-run").stdout
    assert f"wait.max({path}) <= 1h holds: " in ignored
    assert "1 job of /A can never run, such as" in ignored
    sweep = ("sweep", str(scenario), "--vary", "/B:owned=2")
    assert ("no, jobs can never run" in fairhold(*sweep, exits=0 if holds else 1).stdout) is not holds
    assert "no, jobs" not in fairhold(*sweep, "--ignore-never-run").stdout


def test_rows_at_fault_are_told_with_their_lines(scenario: Path) -> None:
    (scenario.parent / "jobs.csv").write_text(JOBS.replace("30,2,10", "30,2,-10"))
    failed = fairhold("simulate", str(scenario), exits=1)
    assert "jobs.csv:3" in failed.stderr
    assert failed.stdout == ""


@pytest.mark.parametrize("text", ["", "fairhold_scenario: 1\n", "[1]", "\x00", "a: ["])
def test_what_is_no_scenario_is_refused(scenario: Path, text: str) -> None:
    scenario.write_text(text)
    failed = fairhold("simulate", str(scenario), exits=1)
    assert "scenario.yaml" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_folder_gets_the_report_and_its_plots(scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    fairhold("simulate", str(scenario), "-o", str(tmp_path / "out"), "--plots")
    page = (tmp_path / "out/report.html").read_text()
    assert "<h1>scenario</h1>" in page
    assert "http://" not in page.split("</style>")[0]
    assert list((tmp_path / "out/plots").glob("*-allocation.svg"))


def test_a_consumer_that_is_not_there_is_told_before_anything_is_played(scenario: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    failed = fairhold("simulate", str(scenario), "-o", out, "--assert", "wait.max(/X) < 2s", exits=1)
    assert "[unknown-consumer]" in failed.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cause", [KeyboardInterrupt, OSError(28, "No space left on device", "events-0001.jsonl")])
def test_a_run_that_stops_says_what_its_folder_holds(
    scenario: Path,
    tmp_path: Path,
    cause: BaseException | type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise cause

    monkeypatch.setattr(simulating, "play_plan", stop)
    with pytest.raises((KeyboardInterrupt, OSError)):
        simulating.run_scenario(
            scenario,
            "",
            tmp_path / "out",
            (),
            as_json=False,
            processes=1,
            report=False,
            plots=False,
            check=False,
            resume=False,
        )
    told = capsys.readouterr().err
    goes_on = "--resume continues from them, and keeps finished plans"
    held = f"{tmp_path / 'out'} has only complete parts of event logs"
    assert told == f"warning: `plan` was not finished: {held}; {goes_on}\n"


def test_what_was_played_to_its_end_is_kept_until_something_is_different(scenario: Path, tmp_path: Path) -> None:
    resumed = ("simulate", str(scenario), "-o", str(tmp_path / "out"), "--no-report", "--resume")
    first, again = fairhold(*resumed), fairhold(*resumed)
    assert first.stderr == ""
    assert again.stderr == "warning: `plan` was played before: its results are kept\n"
    assert again.stdout == first.stdout
    whole = tmp_path / "out/summary.json"
    content = whole.read_bytes()
    (tmp_path / "out/plan/summary.json").write_text('{"made_of": 7')
    assert fairhold(*resumed).stderr == ""
    assert whole.read_bytes() == content
    assert fairhold(*resumed, "--check").stderr == ""
    refused = fairhold("simulate", str(scenario), "--resume", exits=2)
    assert "name it by --output" in refused.stderr


def test_a_folder_that_cannot_be_written_to_is_told_before_the_jobs_are_read(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("no table of jobs")
    (tmp_path / "file").write_text("mine")
    refused = fairhold("simulate", str(scenario), "--output", str(tmp_path / "file" / "out"), exits=3)
    assert "file: it cannot be used: Not a directory [cannot-use]" in refused.stderr
    assert "jobs.csv" not in refused.stderr


def test_an_interrupted_run_goes_on_with_the_parts_that_are_there(scenario: Path, tmp_path: Path) -> None:
    run = ("simulate", str(scenario), "--no-report", "-o")
    fairhold(*run, str(tmp_path / "whole"))
    fairhold(*run, str(tmp_path / "out"))
    # As a crash would leave it: a part, and no word that the run is over.
    made = json.loads((tmp_path / "out/plan/summary.json").read_bytes())["made_of"]
    (tmp_path / "out/plan/begun.json").write_text(json.dumps({"made_of": made}))
    (tmp_path / "out/plan/summary.json").unlink()
    (tmp_path / "out/summary.json").unlink()
    again = fairhold(*run, str(tmp_path / "out"), "--resume")
    assert again.stderr == "warning: `plan` was begun before: 1 part of its event log came out the same, and stayed\n"
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def contents(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_plans_that_are_played_at_once_leave_the_same_bytes(
    scenario: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    scenario.write_text(text_of(plans={"a": "static.yaml", "b": "plan.yaml"}).replace("plan: plan.yaml\n", ""))
    run = ("simulate", str(scenario), "--no-report", *options)
    alone = fairhold(*run, "-o", str(tmp_path / "alone"))
    at_once = fairhold(*run, "-o", str(tmp_path / "at_once"), "-j", "2")
    assert at_once.stdout == alone.stdout
    assert contents(tmp_path / "at_once") == contents(tmp_path / "alone")
    again = fairhold(*run, "-o", str(tmp_path / "at_once"), "-j", "2", "--resume")
    assert again.stderr.count("was played before: its results are kept") == 2
    assert fairhold(*run, "-j", "2").stdout == alone.stdout
