"""Single clauses of the rules of queues, each with the smallest cluster that shows it (docs/rules.md, Queues)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.rules.queues.as_kai import KaiSiblings, divide_as_kai
from tests.queues.small import Cluster
from tests.queues.test_found import LAST, verified

Json = dict[str, Any]
BOTH = {"gpu": 1, "cpu": 1}


def granted(cluster: Cluster) -> list[str]:
    """Requests in the order in which the next cycle grants them units."""
    assert verified(cluster)
    return [row["request"] for row in cluster.cycle().document["grants"]]


def taken(cluster: Cluster, seconds: int = 0) -> dict[str, int]:
    """Request → units that the next cycle takes from it."""
    assert verified(cluster)
    cluster.cycle(seconds)
    return cluster.reclaims()


def test_r_queue_5_another_round_is_run_where_somebody_wanted_less_than_its_part() -> None:
    siblings = KaiSiblings([0, 0], [1, 10], [3, 1], [100, 100], [0, 0])
    assert divide_as_kai(3, siblings) == [1, 2]


def test_r_queue_5_a_round_in_which_nobody_wanted_less_than_its_part_is_the_last() -> None:
    siblings = KaiSiblings([0, 0, 0], [10, 10, 10], [1, 1, 4], [100, 100, 100], [0, 0, 0])
    assert divide_as_kai(5, siblings) == [1, 1, 3]
    exactly = KaiSiblings([0] * 4, [1, 10, 10, 10], [1, 3, 0.5, 0.5], [100] * 4, [0] * 4)
    assert divide_as_kai(5, exactly) == [1, 3, 1, 0]  # the first wants just its part


def test_r_serve_1_who_stays_within_what_it_deserves_before_who_does_not() -> None:
    queues = {"/A": {"priority": 200}, "/B": {"priority": 50, "deserved": {"gpu": 2}}}
    assert granted(Cluster([2], queues).ask("a", "/A", 2).ask("b", "/B", 2)) == ["b"]
    three = Cluster([3], queues).ask("a", "/A", 2).ask("b", "/B", 3)
    assert granted(three) == ["b", "a"]


def test_r_serve_1_the_smaller_dominant_share_with_what_is_asked_for_is_served() -> None:
    cluster = Cluster([5], {"/A": {}, "/B": {}}).ask("a", "/A", 3, gpu=2).ask("b", "/B", 4)
    assert granted(cluster)[0] == "b"  # 1 of 2.5 after it, not 2 of 2.5
    cluster = Cluster([4, {"gpu": 0, "cpu": 4}], {"/A": {}, "/B": {}}).ask("a", "/A", 4).ask("b", "/B", 4)
    cluster.ask("c", "/A", 3, unit={"cpu": 1}, on={"h1": 3})  # the largest part is of another resource
    assert granted(cluster)[0] == "b"


def test_r_serve_1_of_equal_shares_with_it_the_smaller_without_it_is_served() -> None:
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"deserved": {"gpu": 4}}}
    cluster = Cluster([8], queues).ask("old", "/A", 1, on={"h0": 1}).ask("a", "/A", 3).ask("b", "/B", 2, gpu=2)
    assert granted(cluster)[0] == "b"  # both would have 2 of 4


def test_r_serve_1_inside_a_queue_priority_then_gangs_below_their_minimum_then_age_then_id() -> None:
    early = "2026-01-05T06:00:00Z"
    cases: list[tuple[list[Json], str]] = [
        ([{"priority": 1}, {"min_count": 1, "submitted": early}], "x"),
        ([{"submitted": early}, {"min_count": 1}], "y"),
        ([{"submitted": early}, {}], "x"),
        ([{}, {"submitted": early}], "y"),
    ]
    for more, first in cases:
        cluster = Cluster([1], {"/A": {}})
        for name, each in zip("xy", more, strict=True):
            cluster.ask(name, "/A", 1, **each)
        assert granted(cluster) == [first]
    same = Cluster([1], {"/A": {}}).ask("z", "/A", 1, submitted=early).ask("y", "/A", 1, submitted=early)
    assert granted(same) == ["y"]


def test_r_serve_1_what_is_on_its_way_counts_as_held_and_not_twice() -> None:
    """A has one on its way as B has: placed on something idle it is no second one, and A comes before B again."""
    queues = {"/A": {"deserved": {"gpu": 2}}, "/B": {"deserved": {"gpu": 2}}, "/C": {"reclaim_grace": "30s"}}
    cluster = Cluster([2, 2], queues).ask("c", "/C", 2, on={"h0": 2}).ask("a", "/A", 2).ask("b", "/B", 2)
    cluster.document["hosts_down"] = ["h1"]
    assert taken(cluster) == {"c": 2}
    del cluster.document["hosts_down"]
    assert granted(cluster) == ["a"]
    assert cluster.held() == {"a": 2, "c": 2}


def test_r_serve_2_for_good_only_what_is_deserved_at_every_level() -> None:
    queues = {"/P": {"deserved": {"gpu": 1}}, "/P/a": {"deserved": {"gpu": 3}}}
    cluster = Cluster([4], queues).ask("x", "/P/a", 3, preemptible=False)
    granted(cluster)
    assert cluster.held() == {"x": 1}
    other = Cluster([4], {"/P": {"deserved": {"gpu": 3}}, "/P/a": {"deserved": {"gpu": 1}}})
    granted(other.ask("x", "/P/a", 3, preemptible=False))
    assert other.held() == {"x": 1}


def test_r_serve_2_what_comes_for_good_counts_before_it_is_there() -> None:
    queues = {"/A": {"deserved": {"gpu": 1}}, "/B": {"reclaim_grace": "30s"}}
    cluster = Cluster([1, 1], queues).ask("b", "/B", 1, on={"h0": 1}).ask("x", "/A", 1, preemptible=False)
    cluster.document["hosts_down"] = ["h1"]
    assert taken(cluster) == {"b": 1}
    cluster.document["hosts_down"] = []
    cluster.document["requests"].append(
        {"id": "w", "consumer": "/A", "unit": {"gpu": 1}, "count": 1, "preemptible": False, "priority": 5}
        | {"submitted": "2026-01-05T08:59:00Z"}
    )
    granted(cluster)
    assert cluster.held() == {"b": 1, "x": 1} or cluster.held() == {"b": 1, "w": 1}


def test_r_serve_2_nobody_is_granted_above_the_limit_of_a_queue_on_the_way_up() -> None:
    cluster = (
        Cluster([4], {"/P": {"limit": {"gpu": 2}}, "/P/a": {}, "/P/b": {}}).ask("x", "/P/a", 3).ask("y", "/P/b", 3)
    )
    granted(cluster)
    assert cluster.held() == {"x": 1, "y": 1}


def test_r_contest_1_what_is_idle_in_the_amount_that_is_needed_is_not_short() -> None:
    """B holds too much of CPUs alone, of which there is enough; of GPUs C, which gives none, holds too many."""
    queues = {"/A": {}, "/B": {"over_quota_weight": {"gpu": 2, "cpu": 0}}, "/C": LAST}
    cluster = Cluster([{"gpu": 6, "cpu": 5}], queues).ask("b", "/B", 4, unit=BOTH, on={"h0": 4})
    cluster.ask("c", "/C", 2, on={"h0": 2}, preemptible=False).ask("x", "/A", 2, unit=BOTH)
    assert cluster.shares() == {"/A": 2, "/B": 4, "/C": 0}
    assert taken(cluster) == {}


def test_r_contest_1_where_enough_is_idle_in_pieces_all_that_is_asked_for_is_compared() -> None:
    queues = {"/A": {}, "/B": {}, "/E": {"deserved": {"gpu": 2}, "preemption_delay": "1d"}}
    cluster = Cluster([2, 2], queues).ask("b", "/B", 2, on={"h0": 1, "h1": 1}).ask("e", "/E", 1, gpu=1.5)
    assert taken(cluster.ask("x", "/A", 1, gpu=1.5)) == {"b": 1}


def test_r_contest_1_a_side_gives_no_more_when_it_has_come_down_to_its_threshold() -> None:
    """Both units on h0 would have to go, and B holds one too many; the order would be kept."""
    cluster = Cluster([2, 1, 1, 1, 1, 1, 1], {"/A": {}, "/B": {}}).ask("b", "/B", 3, on={"h1": 1, "h2": 1, "h3": 1})
    assert taken(cluster.ask("young", "/B", 2, on={"h0": 2}).ask("x", "/A", 2, gpu=2)) == {}


def test_r_contest_1_the_pair_right_below_the_lowest_queue_above_both_is_compared() -> None:
    """Inside P b is above its share, P is not: Q's x takes nothing, a takes from b."""
    queues = {"/P": {"deserved": {"gpu": 4}}, "/P/a": {}, "/P/b": {}, "/Q": {"deserved": {"gpu": 4}}}
    cluster = Cluster([4, 1], queues).ask("b", "/P/b", 4, on={"h0": 4}).ask("q", "/Q", 1, on={"h1": 1})
    assert taken(cluster.ask("x", "/Q", 1)) == {}
    assert taken(cluster.ask("y", "/P/a", 4)) == {"b": 2}


