"""The rules of taking back, one by one: inside a pool, by owners, gangs, notices, what is held (S0.8, S0.11, S2.10)."""

from __future__ import annotations

from tests.pools.small import NOW, of, on, own, placed, run, taken

PAIR: dict[str, dict[str, object]] = {"/A": {}, "/B": {}}


def test_r_take_1_takes_until_the_two_would_change_places_s0_8_s0_11() -> None:
    assert taken(PAIR, [of("/A", 9), of("/B", 9)], [on("h0", "B", 5)], hosts={"h0": 5}) == [("B", "h0", 2, "A", 0)]
    better = {"/A": {"share_priority": 1}, "/B": {}}
    assert taken(better, [of("/A", 9), of("/B", 9)], [on("h0", "B", 5)], hosts={"h0": 5}) == [("B", "h0", 5, "A", 0)]
    assert taken(better, [of("/A", 9), of("/B", 9)], [on("h0", "A", 5)], hosts={"h0": 5}) == []


def test_r_take_2_owners_take_back_without_comparison_from_the_outermost_pool_s2_10() -> None:
    consumers = {"/M": own(hosts=1), "/M/x": own(hosts=1), "/M/y": {}, "/Z": {}}
    held = [on("h0", "y", 2, "/M"), on("h0", "Z", 2)]
    held[0]["lenders"] = held[1]["lenders"] = {"/M/x": 2}
    wants = [of("/M/y", 2), of("/Z", 2)]
    assert taken(consumers, [of("/M/x", 2), *wants], held, hosts={"h0": 4}) == [("Z", "h0", 2, "x", 0)]
    assert taken(consumers, [of("/M/x", 3), *wants], held, hosts={"h0": 4}) == [
        ("Z", "h0", 2, "x", 0),
        ("y", "h0", 1, "x", 0),
    ]


def test_r_take_2_a_private_pool_that_is_lent_wholly_takes_back() -> None:
    consumers = {"/M": own(hosts=1), "/M/x": {}, "/M/y": {}, "/Z": {"share_priority": 9}}
    held = [on("h0", "Z", 4) | {"lenders": {"/M": 4}}]
    wants = [of("/M/x", 3), of("/M/y", 3), of("/Z", 4)]
    assert taken(consumers, wants, held, hosts={"h0": 4}) == [("Z", "h0", 2, "x", 0), ("Z", "h0", 2, "y", 0)]


def test_r_take_2_what_comes_on_others_space_leaves_what_was_lent_up_to_be_taken_back() -> None:
    """W's place in the public pool is on its way to x; what Y has of /M's is due all the same."""
    part = {"resource_group": "all", "per_host": {"cpu": 1}}
    consumers = {"/M": {"own": [part]}, "/M/x": {}, "/W": {"reclaim_grace": "30s"}, "/Y": {}}
    held = [on("h0", "W", 1), on("h0", "Y", 1) | {"lenders": {"/M": 1}}]
    notice = {"request": "W", "host": "h0", "units": 1, "for": "x", "deadline": "2026-01-05T09:00:30Z"}
    more = {"reclaims": [notice], "held": [{"request": "x", "host": "h0", "units": 1}]}
    wants = [of("/M/x", 2), of("/W", 1), of("/Y", 1)]
    assert taken(consumers, wants, held, hosts={"h0": 2}, **more) == [("Y", "h0", 1, "x", 0)]


def test_r_take_3_where_the_fewest_units_go_beside_what_is_idle() -> None:
    wants = [of("/B", 1, 2, name="large"), of("/B", 4, 1, name="small"), of("/A", 1, 2)]
    held = [on("h0", "small", 2), on("h1", "large", 1)]
    rows = taken({"/A": {"share_priority": 1}, "/B": {}}, wants, held, hosts={"h0": 2, "h1": 2})
    assert rows == [("large", "h1", 1, "A", 0)]


def test_r_take_4_gangs_go_whole_s0_45() -> None:
    gang = of("/A", 4, min_count=4)
    assert placed(PAIR, [gang], hosts={"h0": 2}) == []
    assert placed({"/A": own(hosts=["h0"])}, [gang], hosts={"h0": 2, "h1": 2}) == [
        ("A", "h0", 2, "own"),
        ("A", "h1", 2, "/"),
    ]
    stands = [on("h0", "B", 3), on("h1", "B", 1)]
    stops = taken(
        {"/A": {"share_priority": 1}, "/B": {}},
        [of("/A", 1), of("/B", 4, min_count=4)],
        stands,
        hosts={
            "h0": 3,
            "h1": 1,
        },
    )
    assert stops == [("B", "h0", 3, "A", 0), ("B", "h1", 1, "A", 0)]


