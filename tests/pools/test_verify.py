"""`verify` of pools: right results have no fault, changed ones have (ADR 0006)."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from tests.cycle.test_verify_mutations import SHORT, all_and_some, assert_are_found, mutations
from tests.pools.small import inputs as small
from tests.pools.small import of, on, own
from tests.pools.test_cases import LENDING, QUOTAS, inputs, of_all

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]


def cycle_of(plan: Plan, state: State) -> Json:
    """What `fairhold cycle --json` prints."""
    cycle = run_cycle(plan, state)
    document: Json = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    return document


def quota_of(plan: Plan, state: State) -> Json:
    document: Json = json.loads(json.dumps(quota_document(plan, state)))
    return document


@of_all
def test_worked_cases_have_no_fault(case: Json) -> None:
    plan, state = inputs(case)
    assert verify(plan, state, quota_of(plan, state)) == ()
    assert verify(plan, state, cycle_of(plan, state)) == ()


@all_and_some(QUOTAS[:40:8] + LENDING[::9])
def test_changed_quotas_are_found(case: Json, step: int, first: int) -> None:
    plan, state = inputs(case)
    assert_are_found(plan, state, quota_of(plan, state), step, first)


@all_and_some(LENDING[::3])
def test_changed_cycles_are_found(case: Json, step: int, first: int) -> None:
    plan, state = inputs(case)
    result = cycle_of(plan, state)
    assert verify(plan, state, result) == ()
    tried = [made for at, made in enumerate(mutations(result)) if at % (step * SHORT) == first]
    assert [name for name, made in tried if not verify(plan, state, made())] == []


def busy() -> tuple[Plan, State]:
    """A leaf that is back takes its host from two who borrow, beside a third who waits and a private pool."""
    return small(
        {
            "/M": own(hosts=["h0", "h1"]),
            "/M/x": {"own": [{"resource_group": "all", "hosts": ["h0"], "lend_grace": "20s"}], "reclaim_grace": "5s"},
            "/M/y": {"reclaim_grace": "5s"},
            "/V": {"reclaim_grace": "10s", "share_ratio": 2},
            "/W": {},
        },
        [of("/M/x", 3), of("/M/y", 4), of("/V", 9), of("/W", 4, name="w1")],
        [on("h0", "V", 4, x=0) | {"lenders": {"/M/x": 4}}, on("h1", "y", 4, "/M"), on("h2", "V", 3)],
        hosts={"h0": 4, "h1": 4, "h2": 4},
    )


def rules(plan: Plan, state: State, result: Json) -> set[str]:
    return {each.rule for each in verify(plan, state, result)}


def test_a_busy_cycle_has_grants_and_notices_and_no_fault() -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    assert result["grants"]
    assert result["reclaims"]
    assert verify(plan, state, result) == ()


def test_a_raised_quota_breaks_its_rule() -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    result["pools"]["/"]["consumers"]["/V"]["usage_quota"] = "7/8"
    found = verify(plan, state, result)
    assert (found[0].rule, found[0].where, found[0].said) == ("R-USAGE-3", "pools / /V usage_quota", "7/8")
    assert len(found) > 1  # the conditions tell that it is more than is wanted, or than there is


@pytest.mark.parametrize("key", ["usage_quota", "usage_demand"])
def test_a_number_that_is_none_is_told_as_such(key: str) -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    result["pools"]["/"]["consumers"]["/V"][key] = "1/0"
    assert verify(plan, state, result)[-1].text == "cannot be read"


@pytest.mark.parametrize(
    ("asks", "rows", "where"),
    [
        ({"hosts": 1}, {"h0": 4, "h1": 4}, "ownership /A all"),
        ({"hosts": "50%"}, {"h0": 4, "h1": 4}, "ownership /A all"),
        ({"hosts": ["h0"]}, {"h0": 4, "h1": 4}, "ownership /A all"),
        ({"total": {"cpu": 5}}, {"h0": 4, "h1": 2}, "ownership /A all cpu"),
    ],
)
def test_r_adjust_2_more_than_the_target_is_found_s2_25(asks: Json, rows: dict[str, int], where: str) -> None:
    plan, state = small({"/A": own(**asks), "/B": {}}, [of("/B", 1)])
    result = cycle_of(plan, state)
    assert verify(plan, state, result) == ()
    result["ownership"] = [{"host": name, "consumer": "/A", "amounts": {"cpu": has}} for name, has in rows.items()]
    found = {each.where: each.text for each in verify(plan, state, result) if each.rule == "R-ADJUST-2"}
    assert found[where].startswith("owns too m")


def test_a_grant_on_another_host_is_found_though_the_state_agrees() -> None:
    plan, state = small({"/A": {}, "/B": {}}, [of("/A", 1), of("/B", 1)])
    result = cycle_of(plan, state)
    assert result["grants"][0]["host"] == "h0"
    result["grants"][0]["host"] = result["state"]["allocations"][0]["host"] = "h1"
    assert rules(plan, state, result) == {"R-TURN-1", "R-SWEEP-1"}


def test_grants_in_another_order_are_found() -> None:
    plan, state = small({"/A": {}, "/B": {}}, [of("/A", 1), of("/B", 1)])
    result = cycle_of(plan, state)
    result["grants"].reverse()
    found = verify(plan, state, result)
    assert [(each.rule, each.where) for each in found] == [("R-TURN-1", "grants 1")]
    assert "order" in found[0].text


@pytest.mark.parametrize(("seconds", "broken"), [(9, {"R-LEND-6"}), (11, {"R-LEND-6"})])
def test_another_deadline_is_found_though_the_state_agrees(seconds: int, broken: set[str]) -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    at = next(at for at, row in enumerate(result["reclaims"]) if row["request"] == "V")
    deadline = f"2026-01-05T09:00:{seconds:02}Z"
    result["reclaims"][at]["deadline"] = result["state"]["reclaims"][at]["deadline"] = deadline
    found = verify(plan, state, result)
    assert {each.rule for each in found} == broken
    assert any("grace" in each.text for each in found) == (seconds == 11)


def test_a_dropped_notice_is_found_though_the_state_agrees() -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    del result["reclaims"][0], result["state"]["reclaims"][0]
    found = verify(plan, state, result)
    assert [(each.rule, each.text) for each in found] == [
        ("R-TAKE-3", "is missing"),
        ("R-NOTICE-2", "is missing"),
    ]


def test_a_moved_parcel_is_found_though_the_state_agrees() -> None:
    plan, state = small({"/A": own(hosts=1), "/B": {}}, [of("/A", 1), of("/B", 1)])
    result = cycle_of(plan, state)
    for rows in (result["ownership"], result["state"]["ownership"]):
        rows[0]["host"] = "h1"
    assert "R-ADJUST-3" in rules(plan, state, result)


def test_what_is_bad_about_a_difference_is_told() -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    result["state"]["allocations"][0]["units"] += 3
    result["ownership"][0]["amounts"]["cpu"] = 5
    texts = {each.text for each in verify(plan, state, result)}
    assert {"units come from nowhere or are lost", "more is owned than the host has"} <= texts


@pytest.mark.parametrize("wrong", [None, [], {}, "x", 7, [[]], {"/": None}, {"/": {"consumers": 1}}])
@pytest.mark.parametrize("key", ["pools", "ownership", "refused", "grants", "reclaims", "state"])
def test_a_part_that_is_not_of_the_agreed_form_is_found(key: str, wrong: Any) -> None:
    plan, state = busy()
    result = cycle_of(plan, state)
    changed = copy.deepcopy(result) | {key: wrong}
    assert changed == result or verify(plan, state, changed) != ()


def test_slots_and_vectors_of_one_plan_are_both_checked() -> None:
    document = {
        "fairhold": 1,
        "resources": {"cpu": {}},
        "resource_groups": {"many": {"slots": 10}, "all": {"hosts": [{"name": "h0", "cpu": 4}]}},
        "consumers": {"/A": {}, "/B": {}},
        "policies": [
            {"resource_groups": ["many"], "policy": "hybrid", "consumers": {"/A": {"owned": 4}, "/B": {"owned": 6}}},
            {"resource_groups": ["all"], "policy": "multidimensional"},
        ],
    }
    plan = parse_plan(json.dumps(document), "plan.json")[0]
    asked = [{"id": "s", "consumer": "/A", "resource_group": "many", "count": 3}, of("/B", 2, name="v")]
    text = json.dumps({"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": asked})
    state = parse_state(text, plan, "state.json")
    result = cycle_of(plan, state)
    assert {row["request"] for row in result["grants"]} == {"s", "v"}
    assert verify(plan, state, result) == ()
    for row in result["grants"]:
        row["units"] += 1
    assert {"R-GRANT-3", "R-TURN-1"} <= rules(plan, state, result)


@pytest.mark.parametrize("place", ["", "spread", "pack"])
def test_r_site_5_hosts_that_will_do_are_known_to_verify(place: str) -> None:
    hosts = {
        f"h{at}": {"cpu": 4, "labels": {"zone": "ab"[at % 2]} | ({"ssd": "x"} if at > 1 else {})} for at in range(4)
    }
    said: Json = {"need": ["zone=b"], "prefer": ["ssd"]} | ({"place": place} if place else {})
    wants = [of("/A", 6, min_count=3, **said), of("/B", 9, name="b", avoid=["ssd"]), of("/C", 3, need=["gpus"])]
    held = [on("h1", "b", 4), on("h3", "b", 3), on("h0", "b", 1)]
    for stands in ([], held):
        plan, state = small({"/A": {"share_priority": 1}, "/B": {}, "/C": {}}, wants, stands, hosts=hosts)
        result = cycle_of(plan, state)
        assert verify(plan, state, result) == ()
        assert verify(plan, state, quota_of(plan, state)) == ()
        assert result["grants"] + result["reclaims"] != []


def test_r_site_3_what_a_gang_gives_back_is_there_for_others_in_verify() -> None:
    """A gang that packs finds room for one unit of two; then a unit of the same size, of another leaf, goes there."""
    wants = [of("/A", 1, 2, name="a"), of("/A", 2, name="gang", min_count=2, place="pack"), of("/B", 1)]
    plan, state = small({"/A": {"share_priority": 1}, "/B": {}}, wants, hosts={"h0": 3})
    result = cycle_of(plan, state)
    assert [row["request"] for row in result["grants"]] == ["a", "B"]
    assert verify(plan, state, result) == ()
