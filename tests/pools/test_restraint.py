"""When pools take back, and how much: one rule, one small cluster (SPEC §8; R-CONTROL-1 to R-CONTROL-6)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import Cycle, run_cycle
from fairhold.cycle.window_preview import pooled_ahead
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND, format_instant, parse_instant
from tests.pools.small import NOW, inputs, of, on, own, run, taken
from tests.pools.truths import second_cycle

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

FIRST: dict[str, dict[str, object]] = {"/A": {"share_priority": 1}, "/B": {}}
ALL = [on("h0", "B", 4)]
ONE = {"h0": 4}
MINUTE = 60 * SECOND


def ago(row: dict[str, Any], minutes: int) -> dict[str, Any]:
    """Units that have run for so long."""
    return row | {"started": format_instant((parse_instant(NOW) or 0) - minutes * MINUTE)}


def again(plan: Plan, cycle: Cycle, seconds: int, **counts: int) -> Cycle:
    """A cycle on the state that another has left, so much later; requests want so much by then."""
    state = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
    wants = tuple(replace(each, count=counts.get(each.id, each.count)) for each in state.requests)
    return run_cycle(plan, replace(state, now=state.now + seconds * SECOND, requests=wants))


def reclaimed(cycle: Cycle) -> list[tuple[str, int]]:
    return [(row["request"], row["units"]) for row in cycle.document["reclaims"]]


def test_r_control_1_max_reclaims_leaves_the_rest_for_later() -> None:
    consumers: dict[str, Any] = {**FIRST, "/B": {"reclaim_grace": "60s"}}
    plan, state = inputs(consumers, [of("/A", 4), of("/B", 4)], ALL, hosts=ONE, settings={"max_reclaims": 3})
    first = run_cycle(plan, state)
    assert reclaimed(first) == [("B", 3)]
    assert list(second_cycle(plan, first)) == []
    assert reclaimed(again(plan, first, 1)) == [("B", 1)]


def test_r_control_1_what_is_taken_together_goes_whole_first_and_alone() -> None:
    gang = [of("/A", 1), of("/B", 4, min_count=4)]
    assert taken(FIRST, gang, ALL, hosts=ONE, settings={"max_reclaims": 2}) == [("B", "h0", 4, "A", 0)]
    consumers = {"/A": {"share_priority": 2}, "/B": {"share_priority": 1}, "/C": {}}
    wants = [of("/A", 1), of("/B", 1, 3), of("/C", 4)]
    held = [on("h0", "C", 1), on("h1", "C", 3)]
    rows = taken(consumers, wants, held, hosts={"h0": 1, "h1": 3}, settings={"max_reclaims": 2})
    assert rows == [("C", "h0", 1, "A", 0)]  # three for B are one too many beside it, and go alone in the next cycle
    assert taken(consumers, wants[1:], held, hosts={"h0": 1, "h1": 3}, settings={"max_reclaims": 2}) == [
        ("C", "h1", 3, "B", 0)
    ]


def test_r_control_1_what_limits_want_counts_and_goes_in_any_case() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {"share_limit": {"cpu": 2}}}
    wants = [of("/A", 4), of("/B", 4)]
    rows = taken(consumers, wants, ALL, hosts=ONE, settings={"max_reclaims": 1})
    assert rows == [("B", "h0", 2, None, 0)]


def test_r_control_2_who_misses_few_takes_none_and_who_misses_more_takes_all() -> None:
    consumers: dict[str, Any] = {**FIRST, "/B": {"reclaim_grace": "60s"}}
    wants = [of("/A", 2), of("/B", 4)]
    plan, state = inputs(consumers, wants, ALL, hosts=ONE, settings={"dead_zone": 2})
    first = run_cycle(plan, state)
    assert reclaimed(first) == []
    assert [(short.consumer, short.is_taking) for short in first.after.shortages] == [(1, False)]
    assert list(second_cycle(plan, first)) == []
    more = again(plan, first, 1, A=3)
    assert reclaimed(more) == [("B", 3)]
    assert list(second_cycle(plan, more)) == []
    assert again(plan, more, 1, A=2).document["withdrawn"] != []
    assert [short.is_taking for short in again(plan, more, 1, A=2).after.shortages] == [True]


def test_r_control_6_a_backlog_beyond_the_quota_is_not_missed() -> None:
    wants = [of("/A", 99), of("/B", 99)]
    held = [on("h0", "A", 3), on("h0", "B", 5)]
    equal: dict[str, Any] = {"/A": {}, "/B": {}}
    assert taken(equal, wants, held, hosts={"h0": 8}) == [("B", "h0", 1, "A", 0)]
    assert taken(equal, wants, held, hosts={"h0": 8}, settings={"dead_zone": 1}) == []


def test_r_control_3_ends_are_awaited_from_the_first_cycle_that_misses_something() -> None:
    plan, state = inputs(FIRST, [of("/A", 2), of("/B", 4)], ALL, hosts=ONE, settings={"await_ends": "10s"})
    first = run_cycle(plan, state)
    assert reclaimed(first) == []
    later = again(plan, first, 9)
    assert reclaimed(later) == []
    assert reclaimed(again(plan, later, 1)) == [("B", 2)]
    served = again(plan, first, 9, A=0)
    assert served.after.shortages == ()
    assert reclaimed(again(plan, served, 1, A=2)) == []


def test_r_control_3_an_owner_waits_too_and_the_rest_of_the_cycle_goes_on() -> None:
    consumers = {"/A": own(hosts=["h0"]), "/B": {}}
    held = [on("h0", "B", 2, A=2)]
    wants = [of("/A", 4), of("/B", 2)]
    cycle = run(consumers, wants, held, hosts=ONE, settings={"await_ends": "1m"})
    assert [(row["request"], row["units"]) for row in cycle.document["grants"]] == [("A", 2)]
    assert reclaimed(cycle) == []


def test_r_control_4_what_is_observed_is_shown_and_nobody_is_told() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {"share_limit": {"cpu": 3}, "reclaim_grace": "5s"}}
    plan, state = inputs(consumers, [of("/A", 2), of("/B", 4)], ALL, hosts=ONE, settings={"observe_only": True})
    cycle = run_cycle(plan, state)
    assert cycle.document["reclaims"] == []
    observed = [(row["request"], row["units"], row["for"], row["deadline"]) for row in cycle.document["observed"]]
    due = "2026-01-05T09:00:05Z"
    assert observed == [("B", 2, "A", due)]
    assert (cycle.after.notices, cycle.after.held) == ((), ())
    assert list(second_cycle(plan, cycle)) == []


def test_r_control_5_young_units_stay_and_others_go_first() -> None:
    consumers: dict[str, Any] = {**FIRST, "/B": {"min_runtime": "10m", "reclaim_grace": "60s"}}
    held = [ago(on("h0", "B", 2), 20), ago(on("h0", "B", 2), 5)]
    plan, state = inputs(consumers, [of("/A", 4), of("/B", 4)], held, hosts=ONE)
    first = run_cycle(plan, state)
    assert reclaimed(first) == [("B", 2)]
    assert list(second_cycle(plan, first)) == []
    assert reclaimed(again(plan, first, 1)) == []
    ahead = pooled_ahead(plan, state, [state.now + 4 * MINUTE, state.now + 5 * MINUTE])
    rows = [[row["units"] for _, cycle in each for row in cycle.reclaims] for each in ahead]
    assert rows == [[], [2]]


def test_r_control_5_a_gang_with_a_young_unit_is_not_stopped() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {"min_runtime": "10m"}, "/C": {}}
    wants = [of("/A", 3), of("/B", 3, min_count=3), of("/C", 2)]
    held = [ago(on("h0", "B", 2), 20), ago(on("h0", "B", 1), 20), on("h0", "C", 2)]
    assert taken(consumers, wants, held, hosts={"h0": 5}) == [("B", "h0", 3, "A", 0)]
    held[1] = ago(held[1], 5)
    assert taken(consumers, wants, held, hosts={"h0": 5}) == [("C", "h0", 1, "A", 0)]


def test_r_control_6_owners_wait_and_limits_do_not() -> None:
    young = [ago(on("h0", "B", 4, A=4), 5)]
    consumers = {"/A": own(hosts=["h0"]), "/B": {"min_runtime": "10m"}}
    assert taken(consumers, [of("/A", 4), of("/B", 4)], young, hosts=ONE) == []
    limited = {"/A": {}, "/B": {"min_runtime": "10m", "share_limit": {"cpu": 1}}}
    assert taken(limited, [of("/B", 4)], [ago(on("h0", "B", 4), 5)], hosts=ONE) == [("B", "h0", 3, None, 0)]
