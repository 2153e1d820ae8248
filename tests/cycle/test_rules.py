"""Every rule of `docs/rules.md` by its own example."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.errors import InputError
from tests.cycle.cluster import NOW, cycle

BUSY = 200


def test_r_set_1_rank_is_not_inherited_and_grace_is() -> None:
    seen = cycle(
        20,
        {
            "/P": {"owned": 10, "rank": 3, "reclaim_grace": "30s"},
            "/P/p": {"owned": 10, "wants": BUSY, "holds": 15},
            "/Q": {"owned": 10, "rank": 1, "wants": 10, "holds": 5},
        },
    )
    (row,) = seen.document["reclaims"]
    assert (row["consumer"], row["units"], row["deadline"]) == ("/P/p", 5, "2026-01-05T09:00:30Z")


def test_r_check_1_reserved_above_owned_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        cycle(10, {"/A": {"owned": 5, "reserved": 6}})
    assert [fault.code for fault in caught.value.faults] == ["reserved-above-owned"]


@pytest.mark.parametrize(("slots", "owned_now"), [(120, 12), (90, 9)])
def test_r_scale_1_owned_follows_the_size_of_the_group(slots: int, owned_now: int) -> None:
    seen = cycle(slots, {"/X": {"owned": 10, "wants": BUSY}, "/Y": {"owned": 90, "wants": BUSY}}, configured=100)
    assert seen.quota("/X") == (owned_now,)


@pytest.mark.parametrize(("slots", "reserve"), [(200, 6), (80, 6), (50, 5)])
def test_r_scale_2_the_reserve_is_cut_to_what_is_owned_now_and_not_scaled(slots: int, reserve: int) -> None:
    seen = cycle(slots, {"/X": {"owned": 10, "reserved": 6, "wants": 0}}, configured=100)
    assert seen.of("reserve", "/X") == (reserve,)
    assert seen.quota("/X") == (reserve,)


def test_r_scale_3_a_limit_does_not_grow_with_the_group() -> None:
    seen = cycle(34, {"/A": {"owned": 12, "limit": 14, "wants": BUSY}, "/B": {"owned": 18}}, configured=30)
    assert seen.quota("/A") == (14,)


def test_r_need_1_a_leaf_needs_its_reserve_even_if_it_wants_less() -> None:
    seen = cycle(10, {"/A": {"owned": 10, "reserved": 6, "wants": 2}})
    assert seen.of("need", "/A") == (6,)


def test_r_need_2_a_parents_limit_caps_what_its_children_need() -> None:
    seen = cycle(
        40,
        {
            "/P": {"owned": 20, "limit": 22},
            "/P/a": {"owned": 8, "wants": 8},
            "/P/b": {"wants": 18},
            "/Q": {"owned": 20},
        },
    )
    assert seen.of("need", "/P", "/P/a", "/P/b") == (22, 8, 18)


def test_r_quota_1_the_root_reports_what_its_children_got() -> None:
    seen = cycle(40, {"/A": {"owned": 40, "wants": 7}})
    assert seen.quota("/", "/A") == (7, 7)


def test_r_fill_1_what_a_cap_cuts_off_is_shared_again() -> None:
    assert cycle(30, {"/A": {"owned": 15, "wants": 100}, "/B": {"owned": 15}}).quota("/A", "/B") == (30, 0)


def test_r_quota_2_equal_children_of_one_parent_are_equal() -> None:
    leaf = {"wants": BUSY}
    seen = cycle(60, {"/X": {"owned": 10}, "/X/A": leaf, "/X/B": leaf, "/Y": {"owned": 50}, "/Y/C": leaf, "/Y/D": leaf})
    assert seen.quota("/X/A", "/X/B", "/Y/C", "/Y/D") == (5, 5, 25, 25)


def test_r_quota_3_an_owner_takes_back_what_it_owns() -> None:
    seen = cycle(30, {"/A": {"owned": 15, "wants": 100}, "/B": {"owned": 15, "wants": 100, "holds": 30}})
    assert seen.quota("/A") == (15,)
    assert seen.reclaimed == {"/B": 15}


def test_r_fill_2_owning_nothing_comes_last_whatever_its_rank() -> None:
    seen = cycle(
        40,
        {
            "/Z": {"wants": 30},
            "/P": {"rank": 1, "owned": 20, "wants": 27},
            "/Q": {"rank": 1, "owned": 10, "wants": 8},
        },
    )
    assert seen.quota("/Z", "/P", "/Q") == (5, 27, 8)


@pytest.mark.parametrize(("slots", "quotas"), [(30, (23, 0, 7)), (10, (10, 0, 0))])
def test_r_quota_4_even_mode_adds_what_owners_leave_in_equal_amounts(slots: int, quotas: tuple[int, ...]) -> None:
    consumers = {"/A": {"owned": 15, "wants": 100}, "/B": {"owned": 15}, "/C": {"wants": 100}}
    assert cycle(slots, consumers, distribute_evenly=True).quota("/A", "/B", "/C") == quotas


@pytest.mark.parametrize(("rank_of_b", "quotas"), [(1, (4, 6)), (0, (4, 6)), (None, (3, 7))])
def test_r_round_1_the_slot_left_over_goes_by_rank(rank_of_b: int | None, quotas: tuple[int, int]) -> None:
    a = {"owned": 10, "wants": 40} | ({"rank": 1} if rank_of_b is None else {})
    b = {"owned": 20, "wants": 40} | ({"rank": rank_of_b} if rank_of_b else {})
    assert cycle(10, {"/A": a, "/B": b}, configured=30).quota("/A", "/B") == quotas


def test_r_exact_1_r_protect_1_rounding_stops_nobody_of_equal_rank() -> None:
    consumers = {"/A": {"owned": 10, "wants": 40, "holds": 3}, "/B": {"owned": 20, "wants": 40, "holds": 7}}
    seen = cycle(10, consumers, configured=30)
    assert seen.quota("/A", "/B") == (4, 6)
    assert seen.reclaimed == {}


def test_r_protect_1_ends_where_a_branch_holds_more_than_rounding_gives() -> None:
    leaves = {f"/P/p{number}": {"wants": 9, "holds": 3} for number in (1, 2, 3, 4)}
    seen = cycle(20, {"/P": {"owned": 10}, **leaves, "/Q": {"owned": 10, "wants": 10, "holds": 8}})
    assert seen.reclaimed == {"/P/p3": 1, "/P/p4": 1}


def test_r_settle_1_what_did_not_let_go_in_time_is_stopped_once() -> None:
    notice = {"consumer": "/B", "units": 2, "for": "/A", "deadline": "2026-01-05T08:59:59Z"}
    consumers = {"/A": {"owned": 5, "wants": 5, "holds": 3}, "/B": {"owned": 5, "wants": 9, "holds": 7}}
    seen = cycle(10, consumers, reclaims=[notice])
    assert seen.moved("stops") == {"/B": 2}
    assert seen.granted == {"/A": 2}
    again = cycle(10, consumers, state={key: seen.after[key] for key in seen.after if key != "fairhold_state"})
    assert [again.document[what] for what in ("stops", "grants", "reclaims", "withdrawn")] == [[], [], [], []]


def test_r_aside_1_idle_slots_are_kept_for_reserves() -> None:
    seen = cycle(
        80,
        {
            "/V": {"owned": 60, "wants": 200, "holds": 62},
            "/X": {"owned": 10, "reserved": 6, "wants": 1, "holds": 1},
            "/Y": {"owned": 18, "reserved": 6, "wants": 14, "holds": 14},
            "/Z": {"owned": 12, "reserved": 4},
        },
        configured=100,
    )
    assert seen.granted == {}
    assert seen.idle == 3
    assert seen.reclaimed == {"/V": 6}


def test_r_grant_1_the_one_idle_slot_goes_down_by_rank() -> None:
    busy = {"owned": 5, "wants": 20, "holds": 5}
    short = busy | {"holds": 4}
    seen = cycle(
        31,
        {
            "/X": {"owned": 10, "rank": 3},
            "/X/A": short,
            "/X/B": busy,
            "/Y": {"owned": 10, "rank": 1},
            "/Y/C": short | {"rank": 3},
            "/Y/D": busy | {"rank": 2},
            "/Z": {"owned": 10, "rank": 2},
            "/Z/E": short,
            "/Z/F": busy,
            "/W": {"wants": 20, "holds": 3},
        },
        configured=30,
    )
    assert seen.granted == {"/Y/D": 1}


def test_r_grant_2_nothing_is_stopped_beside_an_idle_slot() -> None:
    seen = cycle(
        20,
        {
            "/P": {"owned": 10},
            "/P/a": {"owned": 5, "wants": 2, "holds": 8},
            "/P/b": {"owned": 5, "wants": 8, "holds": 2},
            "/Q": {"owned": 10, "wants": 4, "holds": 4},
        },
    )
    assert seen.granted == {"/P/b": 6}
    assert seen.reclaimed == {}


REQUESTS = [
    {"id": "low", "consumer": "/A", "count": 3, "priority": 1, "submitted": "2026-01-05T08:00:00Z"},
    {"id": "gang", "consumer": "/A", "count": 4, "min_count": 4, "priority": 9, "submitted": "2026-01-05T08:30:00Z"},
    {"id": "high", "consumer": "/A", "count": 1, "priority": 5, "submitted": "2026-01-05T08:40:00Z"},
]


@pytest.mark.parametrize(("slots", "granted"), [(3, {"high": 1, "low": 2}), (5, {"gang": 4, "high": 1})])
def test_r_grant_3_inside_a_leaf_by_priority_and_a_gang_whole_or_not(slots: int, granted: dict[str, int]) -> None:
    seen = cycle(slots, {"/A": {"owned": slots}}, state={"requests": REQUESTS})
    assert seen.moved("grants", "request") == granted


def test_r_grant_3_what_no_request_can_use_stays_idle() -> None:
    seen = cycle(3, {"/A": {"owned": 3}}, state={"requests": REQUESTS[1:2]})
    assert seen.granted == {}
    assert seen.idle == 3


def test_r_place_1_the_first_host_with_room() -> None:
    hosts = [{"name": "h[1-3]", "slots": 2}]
    state = {
        "requests": [{"id": "r", "consumer": "/A", "count": 5}],
        "allocations": [{"request": "r", "host": "h2", "units": 1, "started": NOW}],
    }
    seen = cycle(6, {"/A": {"owned": 6}}, hosts=hosts, state=state)
    assert seen.moved("grants", "host") == {"h1": 2, "h2": 1, "h3": 1}


def test_r_reclaim_1_what_is_above_a_limit_goes_though_nobody_misses_it() -> None:
    seen = cycle(40, {"/A": {"owned": 12, "limit": 14, "wants": 19, "holds": 19}, "/B": {"owned": 18}})
    assert seen.reclaimed == {"/A": 5}
    assert seen.document["reclaims"][0]["reason"] == "limit"


def test_r_reclaim_2_a_branch_meets_its_own_lack_first() -> None:
    seen = cycle(
        20,
        {
            "/P": {"owned": 10},
            "/P/A": {"owned": 5, "wants": BUSY, "holds": 9},
            "/P/B": {"owned": 5, "wants": BUSY, "holds": 3},
            "/Q": {"owned": 10, "wants": 8, "holds": 8},
        },
    )
    assert seen.quota("/P/A", "/P/B", "/Q") == (6, 6, 8)
    assert seen.reclaimed == {"/P/A": 3}


def test_r_reclaim_3_units_beyond_the_slots_that_there_are_go_too() -> None:
    seen = cycle(
        40,
        {
            "/A": {"owned": 10, "wants": 30, "holds": 10},
            "/B": {"owned": 30, "wants": 30, "holds": 32},
            "/C": {"owned": 10, "wants": 9, "holds": 4},
        },
        configured=50,
    )
    assert seen.quota("/A", "/B", "/C") == (8, 24, 8)
    assert sum(seen.reclaimed.values()) == 6 + 4


def test_r_reclaim_4_whole_parts_then_the_largest_left_then_the_worst_path() -> None:
    seen = cycle(
        49,
        {
            "/V1": {"owned": 6, "wants": 6, "holds": 17},
            "/V2": {"owned": 6, "rank": 2, "wants": 4, "holds": 8},
            "/V4": {"owned": 6, "rank": 2, "wants": 5, "holds": 9},
            "/V3": {"owned": 6, "rank": 1, "wants": 3, "holds": 6},
            "/A": {"owned": 25, "wants": 16, "holds": 9},
        },
    )
    assert seen.reclaimed == {"/V1": 4, "/V2": 1, "/V4": 2}


def test_r_reclaim_5_a_guaranteed_slot_is_taken_at_equal_rank() -> None:
    seen = cycle(
        11,
        {
            "/A": {"owned": 3, "wants": 20, "holds": 2},
            "/B": {"owned": 5, "wants": 20, "holds": 4},
            "/C": {"owned": 7, "wants": 20, "holds": 4},
        },
        configured=15,
    )
    assert seen.granted == {"/A": 1}
    assert seen.reclaimed == {"/B": 1}


@pytest.mark.parametrize(("keeps", "reclaimed"), [(False, 3), (True, 2)])
def test_r_keep_1_owned_that_was_scaled_down_is_kept(*, keeps: bool, reclaimed: int) -> None:
    consumers = {"/X": {"owned": 10, "wants": 20, "holds": 12}, "/Y": {"owned": 90, "wants": BUSY, "holds": 78}}
    seen = cycle(90, consumers, configured=100, disable_reclaim_own=keeps)
    assert seen.quota("/X") == (9,)
    assert seen.reclaimed == {"/X": reclaimed}


def gang_state(**extra: object) -> dict[str, object]:
    started = [("old", 1, "08:05"), ("middle", 4, "08:10"), ("gang", 6, "08:30"), ("own", 5, "08:00")]
    requests = [
        {"id": name, "consumer": "/A" if name == "own" else "/W", "count": units, "submitted": f"2026-01-05T{at}:00Z"}
        for name, units, at in started
    ]
    requests[2]["min_count"] = 4
    requests[3]["count"] = 9
    allocations = [{"request": name, "units": units, "started": f"2026-01-05T{at}:30Z"} for name, units, at in started]
    return {"requests": requests, "allocations": allocations} | extra


def test_r_victim_1_a_gangs_surplus_then_the_next_youngest() -> None:
    seen = cycle(16, {"/A": {"owned": 9}, "/W": {"owned": 7}}, state=gang_state())
    assert seen.moved("reclaims", "request") == {"gang": 2, "middle": 2}


@pytest.mark.parametrize(
    ("victims", "reclaimed"), [("oldest", {"old": 1, "middle": 3}), ("lowest_priority", {"gang": 2, "middle": 2})]
)
def test_r_victim_1_other_orders(victims: str, reclaimed: dict[str, int]) -> None:
    seen = cycle(16, {"/A": {"owned": 9}, "/W": {"owned": 7}}, state=gang_state(), victims=victims)
    assert seen.moved("reclaims", "request") == reclaimed


def test_r_victim_1_a_gang_that_must_be_broken_stops_whole_and_stays_noticed_whole() -> None:
    state: dict[str, Any] = {
        "requests": [
            {"id": "gang", "consumer": "/W", "count": 6, "min_count": 6},
            {"id": "own", "consumer": "/A", "count": 4},
        ],
        "allocations": [{"request": "gang", "units": 6, "started": NOW}],
    }
    consumers: dict[str, dict[str, Any]] = {"/A": {"owned": 4}, "/W": {"owned": 4, "reclaim_grace": "9s"}}
    seen = cycle(8, consumers, state=state)
    assert seen.granted == {"/A": 2}
    assert seen.moved("reclaims", "request") == {"gang": 6}
    again = cycle(8, consumers, state={key: seen.after[key] for key in seen.after if key != "fairhold_state"})
    assert [again.document[what] for what in ("grants", "reclaims", "withdrawn")] == [[], [], []]


def test_r_notice_1_nothing_is_reclaimed_twice_and_what_is_not_needed_is_withdrawn() -> None:
    consumers = {
        "/A": {"owned": 12, "wants": 9, "holds": 7},
        "/D": {"owned": 9, "rank": 2, "wants": 20, "holds": 13},
        "/B": {"owned": 9, "rank": 1, "wants": 12, "holds": 10},
    }
    notices = [
        {"consumer": "/B", "units": 3, "for": "/A", "deadline": "2026-01-05T09:00:20Z"},
        {"consumer": "/D", "units": 4, "for": "/A", "deadline": "2026-01-05T09:00:25Z"},
    ]
    seen = cycle(30, consumers, reclaims=notices)
    assert seen.reclaimed == {}
    assert seen.moved("withdrawn") == {"/B": 3, "/D": 1}


def test_r_grace_1_the_holders_grace_counts() -> None:
    seen = cycle(
        10,
        {
            "/A": {"owned": 5, "wants": 5, "reclaim_grace": "99s"},
            "/B": {"owned": 5, "wants": 9, "holds": 10, "reclaim_grace": "20s"},
        },
    )
    assert [row["deadline"] for row in seen.document["reclaims"]] == ["2026-01-05T09:00:20Z"]


def test_r_for_1_missing_leaves_are_paired_with_victims_in_path_order() -> None:
    seen = cycle(
        12,
        {
            "/A": {"owned": 4, "rank": 1, "wants": 4},
            "/B": {"owned": 4, "wants": 4},
            "/C": {"owned": 4, "wants": 12, "holds": 12},
        },
    )
    assert [(row["for"], row["units"]) for row in seen.document["reclaims"]] == [("/B", 4), ("/A", 4)]


def test_r_free_1_what_reserves_still_lack() -> None:
    consumers = {"/A": {"owned": 6, "reserved": 6, "wants": 1, "holds": 1}, "/B": {"owned": 4, "wants": 9, "holds": 4}}
    assert cycle(10, consumers).of("free", "/A", "/B") == (5, 0)


def test_r_free_2_idle_slots_by_what_is_owned() -> None:
    seen = cycle(
        34,
        {
            "/A": {"owned": 12, "rank": 1, "wants": 19, "holds": 19},
            "/B": {"owned": 10, "rank": 2, "wants": 5, "holds": 5},
            "/C": {"owned": 8, "wants": 6, "holds": 6},
        },
        configured=30,
    )
    assert seen.of("free", "/A", "/B", "/C") == (1, 1, 2)
