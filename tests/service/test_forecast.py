"""The forecast of a waiting job over REST: worked out by a process of its own, while the service answers others."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from fairhold.sim.forecast import COVERAGE
from tests.service.support import Bank

if TYPE_CHECKING:
    from pathlib import Path


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


def test_the_latest_snapshot_is_given_and_none_where_there_is_none(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        bank.submit()
        bank.hub.wait_started(1)
        assert bank.get("/events/snapshot") == {"seq": None, "at": None, "state": None}
        assert bank.get("/events/snapshot?until=soon", 422)["code"] == "instant"
