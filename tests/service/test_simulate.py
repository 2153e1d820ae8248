"""What happened, played again under another plan over REST: by a process of its own, as long as somebody waits."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from fairhold.service import simulating
from fairhold.service.processes import Work, answer_of
from tests.service.served import here, serving
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MORE = PLAN.replace("/Trading: {owned: 2}", "/Trading: {owned: 4}")


def busy(bank: Bank) -> None:
    """Six tasks of Research on four slots, two of them over, and one of Trading."""
    bank.submit(count=6)
    bank.hub.wait_started(4)
    bank.submit(consumer="/Trading/FX")
    bank.hub.end(1)
    bank.hub.end(2)
    bank.hub.wait_started(6)


def test_a_record_comes_out_as_it_was_and_otherwise_under_another_plan(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        busy(bank)
        found = bank.post("/simulate", {"text": MORE})
        assert found["record"]["jobs"] == 2
        assert found["record"]["plans"] == [1]
        assert found["as_recorded"]["is_same"], found["as_recorded"]
        assert found["as_recorded"]["lines"] == found["record"]["changes"] > 0
        (shared,) = found["shared"]
        assert (shared["resource_group"], shared["resource"], shared["hours"]) == ("compute", "slots", "slot-hours")
        rows = {each["consumer"]: each for each in shared["consumers"]}
        assert rows["/Research"]["before"]["tasks"] == rows["/Research"]["after"]["tasks"] == 6
        assert rows["/Trading/FX"]["before"]["tasks"] == 1
        assert shared["before"]["verdict"]
        names = [each["consumer"] for each in shared["before"]["over_time"]["consumers"]]
        assert sorted(names) == ["Research", "Trading"]
        assert all(each["before"] != each["after"] for each in found["differences"])
        assert bank.get("/plan")["version"] == 1


def test_without_a_plan_the_one_in_force_is_played_and_nothing_differs(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        busy(bank)
        found = bank.post("/simulate", {})
        assert (found["otherwise"], found["differences"]) == (None, [])


def test_a_consumer_that_the_other_plan_does_not_have_is_told(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        busy(bank)
        found = bank.post("/simulate", {"text": MORE.replace(", FX: {}", "")})
        (never,) = found["never_run"]
        assert (never["under"], never["consumer"], never["jobs"]) == ("after", "/Trading/FX", 1)
        rows = {each["consumer"]: each for each in found["shared"][0]["consumers"]}
        assert rows["/Trading/FX"]["after"] is None


def test_what_cannot_be_played_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Bank(tmp_path / "state") as bank:
        early = {"since": "2026-01-05T08:00:00Z", "until": "2026-01-05T08:00:01Z"}
        assert bank.post("/simulate", early, 422)["code"] == "record-empty"
        busy(bank)
        fault = bank.post("/simulate", {"text": "fairhold: 1\nconsumers: 7\n"}, 422)["faults"][-1]
        assert fault["line"] > 0
        late = {"since": "2026-01-05T09:00:00Z", "until": "2026-01-05T08:00:00Z"}
        assert bank.post("/simulate", late, 422)["code"] == "out-of-range"
        assert bank.post("/simulate", {"since": "tomorrow"}, 422)["code"] == "instant"
        monkeypatch.setattr(simulating, "MOST", 3)
        assert bank.post("/simulate", {}, 413)["code"] == "record-too-long"
        monkeypatch.setattr(simulating, "MOST", 300)
        monkeypatch.setattr(simulating, "LONGEST", 0.01)
        assert bank.post("/simulate", {}, 503)["code"] == "simulation-too-long"


def test_later_plans_and_a_snapshot_are_part_of_what_is_played(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        busy(bank)
        bank.client.request("PUT", "/v1/plan", json={"text": MORE}, headers={"If-Match": '"1"'}).raise_for_status()
        found = bank.post("/simulate", {})
        assert found["record"]["plans"] == [1, 2]
        assert found["as_recorded"]["is_same"]
        assert found["otherwise"] is not None


def test_the_service_only_observes_and_yet_simulates(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", is_observing=True) as bank:
        assert bank.post("/simulate", {})["record"]["jobs"] == 0
        assert bank.post("/explore", {"changes": []})["differences"] == []


def test_when_the_client_goes_the_process_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    async def slow(work: Work, asked: bytes) -> dict[str, Any]:
        told.append("begun")
        try:
            return await answer_of(work._replace(module="tests.service.sleeper"), asked)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    async def until(word: str) -> None:
        end = time.monotonic() + 60
        while word not in told:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)

    monkeypatch.setattr(simulating, "answer_of", slow)

    async def leave(bank: Bank, url: str) -> None:
        del url
        busy(bank)
        async with here(bank) as client:
            asking = asyncio.create_task(client.post("/v1/simulate", json={}, headers=bank.head))
            await until("begun")
            asking.cancel()
        async with here(bank) as client:
            await until("cancelled")
            await client.post("/v1/stop", json={"how": "leave"}, headers=bank.head)

    serving(tmp_path, leave)
    assert told == ["begun", "cancelled"]
