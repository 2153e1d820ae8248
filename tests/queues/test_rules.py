"""The rules of `fair_share`, each with a small cluster (docs/rules.md, Queues)."""

from __future__ import annotations

import json

from fairhold.planio.plan import parse_plan
from tests.queues.small import Cluster

MANY = 20


def test_r_queue_1_a_parent_counts_what_its_children_can_use_s4_5() -> None:
    queues = {"/P": {}, "/P/a": {"limit": {"gpu": 2}}, "/Q": {}, "/Q/b": {}}
    cluster = Cluster([8, 4], queues).ask("x", "/P/a", 100).ask("y", "/Q/b", 100)
    assert cluster.shares() == {"/P": 2, "/P/a": 2, "/Q": 10, "/Q/b": 10}


def test_what_no_host_can_take_is_not_waited_for() -> None:
    cluster = Cluster([4, 4], {"/A": {}, "/B": {}}).ask("x", "/A", 9, gpu=5).ask("y", "/B", 9)
    assert cluster.shares() == {"/A": 0, "/B": 8}
    (row,) = cluster.cycle().document["refused"]
    assert row == {"request": "x", "reason": "unplaceable", "nearest": {"host": "h0", "missing": {"gpu": 1}}}


def test_r_queue_2_what_is_deserved_stands_though_it_is_more_than_there_is_s4_2_s4_6_s4_11() -> None:
    deserving = {"deserved": {"gpu": 3}}
    cluster = Cluster([4], {"/A": deserving, "/B": deserving | {"priority": 1}}).ask("x", "/A", 9).ask("y", "/B", 9)
    assert cluster.shares() == {"/A": 3, "/B": 3}


def test_r_queue_3_surplus_goes_band_by_band_in_whole_steps_s4_4_s4_7_s4_8_s4_9() -> None:
    queues = {f"/{name}": {"priority": 100} for name in "ABC"} | {"/D": {"priority": 50}}
    cluster = Cluster([8], queues)
    for name in "ABCD":
        cluster.ask(name, f"/{name}", MANY)
    assert cluster.shares() == {"/A": 3, "/B": 3, "/C": 2, "/D": 0}
    weighed = Cluster([8], {"/A": {"over_quota_weight": {"gpu": 3}}, "/B": {}, "/C": {"over_quota_weight": 0}})
    for name in "ABC":
        weighed.ask(name, f"/{name}", MANY)
    assert weighed.shares() == {"/A": 6, "/B": 2, "/C": 0}


def test_r_queue_4_history_counts_as_a_part_of_what_the_parent_is_entitled_to_s4_10() -> None:
    cluster = Cluster([16], {"/A": {}, "/B": {}}, k=1).ask("x", "/A", MANY).ask("y", "/B", MANY)
    cluster.document["usage"] = {"/A": {"gpu": 0.5}}
    assert cluster.shares() == {"/A": 5, "/B": 11}
    deep = Cluster([100], {"/P": {}, "/P/a": {}, "/P/b": {}, "/Q": {"deserved": {"gpu": 90}}}, k=1)
    deep.ask("x", "/P/a", 99).ask("y", "/P/b", 99).ask("z", "/Q", 90)
    deep.document["usage"] = {"/P/a": {"gpu": 0.08}}
    assert deep.shares() == {"/P": 10, "/P/a": 2, "/P/b": 8, "/Q": 90}  # 0.5 + 0.5 - 0.8 to 1, as at the top


def test_r_queue_5_kai_loses_what_it_rounds_off() -> None:
    queues = {f"/{name}": {"priority": 100} for name in "ABC"} | {"/D": {"priority": 50}}
    cluster = Cluster([8], queues, division="kai")
    for name in "ABCD":
        cluster.ask(name, f"/{name}", MANY)
    assert cluster.shares() == {"/A": 2, "/B": 2, "/C": 2, "/D": 2}


def test_r_serve_1_who_is_above_its_fair_share_comes_after_all_others_s4_13() -> None:
    queues = {"/A": {"priority": 200, "limit": {"gpu": 9}, "over_quota_weight": 0}, "/B": {"priority": 50}}
    cluster = Cluster([3], queues).ask("x", "/A", 3, on={"h0": 2}).ask("y", "/B", 3)
    cluster.cycle()
    assert cluster.held() == {"x": 2, "y": 1}


def test_r_serve_2_idle_resource_goes_out_up_to_limits_and_what_is_fixed_up_to_what_is_deserved() -> None:
    queues = {"/A": {"deserved": {"gpu": 2}, "limit": {"gpu": 6}}}
    cluster = Cluster([8], queues).ask("fixed", "/A", 8, preemptible=False)
    cluster.cycle()
    assert cluster.held() == {"fixed": 2}
    unbound = Cluster([8], {"/A": {"deserved": {"gpu": 2}}}).ask("fixed", "/A", 8, preemptible=False)
    unbound.cycle()
    assert unbound.held() == {"fixed": 2}  # no limit is stated anywhere
    cluster = Cluster([8], queues).ask("high", "/A", 8, priority=100).ask("low", "/A", 8, priority=99)
    cluster.cycle()
    assert cluster.held() == {"high": 2, "low": 4}  # from 100 on a request is not preemptible


