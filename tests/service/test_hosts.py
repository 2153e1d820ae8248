"""Hosts, resource groups and consumers over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from fairhold.units import format_instant
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path


def test_the_own_machine_is_closed_and_opened(bank: Bank) -> None:
    closed = bank.post("/hosts/-/close", {"reason": "new disk"})
    assert (closed["host"], closed["state"], closed["reason"]) == ("-", "closed", "new disk")
    job = bank.submit()["job"]
    assert bank.until(f"/jobs/{job}", "reason", "no_host")["state"] == "waiting"
    assert bank.post("/hosts/-/open")["state"] == "up"
    bank.hub.wait_started(1)


def test_a_drained_host_takes_back_what_runs(tmp_path: Path) -> None:
    with Bank(tmp_path / "grace", plan=PLAN.replace("Research: {}", "Research: {reclaim_grace: 1h}")) as bank:
        bank.submit()
        bank.hub.wait_started(1)
        assert bank.post("/hosts/-/close", {"reason": "gone", "drain": True})["state"] == "draining"
        found = bank.get("/allocations?consumer=/Research&host=-")["allocations"]
        assert [each["attempt"] for each in found] == [1]
        assert found[0]["deadline"] > found[0]["started"]


def test_a_drained_host_is_empty_by_an_instant(tmp_path: Path) -> None:
    with Bank(tmp_path / "grace", plan=PLAN.replace("Research: {}", "Research: {reclaim_grace: 1h}")) as bank:
        bank.submit()
        bank.hub.wait_started(1)
        assert bank.get("/hosts")["hosts"][0]["empty_by"] is None
        patient = bank.post("/hosts/-/close", {"reason": "gone", "drain": True})["empty_by"]
        by = format_instant(bank.core.now() + 60_000_000)
        assert bank.post("/hosts/-/close", {"drain": True, "by": by})["empty_by"] == by < patient
        assert bank.get("/allocations")["allocations"][0]["deadline"] == by
        for wrong in ({"drain": True, "by": "2001-01-01T00:00:00Z"}, {"reason": "x", "by": by}):
            assert bank.post("/hosts/-/close", wrong, 422)["code"] == "out-of-range"
        late = {"drain": True, "at": "2199-01-02T00:00:00Z", "by": "2199-01-01T00:00:00Z"}
        assert bank.post("/hosts/-/close", late, 422)["code"] == "out-of-range"


def test_what_is_planned_with_a_drain_is_kept_over_a_start(tmp_path: Path) -> None:
    at, by = "2199-01-01T00:00:00Z", "2199-01-02T00:00:00Z"
    with Bank(tmp_path / "state") as bank:
        bank.post("/hosts/-/close", {"drain": True, "at": at, "by": by})
        planned = bank.desk.read(lambda core: core.closings).result(5)
    assert planned[""].by > planned[""].close_at > 0
    with Bank(tmp_path / "state") as bank:
        assert bank.desk.read(lambda core: core.closings).result(5) == planned


def test_a_drain_keeps_the_reason_for_which_a_host_is_closed(bank: Bank) -> None:
    assert bank.post("/hosts/-/close", {"drain": True})["reason"] == "drained"
    bank.post("/hosts/-/open")
    bank.post("/hosts/-/close", {"reason": "repair"})
    assert bank.post("/hosts/-/close", {"drain": True})["reason"] == "repair"
    assert bank.post("/hosts/-/close", {"drain": True, "reason": "gone"})["reason"] == "gone"
    bank.post("/hosts/-/open")
    bank.post("/hosts/-/close", {"reason": "move", "at": "2199-01-01T00:00:00Z"})
    assert bank.post("/hosts/-/close", {"drain": True})["reason"] == "move"


def test_a_closing_can_be_planned(bank: Bank) -> None:
    late, later = "2199-01-01T00:00:00Z", "2199-01-02T00:00:00Z"
    planned = bank.post("/hosts/-/close", {"reason": "move", "at": late, "until": later})
    assert (planned["state"], planned["closing"]) == ("up", True)
    assert not bank.post("/hosts/-/open")["closing"]
    wrong = {"reason": "move", "at": later, "until": late}
    assert bank.post("/hosts/-/close", wrong, 422)["code"] == "out-of-range"
    assert bank.post("/hosts/-/close", {"reason": "past", "until": "2001-01-01T00:00:00Z"}, 422)
    assert bank.post("/hosts/-/close", {"reason": "x", "at": "soon"}, 422)["code"] == "instant"
    for name in ("at", "until"):  # no calendar has it in UTC
        body = {"reason": "x", name: "9999-12-31T23:59:59-12:00"}
        assert bank.post("/hosts/-/close", body, 422)["code"] == "out-of-range"
    assert not bank.get("/hosts")["hosts"][0]["closing"]
    assert bank.post("/hosts/-/close", {}, 422)["code"] == "missing-key"
    assert bank.post("/hosts/-/close", {"reason": ""}, 422)["code"] == "out-of-range"


def test_a_planned_closing_happens_and_ends_by_itself(bank: Bank) -> None:
    def instant(seconds: float) -> str:
        return format_instant(bank.core.now() + int(seconds * 1_000_000))

    bank.post("/hosts/-/close", {"reason": "move", "at": instant(1), "until": instant(1.5)})
    states: list[str] = []
    while "up" not in states[1:]:
        (state,) = {each["state"] for each in bank.get("/hosts")["hosts"]}
        if not states or states[-1] != state:
            states.append(state)
    assert states == ["up", "closed", "up"]


def test_a_closing_by_hand_takes_the_place_of_a_planned_one(bank: Bank) -> None:
    bank.post("/hosts/-/close", {"reason": "short", "until": "2199-01-01T00:00:00Z"})
    bank.post("/hosts/-/close", {"reason": "for long"})
    assert bank.desk.read(lambda core: core.closings).result(5) == {}


def test_a_planned_closing_of_a_host_that_went_with_another_plan_is_dropped(tmp_path: Path) -> None:
    one, two = "{hosts: [{name: n1, slots: 2}]}", "{hosts: [{name: n1, slots: 2}, {name: n2, slots: 2}]}"
    with Bank(tmp_path / "two", plan=PLAN.replace("{slots: 4}", one)) as bank:
        grown, back = ({"text": PLAN.replace("{slots: 4}", hosts)} for hosts in (two, one))
        bank._ask("PUT", "/plan", 200, json=grown, headers={"If-Match": '"1"'})
        bank.post("/hosts/n2/close", {"reason": "x", "at": format_instant(bank.core.now() + 200_000)})
        bank._ask("PUT", "/plan", 200, json=back, headers={"If-Match": '"2"'})
        while bank.desk.read(lambda core: core.closings).result(5):
            time.sleep(0.01)
        assert bank.get("/health")["state"] == "ok"


@pytest.mark.parametrize("body", [{"reason": "x"}, {"reason": "x", "at": "2199-01-01T00:00:00Z"}])
def test_a_host_that_is_not_there(bank: Bank, body: dict[str, str]) -> None:
    found = bank.post("/hosts/nowhere/close", body, 404)
    assert (found["code"], "no host `nowhere`" in found["detail"]) == ("unknown-host", True)
    assert bank.post("/hosts/nowhere/open", status=404)["code"] == "unknown-host"


def test_hosts_have_names(tmp_path: Path) -> None:
    plan = PLAN.replace("{slots: 4}", "{hosts: [{name: n1, slots: 2}, {name: n2, slots: 2}]}")
    with Bank(tmp_path / "two", plan=plan) as bank:
        assert {each["host"]: each["resource_groups"] for each in bank.get("/hosts")["hosts"]} == {
            "n1": {"compute": 2},
            "n2": {"compute": 2},
        }
        assert bank.post("/hosts/n2/close", {"reason": "x"})["host"] == "n2"
        reasons = {each["host"]: each["reason"] for each in bank.get("/hosts")["hosts"]}
        assert reasons == {"n1": None, "n2": "x"}


def test_groups_are_paused_and_resumed(bank: Bank) -> None:
    assert bank.post("/groups/compute/pause", {"grants": True}) == {
        "resource_group": "compute",
        "grants": True,
        "reclaims": False,
    }
    job = bank.submit()["job"]
    assert bank.until(f"/jobs/{job}", "reason", "paused")["state"] == "waiting"
    assert bank.post("/groups/compute/pause")["reclaims"] is True
    assert bank.post("/groups/compute/resume", {"reclaims": True})["grants"] is True
    assert bank.post("/groups/compute/resume", {})["grants"] is False
    bank.hub.wait_started(1)
    assert bank.post("/groups/gpu/pause", status=404)["code"] == "unknown-resource-group"


@pytest.mark.parametrize("body", [{"grants": False, "reclaims": False}, {"grants": False}, {"reclaims": False}])
@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_false_is_no_way_to_name_both(bank: Bank, verb: str, body: dict[str, bool]) -> None:
    bank.post("/groups/compute/pause", {"grants": True})
    assert bank.post(f"/groups/compute/{verb}", body, 422)["code"] == "out-of-range"
    paused = bank.get("/consumers")["resource_groups"]["compute"]["paused"]
    assert paused == {"grants": True, "reclaims": False}


def test_names_in_questions_that_are_not_there(bank: Bank) -> None:
    whole = bank.get("/consumers/explanation?consumer=/Research")["explanations"][0]
    plain = bank.get("/consumers/explanation?consumer=/Research&would_help=0")["explanations"][0]
    assert (plain["would_help"], plain["search"]) == (None, None)
    assert whole["search"]["cycles"] > 0
    assert plain["levels"] == whole["levels"]
    assert bank.get("/consumers/explanation?consumer=/No", 404)["code"] == "unknown-consumer"
    wrong = "/consumers/explanation?consumer=/Research&resource_group=gpu"
    assert bank.get(wrong, 404)["code"] == "unknown-resource-group"
    assert bank.get("/cycles/999999", 404)["code"] == "unknown-cycle"
    assert bank.get("/usage?by=colour", 422)["code"] == "unknown-word"
    assert bank.get("/usage?from=now", 422)["code"] == "instant"
    assert bank.get("/consumers/explanation", 422)["code"] == "missing-key"