def test_r_contest_1_quotas_are_tried_where_fair_shares_give_nothing_alone() -> None:
    """By quotas the gang would go, as C is the most saturated; by fair shares that breaks the order, and D gives."""
    waits = {"deserved": {"gpu": 1}, "preemption_delay": "1d"}
    queues: dict[str, Any] = {"/A": {"deserved": {"gpu": 1}}, "/E": waits}
    queues |= {"/C": {"over_quota_weight": 3}, "/D": {"over_quota_weight": 4}}
    cluster = Cluster([9], queues).ask("gang", "/C", 4, min_count=4, on={"h0": 4}).ask("d", "/D", 5, on={"h0": 5})
    cluster.ask("e", "/E", 1).ask("x", "/A", 1)
    assert cluster.shares() == {"/A": 1, "/C": 3, "/D": 4, "/E": 1}
    assert taken(cluster) == {"d": 1}


def test_r_contest_2_who_was_more_saturated_before_may_be_so_after() -> None:
    """Of CPUs A holds 3 of 4 and B 1 of 4; A takes a GPU and a CPU of B, which holds too many GPUs."""
    queues: dict[str, Any] = {"/A": {"deserved": {"gpu": 1}}, "/B": {}, "/C": LAST}
    cluster = Cluster([{"gpu": 4, "cpu": 8}], queues).ask("b", "/B", 3, on={"h0": 3})
    cluster.ask("a", "/A", 3, unit={"cpu": 1}, on={"h0": 3}).ask("wants", "/B", 1, unit={"cpu": 3})
    cluster.ask("c", "/C", 4, unit={"cpu": 1}, on={"h0": 4}, preemptible=False)
    cluster.ask("both", "/B", 1, unit=BOTH, on={"h0": 1}).ask("x", "/A", 1, unit=BOTH)
    assert taken(cluster) == {"both": 1}