def test_r_contest_1_by_fair_shares_then_by_quotas_s4_14_s4_16_s4_17_s4_20() -> None:
    fair = Cluster([4], {"/A": {}, "/B": {}}).ask("x", "/A", 4, on={"h0": 4}).ask("y", "/B", 4)
    fair.cycle()
    assert fair.reclaims() == {"x": 2}
    # B is entitled to the 4 that it holds and deserves 2: only by quotas does it give
    queues = {"/A": {"deserved": {"gpu": 5}}, "/B": {"deserved": {"gpu": 2}, "priority": 200}}
    quota = Cluster([8], queues).ask("x", "/A", 5, on={"h0": 4}).ask("y", "/B", 4, on={"h0": 4})
    assert quota.shares() == {"/A": 5, "/B": 3}
    quota.cycle()
    assert quota.reclaims() == {"y": 1}


def test_r_contest_2_a_gang_is_not_stopped_where_its_queue_would_end_below_what_it_deserves_s4_18_s4_19() -> None:
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"deserved": {"gpu": 3}}}
    cluster = Cluster([4], queues).ask("gang", "/B", 4, min_count=4, on={"h0": 4}).ask("x", "/A", 1)
    cluster.cycle()
    assert cluster.reclaims() == {}


def test_the_taker_ends_less_saturated_than_the_victim_s4_15_s4_21_s4_22_s4_23() -> None:
    def takes(multiplier: float) -> dict[str, int]:
        last = {"over_quota_weight": 0}
        queues = {"/P": {"deserved": {"gpu": 4}} | last, "/P/a": {}, "/P/b": {}, "/Q": {"deserved": {"gpu": 2}} | last}
        cluster = Cluster([8, 4], queues, reclaimer_utilization_multiplier=multiplier)
        cluster.ask("mine", "/P/b", 4, on={"h0": 4}, preemptible=False).ask("theirs", "/Q", 8, on={"h0": 4, "h1": 4})
        cluster.ask("new", "/P/a", 2)
        cluster.cycle()
        return cluster.reclaims()

    assert takes(1) == {"theirs": 2}
    assert takes(2) == {"theirs": 1}


def test_r_contest_3_the_most_saturated_queue_gives_first_then_the_lowest_priority_then_the_youngest() -> None:
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"deserved": {"gpu": 4}}, "/C": {"deserved": {"gpu": 8}}}
    cluster = Cluster([16], queues).ask("c", "/C", 9, on={"h0": 9})
    cluster.ask("old", "/B", 3, on={"h0": 3}).ask("high", "/B", 2, priority=9, on={"h0": 2})
    cluster.ask("young", "/B", 2, on={"h0": 2}).ask("x", "/A", 1)
    cluster.cycle()
    assert cluster.reclaims() == {"young": 1}


def test_what_is_beyond_the_minimum_of_a_gang_goes_before_its_core() -> None:
    cluster = Cluster([6], {"/A": {}, "/B": {}}).ask("gang", "/B", 6, min_count=2, on={"h0": 6}).ask("x", "/A", 6)
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 3}
    assert cluster.cycle(seconds=1).document["grants"][0]["units"] == 3


def test_r_contest_4_what_is_not_needed_is_returned() -> None:
    cluster = Cluster([2, 2], {"/A": {}, "/B": {}}).ask("first", "/B", 1, on={"h1": 1}).ask("x", "/A", 1, gpu=2)
    cluster.ask("second", "/B", 2, on={"h0": 2})
    cluster.cycle()
    assert cluster.reclaims() == {"first": 1}  # the two that are younger were tried first


def test_a_request_waits_before_it_takes() -> None:
    queues = {"/A": {"preemption_delay": "121m"}, "/B": {}}
    cluster = Cluster([2], queues).ask("x", "/B", 2, on={"h0": 2}).ask("y", "/A", 1)
    cluster.document["requests"][1]["submitted"] = "2026-01-05T07:00:00Z"
    cluster.cycle()
    assert cluster.reclaims() == {}
    cluster.cycle(seconds=60)
    assert cluster.reclaims() == {"x": 1}


