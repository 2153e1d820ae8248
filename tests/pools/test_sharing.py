"""The rules of pools one by one: content, usage, turns, limits (S0.1 to S0.10, S0.14 to S0.47, S2.1 to S2.15)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cycle.document import quota_document
from tests.pools.small import inputs, of, on, own, placed, public, run, taken

Json = dict[str, Any]
TREE = {"/A": {"share_ratio": 1}, "/A/1": {}, "/A/2": {"share_ratio": 2}, "/B": {"share_ratio": 2}}
TREE |= {"/B/1": {"share_priority": 1}, "/B/2": {}, "/C": {"share_priority": 0}}
PAIR: dict[str, Any] = {"/A": {}, "/B": {}}
FAMILY = {"/M": own(hosts=1), "/M/x": {}, "/M/y": {}, "/Z": {}}


def test_r_pool_1_what_nobody_and_what_no_child_owns_are_pools_s2_1_s2_4_s2_5_s2_6_s2_15() -> None:
    consumers = {"/M": own(hosts=["h0"]), "/M/x": own(per_host={"cpu": "50%"}), "/M/y": {}}
    pools = quota_document(*inputs(consumers, [of("/M/x", 2), of("/M/y", 8)]))["pools"]
    assert set(pools) == {"/", "/M"}
    cycle = run(consumers, [of("/M/x", 2), of("/M/y", 8)])
    amounts = {(row["consumer"], row["host"]): row["amounts"] for row in cycle.document["ownership"]}
    assert amounts == {("/M", "h0"): {"cpu": 2}, ("/M/x", "h0"): {"cpu": 2}}


def test_r_pool_2_a_unit_stands_on_the_worst_preference_first() -> None:
    good, bad = own(per_host={"cpu": 2}, preference=2), own(per_host={"cpu": 2}, preference=8)
    cycle = run({"/P": {}, "/A": good, "/B": bad}, [of("/P", 1)], hosts={"h0": 4})
    assert cycle.document["grants"][0]["lenders"] == {"/B": 1}
    cycle = run({"/P": {}, "/A": bad, "/B": good}, [of("/P", 1, 3)], hosts={"h0": 4})
    assert cycle.document["grants"][0]["lenders"] == {"/A": 1, "/B": 1}


def test_r_pool_3_capacity_goes_host_by_host_s0_22_s0_23() -> None:
    hosts = {"h0": {"cpu": 8, "gpu": 3}, "h1": {"cpu": 12, "gpu": 2}}
    values = public({"/A": {}}, [of("/A", 1, {"cpu": 2, "gpu": 1})], [on("h0", "A", 1)], hosts=hosts)
    assert values["/A"]["usage"] == "1/5"


def test_r_sweep_1_own_then_private_then_public_s2_2_s2_7_s2_8() -> None:
    consumers = {"/M": own(hosts=2), "/M/x": own(hosts=1), "/Z": {}}
    hosts = {"h0": 2, "h1": 2, "h2": 2}
    assert placed(consumers, [of("/M/x", 5, name="r")], hosts=hosts) == [
        ("r", "h0", 2, "own"),
        ("r", "h1", 2, "/M"),
        ("r", "h2", 1, "/"),
    ]
    two = [{"resource_group": "all", "hosts": [host], "preference": rank} for host, rank in (("h0", 9), ("h1", 1))]
    assert placed({"/A": {"own": two}}, [of("/A", 3)]) == [("A", "h1", 3, "own")]


def test_r_sweep_2_the_better_is_taken_back_before_the_next_level_where_it_says_so_s2_9() -> None:
    better = {"resource_group": "all", "hosts": ["h0"], "preference": 1}
    worse = {"resource_group": "all", "hosts": ["h1"], "preference": 9}
    stands = [on("h0", "B", 4, A=4)]
    wants = [of("/A", 4), of("/B", 4)]
    assert taken({"/A": {"own": [better, worse]}, "/B": {}}, wants, stands) == []
    first = {**better, "reclaim_before_next_level": True}
    assert taken({"/A": {"own": [first, worse]}, "/B": {}}, wants, stands) == [("B", "h0", 4, "A", 0)]


def test_r_lend_5_what_is_left_goes_up_unless_it_is_reserved_s2_10_s2_11_s2_12() -> None:
    consumers = {"/M": own(hosts=["h0"]), "/M/x": own(hosts=["h0"]), "/M/y": {}, "/Z": {}}
    wants = [of("/M/y", 1), of("/Z", 9)]
    assert placed(consumers, wants, hosts={"h0": 4}) == [("y", "h0", 1, "/M"), ("Z", "h0", 3, "/")]
    reserved = consumers | {"/M": own(hosts=["h0"], reserved=True)}
    assert placed(reserved, wants, hosts={"h0": 4}) == [("y", "h0", 1, "/M")]
    assert placed(consumers | {"/M/x": own(hosts=["h0"], reserved=True)}, wants, hosts={"h0": 4}) == []


def test_r_lend_6_who_borrows_lets_go_in_time_s0_12_s0_13_s2_13_s2_30() -> None:
    lender = own(hosts=["h0"], lend_grace="20s")
    slow, fast = {"reclaim_grace": "45s"}, {"reclaim_grace": "20s"}
    assert placed({"/A": lender, "/B": slow, "/C": fast}, [of("/B", 9), of("/C", 9)], hosts={"h0": 2}) == [
        ("C", "h0", 2, "/")
    ]
    stands = [on("h0", "B", 2, A=2)]
    assert taken({"/A": lender, "/B": slow}, [of("/A", 2), of("/B", 2)], stands, hosts={"h0": 2}) == [
        ("B", "h0", 2, "A", 20)
    ]
    assert placed({"/B": slow, "/C": fast}, [of("/B", 1), of("/C", 1)], settings={"public_pool_grace": "30s"}) == [
        ("C", "h0", 1, "/")
    ]
    private = {"/M": {**own(hosts=2), "private_pool_grace": "20s"}, "/M/x": slow, "/M/y": fast}
    assert placed(private, [of("/M/x", 1), of("/M/y", 1)]) == [("y", "h0", 1, "/M")]


def test_r_usage_1_units_of_each_size_by_their_capacity_s0_9_s0_10_s0_21_s0_24_s0_25_s0_26_s0_27() -> None:
    wants = [of("/M/x", 2, 1, name="small"), of("/M/x", 1, 2, name="large"), of("/Z", 1)]
    held = [on("h0", "small", 2), on("h1", "large", 1), on("h1", "Z", 1)]
    values = public({"/M": {}, "/M/x": {}, "/Z": {}}, wants, held, hosts={"h0": 5, "h1": 5})
    assert values["/M/x"]["usage"] == values["/M"]["usage"] == "9/20"  # 2/10 + 1/4
    assert values["/"]["usage"] == "11/20"
    apart = quota_document(*inputs(FAMILY, [of("/M/x", 2), of("/Z", 4)], [on("h0", "x", 2, "/M"), on("h1", "Z", 4)]))
    assert apart["pools"]["/M"]["consumers"]["/M/x"]["usage"] == "1"  # two are idle there, and lent up
    assert "/Z" not in apart["pools"]["/M"]["consumers"]
    assert apart["pools"]["/"]["consumers"]["/M"]["usage"] == "0"


def test_r_usage_2_demand_is_one_at_most_for_each_request_s0_28_s0_32_s0_33_s0_34() -> None:
    values = public({"/A": {}, "/B": {}}, [of("/A", 90, name="1"), of("/A", 90, name="2"), of("/B", 2)])
    assert [values[path]["usage_demand"] for path in ("/", "/A", "/B")] == ["9/4", "2", "1/4"]


def test_r_usage_3_priorities_then_ratios_down_the_tree_s0_20_s0_29_s0_31_s0_35_s0_36_s0_37_s0_38_s0_39() -> None:
    consumers = TREE | {"/A": {"share_priority": 1}, "/B": {"share_priority": 1, "share_ratio": 2}}
    wants = [of(path, 9, name=path[1:].replace("/", "")) for path in ("/A/1", "/A/2", "/B/1", "/B/2", "/C")]
    values = public(consumers, wants, [on("h0", "C", 9)], hosts={"h0": 9})
    quota = {path: row["usage_quota"] for path, row in values.items()}
    expected = {"/": "1", "/A": "1/3", "/A/1": "1/9", "/A/2": "2/9", "/B": "2/3", "/B/1": "2/3", "/B/2": "0", "/C": "0"}
    assert quota == expected
    content = public({"/A": {}, "/B": {"share_ratio": 5}}, [of("/A", 6), of("/B", 1)], [on("h0", "A", 4)])
    assert content["/A"]["usage_quota"] == "3/8"  # the other wants 1/8 and no more
    still = public({"/A": {}, "/B": {"share_ratio": 5}}, [of("/A", 4)], [on("h0", "A", 4)])
    assert still["/A"]["usage_quota"] == still["/A"]["usage"]


def test_r_usage_4_share_quotas_are_amounts_of_each_resource_s0_14_s0_15_s0_16_s0_17_s0_18_s0_19() -> None:
    hosts = {"h0": {"cpu": 128, "gpu": 16}}
    consumers = {"/A": {}, "/B": {"share_ratio": 2, "share_limit": {"gpu": 6}}, "/B/x": {}, "/B/y": {}}
    consumers |= {"/C": {"share_priority": 9}}
    values = public(consumers, [of("/A", 32)], [on("h0", "A", 32)], hosts=hosts)
    share = {path: row["share_quota"] for path, row in values.items()}
    assert share["/A"] == share["/C"] == {"cpu": "32", "gpu": "4"}
    assert share["/B"] == {"cpu": "64", "gpu": "6"}
    assert share["/B/x"] == {"cpu": "32", "gpu": "4"}
    assert values["/A"]["approximate_share_quota"] == {"cpu": "32", "gpu": "4"}
    assert values["/C"]["approximate_share_quota"] == {"cpu": "0", "gpu": "0"}


def test_r_usage_4_without_any_ratio_nothing_is_planned() -> None:
    values = public({"/A": {"share_ratio": 0}}, [of("/A", 1)])
    assert values["/A"]["share_quota"] == {"cpu": "0", "gpu": "0"}


def test_r_turn_1_who_uses_least_for_its_ratio_comes_next_s0_6_s0_7_s0_40_s0_42_s0_44_s0_45_s0_46_s0_47() -> None:
    consumers = {"/A": {}, "/B": {"share_ratio": 2}}
    turns = placed(consumers, [of("/A", 9), of("/B", 9)], hosts={"h0": 4})
    assert [row[:3] for row in turns] == [("A", "h0", 1), ("B", "h0", 2), ("A", "h0", 1)]
    assert placed(consumers, [of("/A", 9), of("/B", 1)], hosts={"h0": 4})[-1] == ("A", "h0", 2, "/")


def test_r_turn_1_equal_usages_over_different_capacities_are_equal_s0_21_s0_44() -> None:
    """1/10 + 1/5 = 3/10 and 1/10 + 1/10 + 1/10 = 3/10, which as doubles are more; of equal ones the first is next."""
    mixed = [of("/A", 9, 3, name="a1"), of("/A", 9, 6, name="a2")], [on("h0", "a1", 1), on("h0", "a2", 1)]
    many = [of("/A", 9, 3, name=name) for name in ("a1", "a2", "a3")], [on("h0", f"a{at}", 1) for at in (1, 2, 3)]
    for wants, stands in (mixed, many):
        turns = placed(PAIR, [*wants, of("/B", 9, 3)], [*stands, on("h0", "B", 3)], hosts={"h0": 30})
        assert [row[0] for row in turns[:2]] == ["a1", "B"]
        gives = {"/A": {}, "/B": {}, "/C": {"share_priority": 1}}
        full = taken(gives, [*wants, of("/B", 3, 3), of("/C", 1, 15)], [*stands, on("h0", "B", 3)], hosts={"h0": 30})
        assert full[-1][0] == "B"  # of equal ones the last gives first


def test_r_turn_1_a_better_priority_has_all_first_among_siblings_s0_1_s0_2_s0_3_s0_4_s0_5_s0_41_s0_43() -> None:
    consumers = {"/A": {}, "/A/x": {"share_priority": 9}, "/A/y": {}, "/B": {"share_priority": 1}}
    turns = placed(consumers, [of("/A/x", 9), of("/A/y", 9), of("/B", 1)], hosts={"h0": 4})
    assert turns == [("B", "h0", 1, "/"), ("x", "h0", 3, "/")]


def test_r_share_2_ratio_0_takes_no_part_and_gives_all_it_has() -> None:
    consumers = {"/A": {"share_ratio": 0}, "/B": {}}
    assert placed(consumers, [of("/A", 1), of("/B", 1)]) == [("B", "h0", 1, "/")]
    gives = taken(consumers, [of("/A", 1), of("/B", 1)], [on("h0", "A", 1)], hosts={"h0": 1})
    assert gives == [("A", "h0", 1, "B", 0)]


def test_r_limit_1_no_unit_is_placed_beyond_it() -> None:
    consumers = {"/M": {"share_limit": {"cpu": 5}, **own(hosts=["h1"])}, "/M/x": {}, "/M/y": own(hosts=["h1"])}
    grants = placed(consumers, [of("/M/x", 9, 2), of("/M/y", 4)], hosts={"h0": 8, "h1": 4})
    assert grants == [("y", "h1", 4, "own"), ("x", "h0", 2, "/")]


def test_r_limit_2_only_what_fits_under_it_is_demand() -> None:
    consumers = {"/M": {"share_limit": {"cpu": 4}}, "/M/x": {}, "/M/y": {}, "/Z": {}}
    values = public(consumers, [of("/M/x", 3), of("/M/y", 3)], hosts={"h0": 12})
    assert [values[path]["usage_demand"] for path in ("/M/x", "/M/y", "/M")] == ["1/4", "1/4", "1/3"]


def test_r_lend_6_the_smallest_grace_on_its_way_up_bounds_what_is_lent() -> None:
    chain = {"/M": own(hosts=["h0"], lend_grace="5s"), "/M/x": own(hosts=["h0"], lend_grace="30s"), "/M/y": {}}
    chain |= {"/M/y": {"reclaim_grace": "30s"}, "/W": {"reclaim_grace": "5s"}, "/Z": {"reclaim_grace": "6s"}}
    one = {"h0": 4}
    assert placed(chain, [of("/Z", 1), of("/W", 1)], hosts=one) == [("W", "h0", 1, "/")]
    assert placed(chain, [of("/Z", 1), of("/M/y", 1)], hosts=one) == [("y", "h0", 1, "/M")]


@pytest.mark.parametrize(("limit", "granted"), [(4, []), (5, [("y", "h1", 1, "/")])])
def test_r_limit_1_what_is_under_notice_counts_for_what_is_idle(limit: int, granted: list[tuple[str, ...]]) -> None:
    """Three of x, two of them to go for Z, and one of y: another one of y would be the fifth."""
    consumers = {"/M": {"share_limit": {"cpu": limit}}, "/M/x": {"reclaim_grace": "10s"}, "/M/y": {}}
    notice = {"request": "x", "host": "h0", "units": 2, "for": "Z", "deadline": "2026-01-05T09:00:10Z"}
    wants, stands = [of("/M/x", 3), of("/M/y", 2), of("/Z", 1, 2)], [on("h0", "x", 3), on("h0", "y", 1)]
    asked = {"hosts": {"h0": 4, "h1": 1}, "reclaims": [notice]}
    assert placed(consumers | {"/Z": {"share_ratio": 9}}, wants, stands, **asked) == granted


def test_r_pool_1_what_is_overcommitted_is_rounded_down_of_parcels_too() -> None:
    """Three CPUs count as 4.5, so four; the one that A owns as 1.5, so one, and three are nobody's."""
    crowded = {"resources": {"cpu": {"overcommit": 1.5}}, "hosts": {"h0": 3}}
    found = placed({"/A": own(per_host={"cpu": 1}, reserved=True), "/B": {}}, [of("/B", 9), of("/A", 1)], **crowded)
    assert found == [("A", "h0", 1, "own"), ("B", "h0", 3, "/")]


