"""Where units go: stacked, balanced, whole hosts (R-PLACE-1, R-PLACE-2, R-HOSTS-1, R-HOSTS-2)."""

from __future__ import annotations

import json

import pytest

from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.packing.play import NOW, Json, at_rest, held, later, one_cycle, plan_of, state_of

THREE = {"h1": 8, "h2": 8, "h3": 8}


@pytest.mark.parametrize(
    ("packing", "first", "second"),
    [
        ("stacked", {"h1": 5}, {"h1": 3, "h2": 3}),
        ("balanced", {"h1": 2, "h2": 2, "h3": 1}, {"h1": 2, "h2": 2, "h3": 2}),
        ("exclusive", {"h1": 5}, {"h2": 6}),
    ],
)
def test_three_hosts_of_eight(packing: str, first: dict[str, int], second: dict[str, int]) -> None:
    """R-PLACE-1, R-PLACE-2, R-HOSTS-1: A asks for 5 units, then B for 6."""
    plan = plan_of(packing, THREE, {"/A": 12, "/B": 12})
    assert held(at_rest(plan, state_of({"/A": 5, "/B": 6}, {}))) == {"A": first, "B": second}


def test_balanced_compares_parts_in_use() -> None:
    """R-PLACE-2: 1 of 2 is more in use than 3 of 8."""
    plan = plan_of("balanced", {"h1": 2, "h2": 8}, {"/A": 10})
    document = one_cycle(plan, state_of({"/A": 5}, {"/A": {"h1": 1, "h2": 3}}))
    assert held(document)["A"] == {"h1": 1, "h2": 4}


def test_blocked_slots_are_charged_to_nobody() -> None:
    """S1.82, R-HOSTS-1: A uses 4 of a host of 8: 20 of 24 slots are shared, and the other 4 are nobody's."""
    plan = plan_of("exclusive", THREE, {"/A": 12, "/B": 12})
    document = one_cycle(plan, state_of({"/A": 4, "/B": 30}, {"/A": {"h1": 4}}))
    group = document["resource_groups"]["g"]
    assert (group["slots"], group["blocked"], group["idle"]) == (24, 4, 4)
    assert (group["consumers"]["/A"]["quota"], group["consumers"]["/B"]["quota"]) == (4, 16)
    assert held(document)["B"] == {"h2": 8, "h3": 8}


def test_a_quota_that_fills_no_host_gives_way() -> None:
    """R-HOSTS-2: of 8 slots on two hosts A could use 5; with 3 for B only 4 are a whole host."""
    plan = plan_of("exclusive", {"h1": 4, "h2": 4}, {"/A": 4, "/B": 4})
    document = at_rest(plan, state_of({"/A": 8, "/B": 3}, {"/A": {"h1": 4, "h2": 4}}))
    assert held(document) == {"A": {"h1": 4}, "B": {"h2": 3}}


def test_hosts_become_empty_one_after_another() -> None:
    """R-HOSTS-2: of 3 and 2 units on two hosts the 2 go, whatever is younger."""
    plan = plan_of("exclusive", {"h1": 4, "h2": 4, "h3": 4}, {"/A": 3, "/B": 9})
    document = one_cycle(plan, state_of({"/A": 3, "/B": 9}, {"/A": {"h1": 2, "h2": 3}}))
    assert [(row["host"], row["units"]) for row in document["reclaims"]] == [("h1", 2)]


def test_what_is_spread_is_gathered() -> None:
    """R-HOSTS-1: A's next unit goes where it holds most, so that its other host becomes empty."""
    plan = plan_of("exclusive", {"h1": 4, "h2": 4}, {"/A": 4, "/B": 4})
    document = one_cycle(plan, state_of({"/A": 9, "/B": 4}, {"/A": {"h1": 1, "h2": 2}}))
    assert held(document)["A"] == {"h1": 1, "h2": 3}


def test_three_alike_share_ten_hosts() -> None:
    """R-HOSTS-2: 27 of 80 slots would be 3 hosts and 3 slots: the tenth host goes to the first."""
    hosts = {f"h{number}": 8 for number in range(10)}
    wants = {"/A": 99, "/B": 99, "/C": 99}
    plan = plan_of("exclusive", hosts, dict.fromkeys(wants, 20))
    alone = one_cycle(plan, state_of({"/A": 99}, {}))
    document = at_rest(plan, state_of(wants, {"/A": held(alone)["A"]}))
    assert {leaf: sum(there.values()) for leaf, there in held(document).items()} == {"A": 32, "B": 24, "C": 24}


