"""`explain` of pools, by examples: percentages, bounds, who owns what, notices, sentences (S0.41, S0.42, S2.30)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cycle.explain.pooled.bounds import bound_of, grace_from
from fairhold.cycle.explain.pooled.candidates import kinds
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.explain.pooled.inquiry import Inquiry
from fairhold.cycle.explain.pooled.pool_parameters import PoolParameters
from fairhold.cycle.explain.pooled.waiting import RULE_OF, Why
from fairhold.cycle.explain.pooled.whatif import GROUPS, Search
from fairhold.cycle.pooled.merge_results import run_entries
from fairhold.rules.pools.content import bound_on, grace_of
from fairhold.runtime.explaining_pools import WHY
from tests.pools.asking import BETTER, PAIR, explained
from tests.pools.small import inputs, of, on, own

Json = dict[str, Any]


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


def test_r_turn_1_who_is_at_a_share_limit_gets_nothing_of_what_becomes_free_s0_40() -> None:
    consumers: Json = {"/A": {"share_priority": 1, "share_limit": {"cpu": 1}}, "/B": {}}
    consumers |= {"/C": {"share_ratio": 3, "share_limit": {"cpu": 1}}, "/C/x": {}}
    told = explained("/B", consumers, [of("/A", 3), of("/B", 5), of("/C/x", 3)], hosts={"h0": 4})
    assert percentages(told) == {"/A": (None, "0"), "/B": ("priority", "1"), "/C": (None, "0")}


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
    assert full["sentence"].startswith("/ in all: holds 4, wants 6; 1 unit of request A waits: no unit fits")


def test_every_reason_has_words_and_a_rule() -> None:
    assert RULE_OF.keys() == WHY.keys()


def test_a_search_ends_when_its_work_is_used_up() -> None:
    plan, state = inputs(PAIR, [of("/A", 9)], hosts={"h0": 4})
    ((force, cycle),) = run_entries(plan, state)
    inquiry = Inquiry(plan, state, force, cycle, plan.tree.rows["/A"])
    parameters = PoolParameters(inquiry)
    search, asked = Search(inquiry, parameters), cycle.books.asked["A"]
    waiting = Why(inquiry).of(asked)
    assert waiting is not None
    search._left = 1
    found = search.of(asked, kinds(parameters, asked, waiting))
    assert [each["held"] for each in found["would_help"]] == [5]
    assert found["search"].pop("left_out") == list(GROUPS)
    assert found["search"] == {"is_complete": True, "values": 1, "cycles": 2, "of": ["amount"], "in_part": 0}


def test_a_consumer_that_is_not_there_is_none() -> None:
    plan, state = inputs(PAIR, [of("/A", 1)])
    with pytest.raises(KeyError):
        explain_pools(plan, state, "/C")
    assert explain_pools(plan, state, "/A", "other") == []
