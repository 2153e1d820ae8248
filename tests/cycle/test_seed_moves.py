"""What seed 1 says about distribution, reclaim and free slots (S1.30, S1.47-S1.69); names carry the S-numbers."""

from __future__ import annotations

import pytest

from tests.cycle.seed import LATER, NOW, Cycle, later, moved, plan_of, run_cycle, state_of, table

PLENTY = 1000
TWO = {"/A": {"owned": 6}, "/B": {"owned": 4, "reclaim_grace": "2m"}}


def idle(cycle: Cycle) -> int:
    units: int = cycle.document["resource_groups"]["g"]["idle"]
    return units


def test_s1_30_s1_47_who_is_over_gives_and_who_is_under_gets() -> None:
    """S1.47 above its quota: over-allocated, below: under-allocated; S1.30 in the end each has its quota."""
    plan = plan_of(10, {"/A": {"owned": 6}, "/B": {"owned": 4}})
    cycle = run_cycle(plan, state_of(plan, {"/A": PLENTY, "/B": PLENTY}, {"/A": 1, "/B": 9}))
    assert moved(cycle, "reclaims") == {"/B": 5}
    second = run_cycle(plan, later(plan, cycle))
    assert moved(second, "stops") == {"/B": 5}
    assert moved(second, "grants") == {"/A": 5}
    assert later(plan, second).allocated == {(1, "g"): 6, (2, "g"): 4}


def test_s1_48_s1_53_idle_slots_first_then_reclaim() -> None:
    plan = plan_of(10, TWO)
    enough = run_cycle(plan, state_of(plan, {"/A": 2, "/B": PLENTY}, {"/B": 8}))
    assert (moved(enough, "grants"), moved(enough, "reclaims")) == ({"/A": 2}, {})
    short = run_cycle(plan, state_of(plan, {"/A": 3, "/B": PLENTY}, {"/B": 8}))
    assert (moved(short, "grants"), moved(short, "reclaims")) == ({"/A": 2}, {"/B": 1})


def test_s1_49_s1_52_from_the_root_down_in_rank_order() -> None:
    """Q ranks before P; inside Q, q2 before q1. Four idle slots: Q's, and inside Q those of q2 first."""
    plan = plan_of(
        12,
        {
            "/P": {"owned": 6, "rank": 1},
            "/P/p": {"owned": 6},
            "/Q": {"owned": 6, "rank": 0},
            "/Q/q1": {"owned": 3, "rank": 5},
            "/Q/q2": {"owned": 3, "rank": 4},
        },
    )
    cycle = run_cycle(plan, state_of(plan, {"/P/p": 6, "/Q/q1": 3, "/Q/q2": 3}, {"/P/p": 3, "/Q/q1": 1, "/Q/q2": 1}))
    assert moved(cycle, "grants") == {"/Q/q1": 2, "/Q/q2": 2, "/P/p": 3}
    busy = state_of(plan, {"/P/p": 9, "/Q/q1": 3, "/Q/q2": 3}, {"/P/p": 9})
    cycle = run_cycle(plan, busy)
    assert moved(cycle, "grants") == {"/Q/q2": 3}
    assert moved(cycle, "reclaims") == {"/P/p": 3}


def test_s1_50_the_last_get_what_has_to_be_reclaimed() -> None:
    plan = plan_of(12, {"/A": {"owned": 4}, "/B": {"owned": 4}, "/C": {"owned": 4, "reclaim_grace": "1m"}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 4, "/B": 4, "/C": 12}, {"/C": 8}))
    assert moved(cycle, "grants") == {"/A": 4}
    assert [(row["consumer"], row["for"], row["units"]) for row in cycle.document["reclaims"]] == [("/C", "/B", 4)]


@pytest.mark.parametrize(("ranks", "first"), [((0, 0), "/A"), ((1, 0), "/B"), ((0, 1), "/A")])
def test_s1_51_at_the_root_by_rank_then_in_plan_order(ranks: tuple[int, int], first: str) -> None:
    settings = [{"owned": 2, "rank": rank} for rank in ranks]
    plan = plan_of(6, dict(zip(("/A", "/B"), settings, strict=True)) | {"/C": {"owned": 2, "rank": 3}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 2, "/B": 2, "/C": 4}, {"/C": 4}))
    assert moved(cycle, "grants") == {first: 2}