@pytest.mark.parametrize("policy", ["ownership", "share_ratio"])
def test_whole_hosts_under_every_slot_policy(policy: str) -> None:
    """R-HOSTS-1: no host is shared, and all hosts are used."""
    plan = plan_of("exclusive", THREE, {"/A": 12, "/B": 12}, policy)
    document = at_rest(plan, state_of({"/A": 20, "/B": 20}, {"/A": THREE}))
    taken = held(document)
    assert not set(taken["A"]) & set(taken["B"])
    assert sum(sum(there.values()) for there in taken.values()) == 24


def sited(where: dict[str, str], wants: dict[str, int], holds: dict[str, dict[str, int]], **asked: object) -> Json:
    """One cycle on hosts of 4 in zones, where A, which owns 4, asks for something; B and C own nothing."""
    plan = plan_of("stacked", dict.fromkeys(where, 4), {"/A": 4, "/B": 0, "/C": 0})
    for host in plan["resource_groups"]["g"]["hosts"]:
        host["labels"] = {"zone": where[host["name"]]}
    state = state_of(wants, holds)
    state["requests"][0] |= asked
    return one_cycle(plan, state)


def test_units_are_taken_back_where_they_help() -> None:
    """R-SITE-4: A needs zone b; B gives there, though by `victims` its units on the last host would go first."""
    holds = {"/B": {"h2": 4, "h3": 4}, "/C": {"h1": 4}}
    document = sited({"h1": "a", "h2": "b", "h3": "a"}, {"/A": 2, "/B": 9, "/C": 4}, holds, need=["zone=b"])
    assert [(row["consumer"], row["host"], row["units"]) for row in document["reclaims"]] == [("/B", "h2", 2)]


def labelled(plan: Json) -> Json:
    """Each host in a zone of its own name."""
    hosts = [host | {"labels": {"zone": host["name"]}} for host in plan["resource_groups"]["g"]["hosts"]]
    return plan | {"resource_groups": {"g": {"hosts": hosts}}}


def where(document: Json) -> list[tuple[str, str, int]]:
    return [(row["request"], row["host"], row["units"]) for row in document["reclaims"]]


def test_each_is_given_units_on_its_own_hosts() -> None:
    """R-SITE-4: /A needs zone b and /C zone a; the youngest of /B are all in zone b."""
    plan = labelled(plan_of("stacked", {"a": 2, "b": 2}, {"/A": 1, "/C": 1, "/B": 2}))
    state = state_of({"/A": 1, "/C": 1, "/B": 9}, {"/B": {"a": 2, "b": 2}})
    state["requests"][0]["need"], state["requests"][1]["need"] = ["zone=b"], ["zone=a"]
    document = one_cycle(plan, state)
    assert sorted(where(document)) == [("B", "a", 1), ("B", "b", 1)]
    granted = at_rest(plan, later(document["state"]))
    assert {request: there for request, there in held(granted).items() if request != "B"} == {
        "A": {"b": 1},
        "C": {"a": 1},
    }


def test_a_gang_breaks_where_loose_units_elsewhere_do_not_help() -> None:
    """R-SITE-4, R-VICTIM-1: /A needs zone b, where /B has only its gang."""
    plan = labelled(plan_of("stacked", {"a": 2, "b": 2}, {"/A": 2, "/B": 2}))
    state = state_of({"/A": 2, "/B": 2}, {"/B": {"a": 2}})
    state["requests"][0]["need"] = ["zone=b"]
    state["requests"].append({"id": "gang", "consumer": "/B", "count": 2, "min_count": 2})
    state["allocations"].append({"request": "gang", "host": "b", "units": 2, "started": NOW})
    document = one_cycle(plan, state)
    assert where(document) == [("gang", "b", 2)]
    assert not one_cycle(plan, document["state"])["reclaims"]


def test_a_notice_elsewhere_gives_way_to_one_that_helps() -> None:
    """R-SITE-4, R-NOTICE-1: the unit in zone a was noticed for somebody who wants nothing any more."""
    plan = labelled(plan_of("stacked", {"a": 2, "b": 2}, {"/A": 1, "/B": 3}))
    state = state_of({"/A": 1, "/B": 9}, {"/B": {"a": 2, "b": 2}})
    state["requests"][0]["need"] = ["zone=b"]
    notice = {"request": "B", "host": "a", "units": 1, "for": None, "deadline": "2026-01-05T09:00:20Z"}
    document = one_cycle(plan, state | {"reclaims": [notice]})
    assert where(document) == [("B", "b", 1)]
    assert [(row["host"], row["units"]) for row in document["withdrawn"]] == [("a", 1)]
    second = one_cycle(plan, document["state"])
    assert not any(second[kind] for kind in ("reclaims", "withdrawn", "grants"))


