"""`explain` of queues, by examples: what a fair share is made of, why a request waits, who takes units (S0.11)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cycle.explain.queued.levels import RULE_OF as RULE_OF_BOUND
from fairhold.cycle.explain.queued.waiting import RULE_OF
from fairhold.runtime.explaining_pools import WHY
from fairhold.runtime.explaining_queues import BOUND
from fairhold.runtime.explaining_queues import WHY as WHY_OF_QUEUES
from tests.queues.asking import explained, helps, sides, waits, words
from tests.queues.small import Cluster

Json = dict[str, Any]
MANY = 20


def bands() -> Cluster:
    """Three queues of one priority that share 8 GPUs, and one of a lower that gets nothing."""
    queues = {f"/{name}": {"priority": 100} for name in "ABC"} | {"/D": {"priority": 50}}
    cluster = Cluster([8], queues)
    for name, held in zip("ABCD", (3, 3, 2, 0), strict=True):
        cluster.ask(name, f"/{name}", MANY, on={"h0": held} if held else {})
    return cluster


def test_a_fair_share_is_derived_band_by_band_with_floors_and_steps() -> None:
    told = explained(bands(), "/A")
    (level,) = told["resources"][0]["levels"]
    assert (level["parent"], level["amount"], level["deserved"], level["surplus"]) == ("/", 8, 0, 8)
    assert level["rounds"] == [
        {
            "priority": 100,
            "left": 8,
            "given": 8,
            "members": [
                {"consumer": "/A", "part": "1/3", "exact": "8/3", "floor": 2, "surplus": 3},
                {"consumer": "/B", "part": "1/3", "exact": "8/3", "floor": 2, "surplus": 3},
                {"consumer": "/C", "part": "1/3", "exact": "8/3", "floor": 2, "surplus": 2},
            ],
        }
    ]
    assert {row["consumer"]: row["bound"] for row in level["siblings"]} == {
        "/A": "weight",
        "/B": "weight",
        "/C": "weight",
        "/D": "priority",
    }
    assert told["sentence"].startswith(
        "/A in g: fair share gpu 3 of 8 (0 deserved and 3 surplus, its part by weight [R-QUEUE-3]), holds 3; 17 units"
    )
    assert "  priority 100: 8 of 8 by weight: /A 3 (exactly 2 2/3, rounded down 2), /B 3" in words(bands(), "/A")


@pytest.mark.parametrize(
    ("queue", "asks", "bound"),
    [
        ({}, 3, "demand"),
        ({"limit": {"gpu": 2}}, 9, "limit"),
        ({"deserved": {"gpu": 2}, "over_quota_weight": 0}, 9, "weight 0"),
        ({"priority": 99}, 9, "priority"),
    ],
)
def test_what_holds_a_fair_share_where_it_is(queue: Json, asks: int, bound: str) -> None:
    cluster = Cluster([8], {"/A": queue, "/B": {}}).ask("a", "/A", asks).ask("b", "/B", MANY)
    row = explained(cluster, "/A")["resources"][0]["levels"][0]["siblings"][0]
    assert (row["bound"], row["rule"]) == (bound, RULE_OF_BOUND[bound])


def test_where_all_is_deserved_nothing_is_left_and_it_says_oversubscribed_s4_2() -> None:
    deserving = {"deserved": {"gpu": 3}}
    cluster = Cluster([4], {"/A": deserving, "/B": deserving}).ask("x", "/A", 9).ask("y", "/B", 9)
    (level,) = explained(cluster, "/A")["resources"][0]["levels"]
    assert (level["oversubscribed"], level["surplus"], level["rounds"]) == (True, 0, [])
    assert {row["bound"] for row in level["siblings"]} == {"deserved"}
    assert "oversubscribed" in words(cluster, "/A")


def test_a_parent_is_bound_by_the_limits_below_it_and_each_level_is_told() -> None:
    queues = {"/P": {}, "/P/a": {"limit": {"gpu": 2}}, "/Q": {}}
    cluster = Cluster([12], queues).ask("x", "/P/a", MANY).ask("y", "/Q", MANY)
    levels = explained(cluster, "/P/a")["resources"][0]["levels"]
    assert [level["parent"] for level in levels] == ["/", "/P"]
    assert levels[0]["siblings"][0]["bound"] == "limits below"
    assert levels[1]["siblings"][0]["bound"] == "limit"


def test_history_is_told_with_what_it_leaves_of_a_weight_s4_10() -> None:
    cluster = Cluster([16], {"/A": {}, "/B": {}}, k=1).ask("x", "/A", MANY).ask("y", "/B", MANY)
    cluster.document["usage"] = {"/A": {"gpu": 0.5}}
    (level,) = explained(cluster, "/A")["resources"][0]["levels"]
    assert [(each["part"], each["surplus"]) for each in level["rounds"][0]["members"]] == [("1/3", 5), ("2/3", 11)]
    assert level["siblings"][0]["usage"] == "1/2"
    cluster.document["usage"] = {"/A": {"gpu": 1}}
    (level,) = explained(cluster, "/A")["resources"][0]["levels"]
    assert level["siblings"][0]["bound"] == "history"


def test_as_kai_divides_there_are_numbers_and_no_rounds() -> None:
    cluster = Cluster([8], {"/A": {}, "/B": {}}, division="kai").ask("x", "/A", MANY).ask("y", "/B", MANY)
    (level,) = explained(cluster, "/A")["resources"][0]["levels"]
    assert "rounds" not in level
    assert level["siblings"][0]["bound"] == "division"
    assert "/ divides gpu 8 as KAI does [R-QUEUE-5]:" in words(cluster, "/A")


def test_who_is_above_its_fair_share_with_what_it_needs_takes_nothing_and_priority_is_named_s4_14_s4_21() -> None:
    found = waits(bands(), "/D")
    assert found["reason"] == "above fair share"
    gate = found["others"]["gate"]
    assert (gate["consumer"], gate["value"], gate["bound"], gate["by"]) == ("/D", 1, 0, 1)
    assert {cause["cause"] for cause in found["others"]["causes"]} == {"priority"}
    assert found["others"]["causes"][0]["values"] == [50, 100]
    assert helps(bands(), "/D") == {"deserved": 1, "priority": 100}


def test_every_side_says_by_which_strategy_it_keeps_its_units_s4_16_s4_17() -> None:
    queues = {"/A": {"deserved": {"gpu": 1}}, "/B": {"deserved": {"gpu": 4}}, "/C": {"deserved": {"gpu": 4}}}
    cluster = Cluster([8], queues).ask("b", "/B", 4, on={"h0": 4}).ask("c", "/C", 4, on={"h0": 4}).ask("a", "/A", 1)
    assert waits(cluster, "/A")["reason"] == "strategy"
    fails = sides(cluster, "/A")["/B"]["fair_share"]["fails"][0]
    assert (fails["test"], fails["value"], fails["bound"]) == ("above threshold", 4, 4)
    fails = sides(cluster, "/A")["/B"]["quota"]["fails"][0]
    assert (fails["test"], fails["value"], fails["bound"]) == ("above deserved", 4, 4)


def test_what_is_deserved_is_blocked_by_a_gang_s4_18() -> None:
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"deserved": {"gpu": 3}}}
    cluster = Cluster([4], queues).ask("g", "/B", 4, min_count=4, on={"h0": 4}).ask("x", "/A", 1)
    assert waits(cluster, "/A")["reason"] == "order"
    (refused,) = sides(cluster, "/A")["/B"]["fair_share"]["refused"]
    assert (refused["test"], refused["gang"], refused["bound"], refused["value"]) == ("deserved", "g", 3, 0)
    text = words(cluster, "/A")
    blocked = "by fair shares deserved is blocked by gang g, 4 units that stop together: "
    assert f"{blocked}/B deserves gpu 3, and would be left with 0 [R-CONTEST-2]" in text


def hierarchy(multiplier: float) -> Cluster:
    last = {"over_quota_weight": 0}
    queues = {"/P": {"deserved": {"gpu": 4}} | last, "/P/a": {}, "/P/b": {}, "/Q": {"deserved": {"gpu": 2}} | last}
    cluster = Cluster([8, 4], queues, reclaimer_utilization_multiplier=multiplier)
    cluster.ask("mine", "/P/b", 4, on={"h0": 4}, preemptible=False).ask("theirs", "/Q", 8, on={"h0": 4, "h1": 4})
    return cluster.ask("new", "/P/a", 2)


def test_saturations_of_both_sides_are_told_and_hierarchy_is_the_cause_s4_15_s4_21() -> None:
    cluster = hierarchy(2)
    (refused,) = sides(cluster, "/P/a")["/Q"]["fair_share"]["refused"]
    assert (refused["test"], refused["ours"], refused["theirs"], refused["multiplier"]) == (
        "saturation",
        "3/2",
        "3",
        "2",
    )
    assert (refused["left"], refused["least"]) == (6, "6")
    others = waits(cluster, "/P/a")["others"]
    (cause,) = others["causes"]
    assert (cause["cause"], cause["compared"], cause["values"]) == ("hierarchy", ["/P", "/Q"], [5, 7])
    assert helps(cluster, "/P/a")["reclaimer_utilization_multiplier"] == 1.9


def test_whose_units_go_is_told_for_whom_by_which_strategy_and_with_both_sides() -> None:
    (stay, other, goes) = explained(hierarchy(2), "/Q")["requests"][0]["stands"]
    assert (stay["notice"], other["notice"], stay["units"], other["units"]) == (None, None, 4, 3)
    notice = goes["notice"]
    assert (notice["for"], notice["consumer"], notice["strategy"]) == ("new", "/P/a", "fair_share")
    both = notice["resources"]["gpu"]
    assert (both["taker"]["consumer"], both["taker"]["held"], both["taker"]["as_moved"]) == ("/P", 4, 5)
    assert (both["holder"]["consumer"], both["holder"]["held"], both["holder"]["as_moved"]) == ("/Q", 8, 7)
    quota = Cluster([2, 2], {"/A": {"deserved": {"gpu": 2}}, "/B": {}}).ask("x", "/A", 1, gpu=2)
    quota.ask("y", "/B", 2, on={"h0": 1, "h1": 1})  # it holds all that it is entitled to, one on each host
    assert [each["notice"]["strategy"] for each in explained(quota, "/B")["requests"][0]["stands"][1:]] == ["quota"]
    assert "by quotas [R-CONTEST-1]" in words(quota, "/B")
    inside = Cluster([2], {"/A": {}}).ask("low", "/A", 2, on={"h0": 2}).ask("high", "/A", 1, priority=50)
    low = next(each for each in explained(inside, "/A")["requests"] if each["request"] == "low")
    assert low["stands"][1]["notice"]["rule"] == "R-CONTEST-5"


def test_who_is_over_and_what_comes_until_when() -> None:
    cluster = Cluster([4], {"/A": {"reclaim_grace": "10s"}, "/B": {}}).ask("x", "/A", 4, on={"h0": 4}).ask("y", "/B", 4)
    cluster.document["requests"][1]["count"] = 1
    told = explained(cluster, "/B")
    assert told["over_fair_share"] == []  # the one unit that it is above goes
    (coming,) = told["requests"][0]["coming"]
    assert coming["from"] == [{"request": "x", "consumer": "/A", "units": 1, "deadline": "2026-01-05T09:00:10Z"}]
    assert told["requests"][0]["waits"]["reason"] == "on the way"
    over = explained(hierarchy(2), "/P/a")["over_fair_share"]
    assert [(each["consumer"], each["above"], each["under_notice"]) for each in over] == [
        ("/P", 1, 0),
        ("/P/b", 2, 0),
        ("/Q", 5, 1),
    ]


def test_a_limit_and_what_is_deserved_for_good_name_the_queue() -> None:
    cluster = Cluster([8], {"/P": {"limit": {"gpu": 3}}, "/P/a": {}}).ask("x", "/P/a", 5)
    found = waits(cluster, "/P/a")
    assert (found["reason"], found["bound"]) == (
        "queue limit",
        {"consumer": "/P", "resource": "gpu", "limit": 3, "used": 3, "on_the_way": 0, "need": 1},
    )
    assert helps(cluster, "/P/a") == {"limit": 4}
    bounds = [level["siblings"][0]["bound"] for level in explained(cluster, "/P/a")["resources"][0]["levels"]]
    assert bounds == ["limit", "parent"]
    fixed = Cluster([8], {"/A": {"deserved": {"gpu": 2}}}).ask("x", "/A", 5, preemptible=False)
    found = waits(fixed, "/A")
    assert (found["reason"], found["bound"]["deserved"], found["bound"]["used"]) == ("beyond deserved", 2, 2)
    assert helps(fixed, "/A") == {"deserved": 3, "preemptible": True}
    usual = Cluster([8], {"/A": {"deserved": {"gpu": 2}}}).ask("x", "/A", 5, priority=100)  # by its priority
    assert "preemptible true instead of false for request x" in words(usual, "/A")


def test_a_queue_that_deserves_all_is_named_as_a_cause_without_a_number() -> None:
    queues: dict[str, Any] = {"/A": {"deserved": {"gpu": 1}}, "/U": {"deserved": {"gpu": "unlimited"}}}
    cluster = Cluster([4], queues).ask("u", "/U", 4, on={"h0": 4}).ask("a", "/A", 3)
    assert "because /U deserves more: gpu all, and /A 1" in words(cluster, "/A")


def test_a_delay_and_a_run_time_say_until_when() -> None:
    queues = {"/A": {"preemption_delay": "121m"}, "/B": {}}
    cluster = Cluster([2], queues).ask("x", "/B", 2, on={"h0": 2}).ask("y", "/A", 1)
    found = waits(cluster, "/A")
    assert (found["reason"], found["until"]) == ("delay", "2026-01-05T09:02:00Z")
    assert helps(cluster, "/A")["preemption_delay"] == "1h59m"  # so long it has waited
    spared = Cluster([2], {"/A": {}, "/B": {"reclaim_min_runtime": "61m"}})
    spared.ask("x", "/B", 2, on={"h0": 2}).ask("y", "/A", 1)
    assert waits(spared, "/A")["reason"] == "young"
    (refused,) = sides(spared, "/A")["/B"]["fair_share"]["refused"]
    assert (refused["until"], refused["pieces"]) == ("2026-01-05T09:01:00Z", 2)
    assert helps(spared, "/A")["reclaim_min_runtime"] == "0s"


@pytest.mark.parametrize(("name", "value"), [("max_reclaims", 1), ("await_ends", "5m"), ("observe_only", True)])
def test_a_control_that_binds_is_named_as_other_policies_name_it(name: str, value: object) -> None:
    cluster = Cluster([4], {"/A": {}, "/B": {}}, **{name: value})
    cluster.ask("x", "/A", 4, on={"h0": 4}).ask("y", "/B", 4)
    found = waits(cluster, "/B")
    assert (found["reason"], found["control"]) == ("control", name)
    assert name in helps(cluster, "/B")


def test_what_no_host_can_take_has_the_nearest_and_a_gang_that_never_fits_says_why() -> None:
    cluster = Cluster([2, 4], {"/A": {}}).ask("x", "/A", 1, gpu=5)
    assert waits(cluster, "/A")["nearest"] == {"host": "h1", "missing": {"gpu": 1}}
    found = explained(cluster, "/A")["requests"][0]["would_help"]
    assert [(each["changes"][0]["new"], each["changes"][0].get("host")) for each in found] == [(5, "h1"), (4, None)]
    gang = Cluster([4], {"/A": {}}).ask("x", "/A", 6, min_count=6)
    assert waits(gang, "/A")["never"] == {"because": "hosts", "units": 6, "room": 4}
    assert helps(gang, "/A") == {"min_count": 4}


def test_what_could_go_and_makes_no_room_and_a_gang_that_finds_too_little() -> None:
    cluster = Cluster([2, 2], {"/A": {}, "/B": {}}).ask("x", "/B", 2, on={"h0": 1, "h1": 1}, preemptible=False)
    cluster.ask("y", "/A", 1, gpu=2)
    assert waits(cluster, "/A")["reason"] in {"strategy", "not preemptible"}
    cluster = Cluster([4], {"/A": {}}).ask("x", "/A", 2, on={"h0": 2}, preemptible=False).ask("y", "/A", 3, min_count=3)
    found = waits(cluster, "/A") or explained(cluster, "/A")["requests"][1]["waits"]
    assert found["gang"] == {"units": 3, "room_for": 2}


def test_the_place_in_the_serving_order_is_told() -> None:
    cluster = Cluster([2], {"/A": {"priority": 200}, "/B": {}}).ask("r", "/A", 2, on={"h0": 2})
    cluster.ask("low", "/B", 1).ask("high", "/B", 1, priority=9)
    places = {each["request"]: each["serving"]["place"] for each in explained(cluster, "/B")["requests"]}
    assert places == {"high": 1, "low": 2}


def test_every_reason_and_bound_has_words() -> None:
    assert RULE_OF.keys() <= (WHY | WHY_OF_QUEUES).keys()
    assert WHY_OF_QUEUES.keys() <= RULE_OF.keys()
    assert RULE_OF_BOUND.keys() == BOUND.keys()


def test_r_site_5_a_gang_that_packs_finds_nothing_beside_its_host() -> None:
    stands = Cluster([1, 4], {"/A": {}}).ask("x", "/A", 2, min_count=1, place="pack", on={"h0": 1})
    assert waits(stands, "/A")["reason"] == "nobody else"
    assert waits(stands, "/A")["nearest"] == {"host": "h0", "missing": {"gpu": 1}}
    starts = Cluster([2, 2, 3], {"/A": {}}).ask("y", "/A", 2, on={"h2": 2}).ask("x", "/A", 3, min_count=3, place="pack")
    assert explained(starts, "/A")["requests"][1]["waits"]["gang"] == {"units": 3, "room_for": 2}
