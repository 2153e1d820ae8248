"""Written states in which queues once took, kept or counted otherwise than the rules say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state
from fairhold.units import SECOND
from tests.pools.test_verify import cycle_of
from tests.pools.truths import second_cycle
from tests.queues.small import Cluster

LAST: dict[str, Any] = {"over_quota_weight": 0}
YOUNG = "2026-01-05T08:30:00Z"


def verified(cluster: Cluster, seconds: int = 0) -> bool:
    """Whether the independent check says the same of the next cycle, so many seconds after the one before."""
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    state = replace(state, now=state.now + seconds * SECOND)
    return verify(cluster.plan, state, cycle_of(cluster.plan, state)) == ()


def gang_on_two_hosts(runtime: str = "0s") -> Cluster:
    """A gang of 3, of which 2 have to stay, holds h0 and one GPU of h1; somebody wants 2 GPUs on one host."""
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"reclaim_min_runtime": runtime, "deserved": {"cpu": 0}}}
    cluster = Cluster([2, 1, 5], queues).ask("gang", "/B", 3, min_count=2, on={"h0": 2}).ask("x", "/A", 1, gpu=2)
    cluster.ask("others", "/B", 5, priority=90, on={"h2": 5}, started="2026-01-05T08:59:00Z")
    cluster.document["allocations"].append({"request": "gang", "host": "h1", "units": 1, "started": YOUNG})
    return cluster


def test_r_contest_3_a_gang_that_loses_its_core_keeps_nothing_below_its_minimum() -> None:
    cluster = gang_on_two_hosts(runtime="10m")
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 3}


def test_r_contest_3_what_spares_one_of_a_gang_spares_all_that_cannot_go_on_without_it() -> None:
    cluster = gang_on_two_hosts(runtime="40m")  # the one on h1 has run for 30 minutes
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {}


def test_r_contest_3_of_a_gang_that_can_go_on_elsewhere_its_core_goes_alone() -> None:
    cluster = Cluster([2, 1, 1, 5], {"/A": {"deserved": {"gpu": 4}}, "/B": {"reclaim_min_runtime": "10m"}})
    cluster.ask("gang", "/B", 4, min_count=2, on={"h0": 2}).ask("x", "/A", 1, gpu=2)
    cluster.ask("others", "/B", 5, priority=90, on={"h3": 5}, started="2026-01-05T08:59:00Z")
    for host in ("h1", "h2"):
        row = {"request": "gang", "host": host, "units": 1, "started": "2026-01-05T08:55:00Z"}
        cluster.document["allocations"].append(row)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 2}


def test_r_contest_5_inside_a_queue_a_gang_is_not_broken_either() -> None:
    cluster = Cluster([2, 1], {"/A": {}}).ask("gang", "/A", 3, min_count=2, on={"h0": 2})
    cluster.document["allocations"].append({"request": "gang", "host": "h1", "units": 1, "started": YOUNG})
    cluster.ask("x", "/A", 1, gpu=2, priority=50)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 3}


def test_r_contest_4_what_makes_no_room_does_not_keep_the_order() -> None:
    """P would end at 4 of 4 GPUs only as b gave two; those make no room, and without them P is above, Q is not."""
    four, two = {"deserved": {"gpu": 4}} | LAST, {"deserved": {"gpu": 2}} | LAST
    queues = {"/P": four, "/P/a": two, "/P/b": two, "/Q": {"deserved": {"gpu": 5}} | LAST}
    for room, reclaims in ((1, {}), (2, {"b": 1})):
        cluster = Cluster([2, *[1] * 8, {"gpu": room}], queues)
        cluster.ask("b", "/P/b", 4, on={f"h{at}": 1 for at in (1, 2, 3, 9)})
        cluster.ask("old", "/Q", 5, on={f"h{at}": 1 for at in (4, 5, 6, 7, 8)}).ask("young", "/Q", 2, on={"h0": 2})
        cluster.ask("x", "/P/a", 1, gpu=2)
        assert verified(cluster)
        cluster.cycle()
        assert cluster.reclaims() == reclaims


def test_r_contest_2_who_is_below_what_it_deserves_loses_nothing() -> None:
    queues = {"/P": {}, "/P/a": {"deserved": {"gpu": 4}}, "/Q": {"deserved": {"gpu": 4}}}
    for held in (4, 3):
        cluster = Cluster([held], queues).ask("a", "/P/a", held, on={"h0": held}).ask("x", "/Q", 4)
        assert verified(cluster)
        cluster.cycle()
        assert cluster.reclaims() == {}


def test_r_contest_2_a_parent_below_what_it_deserves_may_share_out_less_inside() -> None:
    queues = {"/P": {"deserved": {"gpu": "unlimited"}}, "/P/a": {"deserved": {"gpu": 2}} | LAST, "/P/b": LAST}
    cluster = Cluster([2], queues).ask("b", "/P/b", 2, on={"h0": 2}).ask("x", "/P/a", 1, gpu=0.5)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"b": 1}


def test_r_queue_4_usage_that_is_given_as_nothing_is_nothing() -> None:
    queues: dict[str, Any] = {"/P": {}, "/P/a": {}, "/Q": {}}
    cluster = Cluster([16], queues, k=1).ask("x", "/P/a", 20).ask("y", "/Q", 20)
    cluster.document["usage"] = {"/P/a": {"gpu": 0.5}}
    assert cluster.shares() == {"/P": 5, "/P/a": 5, "/Q": 11}
    cluster.document["usage"]["/P"] = {"gpu": 0}
    assert cluster.shares() == {"/P": 8, "/P/a": 8, "/Q": 8}
    assert verified(cluster)


def test_r_held_1_what_goes_with_a_gang_elsewhere_is_not_on_its_way_in_the_next_cycle_either() -> None:
    queues = {"/A": LAST | {"deserved": {"gpu": 1}}, "/B": {"reclaim_grace": "30s"}}
    cluster = Cluster([2, 1], queues)
    cluster.ask("gang", "/B", 3, min_count=3, on={"h0": 2, "h1": 1}).ask("x", "/A", 3)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert cluster.reclaims() == {"gang": 3}
    assert list(second_cycle(cluster.plan, cycle)) == []
    assert verified(cluster)
    assert cluster.document["held"] == [{"request": "x", "host": "h1", "units": 1}]
    cluster.cycle(seconds=30)
    assert cluster.held() == {"x": 3}


def test_r_contest_4_what_a_gang_frees_beyond_one_unit_goes_to_the_taker_before_others_are_stopped() -> None:
    queues = {"/Y": {"over_quota_weight": 0.5, "reclaim_grace": "30s"}, "/X": {"deserved": {"gpu": 2}}}
    cluster = Cluster([8, 8], queues | {"/U": {"deserved": {"gpu": 4}}})
    cluster.ask("gang", "/Y", 8, min_count=8, on={"h0": 8}).ask("x", "/X", 8, on={"h1": 8}).ask("u", "/U", 4)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert cluster.reclaims() == {"gang": 8}
    assert cluster.document["held"] == [{"request": "u", "host": "h0", "units": 4}]
    assert list(second_cycle(cluster.plan, cycle)) == []
    cluster.cycle(seconds=30)
    assert cluster.held() == {"x": 8, "u": 4}


def test_r_contest_4_what_a_gang_frees_on_two_hosts_goes_to_the_taker_on_both() -> None:
    cluster = Cluster([2, 1], {"/A": {"deserved": {"gpu": 3}}, "/B": {"reclaim_grace": "30s"}})
    cluster.ask("gang", "/B", 3, min_count=3, on={"h0": 2, "h1": 1}).ask("x", "/A", 3)
    assert verified(cluster)
    cycle = cluster.cycle()
    held = {row["host"]: row["units"] for row in cluster.document["held"]}
    assert (cluster.reclaims(), held) == ({"gang": 3}, {"h0": 2, "h1": 1})
    assert list(second_cycle(cluster.plan, cycle)) == []
    assert verified(cluster)


def test_r_notice_2_of_a_gang_that_stops_for_two_nothing_stays_below_its_minimum() -> None:
    queues = {"/A": {"deserved": {"gpu": 1}}, "/B": {"reclaim_grace": "30s"}, "/C": {"deserved": {"gpu": 2}}}
    cluster = Cluster([3, 1], queues).ask("gang", "/B", 3, min_count=2, on={"h0": 3}).ask("x", "/A", 1)
    cluster.document["hosts_down"] = ["h1"]
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 1}
    cluster.ask("y", "/C", 2, min_count=2).cycle()
    assert cluster.reclaims() == {"gang": 2}
    del cluster.document["hosts_down"]
    assert verified(cluster)
    cycle = cluster.cycle(seconds=1)
    assert cluster.held() == {"gang": 3, "x": 1}
    assert cycle.document["withdrawn"] == []
    cluster.cycle(seconds=29)
    assert cluster.held() == {"x": 1, "y": 2}


def test_nobody_below_what_it_deserves_is_said_of_it_where_a_queue_takes_from_itself() -> None:
    """What goes inside a queue for its own more important work is no loss of the queue."""
    cluster = Cluster([5], {"/A": {"deserved": {"gpu": 1}}, "/C": {"deserved": {"gpu": 4}}})
    cluster.ask("low", "/C", 5, on={"h0": 5}).ask("x", "/A", 1).ask("high", "/C", 4, priority=50)
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    cycle = run_cycle(cluster.plan, state, check=True)
    assert sum(row["units"] for row in cycle.document["reclaims"]) == 5
    assert cycle.untrue == ()


def packing() -> Cluster:
    """B has filled two hosts; of A a gang that packs wants 1 or 2 GPUs on one host, and somebody half a GPU."""
    queues = {
        "/A": LAST | {"deserved": {"gpu": 4}, "priority": 50, "reclaim_grace": "30s"},
        "/B": {"deserved": {"gpu": 2}, "over_quota_weight": 0.5, "reclaim_grace": "30s"},
    }
    cluster = Cluster([4, 2], queues).ask("b", "/B", 8, gpu=2, on={"h0": 2, "h1": 1})
    return cluster.ask("gang", "/A", 2, min_count=1, place="pack").ask("half", "/A", gpu=0.5)


def test_r_site_3_a_gang_that_packs_starts_first_where_space_is_held_for_it() -> None:
    cluster = packing()
    assert verified(cluster)
    cluster.cycle()
    assert cluster.document["held"] == [
        {"request": "gang", "host": "h1", "units": 1},
        {"request": "half", "host": "h0", "units": 1},
    ]
    for seconds in (0, 120, 0, 120, 120):
        assert verified(cluster, seconds)
        assert list(second_cycle(cluster.plan, cluster.cycle(seconds))) == []
        assert (cluster.reclaims(), cluster.last and cluster.last.document["withdrawn"]) == ({}, [])
    assert cluster.held() == {"b": 1, "gang": 2, "half": 1}


def test_r_notice_2_what_goes_for_a_gang_that_packs_elsewhere_by_now_stays() -> None:
    """One GPU of h0 ends by itself before h1 is free: the gang starts there, and what goes on h1 is of no use to it."""
    cluster = packing()
    cluster.cycle()
    (row,) = [row for row in cluster.document["allocations"] if row["host"] == "h0"]
    row["units"] = 1
    cluster.document["reclaims"] = [row for row in cluster.document["reclaims"] if row["for"] == "gang"]
    assert verified(cluster)
    cycle = cluster.cycle(seconds=5)
    grants = [(row["request"], row["host"], row["units"]) for row in cycle.document["grants"]]
    assert grants == [("half", "h0", 1), ("gang", "h0", 1)]
    assert [(row["request"], row["host"], row["units"]) for row in cycle.document["withdrawn"]] == [("b", "h1", 1)]
    assert list(second_cycle(cluster.plan, cycle)) == []


def test_r_contest_5_what_a_gang_of_its_own_queue_leaves_goes_to_the_taker_above_its_fair_share_too() -> None:
    queues = {"/A": {"reclaim_grace": "30s"}, "/B": {"deserved": {"gpu": 6}, "preemption_delay": "10h"}}
    cluster = Cluster([4, 4], queues).ask("lows", "/A", 4, on={"h1": 4}).ask("gang", "/A", 4, min_count=4, on={"h0": 4})
    cluster.ask("high", "/A", 3, priority=50).ask("b", "/B", 6)
    assert cluster.shares()["/A"] == 2
    assert verified(cluster)
    cycle = cluster.cycle()
    assert cluster.reclaims() == {"gang": 4}
    assert cluster.document["held"] == [{"request": "high", "host": "h0", "units": 3}]
    assert list(second_cycle(cluster.plan, cycle)) == []
    assert verified(cluster, 30)


def test_r_contest_4_what_a_gang_leaves_is_room_together_with_what_goes_next() -> None:
    cluster = Cluster([4], {"/A": {"deserved": {"gpu": 4}}, "/B": {"reclaim_grace": "30s"}})
    cluster.ask("b", "/B", 1, on={"h0": 1}).ask("gang", "/B", 3, min_count=3, on={"h0": 3}).ask("x", "/A", 2, gpu=2)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert cluster.reclaims() == {"gang": 3, "b": 1}
    assert list(second_cycle(cluster.plan, cycle)) == []
    cluster.cycle(seconds=30)
    assert cluster.held() == {"x": 2}


def test_r_contest_4_of_a_gang_stay_those_that_can_go_on_together() -> None:
    """The core on h0 makes room; each of the other two is below the minimum alone, and both are not."""
    cluster = Cluster([2, 1, 1, 8], {"/A": {"deserved": {"gpu": 4}}, "/B": {}})
    cluster.ask("others", "/B", 8, on={"h3": 8}).ask("gang", "/B", 4, min_count=2, on={"h0": 2})
    for host in ("h1", "h2"):
        cluster.document["allocations"].append({"request": "gang", "host": host, "units": 1, "started": YOUNG})
    cluster.ask("x", "/A", 2, gpu=2)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"gang": 2, "others": 2}


def test_r_sweep_3_what_a_cycle_grants_it_does_not_take_back() -> None:
    """V would get the idle GPU, which is too small for T, and T would take it and one more."""
    cluster = Cluster([4], {"/V": {"reclaim_grace": "30s"}, "/T": {"deserved": {"gpu": 2}}})
    cluster.ask("v", "/V", 4, on={"h0": 3}).ask("t", "/T", gpu=2)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert (cycle.document["grants"], cluster.reclaims()) == ([], {"v": 1})
    assert cluster.document["held"] == [{"request": "t", "host": "h0", "units": 1}]
    assert list(second_cycle(cluster.plan, cycle)) == []
    cluster.cycle(seconds=30)
    assert cluster.held() == {"v": 2, "t": 1}


def test_r_sweep_3_nor_inside_a_queue_and_what_is_not_told_counts_under_no_control() -> None:
    cluster = Cluster([4], {"/A": {}}, max_reclaims=1)
    cluster.ask("low", "/A", 4, on={"h0": 3}).ask("high", "/A", gpu=2, priority=50)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert (cycle.document["grants"], cluster.reclaims()) == ([], {"low": 1})
    assert list(second_cycle(cluster.plan, cycle)) == []


def test_r_sweep_3_who_is_not_placed_after_all_may_have_another_place() -> None:
    """V would go to h0, where T takes it; with that held for T, V finds h1."""
    queues = {"/V": {"deserved": {"gpu": 2}}, "/T": {"deserved": {"gpu": 2}}}
    cluster = Cluster([4, 1], queues)
    cluster.ask("v", "/V", 4, on={"h0": 3}).ask("t", "/T", gpu=2)
    assert verified(cluster)
    cycle = cluster.cycle()
    assert [(row["request"], row["host"]) for row in cycle.document["grants"]] == [("v", "h1")]
    assert cluster.reclaims() == {"v": 1}
    assert list(second_cycle(cluster.plan, cycle)) == []


def test_on_whole_hosts_all_go_that_others_have_there_or_nobody() -> None:  # R-HOSTS-3
    queues = {"/A": {"deserved": {"gpu": 4}}, "/B": {"deserved": {"gpu": 4}, "reclaim_grace": "10s"}}
    cluster = Cluster([4, 4], queues, packing="exclusive")
    cluster.ask("b", "/B", 8, on={"h0": 4, "h1": 4}).ask("a", "/A", 2)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {"b": 4}
    cluster.cycle(seconds=10)
    assert cluster.held() == {"b": 4, "a": 2}
    queues["/B"] = {"deserved": {"gpu": 5}, "reclaim_grace": "10s"}
    cluster = Cluster([4, 4], queues, packing="exclusive")
    cluster.ask("b", "/B", 8, on={"h0": 4, "h1": 4}).ask("a", "/A", 2)
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {}


def test_a_gang_that_was_to_stop_whole_and_stays_gets_more_in_the_same_cycle() -> None:
    cluster = Cluster([1, 1, 4], {"/A": {}}).ask("x", "/A", on={"h2": 1})
    cluster.ask("gang", "/A", 3, min_count=2, on={"h0": 1, "h1": 1}).ask("y", "/A", on={"h2": 1})
    of_gang = {"request": "gang", "units": 1, "deadline": "2026-01-05T09:00:20Z"}
    cluster.document["reclaims"] = [of_gang | {"host": "h0", "for": "x"}, of_gang | {"host": "h1", "for": "y"}]
    cluster.document["hosts_down"] = ["h0"]
    assert verified(cluster)
    found = cluster.cycle().document
    assert [(row["request"], row["host"]) for row in found["withdrawn"]] == [("gang", "h1")]
    assert [(row["request"], row["host"]) for row in found["grants"]] == [("gang", "h2")]


def test_r_contest_3_on_one_host_too_queues_give_level_by_level() -> None:
    """x, whose fair share is 0, gives before y, though y's unit is younger: and then nothing makes room."""
    queues: dict[str, dict[str, float]] = {"/A": {}, "/A/x": {"over_quota_weight": 0}, "/A/y": {}, "/B": {}}
    cluster = Cluster([5], queues).ask("old", "/A/x", gpu=2, on={"h0": 1}).ask("x", "/A/x", on={"h0": 1})
    cluster.ask("y", "/A/y", gpu=2, on={"h0": 1}).ask("b", "/B", gpu=2)
    assert cluster.shares() == {"/A": 3, "/A/x": 0, "/A/y": 2, "/B": 2}
    assert verified(cluster)
    cluster.cycle()
    assert cluster.reclaims() == {}
