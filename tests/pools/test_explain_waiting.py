"""`explain` of pools, by examples: each reason for which a request waits, and what would help (S0.11, S2.13)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.explain.nouns import RULE_OF_CONTROL
from fairhold.cycle.explain.pooled.document import explain_pools
from tests.pools.asking import PAIR, explained, first, helps, level
from tests.pools.small import inputs, of, on, own

Json = dict[str, Any]


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
    assert level(request)["limit"] == {"consumer": "/M", "resource": "cpu", "limit": 3, "used": 3, "on_the_way": 0}
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
    wants = [of("/A", 4, min_count=4), of("/B", 1)]
    request = first("/A", PAIR, wants, [on("h1", "B", 1)], hosts={"h0": 2, "h1": 2})
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


CONTROLS: list[tuple[Json, Json, str | None, dict[str, tuple[Any, Any, int]]]] = [
    ({"observe_only": True}, {}, None, {"observe_only": (True, False, 4)}),
    ({"dead_zone": 5}, {}, None, {"dead_zone": (5, 3, 4)}),
    ({"await_ends": "40s"}, {}, "2026-01-05T09:00:40Z", {"await_ends": ("40s", "0s", 4)}),
    ({"max_reclaims": 3}, {}, None, {"max_reclaims": (3, 4, 4)}),
    ({}, {"min_runtime": "1m"}, "2026-01-05T09:01:00Z", {"min_runtime": ("1m", "0s", 4)}),
]


@pytest.mark.parametrize(("settings", "holder", "until", "expected"), CONTROLS, ids=str)
def test_r_control_6_a_control_that_holds_back_is_named(
    settings: Json, holder: Json, until: str | None, expected: dict[str, tuple[Any, Any, int]]
) -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": holder}
    wants, stands = [of("/A", 4), of("/B", 4)], [on("h0", "B", 4)]
    request = first("/A", consumers, wants, stands, hosts={"h0": 4}, settings=settings)
    (name,) = expected
    held = 1 if name == "max_reclaims" else 4
    assert request["waits"] == {
        "reason": "control",
        "rule": RULE_OF_CONTROL[name],
        "nearest": None,
        "levels": [],
        "control": name,
        "units": held,
        "until": until,
    }
    assert helps(request) == expected
    other = first(
        "/A", PAIR, [of("/A", 4), of("/B", 4)], [on("h0", "A", 2), on("h0", "B", 2)], hosts={"h0": 4}, settings=settings
    )
    assert level(other)["reason"] == "usage quota"  # it would take nothing without the control


def test_r_site_1_the_hosts_that_will_do_have_too_little_in_the_pool() -> None:
    hosts = {"h0": {"cpu": 4, "labels": {"zone": "a"}}, "h1": {"cpu": 4, "labels": {"zone": "b"}}}
    consumers = {"/A": {}, "/B": own(hosts=["h1"], reserved=True)}
    request = first("/A", consumers, [of("/A", 1, need=["zone=b"])], hosts=hosts)
    assert level(request)["reason"] == "too large"
    assert level(request)["nearest"] == {"host": "h1", "missing": {"cpu": 1}}


def test_r_live_2_what_is_idle_on_a_closed_host_is_of_no_use() -> None:
    plan, state = inputs({"/A": own(hosts=["h0"]), "/B": {}}, [of("/A", 9)])
    (told,) = explain_pools(plan, replace(state, hosts_closed=frozenset({"h0", "h1"})), "/A")
    (request,) = told["requests"]
    assert (level(request, "own")["reason"], level(request)["reason"]) == ("closed", "closed")


def test_of_whom_the_same_is_said_it_is_said_once() -> None:
    """R-TAKE-1: /A is at its quota, whoever has the rest; who is named is in the order in which they give."""
    others = [f"/B/{name}" for name in "abcdefgh"]
    consumers: Json = {"/A": {}, "/B": {}, **{path: {} for path in others}}
    requests = [of("/A", 9, 1), *(of(path, 1) for path in others)]
    stands = [on("h0", "A", 8), *(on("h0", path[-1], 1) for path in others)]
    told = explained("/A", consumers, requests, stands, hosts={"h0": 16})
    (request,) = told["requests"]
    assert len(level(request)["comparisons"]) == 8
    lines = [line.strip() for line in pools_in_words(told).split("\n")]
    (said,) = [line for line in lines if "keep them" in line]
    assert said.startswith("/B/h (1 unit), /B/g (1 unit), ")
    assert said.endswith("/B/c (1 unit) and 2 others (2 units) keep them: /A has 50% of a quota of 50% [R-TAKE-1]")
    assert "its usage quota, or one above it, is reached" in told["sentence"]


def test_below_a_consumer_without_quota_there_is_nothing_to_divide() -> None:
    consumers: Json = {"/A": {"share_priority": 1}, "/B": {}, "/B/x": {}}
    told = explained("/B/x", consumers, [of("/A", 9), of("/B/x", 1)], [on("h0", "A", 4)], hosts={"h0": 4})
    assert pools_in_words(told).count("nothing to divide") == 1


def test_units_that_differ_in_the_parcels_of_their_host_alone_are_told_in_one_line() -> None:
    """Of A one unit has the CPUs and the other the GPU, the rest is nobody's."""
    cpus, gpu = {"cpu": 4}, {"gpu": 1}
    stands = [
        on("h0", "B", 1, A=1) | {"stands_on": {"/A": mine, "/": rest}} for mine, rest in ((cpus, gpu), (gpu, cpus))
    ]
    told = explained(
        "/B",
        {"/A": own(total={"gpu": 2}), "/B": {}},
        [of("/B", 2, {"cpu": 4, "gpu": 1})],
        stands,
        hosts={"h0": {"cpu": 16, "gpu": 4}},
        ownership=[("h0", "/A", {"cpu": 8, "gpu": 2})],
    )
    assert [row["units"] for row in told["requests"][0]["stands"]] == [1, 1]
    assert "  2 on h0 in the public pool (2 on what /A owns); gives it back" in pools_in_words(told)