def test_nothing_is_taken_back_for_hosts_where_nobody_gives() -> None:
    """R-SITE-4: B holds no more than its quota in zone b, and C's units are elsewhere."""
    holds = {"/B": {"h2": 4}, "/C": {"h1": 4, "h3": 4}}
    document = sited({"h1": "a", "h2": "b", "h3": "a"}, {"/A": 2, "/B": 4, "/C": 9}, holds, need=["zone=b"])
    assert document["resource_groups"]["g"]["consumers"]["/C"]["quota"] == 6
    assert document["reclaims"] == []


def test_a_gang_that_packs_takes_back_on_one_host() -> None:
    """R-SITE-3, R-SITE-4: 3 units at once, where 1 is idle beside 3 of C."""
    holds = {"/B": {"h2": 4}, "/C": {"h1": 3, "h3": 4}}
    zones = {"h1": "a", "h2": "a", "h3": "a"}
    document = sited(zones, {"/A": 3, "/B": 4, "/C": 9}, holds, min_count=3, place="pack")
    assert [(row["consumer"], row["host"], row["units"]) for row in document["reclaims"]] == [("/C", "h1", 2)]


def test_what_no_host_can_take_is_no_need() -> None:
    """R-SITE-2: 9 units need zone b, which has 4 slots."""
    document = sited({"h1": "a", "h2": "b"}, {"/A": 9, "/B": 9, "/C": 0}, {}, need=["zone=b"])
    assert document["resource_groups"]["g"]["consumers"]["/A"]["need"] == 4
    assert held(document) == {"A": {"h2": 4}, "B": {"h1": 4}}


def test_a_unit_on_another_host_is_found_out() -> None:
    """R-HOSTS-1, R-HOSTS-2: `verify` accepts no grant on another host, and no other number of blocked slots."""
    plan = plan_of("exclusive", THREE, {"/A": 12, "/B": 12})
    state = state_of({"/A": 4, "/B": 5}, {"/A": {"h1": 4}})
    right = one_cycle(plan, state)
    read, _ = parse_plan(json.dumps(plan), "plan")
    for change in ({"host": "h1"}, {"host": "h3"}):
        wrong = json.loads(json.dumps(right))
        wrong["grants"][0] |= change
        wrong["state"]["allocations"][-1] |= change
        assert verify(read, parse_state(json.dumps(state), read, "state"), wrong)
    wrong = json.loads(json.dumps(right))
    wrong["resource_groups"]["g"]["blocked"] += 1
    assert verify(read, parse_state(json.dumps(state), read, "state"), wrong)


def test_an_explanation_names_whole_hosts() -> None:
    """R-HOSTS-2: what A needs is bound by the hosts that it can have; one slot more of each host would give it more."""
    plan = plan_of("exclusive", {"h1": 4, "h2": 4}, {"/A": 4, "/B": 4})
    read, _ = parse_plan(json.dumps(plan), "plan")
    state = parse_state(json.dumps(state_of({"/A": 8, "/B": 3}, {})), read, "state")
    told = explain(read, run(open_books(read, state)["g"], state.now), "/A")
    (level,) = told.levels
    assert {each.path: each.bound for each in level.siblings} == {"/A": Bound.HOSTS, "/B": Bound.DEMAND}
    assert told.counterfactual is not None
    assert told.counterfactual.quota > told.quota == 4


ZONES = {"a1": (4, "a"), "a2": (4, "a"), "b1": (6, "b")}


def in_zones(packing: str, policy: str, owned: int = 7) -> Json:
    """One cycle where A needs 4 slots in zone b, and B holds 13 of 14, all 6 of zone b among them."""
    plan = plan_of(packing, {name: slots for name, (slots, _) in ZONES.items()}, {"/A": owned, "/B": 7}, policy)
    for host in plan["resource_groups"]["g"]["hosts"]:
        host["labels"] = {"zone": ZONES[host["name"]][1]}
    state = state_of({"/A": 4, "/B": 14}, {"/B": {"a1": 4, "a2": 3, "b1": 6}})
    state["requests"][0]["need"] = ["zone=b"]
    return at_rest(plan, state)


@pytest.mark.parametrize("policy", ["hybrid", "ownership", "share_ratio"])
def test_whole_hosts_are_not_taken_back_for_labels(policy: str) -> None:
    """R-SITE-4: what is stopped on other hosts would help nobody."""
    there = held(in_zones("exclusive", policy))
    assert (set(there), there["B"]["a1"], there["B"]["b1"]) == ({"B"}, 4, 6)
    assert there["B"]["a2"] >= 3