def test_r_take_4_a_gang_that_goes_whole_gets_nothing_beside_until_it_is_gone() -> None:
    """B may have a third unit on h1, and would go on with that alone; told in this cycle, or in one before."""
    lent, hosts = {"/A": own(hosts=["h0"]), "/B": {}}, {"h0": 2, "h1": 1}
    wants, stands = [of("/A", 1, 2), of("/B", 3, min_count=2)], [on("h0", "B", 2, A=2)]
    assert placed(lent, wants, stands, hosts=hosts) == []
    assert taken(lent, wants, stands, hosts=hosts) == [("B", "h0", 2, "A", 0)]
    notice = {"request": "B", "host": "h0", "units": 2, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    assert placed(lent, wants, stands, hosts=hosts, reclaims=[notice]) == []
    found = placed(lent, wants, stands, hosts=hosts | {"h2": 2}, reclaims=[notice])
    assert found == [("A", "h2", 1, "/"), ("B", "h1", 1, "/")]  # nobody takes from it any more: it goes on


def test_r_take_4_of_a_gang_that_stops_whole_nothing_stays_that_was_picked_before() -> None:
    """Two of B's five go first, as it may go on with three; then A needs a third, and three would do."""
    better = {"/A": {"share_priority": 1}, "/B": {}}
    gang = of("/B", 5, min_count=3)
    assert taken(better, [of("/A", 1, 3), gang], [on("h0", "B", 5)], hosts={"h0": 5}) == [("B", "h0", 5, "A", 0)]


def test_r_take_4_what_a_gang_leaves_elsewhere_is_there_for_the_gang_that_stops_it() -> None:
    better = {"/A": {"share_priority": 1}, "/B": {}}
    wants = [of("/A", 2, 2, min_count=2), of("/B", 2, 2, min_count=2)]
    held = [on("h0", "B", 1), on("h1", "B", 1)]
    cycle = run(better, wants, held, hosts={"h0": 2, "h1": 2})
    assert [(row["host"], row["units"]) for row in cycle.document["reclaims"]] == [("h0", 1), ("h1", 1)]
    assert [(row.request, row.host, row.units) for row in cycle.after.held] == [("A", "h0", 1), ("A", "h1", 1)]


def test_r_take_4_the_last_unit_of_a_gang_stands_on_what_is_idle() -> None:
    """One of A's two is on its way; for the other there is room on h1, so that nobody goes for it."""
    better = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}}
    wants = [of("/A", 2, 2, min_count=2), of("/B", 4)]
    held = [on("h0", "B", 2), on("h1", "B", 2)]
    notice = {"request": "B", "host": "h0", "units": 2, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    more = {"reclaims": [notice], "held": [{"request": "A", "host": "h0", "units": 1}]}
    cycle = run(better, wants, held, hosts={"h0": 2, "h1": 4}, **more)
    assert cycle.document["reclaims"] == []
    assert [(row.request, row.host, row.units) for row in cycle.after.held] == [("A", "h0", 1), ("A", "h1", 1)]


def test_r_take_3_a_host_on_which_a_take_would_break_a_share_limit_is_passed_over() -> None:
    """On h0 one unit of x and the idle CPU are enough, but M would have 9 then; on h1 two go."""
    consumers = {"/M": {"share_limit": {"cpu": 8}}, "/M/x": {}, "/M/y": {"share_priority": 1}, "/Z": {}}
    wants = [of("/M/x", 8), of("/M/y", 1, 2), of("/Z", 1)]
    held = [on("h0", "x", 3), on("h1", "x", 5), on("h0", "Z", 1)]
    assert taken(consumers, wants, held, hosts={"h0": 5, "h1": 5}) == [("x", "h1", 2, "y", 0)]


def test_r_victim_2_the_largest_usage_gives_first() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {}, "/C": {}}
    held = [on("h0", "B", 4), on("h0", "C", 2)]
    rows = taken(consumers, [of("/A", 3), of("/B", 4), of("/C", 2)], held, hosts={"h0": 6})
    assert rows == [("B", "h0", 2, "A", 0), ("C", "h0", 1, "A", 0)]