def of_all(*entries: tuple[list[str], Json]) -> Json:
    return {"own": [own(hosts=hosts, **stated)["own"][0] for hosts, stated in entries]}


THREE = {"h0": 4, "h1": 4, "h2": 4}


def test_r_sweep_1_a_host_has_the_preference_of_the_parents_entry_that_has_it() -> None:
    above = of_all((["h0"], {"preference": 9}), (["h1"], {"preference": 1}), (["h2"], {}))
    for mine in (of_all((["h0", "h1"], {}), (["h2"], {})), own(hosts=3)):  # of h2 it is 5
        order = placed({"/M": above, "/M/x": mine}, [of("/M/x", 12)], hosts=THREE)
        assert [row[:3] for row in order] == [("x", "h1", 4), ("x", "h2", 4), ("x", "h0", 4)]
    stated = {"/M": above, "/M/x": of_all((["h0", "h1"], {"preference": 4}), (["h2"], {"preference": 3}))}
    assert [row[1] for row in placed(stated, [of("/M/x", 6)], hosts=THREE)] == ["h2", "h0"]
    below = {"/M": above, "/M/x": own(hosts=3), "/M/x/1": own(hosts=2), "/M/x/2": {}}
    assert [row[1] for row in placed(below, [of("/M/x/1", 4)], hosts=THREE)] == ["h1"]


