"""What is held for a taker is granted to it and to nobody else, whoever's turn it is (R-HELD-1, R-SERVE-3)."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.document import run_cycle
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from fairhold.runtime.explaining_pools import as_document
from fairhold.units import SECOND
from tests.pools.lending import story
from tests.pools.small import inputs, of, on, own
from tests.pools.strategies import read
from tests.pools.truths import second_cycle
from tests.queues.truths import given_to_others

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
OLD = {"started": "2026-01-05T08:00:00Z"}


def kept(request: str, units: int, host: str = "h0") -> list[Json]:
    return [{"request": request, "host": host, "units": units}]


def settled(*args: Any, **more: Any) -> tuple[Cycle, Cycle]:
    """A cycle that is verified, and after which a second one decides nothing; and what follows a second later."""
    plan, state = inputs(*args, **more)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert list(second_cycle(plan, cycle)) == []
    assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()
    ((_, pools),) = cycle.pooled
    assert pools.due == state.now + SECOND  # somebody waits to take
    later = parse_state(json.dumps(state_document(plan, replace(cycle.after, now=pools.due))), plan, "state.json")
    return cycle, run_cycle(plan, later)


def granted(cycle: Cycle) -> list[tuple[str, int]]:
    return [(row["request"], row["units"]) for row in cycle.document["grants"]]


def told(cycle: Cycle) -> list[tuple[str, int, str]]:
    return [(row["request"], row["units"], row["for"]) for row in cycle.document["reclaims"]]


def test_r_held_1_what_is_held_goes_to_its_taker_though_a_better_class_waits() -> None:
    """C came after B had taken: it gets what is idle. B has what was freed for it, and gives it up with its grace."""
    consumers: Json = {"/B": {"reclaim_grace": "30s"}, "/C": {"share_priority": 9}}
    cycle, later = settled(consumers, [of("/B", 2, 2), of("/C", 9)], hosts={"h0": 5}, held=kept("B", 2))
    assert (granted(cycle), told(cycle)) == ([("C", 1), ("B", 2)], [])
    assert (granted(later), told(later)) == ([], [("B", 2, "C")])


def test_r_held_1_nor_does_its_owner_get_it_at_once() -> None:
    consumers: Json = {"/A": own(hosts=["h0"]), "/B": {}}
    cycle, later = settled(consumers, [of("/A", 2, 2), of("/B", 1, 2)], hosts={"h0": 4}, held=kept("B", 1))
    assert (granted(cycle), told(cycle)) == ([("A", 1), ("B", 1)], [])
    assert told(later) == [("B", 1, "A")]


def test_r_held_1_a_gang_whose_last_unit_was_held_is_not_stopped_at_once() -> None:
    consumers: Json = {"/B": {}, "/C": {"share_priority": 9}}
    gang = of("/B", 2, 2, min_count=2)
    cycle, later = settled(consumers, [gang, of("/C", 4)], [on("h0", "B", 1) | OLD], hosts={"h0": 4}, held=kept("B", 1))
    assert (granted(cycle), told(cycle)) == ([("B", 1)], [])
    assert told(later) == [("B", 2, "C")]


def test_r_sweep_3_what_was_only_idle_is_not_placed_for_who_would_lose_it() -> None:
    """Nothing was held for V: the idle CPU is held for T, which takes the other one."""
    consumers: Json = {"/V": {}, "/T": {"share_priority": 1}}
    plan, state = inputs(consumers, [of("/V", 4), of("/T", 1, 2)], [on("h0", "V", 3)], hosts={"h0": 4})
    cycle = run_cycle(plan, state, check=True)
    assert (cycle.untrue, granted(cycle), told(cycle)) == ((), [], [("V", 1, "T")])


def test_r_serve_3_a_limit_that_came_meanwhile_lets_what_is_held_go() -> None:
    consumers: Json = {"/B": {"share_limit": {"cpu": 2}}, "/C": {"share_priority": 9}}
    plan, state = inputs(consumers, [of("/B", 2, 2), of("/C", 9)], hosts={"h0": 5}, held=kept("B", 2))
    cycle = run_cycle(plan, state, check=True)
    assert (cycle.untrue, granted(cycle), told(cycle)) == ((), [("C", 1), ("B", 1), ("C", 2)], [])
    assert list(second_cycle(plan, cycle)) == []


def test_r_serve_3_what_only_stands_beside_it_goes_at_once() -> None:
    """B has an old unit and gets a new one: the owner takes the old one now, and the other a second later."""
    consumers: Json = {"/A": own(hosts=["h0"]), "/B": {"reclaim_grace": "30s"}}
    stands = [on("h0", "B", 1, A=1) | OLD]
    wants = [of("/A", 1, 2), of("/B", 2, 2)]
    plan, state = inputs(consumers, wants, stands, hosts={"h0": 4}, held=kept("B", 1), settings={"victims": "oldest"})
    cycle = run_cycle(plan, state, check=True)
    assert (cycle.untrue, granted(cycle), told(cycle)) == ((), [("B", 1)], [("B", 1, "A")])
    assert list(second_cycle(plan, cycle)) == []


def test_r_serve_3_no_more_are_told_to_go_than_may_a_second_later() -> None:
    plan, state = inputs(
        {"/B": {}, "/C": {"share_priority": 9}},
        [of("/B", 2, 2), of("/C", 9)],
        hosts={"h0": 5},
        held=kept("B", 2),
        settings={"max_reclaims": 1},
    )
    cycle = run_cycle(plan, state, check=True)
    assert (granted(cycle), told(cycle)) == ([("C", 1), ("B", 2)], [])
    later = parse_state(
        json.dumps(state_document(plan, replace(cycle.after, now=state.now + SECOND))), plan, "state.json"
    )
    assert told(run_cycle(plan, later)) == [("B", 1, "C")]


def test_r_serve_3_who_waits_to_take_it_is_told_why_for_a_moment() -> None:
    plan, state = inputs(
        {"/B": {}, "/C": {"share_priority": 9}}, [of("/B", 2, 2), of("/C", 9)], hosts={"h0": 5}, held=kept("B", 2)
    )
    (found,) = explain_pools(plan, state, "/C")
    waits = as_document(found)["requests"][0]["waits"]
    assert (waits["reason"], waits["rule"]) == ("granted now", "R-SERVE-3")
    assert "what others could give was granted to them in this cycle" in pools_in_words(as_document(found))


@pytest.mark.parametrize("seed", [9000244, 9000291, 9000420, 9000838, *range(12)])
def test_r_serve_3_nobody_is_told_of_units_that_others_get(seed: int) -> None:
    """The first four once gave what was held to others."""
    told_to = story(Random(seed), gangs=bool(seed % 2), limits=False)
    for document, cycle in told_to.later():
        plan, state = read(told_to.plan, document)
        assert list(given_to_others(plan, state, cycle)) == []
