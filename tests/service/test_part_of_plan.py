"""Plan editors of a part change what is below it, in every way in which a plan comes into force, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.service.people import Staff, access_text
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path

WITHIN = PLAN.replace("FX: {}", "FX: {rank: 1}")
BEYOND = PLAN.replace("{owned: 2}", "{owned: 3}")
BUDGET = "\n      /Trading/FX: {budget: {unit_hours: 5, period: day}}\n"


@pytest.fixture
def staff(bank: Bank) -> Staff:
    return Staff(bank, access_text())


def put(staff: Staff, text: str, status: int = 200, query: str = "", **more: Any) -> Any:
    seen = {"If-Match": f'"{staff.bank.core.version}"'}
    return staff.ask(
        "dan",
        "PUT",
        f"/plan{query}",
        status,
        json={"text": text} | {name.rstrip("_"): value for name, value in more.items()},
        headers=seen,
    )


def test_what_is_below_comes_into_force_with_his_name(staff: Staff) -> None:
    assert put(staff, WITHIN)["version"] == 2
    assert staff.get("dan", "/plan")["author"] == "dan"
    (record,) = staff.get("ada", "/audit?action=apply")["records"]
    assert (record["user"], record["target"], record["outcome"]) == ("dan", "plan 2", "done")


@pytest.mark.parametrize("query", ["", "?dry_run=1"])
def test_what_is_beyond_is_refused_with_its_place(staff: Staff, query: str) -> None:
    refused = put(staff, BEYOND, 403, query)
    assert refused["code"] == "not-allowed"
    assert "policies[0].consumers./Trading.owned" in refused["detail"]
    assert staff.bank.core.version == 1


def test_one_who_does_not_see_all_compares_no_plan_beyond_his_part(staff: Staff) -> None:
    staff.bank.submit(consumer="/Research", hold=True, user="mallory")
    staff.post("dan", "/plan/diff", {"text": WITHIN})
    refused = staff.post("dan", "/plan/diff", {"text": PLAN.replace(", Research: {}", "")}, 403)
    assert "mallory" not in refused["detail"]
    assert staff.post("ada", "/plan/diff", {"text": PLAN.replace(", Research: {}", "")})["in_the_way"]


def test_a_budget_below_may_be_set_and_a_window_may_not(staff: Staff) -> None:
    assert put(staff, PLAN.rstrip() + BUDGET)["version"] == 2
    windowed = PLAN.replace("policy: hybrid", 'policy: hybrid\n    window: "Mon-Sun 00:00-24:00"')
    assert "window" in put(staff, windowed, 403)["detail"]


def test_a_plan_for_a_time_is_within_too(staff: Staff) -> None:
    assert put(staff, WITHIN, for_="1h")["version"] == 2
    assert put(staff, BEYOND, 403, for_="1h")["code"] == "not-allowed"


def test_going_back_is_a_change_like_any_other(staff: Staff) -> None:
    put(staff, WITHIN)
    back = {"If-Match": '"2"'}
    assert staff.ask("dan", "POST", "/plan/revert?dry_run=1", json={}, headers=back)["version"] == 2
    assert staff.ask("dan", "POST", "/plan/revert", json={}, headers=back)["version"] == 3
    staff.ask("ada", "PUT", "/plan", json={"text": BEYOND}, headers={"If-Match": '"3"'})
    for query in ("", "?dry_run=1"):
        refused = staff.ask("dan", "POST", f"/plan/revert{query}", 403, json={}, headers={"If-Match": '"4"'})
        assert refused["code"] == "not-allowed"


def test_a_consumer_is_not_moved_out_of_the_part(staff: Staff) -> None:
    out = PLAN.replace("FX: {}", "").replace("Research: {}", "Research: {}, FX: {}")
    assert put(staff, out, 403, was={"/FX": "/Trading/FX"})["code"] == "not-allowed"


def test_who_holds_the_role_at_the_root_changes_everything(staff: Staff) -> None:
    staff.ask("ada", "PUT", "/plan", json={"text": BEYOND}, headers={"If-Match": '"1"'})
    assert staff.bank.core.version == 2


def test_what_is_in_the_way_of_others_is_not_told_to_who_goes_beyond(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        staff = Staff(bank, access_text())
        job = bank.submit(consumer="/Research", hold=True, user="mallory")["job"]
        refused = put(staff, PLAN.replace(", Research: {}", ""), 403)
        assert refused["code"] == "not-allowed"
        assert f"`{job}`" not in refused["detail"]
        assert "mallory" not in refused["detail"]
