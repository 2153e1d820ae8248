"""`explain` of pools, by examples: whose a number is, each reason to wait, what would help (S0.41, S0.42, S2.30)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cycle.explain.pooled import explain_pools
from fairhold.cycle.explain.pooled.bounds import bound_of, grace_from
from fairhold.cycle.explain.pooled.inquiry import Inquiry
from fairhold.cycle.explain.pooled.waiting import RULE_OF, Why
from fairhold.cycle.explain.pooled.whatif import Search
from fairhold.cycle.pooled.joining import run_entries
from fairhold.rules.pools.content import bound_on, grace_of
from fairhold.runtime.explaining_pools import WHY, as_document
from tests.pools.small import inputs, of, on, own

Json = dict[str, Any]
PAIR: Json = {"/A": {}, "/B": {}}
BETTER: Json = {"/A": {"share_priority": 1}, "/B": {}}


def explained(path: str, *args: Any, **more: Any) -> Json:
    plan, state = inputs(*args, **more)
    (told,) = explain_pools(plan, state, path)
    return as_document(told)


def first(path: str, *args: Any, **more: Any) -> Json:
    """The first request of a consumer."""
    request: Json = explained(path, *args, **more)["requests"][0]
    return request


def level(request: Json, pool: str = "/") -> Json:
    """Why a request has no more at one level."""
    found: Json = next(each for each in request["waits"]["levels"] if each["pool"] == pool)
    return found


def helps(request: Json) -> dict[str, tuple[Any, Any, int]]:
    """What would help alone → old, new, units that it has then or that are on the way."""
    found = {}
    for each in request["would_help"]:
        change = each["changes"][0]
        what = change["what"] + (" on a host" if "host" in change else "")
        found[what] = change["old"], change["new"], each["held"] + each["on_the_way"]
    return found


def test_a_unit_larger_than_any_host_has_the_nearest_and_what_is_missing() -> None:
    request = first(
        "/A", {"/A": {}}, [of("/A", 1, {"cpu": 6, "gpu": 2})], hosts={"h0": {"cpu": 8}, "h1": {"cpu": 5, "gpu": 2}}
    )
    assert request["waits"]["reason"] == "unplaceable"
    assert request["waits"]["nearest"] == {"host": "h1", "missing": {"cpu": 1}}
    assert [each["changes"] for each in request["would_help"]] == [
        [{"what": "amount", "old": 5, "new": 6, "host": "h1", "resource": "cpu"}],
        [{"what": "amount", "old": 6, "new": 5, "request": "A", "resource": "cpu"}],
    ]


def test_what_is_its_own_is_in_use_by_itself_or_too_small() -> None:
    consumers = {"/A": {"own": [{"resource_group": "all", "hosts": ["h0"], "preference": 1}]}, "/B": {}}
    request = first("/A", consumers, [of("/A", 2, 4), of("/B", 1, 4)], [on("h1", "B", 1)])
    assert level(request, "own") == {
        "pool": "own",
        "preference": 1,
        "reason": "in use",
        "rule": "R-SWEEP-1",
        "nearest": {"host": "h0", "missing": {"cpu": 4}},
    }
    small = first("/A", {"/A": own(per_host={"cpu": 1})}, [of("/A", 1, 5)], hosts={"h0": 8, "h1": 4}, stands=[])
    assert small["waits"] is None  # own and public parts of one host make one unit
    larger = first("/A", {"/A": own(per_host={"cpu": 1})}, [of("/A", 2, 5)], hosts={"h0": 8, "h1": 4})
    assert level(larger, "own")["reason"] == "too large"
    assert level(larger, "own")["nearest"] == {"host": "h0", "missing": {"cpu": 4}}


def test_r_lend_6_a_bound_passes_parcels_over_and_either_side_can_mend_it_s2_13() -> None:
    consumers = {"/A": {"reclaim_grace": "45s"}, "/B": own(hosts=2, lend_grace="20s")}
    request = first("/A", consumers, [of("/A", 1)])
    assert level(request)["reason"] == "bound"
    bound = {"within": "20s", "setting": "lend_grace", "consumer": "/B"}
    assert level(request)["passed_over"] == [{"owner": "/B", "bound": bound}]
    assert helps(request) == {"reclaim_grace": ("45s", "20s", 1), "lend_grace": ("20s", "45s", 1)}
    public = first("/A", {"/A": {"reclaim_grace": "45s"}}, [of("/A", 1)], settings={"public_pool_grace": "9s"})
    assert helps(public) == {"reclaim_grace": ("45s", "9s", 1), "public_pool_grace": ("9s", "45s", 1)}
    private = {"/M": {**own(hosts=2), "private_pool_grace": "9s"}, "/M/x": {"reclaim_grace": "45s"}}
    inside = first("/M/x", private, [of("/M/x", 1)])
    assert helps(inside) == {"reclaim_grace": ("45s", "9s", 1), "private_pool_grace": ("9s", "45s", 1)}


def test_what_is_reserved_is_in_no_level_and_would_help() -> None:
    request = first("/A", {"/A": {}, "/B": own(hosts=2, reserved=True)}, [of("/A", 1)])
    assert (level(request)["reason"], request["waits"]["nearest"]) == (
        "too large",
        {"host": "h0", "missing": {"cpu": 1}},
    )
    assert helps(request)["reserved"] == (True, False, 1)


def test_r_limit_1_a_share_limit_has_its_numbers() -> None:
    consumers = {"/M": {"share_limit": {"cpu": 3}}, "/M/x": {}, "/M/y": {}}
    told = explained("/M/x", consumers, [of("/M/x", 2, 2), of("/M/y", 1)], [on("h0", "x", 1), on("h0", "y", 1)])
    (request,) = told["requests"]
    assert level(request)["reason"] == "share limit"
    assert level(request)["limit"] == {"consumer": "/M", "resource": "cpu", "limit": 3, "used": 3}
    assert helps(request) == {"share_limit": (3, 5, 2)}
    (limit,) = told["share_limits"]
    assert (limit["used"], limit["left"], limit["under_notice"], limit["on_the_way"]) == (3, 0, 0, 0)


def test_r_take_1_the_usage_quota_is_reached_and_a_larger_ratio_helps() -> None:
    request = first("/A", PAIR, [of("/A", 9), of("/B", 9)], [on("h0", "A", 2), on("h0", "B", 2)], hosts={"h0": 4})
    assert level(request)["reason"] == "usage quota"
    (compared,) = level(request)["comparisons"]
    assert (compared["because"], compared["of"], compared["usage_as_moved"], compared["usage_quota"]) == (
        "own quota", "/A", "1/2", "1/2",
    )  # fmt: skip
    assert helps(request)["share_ratio"] == (1, 3, 3)
    assert helps(request)["share_priority"] == (0, 1, 4)
    assert helps(request)["amount on a host"] == (4, 5, 3)


def test_r_take_1_a_comparison_that_fails_has_both_numbers() -> None:
    request = first("/A", PAIR, [of("/A", 9), of("/B", 9)], [on("h0", "A", 2), on("h0", "B", 3)], hosts={"h0": 5})
    assert level(request)["reason"] == "comparison"
    (compared,) = level(request)["comparisons"]
    assert (compared["because"], compared["after"], compared["compared"]) == ("order", ["3/5", "2/5"], ["/A", "/B"])


def test_r_take_1_who_is_not_above_its_quota_keeps_its_units() -> None:
    wants = [of("/A", 1, 3), of("/B", 1), of("/C", 4)]
    stands = [on("h0", "B", 1), on("h1", "C", 4)]
    request = first("/A", {**PAIR, "/C": {}}, wants, stands, hosts={"h0": 3, "h1": 4})
    compared = {each["consumer"]: each for each in level(request)["comparisons"]}
    assert {path: each["because"] for path, each in compared.items()} == {"/B": "their quota", "/C": "order"}
    assert (compared["/B"]["usage_as_moved"], compared["/B"]["usage_quota"]) == ("1/7", "1/7")
    assert compared["/C"]["after"] == ["1/2", "3/7"]


def test_r_take_4_a_gang_is_short_of_units_and_a_smaller_one_would_start() -> None:
    request = first("/A", PAIR, [of("/A", 4, min_count=4)], hosts={"h0": 2, "h1": 1})
    assert level(request)["reason"] == "gang"
    assert level(request)["gang"] == {"units": 4, "room_for": 3}
    assert helps(request)["min_count"] == (4, 3, 3)


def test_r_share_2_who_has_ratio_0_takes_no_part() -> None:
    request = first("/A", {"/A": {"share_ratio": 0}, "/B": {}}, [of("/A", 1)])
    assert (level(request)["reason"], level(request)["rule"]) == ("ratio 0", "R-SHARE-2")
    assert helps(request)["share_ratio"] == (0, 1, 1)


def test_r_held_1_what_is_idle_is_held_for_others() -> None:
    held = [{"request": "B", "host": "h0", "units": 1}]
    notice = {"request": "C", "host": "h0", "units": 1, "for": "B", "deadline": "2026-01-05T09:00:30Z"}
    wants = [of("/A", 2), of("/B", 1, 4), of("/C", 1)]
    consumers: Json = {"/A": {}, "/B": {"share_priority": 1}, "/C": {}}
    request = first("/A", consumers, wants, [on("h0", "C", 1)], hosts={"h0": 4}, reclaims=[notice])
    assert level(request)["reason"] == "held for others"
    kept = first("/B", consumers, wants, [on("h0", "C", 1)], hosts={"h0": 4}, reclaims=[notice])
    assert kept["waits"]["reason"] == "on the way"
    freed = explained("/B", PAIR, [of("/A", 2), of("/B", 1, 4, min_count=1)], hosts={"h0": 4}, held=held)
    assert freed["requests"][0]["held"] == 1


def test_what_is_on_the_way_says_from_whom_and_by_when() -> None:
    consumers: Json = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}}
    request = first("/A", consumers, [of("/A", 1, 6), of("/B", 2)], [on("h0", "B", 2)], hosts={"h0": 6})
    assert request["waits"]["reason"] == "on the way"
    assert "would_help" not in request
    deadline = "2026-01-05T09:00:30Z"
    assert request["coming"] == [
        {
            "host": "h0",
            "pool": "/",
            "units": 1,
            "rule": "R-HELD-1",
            "from": [{"request": "B", "consumer": "/B", "units": 2, "deadline": deadline}],
        }
    ]
    (stands,) = first("/B", consumers, [of("/A", 1, 6), of("/B", 2)], [on("h0", "B", 2)], hosts={"h0": 6})["stands"]
    assert stands["notice"] == {
        "for": "A",
        "consumer": "/A",
        "deadline": deadline,
        "reason": "quota",
        "is_new": True,
        "rule": "R-TAKE-1",
    }


def test_a_gang_asks_for_nothing_beyond_its_minimum_before_it_has_it() -> None:
    consumers: Json = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}}
    request = first("/A", consumers, [of("/A", 3, min_count=2), of("/B", 4)], [on("h0", "B", 4)], hosts={"h0": 4})
    assert (request["waits"]["reason"], request["on_the_way"]) == ("gang first", 2)


def test_nobody_else_has_anything_or_too_little_on_one_host() -> None:
    full = first("/A", PAIR, [of("/A", 9)], hosts={"h0": 4})
    assert level(full)["reason"] == "nobody else"
    wants = [of("/A", 1, 4), of("/B", 4), of("/C", 4)]
    spread = [on("h0", "B", 2), on("h0", "C", 2), on("h1", "B", 2), on("h1", "C", 2)]
    consumers: Json = {"/A": {"share_priority": 1}, "/B": {}, "/C": {"share_priority": 2}}
    request = first("/A", consumers, wants, spread)
    assert level(request)["reason"] == "no room"
    assert level(request)["nearest"] == {"host": "h0", "missing": {"cpu": 2}}
    assert {each["consumer"]: each["may_give"] for each in level(request)["comparisons"]} == {"/B": True, "/C": False}


def test_r_place_2_a_host_is_another_leafs_alone() -> None:
    request = first(
        "/A", PAIR, [of("/A", 1), of("/B", 1)], [on("h0", "B", 1)], hosts={"h0": 4}, settings={"packing": "exclusive"}
    )
    assert level(request)["reason"] == "packing"


def test_the_pool_has_too_little_on_any_host_where_the_host_would_do() -> None:
    consumers = {"/A": {}, "/B": own(per_host={"cpu": 2}, reserved=True)}
    request = first("/A", consumers, [of("/A", 1, 4)])
    assert level(request)["reason"] == "too large"
    assert level(request)["nearest"] == {"host": "h0", "missing": {"cpu": 2}}


def percentages(told: Json, parent: str = "/") -> dict[str, tuple[str | None, str]]:
    levels = told["pools"][-1]["levels"]
    siblings = next(each["siblings"] for each in levels if each["parent"] == parent)
    return {row["consumer"]: (row["node"], row["percentage"]) for row in siblings}


def test_r_turn_1_share_nodes_and_priority_nodes_have_their_percentages_s0_41_s0_42() -> None:
    best: Json = {"share_priority": 2}
    consumers = {"/A": best, "/B": {**best, "share_ratio": 3}, "/C": {}, "/D": best}
    wants = [of("/A", 9), of("/B", 9), of("/C", 9), of("/D", 1)]
    told = explained("/A", consumers, wants, hosts={"h0": 8})
    assert percentages(told) == {
        "/A": ("share", "1/4"),
        "/B": ("share", "3/4"),
        "/C": ("priority", "0"),
        "/D": (None, "0"),
    }
    alone = explained("/A", {"/A": {}, "/B": {"share_priority": 1}}, [of("/A", 9), of("/B", 9)], hosts={"h0": 4})
    assert percentages(alone) == {"/A": ("priority", "0"), "/B": ("priority", "1")}


def test_r_usage_3_bounds_of_quotas_name_what_holds_them() -> None:
    consumers = {"/A": {"share_ratio": 0}, "/B": {}, "/C": {}, "/D": {"share_limit": {"cpu": 1}}, "/E": {}}
    wants = [of(path, 9) for path in consumers]
    stands = [on("h0", "B", 2), on("h0", "C", 1), on("h0", "D", 1)]
    told = explained("/B", consumers, wants, stands, hosts={"h0": 8})
    (division,) = told["pools"][0]["levels"]
    bounds = {row["consumer"]: row["bound"] for row in division["siblings"]}
    assert bounds == {
        "/A": "ratio 0",
        "/B": "share ratio",
        "/C": "share ratio",
        "/D": "share limit",
        "/E": "share ratio",
    }
    wants = [of("/A", 9), of("/A", 9, name="more"), of("/B", 9)]
    better = explained("/B", BETTER, wants, [on("h0", "A", 4)], hosts={"h0": 4})
    (division,) = better["pools"][0]["levels"]
    assert [row["bound"] for row in division["siblings"]] == ["all that is used", "share priority"]
    assert [each["amount"] for each in division["classes"]] == ["1", "0"]


def test_what_is_owned_says_who_stands_on_it_and_how_fast_they_let_go() -> None:
    consumers = {"/A": own(hosts=["h0"], preference=2, lend_grace="20s"), "/B": {"reclaim_grace": "10s"}}
    wants, stands = [of("/B", 8)], [on("h0", "B", 3, A=3)]
    told = explained("/A", consumers, wants, stands, hosts={"h0": 4, "h1": 0.001})
    (parcel,) = told["owned"]
    assert (parcel["host"], parcel["preference"], parcel["lend_grace"], parcel["idle"]) == ("h0", 2, "20s", {})
    (user,) = parcel["used_by"]
    assert (user["consumer"], user["units"], user["pool"]) == ("/B", 4, "/")
    assert user["bound"] == {"within": "20s", "setting": "lend_grace", "consumer": "/A"}
    assert (told["lent"], told["borrowed"]) == ({"/B": 4}, {})
    other = explained("/B", consumers, wants, stands, hosts={"h0": 4, "h1": 0.001})
    assert (other["lent"], other["borrowed"]) == ({}, {"/A": 4})
    assert other["requests"][0]["stands"][0]["grace"] == {
        "within": "10s",
        "setting": "reclaim_grace",
        "consumer": "/B",
        "rule": "R-LEND-6",
    }


def test_the_bound_told_is_the_bound_in_force_s2_30() -> None:
    consumers = {
        "/M": {**own(hosts=2, lend_grace="30s"), "private_pool_grace": "7s"},
        "/M/x": {**own(hosts=["h0"], lend_grace="20s")},
        "/M/y": {"reclaim_grace": "25s"},
        "/Z": {"reclaim_grace": "2m"},
    }
    wants = [of("/M/y", 4), of("/Z", 4)]
    plan, state = inputs(
        consumers, wants, [on("h0", "y", 2, "/M"), on("h1", "y", 2, "/M"), on("h0", "Z", 2), on("h1", "Z", 1)]
    )
    ((force, cycle),) = run_entries(plan, state)
    terms, books = cycle.books.terms, cycle.books
    seen = set()
    for unit in books.units():
        assert grace_from(terms, unit).micros == grace_of(terms, unit)
        for parcel in unit.books:
            bound = bound_of(terms, parcel, unit.asked.leaf, unit.pool)
            assert bound.micros == bound_on(terms, parcel, unit.asked.leaf, unit.pool)
            seen.add((plan.tree.paths[unit.asked.leaf], bound.setting, plan.tree.paths[bound.consumer]))
    assert seen == {
        ("/M/y", "lend_grace", "/M/x"),
        ("/M/y", "private_pool_grace", "/M"),
        ("/Z", "lend_grace", "/M/x"),
        ("/Z", "lend_grace", "/M"),
    }
    assert force.name == "all"


def rules_of_notices(path: str, *args: Any, **more: Any) -> set[str]:
    stands = [each for request in explained(path, *args, **more)["requests"] for each in request["stands"]]
    return {each["notice"]["rule"] for each in stands if each["notice"]}


def test_every_notice_has_its_rule() -> None:
    mine = {"/A": own(hosts=["h0"]), "/B": {}}
    assert rules_of_notices("/B", mine, [of("/A", 4), of("/B", 4)], [on("h0", "B", 4, A=4)], hosts={"h0": 4}) == {
        "R-TAKE-2"
    }
    assert rules_of_notices("/B", PAIR, [of("/A", 9), of("/B", 9)], [on("h0", "B", 5)], hosts={"h0": 5}) == {"R-TAKE-1"}
    gang = [of("/A", 1), of("/B", 4, min_count=4)]
    spread = [on("h0", "B", 3), on("h1", "B", 1)]
    rules = rules_of_notices("/B", BETTER, gang, spread, hosts={"h0": 3, "h1": 1})
    assert rules == {"R-TAKE-1", "R-TAKE-4"}
    limited = {"/B": {"share_limit": {"cpu": 1}}}
    assert rules_of_notices("/B", limited, [of("/B", 3)], [on("h0", "B", 3)]) == {"R-LIMIT-3"}
    reserved = {"/A": own(hosts=["h0"], reserved=True), "/B": {}}
    assert rules_of_notices("/B", reserved, [of("/B", 4)], [on("h0", "B", 4)], hosts={"h0": 4}) == {"R-ADJUST-4"}


def test_sentences_say_what_is_held_and_why_the_first_waits() -> None:
    assert explained("/B", PAIR, [of("/A", 1)])["sentence"] == "/B in all: it asks for nothing."
    done = explained("/A", PAIR, [of("/A", 2)])
    assert done["sentence"] == "/A in all: holds 2, wants 2: it has all that it wants."
    full = explained("/", PAIR, [of("/A", 5), of("/B", 1, 9)], hosts={"h0": 4})
    assert full["sentence"].startswith("/ in all: holds 4, wants 6; 1 unit of A waits: no unit fits")


def test_every_reason_has_words_and_a_rule() -> None:
    assert RULE_OF.keys() == WHY.keys()


def test_a_search_ends_when_its_work_is_used_up() -> None:
    plan, state = inputs(PAIR, [of("/A", 9)], hosts={"h0": 4})
    ((force, cycle),) = run_entries(plan, state)
    inquiry = Inquiry(plan, force, cycle, plan.tree.rows["/A"])
    search, asked = Search(inquiry, state), cycle.books.asked["A"]
    waiting = Why(inquiry).of(asked)
    assert waiting is not None
    search._left = 1
    assert [each["held"] for each in search.of(asked, waiting) or ()] == [5]
    assert search.of(asked, waiting) is None


def test_a_consumer_that_is_not_there_is_none() -> None:
    plan, state = inputs(PAIR, [of("/A", 1)])
    with pytest.raises(KeyError):
        explain_pools(plan, state, "/C")
    assert explain_pools(plan, state, "/A", "other") == []
