"""The independent check agrees with the cycle where gangs that collect meet labels, user limits and packings."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from fairhold.cycle.document import Cycle, quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.gangs.crossed import crossed
from tests.properties.strategies import Case
from tests.reference.cases import told_cycle

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
LATER = 11 * 60 * SECOND


def verified(case: Case) -> Cycle:
    """One cycle whose result, and whose quotas alone, the check accepts."""
    quotas = json.loads(json.dumps(quota_document(case.plan, case.state)))
    assert verify(case.plan, case.state, quotas) == ()
    cycle = run_cycle(case.plan, case.state)
    document = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(document))) == ()
    return cycle


@FEWER
@given(crossed())
def test_every_cycle_is_verified(case: Case) -> None:
    after = verified(case).after
    later = state_document(case.plan, replace(after, now=after.now + LATER))
    verified(Case(case.plan_document, json.loads(json.dumps(later))))


def case_of(hosts: Json, owned: Json, requests: list[Json], *allocations: Json, **settings: Any) -> Case:
    """hosts: name → (slots, its labels); owned: leaf → what its entry states; settings: policy too."""
    entry = {
        "resource_groups": ["g"],
        "policy": settings.pop("policy", "ownership"),
        "settings": settings,
        "consumers": {f"/{name}": stated for name, stated in owned.items()},
    }
    found = [{"name": name, "slots": slots, "labels": labels} for name, (slots, labels) in hosts.items()]
    plan = {"fairhold": 1, "resource_groups": {"g": {"hosts": found}}, "consumers": {name: {} for name in owned}}
    state = {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": list(allocations)}
    return Case(plan | {"policies": [entry]}, state)


def request(name: str, count: int, least: int = 0, minute: int = 0, **more: Any) -> Json:
    submitted = f"2026-01-05T08:{minute:02d}:00Z"
    return {"id": name, "consumer": "/A", "count": count, "min_count": least, "submitted": submitted} | more


def granted(cycle: Cycle) -> dict[str, int]:
    units: Counter[str] = Counter()
    for row in cycle.document["grants"]:
        units[row["request"]] += row["units"]
    return dict(units)


def quota(cycle: Cycle) -> int:
    found: int = cycle.document["resource_groups"]["g"]["consumers"]["/A"]["quota"]
    return found


IN_A: Json = {"need": ["zone=a"]}
HOLD: Json = {"hold_after": "5m"}


@pytest.mark.parametrize(
    ("slots", "owned", "asked", "expected"),
    [
        (1, {"owned": 4}, request("g", 2, 1, **IN_A), {"g": 1}),
        (4, {"owned": 4, "user_limit": 4}, request("g", 5, 3, user="ann"), {"g": 4}),
    ],
)
def test_r_hold_1_an_overdue_gang_of_which_hosts_or_users_allow_a_part_starts(
    slots: int, owned: Json, asked: Json, expected: Json
) -> None:
    cycle = verified(case_of({"h": (slots, ["zone=a"])}, {"A": owned}, [asked], **HOLD))
    assert granted(cycle) == expected


def test_r_hold_1_an_overdue_gang_comes_before_what_its_user_asked_for_earlier() -> None:
    line = [request("g", 1, 1, minute=10, user="ann"), request("a", 2, user="ann")]
    cycle = verified(case_of({"h": (1, [])}, {"A": {"owned": 4, "user_limit": 2}}, line, **HOLD))
    assert granted(cycle) == {"g": 1}


def test_r_hold_1_a_gang_that_its_user_may_never_hold_collects_nothing() -> None:
    line = [request("g", 2, 2, user="ann"), request("a", 2)]
    cycle = verified(case_of({"h": (2, [])}, {"A": {"owned": 5, "user_limit": 1}}, line, **HOLD))
    assert (granted(cycle), cycle.after.held) == ({"a": 2}, ())


def test_r_user_1_what_is_kept_for_who_has_no_room_left_is_others() -> None:
    line = [request("late", 1, minute=10, priority=1, user="ann"), request("early", 1, priority=1, user="ann")]
    case = case_of({"h": (4, [])}, {"A": {"user_limit": 1}}, [*line, request("other", 1)], policy="hybrid")
    document = case.state_document | {"held": [{"request": "late", "host": "h", "units": 1}]}
    assert granted(verified(Case(case.plan_document, document))) == {"early": 1, "other": 1}


def test_r_hold_1_a_gang_that_no_host_can_take_collects_nothing() -> None:
    line = [request("g", 3, 3, need=["zone=b"]), request("p", 4, 4, place="pack"), request("a", 5)]
    cycle = verified(case_of({"h": (3, ["zone=a"]), "i": (2, [])}, {"A": {"owned": 5}}, line, **HOLD))
    assert (granted(cycle), cycle.after.held) == ({"a": 5}, ())


def test_r_gang_1_beside_what_a_gang_holds_others_use_the_rest() -> None:
    """The gang that runs is behind the other request, and 7 of 8 are not enough for its minimum."""
    line = [request("a", 7, priority=2, **IN_A), request("g", 3, 2, **IN_A)]
    runs = {"request": "g", "host": "h", "units": 2, "started": "2026-01-05T08:30:00Z"}
    hosts = {"h": (2, ["zone=a"]), "i": (6, ["zone=a"])}
    cycle = verified(case_of(hosts, {"A": {"owned": 8}}, line, runs))
    assert (quota(cycle), granted(cycle)) == (8, {"a": 6})


def test_r_gang_1_what_a_gang_below_its_minimum_holds_counts() -> None:
    """R-USER-1: ann may hold no more than her 5, of which at least 6 run together: they are hers all the same."""
    line = [request("g", 6, 6, user="ann"), request("a", 8)]
    runs = {"request": "g", "host": "h", "units": 5, "started": "2026-01-05T08:30:00Z"}
    cycle = verified(case_of({"h": (12, [])}, {"A": {"owned": 12, "user_limit": 1}}, line, runs, policy="hybrid"))
    assert (quota(cycle), granted(cycle)) == (12, {"a": 7})


def test_r_site_4_nothing_is_missed_where_whole_hosts_cannot_help() -> None:
    line = [request("a", 4, **IN_A), request("b", 8, consumer="/B")]
    runs = [{"request": "b", "host": host, "units": 4, "started": "2026-01-05T08:30:00Z"} for host in ("i", "h")]
    owned = {"A": {"owned": 4}, "B": {"owned": 4}}
    case = case_of({"h": (4, ["zone=a"]), "i": (4, [])}, owned, line, *runs, packing="exclusive", policy="hybrid")
    assert verified(case).document["reclaims"] == []


def test_an_instant_of_waiting_that_is_that_of_the_submit_need_not_be_repeated() -> None:
    case = case_of({"h": (4, [])}, {"A": {"owned": 4}}, [request("g", 2, 2, minute=10)])
    stated = json.loads(json.dumps(case.state_document))
    stated["requests"][0]["waiting_since"] = stated["requests"][0]["submitted"]
    again = Case(case.plan_document, stated)
    assert verify(again.plan, again.state, told_cycle(case.plan, case.state)) == ()


def test_r_gang_1_leaves_of_equal_need_may_have_unequal_fixed_shares() -> None:
    line = [request("g", 7, 7), request("b", 7, consumer="/B"), request("c", 1, consumer="/C")]
    shares: Json = {"A": {}, "B": {}, "C": {}}
    case = case_of({"h": (3, [])}, shares, line, policy="share_ratio", entitlement="fixed", enforce="parent")
    assert quota(verified(case)) == 0


@pytest.mark.parametrize("wrong", [[], [{"request": "g", "host": "i", "units": 2}]])
def test_r_hold_1_what_is_held_on_the_wrong_host_is_found_out(wrong: list[Json]) -> None:
    line = [request("g", 4, 4, **IN_A), request("a", 2, minute=1, **IN_A)]
    runs = {"request": "a", "host": "h", "units": 2, "started": "2026-01-05T08:30:00Z"}
    case = case_of({"h": (4, ["zone=a"]), "i": (2, [])}, {"A": {"owned": 6}}, line, runs, **HOLD)
    cycle = verified(case)
    assert [(each.host, each.units) for each in cycle.after.held] == [("h", 2)]
    state = state_document(case.plan, cycle.after)
    result = json.loads(json.dumps(cycle.document | {"state": state}))
    result["state"]["held"] = wrong
    assert {finding.rule for finding in verify(case.plan, case.state, result)} == {"R-ASIDE-1"}
