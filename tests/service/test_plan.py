"""The plan over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.differing import diff_text
from fairhold.service.settings import RequestLimits
from tests.service.support import NOW, PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.runtime.live.core import Core

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
    assert found["type"] == "urn:fairhold:error:negative"
    assert bank.get("/plan")["version"] == 1


def test_a_dry_run_changes_nothing(bank: Bank) -> None:
    found = put(bank, MORE, query="?dry_run=1")
    assert found["version"] == 1
    assert found["diff"]["resource_groups"]["compute"]["consumers"]
    assert bank.get("/plan")["text"] == PLAN
    assert put(bank, WRONG, query="?dry_run=1", status=422)["code"] == "negative"


def test_over_time_is_told_what_is_stopped_and_lost(bank: Bank) -> None:
    bank.submit(consumer="/Trading/Risk", count=4)
    bank.hub.wait_started(4)
    bank.submit(count=4)
    less = PLAN.replace("owned: 2", "owned: 0")
    coming = bank.post("/plan/diff", {"text": less, "next": "1h", "checkpoint": "5m"})["over_time"]
    assert coming["assumes"][-1] == "a checkpoint every 300 s"
    assert {row["consumer"] for row in coming["stops"]} == {"/Trading/Risk"}
    assert all({"request", "task", "attempt", "deadline", "lost", "anyway"} <= row.keys() for row in coming["stops"])
    dry = put(bank, less, query="?dry_run=1", next="1h")["diff"]["over_time"]
    assert dry["consumers"].keys() == coming["consumers"].keys()
    done = put(bank, less, query="?over_time=1", next="1h")
    assert done["version"] == bank.get("/plan")["version"] == 2
    assert done["diff"]["over_time"]["consumers"].keys() == coming["consumers"].keys()
    assert done["diff"]["over_time"]["alone"]["units"] == dry["alone"]["units"] > 0
    assert "over_time" not in put(bank, PLAN, '"2"')["diff"]


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


def test_diff_says_which_jobs_are_in_the_way_and_goes_on_without_them(bank: Bank) -> None:
    mine = bank.submit(count=4)["job"]
    bank.hub.wait_started(4)
    waits = bank.submit(consumer="/Trading/FX", after=[{"job": mine, "on": "ok"}])["job"]
    bank.submit(consumer="/Trading/Risk", count=3)
    alone = PLAN.replace(", Research: {}", "")
    found = bank.post("/plan/diff", {"text": alone})
    (fault,) = found["in_the_way"]
    assert (fault["code"], f"has jobs that have not ended: `{mine}`" in fault["what"]) == ("consumer-in-use", True)
    changed = found["resource_groups"]["compute"]["consumers"]
    assert changed["/Research"]["quota"] == [1, 0]
    (span,) = found["over_time"]["spans"]
    assert span["consumers"] == {"compute": {"/Research": {"slots": [1, 0]}}}
    said = diff_text(found)
    assert (
        f"These prevent the plan from being applied; the numbers below count them as cancelled:\n- {fault['what']}\n"
        in said
    )
    assert bank.get(f"/jobs/{mine}")["state"] == "running"
    assert bank.get(f"/jobs/{waits}")["state"] == "blocked"
    assert put(bank, alone, status=409)["code"] == "consumer-in-use"
    assert put(bank, alone, status=409, query="?dry_run=1")["code"] == "consumer-in-use"
    without_group = PLAN.replace("compute", "other")
    said = bank.post("/plan/diff", {"text": without_group})["in_the_way"][0]["what"]
    assert "no longer has the resource group `compute`" in said
    assert "in_the_way" not in bank.post("/plan/diff", {"text": MORE})


def test_diff_looks_at_the_coming_windows(bank: Bank) -> None:
    """Research owns everything in the mornings: what one cycle takes back, each switch shows before it comes."""
    bank.submit(consumer="/Trading/Risk", count=4)
    bank.hub.wait_started(4)
    bank.submit(count=4)
    assert "windows" not in bank.post("/plan/diff", {"text": MORE})
    by_day = PLAN.replace("hybrid", "hybrid\n    window: Mon-Sun 00:00-12:00").replace("/Trading", "/Research")
    by_day = by_day.replace("owned: 2", "owned: 4")
    night = PLAN.split("policies:\n")[1].replace("owned: 2", "owned: 4")
    found = bank.post("/plan/diff", {"text": by_day + night, "next": "2d"})
    rows = bank.post("/plan/check", {"text": by_day + night})["balances"]
    assert {(each["consumer"], each["entry"]) for each in rows} == {
        ("/", 0),
        ("/Trading", 0),
        ("/", 1),
        ("/Trading", 1),
    }
    assert len(found["windows"]) == 4
    for each in found["windows"]:
        assert [row["units"] for row in each["reclaims"]["added"]] == [4]
        assert each["resource_groups"]["compute"]["consumers"]["/Trading"]["owned"] in ([2, 0], [2, 4])
    dry = put(bank, by_day + night, query="?dry_run=1", next="12h")
    assert [each["now"] for each in dry["diff"]["windows"]] == [found["windows"][0]["now"]]
    assert len(put(bank, by_day + night)["diff"]["windows"]) == 14
    assert bank.post("/plan/diff", {"text": PLAN, "next": 0}, 422)["code"] == "duration"


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


def during(span: object) -> dict[str, Any]:
    return {"for": span}


def until_plan(bank: Bank, version: int) -> Any:
    return bank.until("/plan", "version", version)


def test_a_plan_for_a_time_goes_by_itself(bank: Bank) -> None:
    span: dict[str, Any] = {"for": "250ms"}
    put(bank, MORE, **span)
    back = until_plan(bank, 3)
    assert (back["text"], back["author"], back["until"]) == (PLAN, "fairhold", None)
    assert back["comment"] == "plan 1 comes back"
    assert put(bank, MORE, '"3"', 422, **during(0))["code"] == "duration"


def test_a_plan_for_a_time_takes_moved_jobs_back(bank: Bank) -> None:
    job = bank.submit(hold=True)["job"]
    put(bank, RENAMED, was={"/Science": "/Research"}, **during("200ms"))
    assert bank.get(f"/jobs/{job}")["consumer"] == "/Science"
    until_plan(bank, 3)
    assert bank.get(f"/jobs/{job}")["consumer"] == "/Research"


def test_a_plan_for_a_time_goes_after_a_restart(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        job = bank.submit(hold=True)["job"]
        put(bank, RENAMED, was={"/Science": "/Research"}, **during("300ms"))
    with Bank(tmp_path / "state", plan="") as bank:
        assert until_plan(bank, 3)["text"] == PLAN
        assert bank.get(f"/jobs/{job}")["consumer"] == "/Research"


def test_plans_for_a_time_go_one_after_another(bank: Bank) -> None:
    put(bank, MORE, **during("600ms"))
    put(bank, RENAMED, '"2"', was={"/Science": "/Research"}, **during("150ms"))
    again = until_plan(bank, 4)
    assert (again["text"], again["until"]) == (MORE, bank.get("/plan/versions/2")["until"])
    assert until_plan(bank, 5)["text"] == PLAN


def test_a_plan_that_is_applied_for_good_ends_the_time(bank: Bank) -> None:
    put(bank, MORE, **during("200ms"))
    put(bank, PLAN + "# for good\n", '"2"')
    assert bank.desk.read(lambda core: (core.returns, core.version)).result(5) == ((), 3)


def test_only_so_many_plans_for_a_time_lie_on_one_another(bank: Bank) -> None:
    for version in range(1, 17):
        put(bank, PLAN + f"# {version}\n", f'"{version}"', **during("2h"))
    found = put(bank, MORE, '"17"', 429, **during("1h"))
    assert "`plans_for_a_time`" in found["detail"]


def test_a_plan_that_cannot_come_back_is_tried_again(bank: Bank) -> None:
    grown = PLAN.replace("Research: {}", "Research: {}, Science: {}")
    put(bank, grown, **during("200ms"))
    job = bank.submit(consumer="/Science", hold=True)["job"]
    bank.until("/jobs/1", "state", "held")
    while not bank.desk.read(lambda core: core.returns[0].at > core.now() + 30_000_000).result(5):
        time.sleep(0.01)
    assert bank.get("/plan")["version"] == 2
    bank.post(f"/jobs/{job}/cancel")

    def soon(core: Core) -> None:
        core.returns = (core.returns[0]._replace(at=core.now()),)

    bank.desk.write(soon).result(5)
    assert until_plan(bank, 3)["text"] == PLAN


@pytest.mark.parametrize(
    ("was", "code"),
    [
        ({"/Nowhere": "/Research"}, "unknown-consumer"),
        ({"/Science": "/Nowhere"}, "unknown-consumer"),
        ({"/Science": "/Research", "/Trading": "/Research"}, "duplicate-key"),
    ],
)
def test_where_a_consumer_was_has_to_be_true(bank: Bank, was: dict[str, str], code: str) -> None:
    for query in ("", "?dry_run=1"):
        assert put(bank, RENAMED, status=422, query=query, was=was)["code"] == code
    assert bank.post("/plan/diff", {"text": RENAMED, "was": was}, 422)["code"] == code
    assert bank.get("/plan")["version"] == 1


def test_a_branch_moves_with_all_jobs_below_it(bank: Bank) -> None:
    jobs = [bank.submit(consumer=path, hold=True)["job"] for path in ("/Trading/Risk", "/Trading/FX")]
    renamed = PLAN.replace("Trading", "Markets")
    assert put(bank, renamed, status=409)["code"] == "consumer-in-use"
    put(bank, renamed, was={"/Markets": "/Trading"})
    assert [bank.get(f"/jobs/{job}")["consumer"] for job in jobs] == ["/Markets/Risk", "/Markets/FX"]


def test_more_slots_are_used_at_once(bank: Bank) -> None:
    bank.submit(count=9)
    bank.hub.wait_started(4)
    put(bank, PLAN.replace("slots: 4", "slots: 7"))
    bank.hub.wait_started(7)


def test_a_plan_starts_nothing_in_a_service_that_stops(bank: Bank) -> None:
    bank.submit(count=9)
    bank.hub.wait_started(4)
    bank.desk.write(lambda core: core.wind_down(stop=False)).result(5)
    put(bank, PLAN.replace("slots: 4", "slots: 7"))
    assert bank.desk.read(lambda core: core.orchestrator.is_closing).result(5)


def test_there_is_nothing_before_the_first_version_to_revert_to(bank: Bank) -> None:
    for query in ("", "?dry_run=1"):
        fault = bank.post(f"/plan/revert{query}", {}, 404, headers={"If-Match": '"1"'})
        assert fault["code"] == "unknown-plan"
        assert "version 1 is in force, and there is no version before it" in str(fault)
        assert "fairhold plan apply FILE" in str(fault)


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
