"""Forecasts on trial: on a run whose lengths are as they are drawn, about as many come true as are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.cli.forecasting import Wanted, coverage_words, forecast_from_record, run_backtest
from fairhold.client.errors import Refused
from fairhold.errors import ArgumentError, Fault, InputError, UsageError
from fairhold.lab.records import write_record
from fairhold.model.workload import Workload
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Experiment
from fairhold.sim.forecast import COVERAGE
from fairhold.traces.draws import BITS, Stream, stream_of
from tests.lab.logs import lines_of, recorded

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000
PLAN = json.dumps(
    {
        "fairhold": 1,
        "resource_groups": {"compute": {"slots": 6}},
        "consumers": {"A": {}, "B": {}},
        "policies": [
            {"resource_groups": ["compute"], "policy": "hybrid", "consumers": {"/A": {"owned": 3}, "/B": {"owned": 3}}}
        ],
    }
)


def busy(folder: Path, jobs: int = 240) -> None:
    """A record: jobs of both with exponential lengths, somewhat more than the slots can do."""
    chance = Stream(stream_of(5, "backtest"))
    at, submits = 0, []
    for _ in range(jobs):
        at += 1 + (5 * SECOND * chance.exponential() >> BITS)
        submits.append(at)
    lengths = [1 + (33 * SECOND * chance.exponential() >> BITS) for _ in range(jobs)]
    owners = [chance.below(2) for _ in range(jobs)]
    work = Workload([f"j{at}" for at in range(jobs)], submits, owners, [1] * jobs, lengths, consumers=("/A", "/B"))
    experiment = Experiment(parse_plan(PLAN, "plan")[0], work, 0)
    write_record(folder, recorded(lines_of(experiment).all, PLAN, 0))


def test_coverage_lies_where_it_should(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    busy(tmp_path / "it")
    (tmp_path / "state").mkdir()
    wanted = Wanted(20, 1, 3_600 * SECOND)
    assert run_backtest(tmp_path / "it", tmp_path / "state", 8, wanted, as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "state" / COVERAGE).read_text())
    assert found["forecasts"] >= 40
    assert 300_000 <= found["p50"]["share"] <= 750_000
    assert 700_000 <= found["p90"]["share"] <= 1_000_000
    assert found["p50"]["share"] < found["p90"]["share"]
    assert f"coverage of {found['forecasts']} forecasts at {found['instants']} instants" in coverage_words(found)


def test_a_job_of_a_record_is_forecast_as_of_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    busy(tmp_path / "it", 60)
    wanted = Wanted(10, 0, 3_600 * SECOND)
    rows = [json.loads(line) for line in (tmp_path / "it" / "decided.jsonl").read_text().splitlines()]
    came = {row[2]: row[0] for row in rows if row[1] == "JobAdded"}
    began = {row[3]: row[0] for row in rows if row[1] == "Started"}
    job = max(came, key=lambda name: began[name] - came[name])
    at = f"1970-01-01T00:{(came[job] // 60_000_000):02}:{(came[job] // SECOND) % 60 + 1:02}Z"
    assert forecast_from_record(tmp_path / "it", job, at, wanted, as_json=False) == 0
    said = capsys.readouterr().out
    assert f"job {job}, as of " in said
    assert "coverage: not measured" in said
    with pytest.raises(ArgumentError, match="unknown-job") as refused:
        forecast_from_record(tmp_path / "it", "j999", "", wanted, as_json=False)
    assert refused.value.exit_code == Refused([Fault("unknown-job", "as the service says it")], 404).exit_code == 2


def test_where_nothing_waits_there_is_nothing_to_try(tmp_path: Path) -> None:
    busy(tmp_path / "it", 3)
    with pytest.raises(InputError, match="backtest-empty"):
        run_backtest(tmp_path / "it", None, 5, Wanted(3, 0, SECOND), as_json=True)


def test_where_no_forecast_can_be_held_against_anything_none_came_true(tmp_path: Path) -> None:
    busy(tmp_path / "it", 60)
    with pytest.raises(InputError, match=r"none of [0-9]+ forecasts"):
        run_backtest(tmp_path / "it", None, 1, Wanted(3, 0, 1), as_json=True)
    untold = {name: {"told": 0, "covered": 0, "share": 0} for name in ("p50", "p90")}
    assert "no p90 forecast can be compared" in coverage_words({"forecasts": 3, "instants": 1, **untold})


def test_a_state_directory_is_looked_for_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        run_backtest(tmp_path / "it", tmp_path / "nowhere", 1, Wanted(3, 0, SECOND), as_json=True)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "jobs.csv").write_text("submit,duration\n2026-01-05T00:00:00Z,5\n")
    (tmp_path / "scenario.yaml").write_text(
        "fairhold_scenario: 1\nplan: plan.yaml\n"
        "workload: {kind: csv, file: jobs.csv, columns: {submit: submit, duration: duration},\n"
        "  consumers: [{else: /A}]}\n"
    )
    with pytest.raises(InputError, match="no-record"):
        run_backtest(tmp_path, None, 5, Wanted(3, 0, SECOND), as_json=True)