@pytest.mark.parametrize(("deserved", "units"), [(2, 2), (3, 1), (4, 0)])
def test_r_contest_2_at_every_level_what_is_deserved_stays(deserved: int, units: int) -> None:
    """P may give all, a of it what it holds above what it deserves."""
    queues: dict[str, Any] = {"/P": LAST, "/P/a": {"deserved": {"gpu": deserved}}, "/Q": {"deserved": {"gpu": 2}}}
    cluster = Cluster([4], queues).ask("a", "/P/a", 4, on={"h0": 4}).ask("x", "/Q", 2)
    assert sum(taken(cluster).values()) == units


def test_r_contest_3_of_one_priority_the_younger_request_gives_of_one_request_the_younger_unit() -> None:
    cluster = Cluster([1, 1, 1], {"/A": {}, "/B": {}})
    cluster.ask("old", "/B", 2, on={"h0": 1}, started="2026-01-05T08:50:00Z").ask("young", "/B", 1, on={"h2": 1})
    row = {"request": "old", "host": "h1", "units": 1, "started": "2026-01-05T08:40:00Z"}
    cluster.document["allocations"].append(row)
    first = Cluster([1, 1], {"/A": {}, "/B": {}}).ask("x", "/A", 1)
    first.document["requests"].insert(0, cluster.document["requests"][0])
    first.document["allocations"] = [each for each in cluster.document["allocations"] if each["request"] == "old"]
    assert taken(cluster.ask("x", "/A", 1)) == {"young": 1}
    taken(first)
    assert first.last is not None
    assert [each["host"] for each in first.last.document["reclaims"]] == ["h0"]