def test_who_has_run_too_short_is_spared_as_its_side_says() -> None:
    queues = {"/A": {}, "/P": {"reclaim_min_runtime": "1h"}, "/P/b": {"reclaim_min_runtime": "0s"}}
    cluster = Cluster([2], queues).ask("x", "/P/b", 2, on={"h0": 2}, started="2026-01-05T08:30:00Z").ask("y", "/A", 1)
    cluster.cycle()
    assert cluster.reclaims() == {}
    cluster.cycle(seconds=30 * 60)
    assert cluster.reclaims() == {}  # it has run for an hour, and not longer
    cluster.cycle(seconds=1)
    assert cluster.reclaims() == {"x": 1}


EXACTLY, LONGER = "2026-01-05T08:00:00Z", "2026-01-05T07:59:59.999999Z"
"""An hour before the cycle, and a microsecond more."""


def test_r_contest_3_who_has_run_exactly_so_long_stays_and_goes_a_microsecond_later() -> None:
    for started, taken in ((EXACTLY, {}), (LONGER, {"x": 1})):
        cluster = Cluster([2], {"/A": {}, "/B": {"reclaim_min_runtime": "1h"}})
        cluster.ask("x", "/B", 2, on={"h0": 2}, started=started).ask("y", "/A").cycle()
        assert cluster.reclaims() == taken


def test_r_contest_6_who_has_run_exactly_so_long_does_not_move_yet_for_others() -> None:
    for started, moved in ((EXACTLY, {}), (LONGER, {"x": 1})):
        cluster = Cluster([2, 1], {"/A": {}, "/B": {"reclaim_min_runtime": "1h"}}, consolidation=True)
        cluster.ask("x", "/B", on={"h0": 1}, started=started).ask("y", "/A", gpu=2).cycle()
        assert cluster.reclaims() == moved


def test_r_contest_5_inside_a_queue_who_has_run_for_so_long_goes() -> None:
    cluster = Cluster([1], {"/A": {"preempt_min_runtime": "1h"}})
    cluster.ask("low", "/A", on={"h0": 1}, started=EXACTLY).ask("high", "/A", priority=50).cycle()
    assert cluster.reclaims() == {"low": 1}


def test_r_contest_5_inside_a_queue_a_higher_priority_takes_from_a_lower_one() -> None:
    cluster = (
        Cluster([3], {"/A": {}}).ask("low", "/A", 2, on={"h0": 2}).ask("fixed", "/A", 1, on={"h0": 1}, priority=99)
    )
    cluster.ask("high", "/A", 3, priority=50)
    cluster.cycle()
    assert cluster.reclaims() == {"low": 2}


def test_what_is_freed_is_held_for_the_taker() -> None:
    cluster = Cluster([2], {"/A": {"reclaim_grace": "10s"}, "/B": {}}).ask("x", "/A", 2, on={"h0": 2}).ask("y", "/B", 1)
    cluster.cycle()
    assert cluster.reclaims() == {"x": 1}
    assert cluster.cycle(seconds=5).document["reclaims"] == []
    cluster.cycle(seconds=5)
    assert cluster.held() == {"x": 1, "y": 1}


def test_a_plan_of_queues_is_read_back_as_it_was_stated() -> None:
    queue = {"deserved": {"gpu": "unlimited"}, "limit": "none", "over_quota_weight": 0.5, "min_runtime": "10m"}
    plan, _ = parse_plan(
        json.dumps(
            {
                "fairhold": 1,
                "resources": {"gpu": {}},
                "resource_groups": {"g": {"hosts": [{"name": "h", "gpu": 4}]}},
                "consumers": {"A": {}},
                "policies": [{"resource_groups": ["g"], "policy": "fair_share", "consumers": {"/A": queue}}],
            }
        ),
        "plan.json",
    )
    assert plan.policies[0].consumers[1].queue.weight[0][1] * 2 == 1


def test_a_notice_whose_request_is_gone_is_withdrawn() -> None:
    cluster = Cluster([2], {"/A": {"reclaim_grace": "10s"}, "/B": {}}).ask("x", "/A", 2, on={"h0": 2}).ask("y", "/B", 1)
    cluster.cycle()
    cluster.document["requests"].pop()
    cluster.document["reclaims"][0]["for"] = None
    cluster.document.pop("held", None)
    assert [row["request"] for row in cluster.cycle(seconds=1).document["withdrawn"]] == ["x"]


def test_r_place_2_a_gang_that_packs_goes_to_the_host_of_which_the_smallest_part_is_in_use() -> None:
    """R-SITE-3: among hosts that have room for all of it the packing decides, as for other units."""
    for packing, host in (("stacked", "h0"), ("balanced", "h1")):
        cluster = Cluster([4, 6], {"/A": {}}, packing=packing).ask("x", "/A", on={"h0": 1})
        cluster.ask("gang", "/A", 2, min_count=2, place="pack").cycle()
        assert cluster.last is not None
        assert [(row["host"], row["units"]) for row in cluster.last.document["grants"]] == [(host, 2)]
