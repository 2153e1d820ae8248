"""`workload` as a user meets it: outputs, exit codes, faults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_commands import ROOT, fairhold

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples/workloads"
TENANTS, JOBS, BAD = (str(EXAMPLES / name) for name in ("tenants.yaml", "jobs.yaml", "bad.yaml"))


def test_show_as_json() -> None:
    found = json.loads(fairhold("workload", "show", JOBS, "--json").stdout)
    assert (found["rows"], found["jobs"], found["faults"]) == (4, 4, [])
    assert found["consumers"]["/Research"] == {
        "jobs": 1,
        "tasks": 8,
        "unit_seconds": 28_800,
        "endless_tasks": 0,
        "median_s": 3600,
        "p90_s": 3600,
        "largest_job": 8,
    }
    assert sum(span["jobs"] for span in found["load"]) == 4


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([5, 4], "1 job submitted before the one above, in line 3"),
        ([9, 8, 7, 6, 5], "4 jobs submitted before the one above, in lines 3, 4, 5, …"),
    ],
)
def test_what_was_put_in_order_is_told_with_its_lines(seconds: list[int], said: str, tmp_path: Path) -> None:
    rows = [f"2026-01-05 09:00:{each:02},1.0,1,1,c" for each in seconds]
    (tmp_path / "p.csv").write_text("\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows]) + "\n")
    shown = fairhold("workload", "show", str(tmp_path / "p.csv"), "--kind", "philly").stdout
    assert f"\nput in order: {said}\n" in shown
    as_json = fairhold("workload", "show", str(tmp_path / "p.csv"), "--kind", "philly", "--json").stdout
    assert json.loads(as_json)["put_in_order_first"] == [3, 4, 5][: len(seconds) - 1]


def test_faults_are_told_and_exit_with_1_unless_they_may_be_skipped(tmp_path: Path) -> None:
    found = fairhold("workload", "show", BAD, "--json", exits=1)
    assert {fault["code"] for fault in json.loads(found.stdout)["faults"]} == {
        *("trace-negative", "trace-instant", "trace-fields", "trace-consumer"),
    }
    skipping = tmp_path / "skip.yaml"
    text = (EXAMPLES / "bad.yaml").read_text().replace("bad.csv", str(EXAMPLES / "bad.csv"))
    skipping.write_text(f"{text}  faults: skip\n")
    assert "warning: " in fairhold("workload", "show", str(skipping)).stderr
    assert "[trace-negative]" in fairhold("workload", "convert", BAD, exits=1).stderr
    skipped = fairhold("workload", "convert", BAD, "--skip")
    assert "warning: " in skipped.stderr
    assert skipped.stdout == fairhold("workload", "convert", str(skipping)).stdout


@pytest.mark.parametrize("source", [TENANTS, JOBS])
def test_what_is_converted_is_read_back_as_it_was(source: str, tmp_path: Path) -> None:
    first, second = tmp_path / "jobs.csv", tmp_path / "again.csv"
    fairhold("workload", "convert", source, "-o", str(first))
    fairhold("workload", "convert", "--kind", "fairhold", str(first), "-o", str(second))
    assert first.read_text() == second.read_text()
    assert first.read_text().count("\n") > 4


def test_fit_makes_tenants_that_show_reads(tmp_path: Path) -> None:
    target = tmp_path / "fitted.yaml"
    fairhold("workload", "fit", TENANTS, JOBS, "--time-zone", "Europe/Zurich", "-o", str(target))
    found = json.loads(fairhold("workload", "show", str(target), "--json").stdout)
    assert set(found["consumers"]) >= {"/Trading/Risk", "/Research"}
    assert "time_zone: Europe/Zurich" in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "exits", "said"),
    [
        (("show", "nowhere.swf"), 1, "[cannot-read]"),
        (("show", str(EXAMPLES / "jobs.csv")), 2, "name it with --kind"),
        (("show", "--kind", "csv", str(EXAMPLES / "jobs.csv")), 2, "--kind must be one of"),
        (("show", "--kind", "philly", str(EXAMPLES / "jobs.csv")), 1, "[trace-header]"),
        (("show", str(ROOT / "examples/tutorial/plan.yaml")), 1, "[missing-key]"),
        (("fit", TENANTS, "--time-zone", "Mars"), 2, "there is no time zone Mars"),
        (("convert", TENANTS, "-o", TENANTS), 2, "--output names the workload"),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], exits: int, said: str) -> None:
    assert said in fairhold("workload", *arguments, exits=exits).stderr