def test_r_site_5_a_gang_that_packs_finds_nothing_beside_its_host() -> None:
    gang = of("/A", 2, min_count=1, place="pack")
    stands = first("/A", {"/A": {}}, [gang], [on("h0", "A", 1)], hosts={"h0": 1, "h1": 4})
    assert (level(stands)["reason"], level(stands)["nearest"]) == ("nobody else", {"host": "h0", "missing": {"cpu": 1}})
    wants = [of("/A", 3, min_count=3, place="pack"), of("/B", 2)]
    starts = first("/A", PAIR, wants, [on("h2", "B", 2)], hosts={"h0": 2, "h1": 2, "h2": 3})
    assert (level(starts)["reason"], level(starts)["gang"]) == ("gang", {"units": 3, "room_for": 2})


def test_r_take_1_who_stands_where_a_unit_could_never_stand_is_not_named() -> None:
    """Z has all of h1, which has no GPU: nothing of it would help."""
    hosts: Json = {"h0": {"cpu": 2, "gpu": 1}, "h1": {"cpu": 4}, "h2": {"cpu": 4, "gpu": 1}}
    gpu = {"gpu": 1}
    wants = [of("/A", 1, gpu, name="a"), of("/A", 1, gpu, name="held"), of("/Z", 4, name="z"), of("/B", 1, gpu)]
    stands = [on("h0", "held", 1), on("h1", "z", 4), on("h2", "B", 1)]
    compared = level(first("/A", {"/A": {}, "/B": {}, "/Z": {}}, wants, stands, hosts=hosts))["comparisons"]
    assert [row["consumer"] for row in compared] == ["/B"]
    labelled = {"h0": {"cpu": 2, "gpu": 1, "labels": {"zone": "a"}}, "h2": hosts["h2"]}
    wants[0] |= {"need": ["zone=a"]}
    request = first("/A", {"/A": {}, "/B": {}}, [wants[0], wants[1], wants[3]], [stands[0], stands[2]], hosts=labelled)
    assert level(request)["reason"] == "nobody else"