def test_r_sweep_2_what_is_taken_back_early_is_of_the_preference_of_each_host() -> None:
    """x takes h1 back before it uses h0, which its parent likes less."""
    above = of_all((["h0"], {"preference": 9}), (["h1"], {"preference": 1}))
    consumers = {"/M": above, "/M/x": own(hosts=2, reclaim_before_next_level=True), "/Z": {}}
    wants, stands = [of("/M/x", 1), of("/Z", 4)], [on("h1", "Z", 4, M=4)]
    document = run(consumers, wants, stands).document
    assert [(row["request"], row["host"], row["for"]) for row in document["reclaims"]] == [("Z", "h1", "x")]
    assert document["grants"] == []


@pytest.mark.parametrize(
    ("inner", "demand", "taken_for"),
    [({}, "1/25", [1]), ({"share_limit": {"gpu": 1}}, "31/100", [1, 3]), ({"share_ratio": 0}, "2/5", [4])],
)
def test_r_limit_2_what_a_limit_inside_or_ratio_0_forbids_takes_no_room(
    inner: Json, demand: str, taken_for: list[int]
) -> None:
    consumers = {"/M": {"share_limit": {"gpu": 4}}, "/M/x": inner, "/M/y": {}, "/Z": {}}
    large = {"cpu": 10, "gpu": 1}
    wants = [of("/M/x", 4, {"cpu": 1, "gpu": 1}), of("/M/y", 4, large), of("/Z", 10, large)]
    asked: Json = {"hosts": {"h0": {"cpu": 100, "gpu": 100}}}
    assert public(consumers, wants, [on("h0", "Z", 10)], **asked)["/M"]["usage_demand"] == demand
    document = run(consumers, wants, [on("h0", "Z", 10)], **asked).document
    assert [row["units"] for row in document["reclaims"]] == taken_for


