"""The plan over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.service.settings import RequestLimits
from tests.service.support import NOW, PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path

MORE = PLAN.replace("owned: 2", "owned: 3")
WRONG = PLAN.replace("owned: 2", "owned: -1")
RENAMED = PLAN.replace("Research: {}", "Science: {}")


def put(bank: Bank, text: str, seen: str | None = '"1"', status: int = 200, query: str = "", **more: Any) -> Any:
    headers = {} if seen is None else {"If-Match": seen}
    return bank._ask("PUT", f"/plan{query}", status, json={"text": text} | more, headers=headers)


def test_the_plan_in_force_has_its_version_as_etag(bank: Bank) -> None:
    answer = bank.client.get("/v1/plan")
    assert answer.headers["etag"] == '"1"'
    found = answer.json()
    assert found["text"] == PLAN
    assert (found["version"], found["author"], found["until"]) == (1, "ann", None)


def test_a_plan_is_applied_as_a_new_version(bank: Bank) -> None:
    found = put(bank, MORE, comment="more for trading")
    assert found["version"] == 2
    assert found["diff"]["resource_groups"]["compute"]["consumers"]["/Trading"]["owned"] == [2, 3]
    assert bank.get("/plan")["text"] == MORE
    versions = bank.get("/plan/versions")["versions"]
    assert [each["version"] for each in versions] == [2, 1]
    assert versions[0]["comment"] == "more for trading"
    assert bank.get("/plan/versions/1")["text"] == PLAN
    assert bank.get("/plan/versions/3", 404)["code"] == "unknown-plan"
    assert bank.get(f"/plan/versions/{10**30}", 404)["code"] == "unknown-plan"


def test_a_change_says_what_it_was_made_from(bank: Bank) -> None:
    assert put(bank, MORE, None, 428)["code"] == "if-match-missing"
    put(bank, MORE, '"1"')
    for seen in ('"1"', "1", 'W/"1"', "*", '"x"', '"999999999999999999999"'):
        assert put(bank, PLAN, seen, 412)["code"] == "plan-changed"
    assert bank.get("/plan")["version"] == 2


def test_a_faulty_plan_is_refused_whole_with_its_places(bank: Bank) -> None:
    found = put(bank, WRONG, status=422)
    assert found["code"] == "negative"
    assert found["faults"][0]["line"] == 9
    assert found["faults"][0]["place"] == "policies[0].consumers./Trading.owned"
    assert found["type"] == "https://fairhold.dev/errors/negative"
    assert bank.get("/plan")["version"] == 1


def test_a_dry_run_changes_nothing(bank: Bank) -> None:
    found = put(bank, MORE, query="?dry_run=1")
    assert found["version"] == 1
    assert found["diff"]["resource_groups"]["compute"]["consumers"]
    assert bank.get("/plan")["text"] == PLAN
    assert put(bank, WRONG, query="?dry_run=1", status=422)["code"] == "negative"


def test_check_reports_and_never_fails(bank: Bank) -> None:
    good = bank.post("/plan/check", {"text": PLAN})
    assert good["faults"] == []
    assert {each["consumer"]: each["balance"] for each in good["balances"]} == {"/": 0, "/Trading": 2}
    wrong = bank.post("/plan/check", {"text": WRONG})
    assert [each["code"] for each in wrong["faults"]] == ["negative"]


def test_diff_counts_on_the_live_state(bank: Bank) -> None:
    bank.submit(consumer="/Trading/Risk", count=4)
    bank.hub.wait_started(4)
    bank.submit(count=4)
    less = PLAN.replace("owned: 2", "owned: 0")
    found = bank.post("/plan/diff", {"text": less})
    changed = found["resource_groups"]["compute"]["consumers"]
    assert changed["/Trading"]["owned"] == [2, 0]
    assert changed["/Trading"]["allocated"] == 4
    assert bank.post("/plan/diff", {"text": WRONG}, 422)["code"] == "negative"


def test_a_renamed_consumer_takes_its_jobs_along(bank: Bank) -> None:
    job = bank.submit()["job"]
    assert put(bank, RENAMED, status=409)["code"] == "consumer-in-use"
    put(bank, RENAMED, was={"/Science": "/Research"})
    assert bank.get(f"/jobs/{job}")["consumer"] == "/Science"


def test_a_plan_for_a_time_says_until_when(bank: Bank) -> None:
    span: dict[str, Any] = {"for": "2h"}
    soon: dict[str, Any] = {"for": "soon"}
    put(bank, MORE, **span)
    found = bank.get("/plan")
    assert found["until"] > found["at"]
    assert put(bank, MORE, '"2"', 422, "", **soon)["code"] == "duration"


def test_revert_brings_an_earlier_version_back(bank: Bank) -> None:
    put(bank, MORE)
    put(bank, RENAMED, '"2"')
    found = bank.post("/plan/revert", {"to": 1}, headers={"If-Match": '"3"'})
    assert found["version"] == 4
    assert bank.get("/plan")["text"] == PLAN
    assert bank.get("/plan")["comment"] == "back to version 1"
    assert bank.post("/plan/revert", {}, headers={"If-Match": '"4"'})["version"] == 5
    assert bank.get("/plan")["text"] == RENAMED
    assert bank.post("/plan/revert", {"to": 99}, 404, headers={"If-Match": '"5"'})["code"] == "unknown-plan"
    assert bank.post("/plan/revert", {}, 428)["code"] == "if-match-missing"


def test_a_plan_of_a_time_is_not_of_the_past(bank: Bank) -> None:
    assert bank.core.now() > NOW


@pytest.mark.parametrize("path", ["/plan/check", "/plan/diff"])
def test_a_plan_has_a_size(tmp_path: Path, path: str) -> None:
    with Bank(tmp_path / "small", limits=RequestLimits(plan=1_000)) as bank:
        found = bank.post(path, {"text": "#" * 1_001}, 413)
        assert found["code"] == "too-large"
        assert "`plan`" in found["detail"]
