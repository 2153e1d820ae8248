"""The forecast of a waiting job over REST: worked out by a process of its own, while the service answers others."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from fairhold.service import expecting, forecasting
from fairhold.service.problems import refused
from fairhold.sim.forecast import COVERAGE
from tests.service.support import Bank

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_waiting_job_is_forecast_and_others_are_refused(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        bank.submit(count=6)
        bank.hub.wait_started(4)
        for attempt in (1, 2):
            bank.hub.end(attempt)
        bank.hub.wait_started(6)
        bank.submit()
        bank.submit(hold=True)
        began = time.monotonic()
        found = bank.get("/jobs/2/forecast?draws=5")
        assert (found["job"], found["draws"], found["tasks"]) == ("2", 5, 2)
        assert found["p50"] is not None
        assert found["coverage"] is None
        assert time.monotonic() - began < 30
        assert bank.get("/jobs/3/forecast")["never"]["code"] == "held"
        assert bank.get("/jobs/1/forecast", 409)["code"] == "job-runs"
        for attempt in (3, 4):
            bank.hub.end(attempt)
        bank.submit(count=3)
        bank.hub.wait_started(8)
        begun = bank.get("/jobs/4/forecast?draws=5")
        assert (begun["started"], begun["waiting"], begun["never"]) == (1, 2, None)
        assert begun["p50"] is not None
        assert bank.get("/jobs/99/forecast", 404)["code"] == "unknown-job"
        share = {"told": 10, "covered": 9, "share": 900_000}
        told = {"at": found["at"], "instants": 2, "forecasts": 10, "draws": 3, "seed": 0, "p50": share, "p90": share}
        (bank.place / COVERAGE).write_text(json.dumps(told))
        assert bank.get("/jobs/4/forecast?draws=1")["coverage"] == told
        (bank.place / COVERAGE).write_text("[")
        assert bank.get("/jobs/4/forecast?draws=1")["coverage"] is None


def test_all_waiting_jobs_have_a_place_and_an_expected_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = []
    work_out = forecasting.worked_out

    async def counted(asked: bytes) -> dict[str, Any]:
        worked.append(1)
        return await work_out(asked)

    monkeypatch.setattr(expecting, "worked_out", counted)
    monkeypatch.setattr(expecting, "PATIENCE", 60)
    with Bank(tmp_path / "state") as bank:
        bank.submit(count=6)
        bank.hub.wait_started(4)
        for attempt in (1, 2):
            bank.hub.end(attempt)
        bank.hub.wait_started(6)
        bank.submit()
        bank.submit(hold=True)
        bank.submit()
        rows = {row["job"]: row.get("expected") for row in bank.get("/jobs?expected=true")["jobs"]}
        assert rows.keys() == {"1", "2", "3", "4"}
        assert rows["1"] is None
        assert (rows["2"]["place"], rows["4"]["place"]) == (1, 2)
        assert rows["2"]["at"] <= rows["2"]["p50"] <= rows["2"]["p90"]
        assert (rows["2"]["why"], rows["2"]["draws"]) == ("", 20)
        assert (rows["3"]["p50"], rows["3"]["why"], rows["3"]["place"]) == (None, "it is held", None)
        assert bank.get("/jobs/4?expected=true")["expected"] == rows["4"]
        assert "expected" not in bank.get("/jobs/4")
        assert sum(worked) == 1
        monkeypatch.setattr(expecting, "YOUNG", 0)
        bank.submit()
        assert bank.get("/jobs/4?expected=true")["expected"]["p50"] is not None  # the old one, a new one is begun
        while sum(worked) < 2 or bank.get("/jobs/5?expected=true")["expected"]["p50"] is None:
            time.sleep(0.05)


def test_a_forecast_that_fails_is_said_in_the_place_of_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(_: bytes) -> bytes:
        raise refused("forecast-too-long", "it takes too long", "")

    monkeypatch.setattr(expecting, "worked_out", fails)
    with Bank(tmp_path / "state") as bank:
        bank.submit(count=6)
        bank.hub.wait_started(4)
        told = bank.get("/jobs/1?expected=true")["expected"]
        assert (told["p50"], told["why"], told["draws"]) == (None, "it takes too long", 0)


def test_the_latest_snapshot_is_given_and_none_where_there_is_none(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        bank.submit()
        bank.hub.wait_started(1)
        assert bank.get("/events/snapshot") == {"seq": None, "at": None, "state": None}
        assert bank.get("/events/snapshot?until=soon", 422)["code"] == "instant"
