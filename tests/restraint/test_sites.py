"""Least run times beside limits and labels: who may be claimed of, and what a limit leaves kept (R-SITE-4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.packing.play import NOW, Json, one_cycle

OLD, YOUNG = "2026-01-05T08:00:00Z", "2026-01-05T08:59:00Z"
POLICIES = ("hybrid", "ownership", "share_ratio")


def plan_of(policy: str, hosts: dict[str, int], tree: Json, consumers: dict[str, Json], **settings: object) -> Json:
    """A plan whose hosts have zones named like them; what is owned is a ratio under `share_ratio`."""
    word = "share_ratio" if policy == "share_ratio" else "owned"
    stated: dict[str, Json] = {
        path: {word if key == "owned" else key: of[key] for key in of} for path, of in consumers.items()
    }
    inventory = [{"name": name, "slots": slots, "labels": {"zone": name}} for name, slots in hosts.items()]
    return {
        "fairhold": 1,
        "resource_groups": {"g": {"hosts": inventory}},
        "consumers": tree,
        "policies": [{"resource_groups": ["g"], "policy": policy, "settings": settings, "consumers": stated}],
    }


def state_of(*rows: tuple[str, int, Json, list[tuple[str, int, str]]]) -> Json:
    """Requests, each of a leaf: units wanted, what else it says, and what it holds: host, units, since when."""
    requests = [{"id": path[1:], "consumer": path, "count": count} | more for path, count, more, _ in rows]
    allocations = [
        {"request": path[1:], "host": host, "units": units, "started": started}
        for path, _, _, holds in rows
        for host, units, started in holds
    ]
    return {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": allocations}


def taken(document: Json, by: str) -> dict[str, int]:
    """Units under new notice by leaf, or by who they are for."""
    units: dict[str, int] = {}
    for row in document["reclaims"]:
        units[row[by]] = units.get(row[by], 0) + row["units"]
    return units


def again(plan: Json, document: Json) -> list[Any]:
    """What another cycle at the same instant moves."""
    second = one_cycle(plan, document["state"])
    return [*second["grants"], *second["reclaims"], *second["withdrawn"]]


@pytest.mark.parametrize("policy", POLICIES)
def test_units_that_a_limit_leaves_nobody_to_keep_can_be_claimed(policy: str) -> None:
    """R-SITE-4, R-RECLAIM-2: /B must give 5 of its 6, all of them young, and /B/B0 misses one in their zone: 6 go."""
    stated: dict[str, Json] = {"/B": {"owned": 1, "limit": 1}, "/B/B0": {"owned": 1}, "/B/B1": {"min_runtime": "100m"}}
    plan = plan_of(policy, {"a": 6}, {"B": {"consumers": {"B0": {}, "B1": {}}}}, stated)
    state = state_of(("/B/B0", 1, {"need": ["zone=a"]}, []), ("/B/B1", 6, {}, [("a", 6, YOUNG)]))
    document = one_cycle(plan, state)
    assert taken(document, "for") == {"/B/B0": 1, None: 5}
    assert again(plan, document) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_units_that_a_limit_takes_can_be_claimed(policy: str) -> None:
    """R-SITE-4: of /X 4 young ones go in any case, one of them for /A; so /Y gives one, not for /A, in this cycle."""
    stated: dict[str, Json] = {
        "/A": {"owned": 1},
        "/B": {"owned": 4},
        "/X": {"limit": 2, "min_runtime": "10m"},
        "/Y": {},
    }
    plan = plan_of(policy, {"a": 6, "b": 4}, {"A": {}, "B": {}, "X": {}, "Y": {}}, stated)
    state = state_of(
        *(("/A", 1, {"need": ["zone=a"]}, []), ("/B", 4, {}, [])),
        *(("/X", 9, {}, [("a", 6, YOUNG)]), ("/Y", 9, {}, [("b", 4, OLD)])),
    )
    document = one_cycle(plan, state)
    assert taken(document, "consumer") == {"/X": 4, "/Y": 1}
    assert taken(document, "for") == {"/A": 1, "/B": 4}
    assert again(plan, document) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_young_units_that_a_limit_does_not_want_are_not_claimed(policy: str) -> None:
    """R-SITE-4, R-CONTROL-5: the 2 old ones are enough for the limit of /B; /A misses 3, and takes these 2."""
    stated: dict[str, Json] = {
        "/A": {"owned": 3},
        "/B": {"owned": 3, "limit": 4},
        "/B/B1": {"owned": 3, "min_runtime": "10m"},
    }
    plan = plan_of(policy, {"a": 6}, {"A": {}, "B": {"consumers": {"B1": {}}}}, stated)
    held = [("a", 4, YOUNG), ("a", 2, OLD)]
    document = one_cycle(plan, state_of(("/A", 3, {"need": ["zone=a"]}, []), ("/B/B1", 6, {}, held)))
    assert taken(document, "for") == {"/A": 2}
    assert again(plan, document) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_old_units_elsewhere_are_not_taken_where_only_young_ones_help(policy: str) -> None:
    """R-SITE-4, R-CONTROL-5: /A waits until those of /B in its zone have run long enough; then these go."""
    stated: dict[str, Json] = {"/A": {"owned": 2}, "/B": {"owned": 2, "min_runtime": "10m"}}
    plan = plan_of(policy, {"a": 2, "b": 2}, {"A": {}, "B": {}}, stated)
    state = state_of(("/A", 2, {"need": ["zone=b"]}, []), ("/B", 9, {}, [("a", 2, OLD), ("b", 2, YOUNG)]))
    document = one_cycle(plan, state)
    assert document["reclaims"] == []
    document = one_cycle(plan, document["state"] | {"now": "2026-01-05T09:09:00Z"})
    assert [(row["host"], row["units"], row["for"]) for row in document["reclaims"]] == [("b", 2, "/A")]
    assert again(plan, document) == []


def test_a_gang_with_a_young_unit_is_not_claimed() -> None:
    """R-SITE-4, R-CONTROL-5: its old unit stands where /A could, and goes only with all of it."""
    stated: dict[str, Json] = {"/A": {"owned": 1}, "/B": {"owned": 3, "min_runtime": "10m"}}
    plan = plan_of("hybrid", {"a": 2, "b": 2}, {"A": {}, "B": {}}, stated)
    state = state_of(("/A", 1, {"need": ["zone=b"]}, []), ("/B", 9, {}, [("a", 1, OLD), ("b", 1, OLD)]))
    state["requests"].append({"id": "gang", "consumer": "/B", "count": 2, "min_count": 2})
    state["allocations"][1]["request"] = "gang"
    state["allocations"] += [
        {"request": "gang", "host": "a", "units": 1, "started": YOUNG},
        {"request": "B", "host": "b", "units": 1, "started": YOUNG},
    ]
    document = one_cycle(plan, state)
    assert document["reclaims"] == []
    document = one_cycle(plan, document["state"] | {"now": "2026-01-05T09:09:00Z"})
    assert taken(document, "consumer") == {"/B": 1}


@pytest.mark.parametrize("policy", ["hybrid", "share_ratio"])
def test_a_gang_that_stops_whole_leaves_others_what_they_keep(policy: str) -> None:
    """R-RECLAIM-2, R-VICTIM-1: with all 4 of it, and an old one of /P/C, /P is at its limit: the young ones stay."""
    tree: Json = {"P": {"consumers": {"A": {}, "B": {}, "C": {}}}}
    stated: dict[str, Json] = {"/P": {"owned": 3, "limit": 3, "min_runtime": "10m"}, "/P/B": {"owned": 1}}
    plan = plan_of(policy, {"a": 8}, tree, stated | {"/P/A": {"owned": 0}, "/P/C": {"owned": 0}})
    state = state_of(
        *(("/P/A", 3, {}, [("a", 3, YOUNG)]), ("/P/C", 1, {}, [("a", 1, OLD)])),
        ("/P/B", 4, {"min_count": 4}, [("a", 1, YOUNG), ("a", 3, OLD)]),
    )
    document = one_cycle(plan, state)
    assert taken(document, "consumer") == {"/P/B": 4, "/P/C": 1}
    assert again(plan, document) == []


def test_units_that_a_switch_takes_can_be_claimed() -> None:
    """R-SITE-4, R-SWITCH-1: /B gives its 4 young ones because it borrows now; /A counts on one, and /D gives 2."""
    own: dict[str, Json] = {"/A": {"owned": 1}, "/C": {"owned": 3}, "/D": {}}
    stated: dict[str, Json] = own | {"/B": {"min_runtime": "10m"}, "/C": {"owned": 5}}
    plan = plan_of("hybrid", {"a": 4, "b": 4}, {"A": {}, "B": {}, "C": {}, "D": {}}, stated)
    day = {"window": "Mon-Sun 09:00-10:00", **plan["policies"][0]}
    night = {"resource_groups": ["g"], "policy": "ownership", "consumers": {"/B": {"owned": 4}}}
    plan["policies"] = [night, night | {"policy": "hybrid", "consumers": own}, day]
    state = state_of(
        *(("/A", 1, {"need": ["zone=a"]}, []), ("/B", 4, {}, [("a", 4, YOUNG)])),
        *(("/C", 5, {}, []), ("/D", 4, {}, [("b", 4, OLD)])),
    )
    document = one_cycle(plan, state | {"previous_cycle": "2026-01-05T08:59:00Z"})
    assert taken(document, "consumer") == {"/B": 4, "/D": 2}
    assert again(plan, document) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_a_notice_stands_on_the_units_for_which_it_was_given(policy: str) -> None:
    """R-CONTROL-5, R-NOTICE-1: of two on one host the old one goes, though `victims` says the young one."""
    plan = plan_of(policy, {"a": 2}, {"A": {}, "B": {}}, {"/A": {"owned": 2}, "/B": {"min_runtime": "10m"}})
    state = state_of(("/A", 2, {}, []), ("/B", 2, {}, [("a", 1, YOUNG), ("a", 1, OLD)]))
    document = one_cycle(plan, state)
    assert taken(document, "consumer") == {"/B": 1}
    assert again(plan, document) == []