def test_s1_54_without_idle_slots_somebody_under_means_somebody_over() -> None:
    plan = plan_of(10, {"/A": {"owned": 6}, "/B": {"owned": 4}, "/C": {}})
    state = state_of(plan, {"/A": 6, "/B": 4, "/C": 3}, {"/A": 4, "/B": 4, "/C": 2})
    over = {path: row["allocated"] - row["quota"] for path, row in table(plan, state).items() if path != "/"}
    assert sum(over.values()) == 0
    assert over == {"/A": -2, "/B": 0, "/C": 2}


def test_s1_55_s1_57_a_reclaimed_slot_goes_to_another_in_a_later_cycle() -> None:
    """S1.55 its task waits again, so the demand stays; S1.57 at least one cycle later."""
    plan = plan_of(10, {"/A": {"owned": 6}, "/B": {"owned": 4}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": 10}, {"/B": 10}))
    assert (moved(cycle, "reclaims"), moved(cycle, "grants")) == ({"/B": 6}, {})
    second = run_cycle(plan, later(plan, cycle))
    assert (moved(second, "stops"), moved(second, "grants")) == ({"/B": 6}, {"/A": 6})
    assert later(plan, second).demand == {(1, "g"): 6, (2, "g"): 10}


def test_s1_56_s1_59_a_slot_released_in_time_is_idle_at_once() -> None:
    """S1.59 not only when the grace is over; S1.56 the next cycle distributes it."""
    plan = plan_of(10, TWO)
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": 10}, {"/B": 10}))
    released = later(
        plan,
        cycle,
        "2026-01-05T09:00:01Z",
        allocated={"/B": {"g": 8}},
        reclaims=[cycle.document["reclaims"][0] | {"units": 4}],
    )
    second = run_cycle(plan, released)
    assert (moved(second, "grants"), moved(second, "reclaims"), moved(second, "stops")) == ({"/A": 2}, {}, {})


def test_s1_58_without_a_grace_the_task_is_stopped_at_once() -> None:
    plan = plan_of(10, {"/A": {"owned": 6}, "/B": {"owned": 4}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": 10}, {"/B": 10}))
    assert {row["deadline"] for row in cycle.document["reclaims"]} == {NOW}
    at_once = run_cycle(plan, later(plan, cycle, "2026-01-05T09:00:00.000001Z"))
    assert moved(at_once, "stops") == {"/B": 6}


def test_s1_60_when_the_grace_is_over_the_task_is_stopped() -> None:
    plan = plan_of(10, TWO)
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": 10}, {"/B": 10}))
    early = run_cycle(plan, later(plan, cycle, "2026-01-05T09:01:59Z"))
    assert (moved(early, "stops"), moved(early, "grants")) == ({}, {})
    due = run_cycle(plan, later(plan, early, "2026-01-05T09:02:00Z"))
    assert (moved(due, "stops"), moved(due, "grants")) == ({"/B": 6}, {"/A": 6})


@pytest.mark.parametrize(("graces", "deadline"), [(("9m", "2m"), "2026-01-05T09:02:00Z"), (("9m", "0s"), NOW)])
def test_s1_61_s1_62_the_grace_of_the_holder_applies(graces: tuple[str, str], deadline: str) -> None:
    """S1.61 set per consumer; S1.62 the one that needs the slot has no say."""
    consumers = {"/A": {"owned": 6, "reclaim_grace": graces[0]}, "/B": {"owned": 4, "reclaim_grace": graces[1]}}
    plan = plan_of(10, consumers)
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": 10}, {"/B": 10}))
    assert [(row["consumer"], row["deadline"]) for row in cycle.document["reclaims"]] == [("/B", deadline)]


@pytest.mark.parametrize(("keep", "reclaimed"), [(False, 3), (True, 2)])
def test_s1_63_s1_65_what_was_owned_may_be_kept_from_reclaim(keep: bool, reclaimed: int) -> None:  # noqa: FBT001
    """Own 10 of 100, 90 there: owned 9. Using 12 at quota 9: 3 are reclaimed, with the setting 2."""
    plan = plan_of(100, {"/X": {"owned": 10}, "/Y": {"owned": 90}}, disable_reclaim_own=keep)
    state = state_of(plan, {"/X": 12, "/Y": PLENTY}, {"/X": 12, "/Y": 78}, slots=90)
    assert table(plan, state)["/X"]["quota"] == 9
    assert moved(run_cycle(plan, state), "reclaims") == {"/X": reclaimed}


def test_s1_64_the_third_task_runs_on_and_its_slot_then_goes_by_the_quota_of_9() -> None:
    plan = plan_of(100, {"/X": {"owned": 10}, "/Y": {"owned": 90}}, disable_reclaim_own=True)
    cycle = run_cycle(plan, state_of(plan, {"/X": 12, "/Y": PLENTY}, {"/X": 12, "/Y": 78}, slots=90))
    second = run_cycle(plan, later(plan, cycle))
    assert (moved(second, "stops"), moved(second, "reclaims"), moved(second, "grants")) == ({"/X": 2}, {}, {"/Y": 2})
    third = run_cycle(plan, later(plan, second, "2026-01-06T09:00:00Z"))
    assert (moved(third, "reclaims"), moved(third, "stops")) == ({}, {})
    ended = later(plan, third, "2026-01-06T10:00:00Z", allocated={"/X": {"g": 9}, "/Y": {"g": 80}})
    assert moved(run_cycle(plan, ended), "grants") == {"/Y": 1}


def free(cycle: Cycle) -> dict[str, int]:
    consumers = cycle.document["resource_groups"]["g"]["consumers"]
    return {path: row["free"] for path, row in consumers.items() if path != "/"}


RESERVED = {
    "/P": {"owned": 12, "reserved": 7},
    "/P/a": {"owned": 4, "reserved": 3},
    "/P/b": {"owned": 2, "reserved": 2},
    "/Q": {"owned": 8},
}


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        pytest.param(1, {"/P": 6, "/P/a": 2, "/P/b": 2, "/Q": 0}, id="its own reserve is more"),
        pytest.param(4, {"/P": 3, "/P/a": 0, "/P/b": 2, "/Q": 0}, id="S1.68 never below 0"),
        pytest.param(8, {"/P": 2, "/P/a": 0, "/P/b": 2, "/Q": 0}, id="the children's sum is more"),
    ],
)
def test_s1_66_s1_67_s1_68_free_is_what_reserves_lack(held: int, expected: dict[str, int]) -> None:
    """S1.66 max(sum of the children's free, reserved - allocated), S1.67 at a leaf reserved - allocated."""
    plan = plan_of(20, RESERVED)
    others = 20 - held - expected["/P"]
    cycle = run_cycle(plan, state_of(plan, {"/P/a": held, "/P/b": 0, "/Q": PLENTY}, {"/P/a": held, "/Q": others}))
    assert free(cycle) == expected
    assert idle(cycle) == expected["/P"]


@pytest.mark.parametrize("demand", [{"/P/a": 3, "/P/b": 2, "/Q": 2}, {}])
def test_s1_69_without_high_demand_free_slots_follow_what_is_owned(demand: dict[str, int]) -> None:
    """20 slots, owned 12 and 8, inside P 4 and 2; all demand met, or none at all."""
    plan = plan_of(20, RESERVED)
    cycle = run_cycle(plan, state_of(plan, demand, demand))
    left = 20 - sum(demand.values())
    assert idle(cycle) == left
    expected = {20: {"/P": 12, "/P/a": 8, "/P/b": 4, "/Q": 8}, 13: {"/P": 8, "/P/a": 6, "/P/b": 2, "/Q": 5}}
    assert free(cycle) == expected[left]


def test_s1_69_nobody_owns_anything_then_equally() -> None:
    plan = plan_of(5, {"/A": {}, "/B": {}})
    assert free(run_cycle(plan, state_of(plan, {}))) == {"/A": 3, "/B": 2}


def test_the_times_of_these_examples() -> None:
    """A cycle at LATER sees every grace of these examples over."""
    assert NOW < "2026-01-05T09:02:00Z" < LATER
