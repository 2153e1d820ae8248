"""`share_ratio`, rule by rule: the vectors of the public documents, and what each statement of seed 3 asks for."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from fairhold.cycle.diff import diff
from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

NOW = "2026-01-05T09:00:00Z"
SQUARE: dict[str, Any] = {"A": {"consumers": {"A1": {}, "A2": {}}}, "B": {"consumers": {"B1": {}, "B2": {}}}}
"""Two branches of two leaves, all ratios 1."""
Json = dict[str, Any]


def cluster(
    slots: int,
    consumers: Json,
    settings: Json,
    demand: dict[str, int],
    held: dict[str, int] | None = None,
    **switches: str,
) -> tuple[Any, Any]:
    entry = {"resource_groups": ["g"], "policy": "share_ratio", "settings": switches, "consumers": settings}
    plan = {"fairhold": 1, "resource_groups": {"g": {"slots": slots}}, "consumers": consumers, "policies": [entry]}
    state: Json = {"fairhold_state": 1, "now": NOW, "demand": {path: {"g": units} for path, units in demand.items()}}
    state["allocated"] = {path: {"g": units} for path, units in (held or {}).items()}
    read = parse_plan(json.dumps(plan), "plan.json")[0]
    return read, parse_state(json.dumps(state), read, "state.json")


def quota(*given: Any, **switches: Any) -> dict[str, int]:
    table = quota_document(*cluster(*given, **switches))["resource_groups"]["g"]["consumers"]
    return {path: row["quota"] for path, row in table.items() if path != "/"}


def reclaimed(*given: Any, **switches: Any) -> dict[str, int]:
    plan, state = cluster(*given, **switches)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    units: dict[str, int] = {}
    for row in cycle.document["reclaims"]:
        units[row["consumer"]] = units.get(row["consumer"], 0) + row["units"]
    return units


THREE: Json = {"A": {}, "B": {}, "C": {}}


def test_t1_shares_are_divided_among_those_with_demand_s3_1_s3_4() -> None:
    ratios = {"/A": {"share_ratio": 1}, "/B": {"share_ratio": 2}, "/C": {"share_ratio": 3}}
    assert quota(18, THREE, ratios, {"/A": 40}) == {"/A": 18, "/B": 0, "/C": 0}
    assert quota(18, THREE, ratios, {"/A": 40, "/B": 40}) == {"/A": 6, "/B": 12, "/C": 0}


def test_t2_what_one_misses_is_taken_from_both_that_have_more() -> None:
    demand, held = {"/A": 10, "/B": 10, "/C": 2}, {"/A": 9, "/B": 9}
    assert reclaimed(18, THREE, {}, demand, held) == {"/A": 1, "/B": 1}


def test_t3_it_is_taken_from_the_one_that_has_most_above_its_share() -> None:
    assert reclaimed(12, THREE, {}, {"/A": 20, "/B": 11, "/C": 1}, {"/A": 7, "/B": 5}) == {"/A": 1}


def test_t4_what_a_sibling_leaves_goes_to_its_sibling_s3_11() -> None:
    tree: Json = {"A": {}, "B": {"consumers": {"B1": {}, "B2": {}}}}
    ratios = {"/B": {"share_ratio": 4}, "/B/B1": {"share_ratio": 25}, "/B/B2": {"share_ratio": 75}}
    modes = {"enforce": "parent", "entitlement": "workload"}
    assert quota(100, tree, ratios, {"/A": 300}, **modes)["/A"] == 100
    assert reclaimed(100, tree, ratios, {"/A": 300, "/B/B1": 500}, {"/A": 100}, **modes) == {"/A": 80}
    both = quota(100, tree, ratios, {"/A": 300, "/B/B1": 500, "/B/B2": 500}, **modes)
    assert (both["/B/B1"], both["/B/B2"]) == (20, 60)


def test_t5_a_single_slot_belongs_to_the_first() -> None:
    demand = {"/A": 1, "/B": 1, "/C": 1}
    assert quota(1, THREE, {}, demand) == {"/A": 1, "/B": 0, "/C": 0}
    ranked = {"/B": {"rank": 1}, "/C": {"rank": 1}}
    assert reclaimed(1, THREE, ranked, demand, {"/C": 1}) == {"/C": 1}


def test_r_share_1_the_weight_of_a_leaf_is_the_product_of_its_fractions_s3_5() -> None:
    everybody = dict.fromkeys(("/A/A1", "/A/A2", "/B/B1", "/B/B2"), 99)
    got = quota(12, SQUARE, {"/B": {"share_ratio": 2}}, everybody)
    assert [got[leaf] for leaf in everybody] == [2, 2, 4, 4]
    assert [quota(12, SQUARE, {}, everybody)[leaf] for leaf in everybody] == [3, 3, 3, 3]


@pytest.mark.parametrize("enforce", ["leaf", "parent"])
def test_r_share_2_ratio_0_takes_no_part(enforce: str) -> None:
    given = (12, SQUARE, {"/B": {"share_ratio": 0}}, {"/A/A1": 9, "/B/B1": 9}, {"/B/B1": 7})
    assert quota(*given, enforce=enforce) == {"/A": 9, "/A/A1": 9, "/A/A2": 0, "/B": 0, "/B/B1": 0, "/B/B2": 0}
    # A1 is granted the 5 idle slots and takes back the other 4 of its 9.
    assert reclaimed(*given, enforce=enforce, entitlement="workload") == {"/B/B1": 4}


def test_r_share_3_what_a_limit_cuts_off_is_planned_for_the_others_s3_3() -> None:
    tree: Json = {"A": {}, "B": {}, "C": {}}
    ratios = {"/A": {"limit": 9}, "/B": {"share_ratio": 2}, "/C": {"limit": 20}}
    table = quota_document(*cluster(40, tree, ratios, {}))["resource_groups"]["g"]["consumers"]
    assert {path: row["planned"] for path, row in table.items()} == {"/": "40", "/A": "9", "/B": "62/3", "/C": "31/3"}


def test_r_share_5_leaf_and_parent_level_s3_2_s3_6_s3_10_s3_11() -> None:
    demand = {"/A/A2": 9, "/B/B1": 9, "/B/B2": 9}
    leaf, parent = quota(12, SQUARE, {}, demand), quota(12, SQUARE, {}, demand, enforce="parent")
    assert [leaf[path] for path in demand] == [4, 4, 4]
    assert [parent[path] for path in demand] == [6, 3, 3]


def test_r_share_4_a_limit_on_a_branch_freezes_its_leaves() -> None:
    demand = {"/A/A1": 1, "/A/A2": 20, "/B/B1": 20, "/B/B2": 20}
    got = quota(20, SQUARE, {"/A": {"limit": 4}}, demand)
    assert got == {"/A": 4, "/A/A1": 1, "/A/A2": 3, "/B": 16, "/B/B1": 8, "/B/B2": 8}


def test_r_share_6_a_leaf_takes_back_its_planned_share_or_more_s3_7_s3_8_s3_9() -> None:
    demand, held = {"/A/A1": 5, "/A/A2": 8, "/B/B1": 9}, {"/A/A1": 1, "/A/A2": 5, "/B/B1": 6}
    assert sum(reclaimed(12, SQUARE, {}, demand, held).values()) == 2
    assert reclaimed(12, SQUARE, {}, demand, held, entitlement="workload") == {"/A/A2": 1, "/B/B1": 2}


def test_r_share_7_what_fixed_shares_leave_goes_out_branch_by_branch_first() -> None:
    demand, held = {"/A/A1": 9, "/B/B1": 9}, {"/A/A1": 3, "/B/B1": 3}
    plan, state = cluster(12, SQUARE, {"/B": {"rank": 1}}, demand, held, entitlement="fixed", enforce="parent")
    document = run_cycle(plan, state, check=True).document
    assert [(row["consumer"], row["units"]) for row in document["grants"]] == [("/A/A1", 3), ("/B/B1", 3)]
    plan, state = cluster(12, SQUARE, {"/B": {"rank": 1}}, demand, held, entitlement="fixed")
    document = run_cycle(plan, state, check=True).document
    assert [(row["consumer"], row["units"]) for row in document["grants"]] == [("/A/A1", 6)]


@pytest.mark.parametrize(("size", "granted"), [(2, [(1, 2)]), (3, [(1, 3)])])
def test_a_gang_keeps_others_from_what_would_be_taken_back_at_once_if_it_can_ever_start(
    size: int, granted: list[tuple[int, int]]
) -> None:
    """Of 4 slots 3 are up, and planned are 2 and 2: a gang of 2 waits for its second slot, one of 3 for none."""
    plan, _ = cluster(4, {"A": {}, "B": {}}, {}, {}, entitlement="fixed")
    rows = [
        {"id": "gang", "consumer": "/A", "count": size, "min_count": size},
        {"id": "loose", "consumer": "/B", "count": 9},
        {"id": "runs", "consumer": "/A", "count": 1},
    ]
    held = [{"request": "runs", "units": 1, "started": NOW}]
    state = parse_state(
        json.dumps({"fairhold_state": 1, "now": NOW, "requests": rows, "allocations": held}), plan, "state.json"
    )
    result = run(open_books(plan, state)["g"], state.now)
    assert check(result) == ()
    assert [(grant.request, grant.units) for grant in result.decision.grants] == granted


def test_r_share_8_planned_shares_are_served_first() -> None:
    demand, held = {"/A": 9, "/B": 9}, {"/A": 6, "/B": 5}
    for entitlement, first in (("planned", "/B"), ("workload", "/A")):
        settings = {"/A": {"rank": 0}, "/B": {"rank": 1}, "/C": {"rank": 2}}
        plan, state = cluster(18, THREE, settings, demand, held | {"/C": 6}, entitlement=entitlement)
        (grant,) = run_cycle(plan, state).document["grants"]
        assert (grant["consumer"], grant["units"]) == (first, 1)


def test_r_share_9_a_leaf_takes_from_any_leaf_above_its_quota_s3_8_s3_9() -> None:
    demand, held = {"/A/A1": 3, "/A/A2": 3, "/B/B1": 9}, {"/A/A2": 3, "/B/B1": 9}
    assert reclaimed(12, SQUARE, {}, demand, held) == {"/B/B1": 3}


def test_r_share_10_a_branch_gives_only_its_surplus_s3_12_s3_13_s3_14_s3_15() -> None:
    demand, held = {"/A/A1": 3, "/A/A2": 9, "/B/B1": 6, "/B/B2": 1}, {"/A/A2": 6, "/B/B1": 6}
    assert reclaimed(12, SQUARE, {}, demand, held, enforce="parent") == {"/A/A2": 3, "/B/B1": 1}


def test_explain_names_what_holds_a_share() -> None:
    demand = {"/A/A1": 1, "/A/A2": 20, "/B/B1": 20, "/B/B2": 20}
    plan, state = cluster(20, SQUARE, {"/A": {"limit": 4}, "/B/B2": {"share_ratio": 0}}, demand)
    result = run(open_books(plan, state)["g"], state.now)
    bounds = {}
    for path in demand:
        mine = explain(plan, result, path, what_if=False).levels[-1]
        bounds[path] = next(row for row in mine.siblings if row.path == path).bound
    assert bounds == {
        "/A/A1": Bound.DEMAND,
        "/A/A2": Bound.LIMIT_ABOVE,
        "/B/B1": Bound.SHARE,
        "/B/B2": Bound.NO_PART,
    }
    top = explain(plan, result, "/B", what_if=False).levels[0]
    assert (top.phase, top.water) == ("leaves", Fraction(32))


@pytest.mark.parametrize("enforce", ["leaf", "parent"])
@pytest.mark.parametrize("path", ["/A", "/A/A1", "/A/A2", "/B/B1", "/B/B2"])
def test_one_slot_more_is_true_when_tried(enforce: str, path: str) -> None:
    demand = {"/A/A1": 1, "/A/A2": 20, "/B/B1": 20, "/B/B2": 20}
    settings: Json = {"/A": {"limit": 4}, "/B/B2": {"share_ratio": 0}, "/B/B1": {}}
    plan, state = cluster(20, SQUARE, settings, demand, enforce=enforce)
    found = explain(plan, run(open_books(plan, state)["g"], state.now), path).counterfactual
    assert found is not None
    slots = 20
    for change in found.changes:
        if change.what == "demand":
            demand = demand | {change.consumer: change.new}
        elif change.what == "slots":
            slots = change.new
        else:
            settings = settings | {change.consumer: settings.get(change.consumer, {}) | {change.what: change.new}}
    before = quota_document(plan, state)["resource_groups"]["g"]["consumers"][path]["quota"]
    after = quota(slots, SQUARE, settings, demand, enforce=enforce)[path]
    assert after == found.quota > before


def test_a_diff_shows_ratios_and_planned_shares() -> None:
    demand = {"/A": 9, "/B": 9, "/C": 9}
    plan, state = cluster(18, THREE, {}, demand, {"/A": 6, "/B": 6, "/C": 6})
    heavier, _ = cluster(18, THREE, {"/A": {"share_ratio": 4}}, demand)
    found = diff(run_cycle(plan, state), run_cycle(heavier, state))
    mine = found["resource_groups"]["g"]["consumers"]["/A"]
    assert (mine["share_ratio"], mine["planned"], mine["quota"]) == ([1, 4], ["6", "12"], [6, 9])
    assert sum(row["units"] for row in found["reclaims"]["added"]) == 3


def test_ratios_down_a_deep_path_are_exact() -> None:
    path = ""
    settings: Json = {}
    consumers: Json = {}
    for level in range(300):
        consumers[f"{path}/side"] = {}
        path = f"{path}/x"
        settings[path] = {"share_ratio": 10**12 - level}
        consumers[path] = {}
    plan, state = cluster(9, consumers, settings, {path: 20, "/side": 1})
    result = run(open_books(plan, state)["g"], state.now)
    table = quota_document(plan, state)["resource_groups"]["g"]["consumers"]
    assert (table[path]["quota"], table["/side"]["quota"]) == (8, 1)
    assert result.draft.exact(result.snapshot.rows.by_path[path]) < 9