def test_r_contest_3_the_most_saturated_queue_gives_first_whatever_it_holds() -> None:
    queues = {"/A": {"deserved": {"gpu": 3}} | LAST, "/B": {"deserved": {"gpu": 4}} | LAST}
    queues["/C"] = {"deserved": {"gpu": 8}} | LAST
    cluster = Cluster([15], queues).ask("b", "/B", 6, on={"h0": 6}).ask("c", "/C", 9, on={"h0": 9})
    assert taken(cluster.ask("x", "/A", 3)) == {"b": 2, "c": 1}
    assert cluster.last is not None
    other = Cluster([15], queues).ask("b", "/B", 6, on={"h0": 6}).ask("c", "/C", 9, on={"h0": 9})
    assert taken(other.ask("x", "/A", 1)) == {"b": 1}


def test_r_contest_3_the_less_important_request_gives_though_it_is_older_of_equal_age_the_one_listed_last() -> None:
    cluster = Cluster([2], {"/A": {}, "/B": {}}).ask("low", "/B", 1, on={"h0": 1})
    cluster.ask("high", "/B", 1, priority=9, on={"h0": 1}).ask("x", "/A", 1)
    assert taken(cluster) == {"low": 1}
    early = "2026-01-05T06:00:00Z"
    cluster = Cluster([2], {"/A": {}, "/B": {}}).ask("y", "/B", 1, on={"h0": 1}, submitted=early)
    assert taken(cluster.ask("x", "/B", 1, on={"h0": 1}, submitted=early).ask("a", "/A", 1)) == {"x": 1}


def test_r_contest_4_of_a_gang_that_can_go_on_with_it_what_is_not_needed_is_returned() -> None:
    cluster = Cluster([2, 1], {"/A": {"deserved": {"gpu": 2}}, "/B": {}}).ask(
        "gang", "/B", 2, min_count=1, on={"h0": 1}
    )
    row = {"request": "gang", "host": "h1", "units": 1, "started": "2026-01-05T08:30:00Z"}
    cluster.document["allocations"].append(row)
    assert taken(cluster.ask("x", "/A", 1, gpu=2)) == {"gang": 1}


def test_r_serve_1_all_that_is_deserved_without_bound_is_what_the_hosts_have() -> None:
    cluster = Cluster([6], {"/A": {"deserved": {"gpu": "unlimited"}}, "/B": {"deserved": {"gpu": 4}}})
    cluster.ask("a", "/A", 4, on={"h0": 4}).ask("b", "/B", 1, on={"h0": 1}).ask("y", "/B", 1).ask("x", "/A", 1)
    cluster.document["requests"][0]["count"] = 5
    assert granted(cluster) == ["y"]  # 2 of 4, not 5 of 6


def test_r_contest_2_a_gang_does_not_take_a_parent_below_what_it_deserves_either() -> None:
    queues = {"/P": {"deserved": {"gpu": 3}}, "/P/a": {}, "/Q": {"deserved": {"gpu": 1}}}
    cluster = Cluster([4], queues).ask("gang", "/P/a", 4, min_count=4, on={"h0": 4})
    assert taken(cluster.ask("x", "/Q", 1)) == {}


