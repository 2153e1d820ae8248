"""A real service with real tasks is recorded, and played again it decides the same at the same instants."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import fairhold
from fairhold.cli.forecasting import Wanted, forecast_from_store
from fairhold.cli.recording import run_record
from fairhold.cli.simulating import run_scenario
from fairhold.errors import InputError, UsageError
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import simulate
from tests.cli.live.served import PLAN, Served, until

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job

QUIET: dict[str, Any] = {
    "as_json": True,
    "processes": 1,
    "report": False,
    "plots": False,
    "check": False,
    "resume": False,
}
SHELL = {"PATH": "/usr/bin:/bin"}


def busy(served: Served) -> None:
    """Lending and reclaim, gangs, failures, and whatever users and operators ask for meanwhile."""
    with fairhold.connect(f"unix:{served.state / 'api.sock'}") as client:

        def submit(consumer: str, script: str, **more: Any) -> Job:
            return client.submit(consumer, ["sh", "-c", script], environment=SHELL, directory="/", **more)

        lent = submit("/Research/Models", "sleep 0.9", count=4)
        until(lambda: len(client.allocations()) == 4)
        jobs = [submit("/Trading", "sleep 0.2", units=2, count=2)]
        jobs += [submit("/Trading", "trap 'exit 75' TERM; sleep 0.3 & wait", count=3, priority=5)]
        jobs += [submit("/Research/Models", "exit 3", retries=2, backoff="50ms")]
        held = submit("/Trading", "true", hold=True)
        jobs += [held, submit("/Research/Backtests", "true", after=[held])]
        client.change(held, priority=7)
        client.release(held)
        endless = submit("/Research/Backtests", "sleep 100", count=9)
        client.change(endless, consumer="/Research/Models")
        until(lambda: any(row["consumer"] == "/Research/Models" for row in client.allocations()))
        client.pause("compute", grants=True)
        client.resume("compute")
        client.apply_plan(PLAN.replace("limit: 2", "limit: 1"), comment="less")
        client.requeue(endless)
        client.close_host("-", "look", drain=True)
        client.open_host("-")
        until(lambda: any(job.name == endless.name and job.state == "running" for job in client.jobs()))
        client.cancel(endless)
        for job in (*jobs, lent):
            client.wait(job, timeout=30)
        time.sleep(0.1)


def played(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = simulate(read_scenario(folder / "scenario.yaml"), "plan", check=True)["as_recorded"]
    return found


@pytest.fixture
def own(tmp_path: Path) -> Served:
    """A service of one test alone, not begun."""
    return Served(tmp_path)


def recorded(
    folder: Path, state: Path | None, service: str, capsys: pytest.CaptureFixture[str], since: str = ""
) -> dict[str, Any]:
    """What `record --json` says."""
    assert run_record(folder, state, service, since, "", as_json=True) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_real_run_comes_out_as_it_was(own: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with own:
        busy(own)
        service = f"unix:{own.state / 'api.sock'}"
        first = recorded(tmp_path / "asked", None, service, capsys)
        own.kill()  # what was known of the service goes with it
        own.start()
        with fairhold.connect(service) as client:
            client.wait(client.submit("/Trading", ["true"], environment=SHELL, directory="/"), timeout=30)
            held = client.submit("/Trading", ["true"], hold=True, environment=SHELL, directory="/")
        recorded(tmp_path / "read", own.state, "", capsys)
        assert forecast_from_store(held.name, own.state, Wanted(3, 0, 10**9), as_json=True) == 0
        assert json.loads(capsys.readouterr().out)["never"]["code"] == "held"
    assert (first["jobs"], first["plans"]) == (7, [1, 2])
    recorded(tmp_path / "after", own.state, "", capsys)
    kinds = {json.loads(line)[1] for line in (tmp_path / "asked" / "decided.jsonl").read_text().splitlines()}
    assert kinds >= {"Started", "Noticed", "Stopping", "Ended", "Ready", "HoldSet", "JobMoved", "MachineShut", "Paused"}
    assert played(tmp_path / "asked") == {"lines": first["changes"], "is_same": True}
    assert played(tmp_path / "read")["is_same"]
    assert played(tmp_path / "after")["is_same"]
    other = tmp_path / "other.yaml"
    other.write_text(PLAN.replace("limit: 2", "limit: 1"))
    scenario = tmp_path / "after" / "scenario.yaml"
    assert run_scenario(scenario, str(other), None, (), **QUIET) == 0
    found = json.loads(capsys.readouterr().out)["plans"][str(other)]
    assert found["otherwise"]["passed_over"] == 0
    assert found["never_run"] == []


def test_what_was_cleared_out_of_the_log_is_said_to_be_gone(
    own: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The end of a service leaves a snapshot; entries that two of them cover may go."""
    service = f"unix:{own.state / 'api.sock'}"
    for _ in range(3):
        with own, fairhold.connect(service) as client:
            client.wait(client.submit("/Trading", ["true"], environment=SHELL, directory="/"), timeout=30)
    before = recorded(tmp_path / "whole", own.state, "", capsys)["is_cut"]
    with closing(sqlite3.connect(own.state / "store.sqlite")) as store, store:
        (kept,) = store.execute("SELECT min(seq) FROM snapshots").fetchone()
        assert store.execute("DELETE FROM entries WHERE seq <= ?", (kept,)).rowcount > 0
    with own:
        asked = recorded(tmp_path / "asked", None, service, capsys)
        read = recorded(tmp_path / "read", own.state, "", capsys)
        assert run_record(tmp_path / "told", None, service, "2020-01-01T00:00:00Z", "", as_json=False) == 0
        assert "because earlier entries are no longer in the log of the service" in capsys.readouterr().out
        with pytest.raises(InputError, match="record-gone"):
            run_record(tmp_path / "gone", None, service, "", "2020-01-01T00:00:00Z", as_json=False)
        since = recorded(tmp_path / "since", None, service, capsys, since=asked["begin"])
    assert (before, asked["is_cut"], read["is_cut"], since["is_cut"]) == (False, True, True, False)
    assert asked["begin"] == read["begin"]
    assert played(tmp_path / "asked")["is_same"]


def test_what_cannot_be_recorded_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="store-missing"):
        run_record(tmp_path / "it", tmp_path, "", "", "", as_json=False)
    with pytest.raises(UsageError, match="is not an instant"):
        run_record(tmp_path / "it", tmp_path, "", "yesterday", "", as_json=False)
    (tmp_path / "store.sqlite").write_bytes(b"SQLite format 3" + bytes(90))
    with pytest.raises(InputError, match="store-damaged"):
        run_record(tmp_path / "it", tmp_path, "", "", "", as_json=False)