def test_r_held_1_what_a_notice_relies_on_is_kept_for_its_taker() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}, "/C": {}}
    wants = [of("/A", 1, 6), of("/B", 2)]
    first = run(consumers, wants, [on("h0", "B", 2)], hosts={"h0": 6})
    assert [row["units"] for row in first.document["reclaims"]] == [2]
    notice = {"request": "B", "host": "h0", "units": 2, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    late = [*wants, of("/C", 4)]
    assert placed(consumers, late, [on("h0", "B", 2)], hosts={"h0": 6}, reclaims=[notice]) == []
    freed = [{"request": "A", "host": "h0", "units": 1}]
    assert placed(consumers, late, [], hosts={"h0": 6}, held=freed) == [("A", "h0", 1, "/")]


def test_r_held_1_what_is_idle_is_held_where_it_is_nearest_while_a_gang_takes() -> None:
    """Two units of x fit into what /A has, beside what is idle of /B: they count there, and /A is below its quota."""
    mine, gang = own(per_host={"cpu": 2}), of("/A/x", 3, {"cpu": 1, "gpu": 1}, min_count=3)
    consumers = {"/B": mine, "/A": mine, "/A/x": {}, "/V": {}}
    rows = taken(consumers, [gang, of("/V", 4)], [on("h0", "V", 4, B=2)], hosts={"h0": {"cpu": 6, "gpu": 6}})
    assert rows == [("V", "h0", 1, "x", 0)]


def test_r_notice_2_who_waits_no_longer_takes_nothing() -> None:
    consumers = {"/A": {}, "/B": {"reclaim_grace": "30s"}}
    notice = {"request": "B", "host": "h0", "units": 3, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    cycle = run(consumers, [of("/A", 2), of("/B", 4)], [on("h0", "B", 4)], hosts={"h0": 4}, reclaims=[notice])
    assert [(row["request"], row["units"]) for row in cycle.document["withdrawn"]] == [("B", 1)]
    assert cycle.document["reclaims"] == []


def test_r_sweep_3_what_would_go_at_once_is_not_placed_and_its_space_is_held() -> None:
    wants = [of("/A", 1, 2), of("/B", 4)]
    cycle = run({"/A": {}, "/B": {"reclaim_grace": "30s"}}, wants, [on("h0", "B", 3)], hosts={"h0": 4})
    assert cycle.document["grants"] == []
    assert [(row["request"], row["units"], row["for"]) for row in cycle.document["reclaims"]] == [("B", 1, "A")]
    assert [(row.request, row.host, row.units) for row in cycle.after.held] == [("A", "h0", 1)]


def test_r_sweep_3_gangs_go_whole_and_only_those_that_run_are_told() -> None:
    better = {"/A": {"share_priority": 1}, "/B": {}}
    wants = [of("/A", 2, 2, min_count=2), of("/B", 4)]
    assert placed(better, wants, [on("h0", "B", 1)], hosts={"h0": 4}) == []
    assert taken(better, wants, [on("h0", "B", 1)], hosts={"h0": 4}) == [("B", "h0", 1, "A", 0)]
    gang = [of("/A", 1, 4), of("/B", 3, min_count=3)]
    assert placed(better, [*gang, of("/B", 1, name="one")], [on("h0", "one", 1)], hosts={"h0": 4}) == []


def test_r_sweep_3_who_lost_a_place_has_another_one() -> None:
    better = {"/A": {"share_priority": 1}, "/B": {}}
    wants = [of("/A", 1, 4), of("/B", 5)]
    found = placed(better, wants, [on("h0", "B", 2)], hosts={"h0": 4, "h1": 2})
    assert found == [("B", "h1", 2, "/")]


def test_r_sweep_3_what_holds_units_back_counts_those_that_run_alone() -> None:
    better = {"/A": {"share_priority": 1}, "/B": {}}
    wants, more = [of("/A", 1, 4), of("/B", 4)], {"hosts": {"h0": 4}, "settings": {"max_reclaims": 2}}
    assert taken(better, wants, [on("h0", "B", 2)], **more) == [("B", "h0", 2, "A", 0)]


def test_r_take_3_a_host_on_which_a_take_would_be_too_much_is_passed_over() -> None:
    """A takes 2 back on h0; with one unit more there both would count in the public pool, on h1 one more is fair."""
    consumers = {"/A": own(total={"cpu": 2}), "/A/x": {}, "/B": {}}
    held = [on("h0", "B", 3), on("h0", "B", 2, A=2), on("h1", "B", 2)]
    rows = taken(consumers, [of("/A/x", 12, 2), of("/B", 7)], held, hosts={"h0": 5, "h1": 2})
    assert rows == [("B", "h0", 2, "x", 0), ("B", "h1", 2, "x", 0)]


def test_r_held_1_nothing_of_a_pool_is_held_for_who_takes_no_part_in_it() -> None:
    """Half of C's unit stands on what is nobody's, and would bring B nothing there: B takes all of its own back."""
    consumers = {"/A": {}, "/B": own(per_host={"cpu": 3}) | {"share_ratio": 0}, "/C": {}}
    wants = [of("/A", 2), of("/B", 9), of("/C", 1, 2)]
    held = [on("h0", "A", 2, B=2), on("h0", "C", 1, B=1) | {"stands_on": {"/": {"cpu": 1}, "/B": {"cpu": 1}}}]
    cycle = run(consumers, wants, held, hosts={"h0": 4})
    assert sum(row["units"] for row in cycle.document["reclaims"]) == 3
    assert [(row.request, row.units) for row in cycle.after.held] == [("B", 3)]


def test_r_held_1_what_was_freed_is_held_in_the_order_of_the_state() -> None:
    """What M owns of h0 stays held for x, for which Z let go of it, and y has what is nobody's."""
    consumers = {"/M": own(per_host={"cpu": 3}), "/M/x": {}, "/M/y": {}, "/Z": {}}
    wants = [of("/M/x", 3, 3), of("/M/y", 1), of("/Z", 3)]
    nobodys, lent = on("h0", "Z", 4), on("h0", "Z", 3, M=3)
    notices = [
        {"request": "Z", "host": "h0", "units": 3, "for": "x", "deadline": NOW, "lenders": {"/M": 3}},
        {"request": "Z", "host": "h0", "units": 1, "for": "y", "deadline": NOW},
    ]
    for row in notices:
        row |= {"started": NOW, "pool": "/"}
    holds = [{"request": name, "host": "h0", "units": 1} for name in "xy"]
    more = {"reclaims": notices, "held": holds, "previous_cycle": "2026-01-05T08:59:59Z"}
    rows = placed(consumers, wants, [nobodys, lent], hosts={"h0": 7}, **more)
    assert rows == [("x", "h0", 1, "/M"), ("y", "h0", 1, "/")]


def test_r_notice_2_what_an_owner_takes_back_stays_noticed_though_others_leave_enough_in_an_outer_pool() -> None:
    """W's unit stands on x's own; those of Y on what is M's and nobody's: four units of x come, five CPUs are free."""
    consumers = {
        "/M": own(per_host={"cpu": 4}) | {"share_limit": {"gpu": 4}},
        "/M/x": own(per_host={"cpu": 1}),
        "/W": {"reclaim_grace": "30s"},
        "/Y": {"reclaim_grace": "30s"},
    }
    held = [on("h0", "W", 1) | {"lenders": {"/M/x": 1}}]
    held += [on("h0", "Y", 1) | {"stands_on": {"/": {"cpu": 1}, "/M": {"cpu": 1}}}, on("h0", "Y", 1, M=1)]
    wants = [of("/M/x", 9, {"cpu": 1, "gpu": 1}), of("/W", 1), of("/Y", 2, 2)]
    rows = taken(consumers, wants, held, hosts={"h0": {"cpu": 5, "gpu": 8}})
    assert ("W", "h0", 1, "x", 30) in rows


def test_r_notice_2_of_two_on_their_way_the_later_one_is_let_go_when_less_is_wanted() -> None:
    """Also where less is wanted since the cycle before, and whatever is listed first."""
    late, soon = "2026-01-05T09:00:50Z", "2026-01-05T09:00:20Z"
    for hosts in (("h0", "h1"), ("h1", "h0")):
        notices = [
            {"request": name, "host": host, "units": 1, "for": "A", "deadline": due}
            for name, host, due in zip("BD", hosts, (late, soon), strict=True)
        ]
        held = [{"request": "A", "host": host, "units": 1} for host in hosts]
        for more in ({}, {"held": held}):
            wants = [of("/A", 1), of("/B", 4), of("/D", 4)]
            stands = [on(host, name, 4) for name, host in zip("BD", hosts, strict=True)]
            document = run({"/A": {}, "/B": {}, "/D": {}}, wants, stands, reclaims=notices, **more).document
            assert [(row["request"], row["host"]) for row in document["withdrawn"]] == [("B", hosts[0])]


def test_r_take_2_a_private_pool_takes_back_what_its_owner_prefers_first() -> None:
    """W holds a whole host of preference 2 and Z a part of one of preference 1: Z gives, whoever has more."""
    entries = [own(hosts=[host], preference=at)["own"][0] for host, at in (("h0", 2), ("h1", 1))]
    consumers = {"/M": {"own": entries}, "/M/x": {}, "/W": {}, "/Z": {}}
    wants, hosts = [of("/M/x", 1), of("/W", 4), of("/Z", 2)], {"h0": 4, "h1": 2}
    assert taken(consumers, wants, [on("h0", "W", 4, M=4), on("h1", "Z", 2, M=2)], hosts=hosts)[0][:3] == ("Z", "h1", 1)


def test_r_take_2_a_unit_that_needs_parcels_of_two_preferences_is_taken_back_for_last() -> None:
    halves = [own(per_host={"cpu": "50%"}, preference=at)["own"][0] for at in (2, 1)]
    consumers = {"/M": {"own": halves}, "/M/x": {}, "/W": {}}
    found = taken(consumers, [of("/M/x", 1, 4), of("/W", 4)], [on("h0", "W", 4, M=4)], hosts={"h0": 4})
    assert [row[:4] for row in found] == [("W", "h0", 4, "x")]