def test_r_contest_3_who_is_entitled_to_nothing_is_more_saturated_than_all_others() -> None:
    queues = {"/A": {"deserved": {"gpu": 1}}, "/B": LAST, "/C": {}}
    cluster = Cluster([9], queues).ask("b", "/B", 1, on={"h0": 1}).ask("c", "/C", 8, on={"h0": 8})
    assert cluster.shares()["/B"] == 0
    cluster.ask("x", "/A", 1)
    assert taken(cluster) == {"b": 1}


def test_r_contest_4_the_delay_is_counted_from_when_it_could_be_served() -> None:
    cluster = Cluster([2], {"/A": {"preemption_delay": "10m"}, "/B": {}}).ask("b", "/B", 2, on={"h0": 2})
    cluster.ask("x", "/A", 1, waiting_since="2026-01-05T08:55:00Z")
    assert taken(cluster) == {}
    assert taken(cluster, seconds=300) == {"b": 1}


def test_r_contest_4_a_gang_that_packs_takes_what_makes_one_host_large_enough() -> None:
    cluster = Cluster([2, 2], {"/A": {"deserved": {"gpu": 2}}, "/B": {}}).ask("b", "/B", 3, on={"h0": 2, "h1": 1})
    assert taken(cluster.ask("x", "/A", 2, min_count=2, place="pack")) == {"b": 1}


def test_r_contest_4_nothing_is_taken_that_a_limit_keeps_the_taker_from() -> None:
    for limit, reclaims in ((2, {}), (3, {"b": 1})):
        queues = {"/P": {"limit": {"gpu": limit}}, "/P/a": {"deserved": {"gpu": 1}}, "/P/b": {}, "/B": LAST}
        cluster = Cluster([4], queues).ask("p", "/P/b", 2, on={"h0": 2}, preemptible=False)
        assert taken(cluster.ask("b", "/B", 2, on={"h0": 2}).ask("x", "/P/a", 1)) == reclaims


def test_r_contest_4_what_is_never_taken_back_takes_only_up_to_what_is_deserved() -> None:
    for deserved in (0, 1):
        cluster = Cluster([2], {"/A": {"deserved": {"gpu": deserved}}, "/B": {}}).ask("b", "/B", 2, on={"h0": 2})
        assert taken(cluster.ask("x", "/A", 1, preemptible=False)) == ({"b": 1} if deserved else {})


def test_r_contest_4_the_delay_is_counted_to_the_instant_and_inherited() -> None:
    queues = {"/P": {"preemption_delay": "10s"}, "/P/a": {}, "/B": {}}
    cluster = Cluster([2], queues).ask("b", "/B", 2, on={"h0": 2}).ask("x", "/P/a", 1)
    cluster.document["requests"][1]["submitted"] = "2026-01-05T09:00:00Z"
    assert taken(cluster, seconds=9) == {}
    assert taken(cluster, seconds=1) == {"b": 1}


def test_r_contest_5_only_who_is_strictly_less_important_and_has_run_long_enough_gives() -> None:
    queues = {"/P": {"preempt_min_runtime": "10m"}, "/P/a": {}}
    cluster = Cluster([1], queues).ask("low", "/P/a", 1, on={"h0": 1}, started="2026-01-05T08:55:00Z", priority=10)
    assert taken(cluster.ask("same", "/P/a", 1, priority=10)) == {}
    assert taken(cluster.ask("high", "/P/a", 1, priority=11)) == {}
    assert taken(cluster, seconds=300) == {"low": 1}


def test_what_a_policy_says_of_run_times_holds_for_both_where_nothing_else_is_said() -> None:
    queues = {"/A": {}, "/B": {"min_runtime": "10m", "preempt_min_runtime": "0s"}}
    cluster = Cluster([2], queues).ask("b", "/B", 2, on={"h0": 2}, started="2026-01-05T08:55:00Z").ask("x", "/A", 1)
    assert taken(cluster) == {}
    assert taken(cluster.ask("high", "/B", 1, priority=50)) == {"b": 1}