def test_a_label_narrows_what_is_owned() -> None:
    """R-SITE-4: B gives the 3 that it holds above its quota; A misses 1 of 4, though it owns 7."""
    document = in_zones("balanced", "hybrid")
    assert held(document) == {"A": {"b1": 3}, "B": {"a1": 4, "a2": 3, "b1": 3}}


def test_what_hosts_and_a_user_do_not_allow_counts_off_once() -> None:
    """R-SITE-2, R-USER-1: of 4 slots ann may have 3; the last one is for the request without a user."""
    plan = plan_of("stacked", {"h1": 4}, {"/A": 1}, "share_ratio")
    plan["policies"][0]["consumers"]["/A"]["user_limit"] = 3
    state = state_of({"/A": 4}, {})
    state["requests"][0] |= {"user": "ann", "place": "pack"}
    state["requests"].append({"id": "b", "consumer": "/A", "count": 1, "prefer": ["zone=a"]})
    document = one_cycle(plan, state)
    assert document["resource_groups"]["g"]["consumers"]["/A"]["need"] == 4
    assert held(document) == {"A": {"h1": 3}, "b": {"h1": 1}}


def test_requests_that_hold_slots_of_a_label_share_them() -> None:
    """R-SITE-2: 3 wait for zone b and 2 hold slots there; it has 4, and the leaf needs no more."""
    plan = plan_of("stacked", {"h1": 4, "h2": 4}, {"/A": 8, "/B": 0})
    plan["resource_groups"]["g"]["hosts"][1]["labels"] = {"zone": "b"}
    state = state_of({"/A": 3, "/B": 9}, {})
    state["requests"] += [{"id": "old", "consumer": "/A", "count": 2, "submitted": NOW}]
    for number in (0, 2):
        state["requests"][number]["need"] = ["zone=b"]
    state["allocations"] = [{"request": "old", "host": "h2", "units": 2, "started": NOW}]
    document = one_cycle(plan, state)
    assert document["resource_groups"]["g"]["consumers"]["/A"]["need"] == 4
    assert held(document) == {"A": {"h2": 2}, "B": {"h1": 4}, "old": {"h2": 2}}


def test_a_gang_that_packs_claims_nothing_beside_the_host_on_which_it_starts() -> None:
    """R-SITE-4: it starts with 1 on the full host h2; what B would give on h1 is of no use to its second unit."""
    plan = plan_of("stacked", {"h1": 3, "h2": 5}, {"/A": 8, "/B": 0}, "ownership")
    state = state_of({"/A": 2, "/B": 3}, {"/B": {"h1": 3}})
    state["requests"][0] |= {"min_count": 1, "place": "pack"}
    state["requests"].append({"id": "more", "consumer": "/A", "count": 4})
    state["allocations"].append({"request": "more", "host": "h2", "units": 4, "started": NOW})
    document = one_cycle(plan, state)
    assert held(document)["A"] == {"h2": 1}
    assert document["reclaims"] == []


def test_an_idle_host_beyond_a_limit_stops_no_claim() -> None:
    """R-SITE-4: the branch is at its limit, so the idle slot on h2 is of no use; its own leaf gives one."""
    plan = plan_of("stacked", {"h1": 2, "h2": 1}, {"/D/A": 0, "/D/B": 0})
    plan["policies"][0]["consumers"]["/D"] = {"limit": 2}
    state = state_of({"/D/A": 1, "/D/B": 0}, {"/D/B": {"h1": 2}})
    state["requests"][0]["avoid"] = ["zone=b"]
    taken = [(row["consumer"], row["host"], row["units"], row["for"]) for row in one_cycle(plan, state)["reclaims"]]
    assert taken == [("/D/B", "h1", 1, "/D/A")]


def test_what_nobody_gives_for_one_request_is_claimed_for_the_next() -> None:
    """R-SITE-4: /A misses 2; on h2, which one of its requests needs, nobody gives: both go on h1 for the other."""
    plan = plan_of("stacked", {"h1": 2, "h2": 1}, {"/A": 3, "/B": 0})
    plan["resource_groups"]["g"]["hosts"][1]["labels"] = {"zone": "b"}
    state = state_of({"/A": 1, "/B": 0}, {"/B": {"h1": 2}})
    state["requests"][0]["need"] = ["zone=b"]
    more = {"consumer": "/A", "submitted": "2026-01-05T08:59:00Z"}
    state["requests"] += [
        {"id": "a", "count": 2, "avoid": ["zone=b"], **more},
        {"id": "z", "count": 1, "priority": 9, **more},
    ]
    document = one_cycle(plan, state)
    assert held(document)["z"]
    assert sum(row["units"] for row in document["reclaims"]) == 2