def test_r_limit_3_what_is_held_above_it_goes_s0_30() -> None:
    consumers = {"/M": {"share_limit": {"cpu": 3}, "reclaim_grace": "7s"}, "/Z": {}}
    notice = {"request": "M", "host": "h0", "units": 1, "for": None, "deadline": "2026-01-05T09:00:05Z"}
    rows = taken(consumers, [of("/M", 9)], [on("h0", "M", 5)], hosts={"h0": 8}, reclaims=[notice])
    assert rows == [("M", "h0", 1, None, 7)]


def test_r_place_2_balanced_prefers_the_host_of_which_least_is_in_use() -> None:
    rows = placed({"/A": {}}, [of("/A", 5)], [on("h0", "A", 3)], settings={"packing": "balanced"})
    assert rows == [("A", "h1", 2, "/")]


def test_r_lend_5_quota_leaves_with_an_owner_what_its_waiting_units_fit_into() -> None:
    consumers = {"/A": own(hosts=1), "/B": {}}

    def capacity(*requests: dict[str, Any]) -> str:
        usage: str = public(consumers, [*requests, of("/B", 1)])["/B"]["usage_demand"]
        return usage

    assert capacity(of("/A", 1)) == "1/4"  # its host is about to be used
    assert capacity(of("/A", 1, 5)) == "1/8"  # no host is large enough
    assert capacity() == "1/8"
