"""Random plans and states: what must hold of every cycle of `multidimensional` does (SPEC §10)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.strategies import after, plans, read, states
from tests.pools.truths import MOVES, second_cycle, untrue

Json = dict[str, Any]
CYCLES = 3


@st.composite
def stories(draw: st.DrawFn) -> tuple[Json, Json, list[Json]]:
    """A plan, a state, and what happens after each cycle."""
    plan, leaves = draw(plans())
    state = draw(states(plan, leaves))
    hosts = [host["name"] for group in plan["resource_groups"].values() for host in group["hosts"]]
    turns = [
        {
            "seconds": draw(st.sampled_from((1, 5, 30))),
            "counts": [draw(st.integers(0, 8)) for _ in state["requests"]] if draw(st.booleans()) else None,
            "down": draw(st.sampled_from((None, None, None, *hosts))),
            "closed": draw(st.sampled_from((None, None, None, *hosts))),
        }
        for _ in range(CYCLES)
    ]
    down = state.get("hosts_down", [])
    state["hosts_closed"] = [
        each for each in draw(st.sampled_from(([], [], hosts[:1], hosts[-2:]))) if each not in down
    ]
    return plan, state, turns


@FEWER
@given(stories())
def test_what_must_hold_of_every_cycle_does(story: tuple[Json, Json, list[Json]]) -> None:
    plan_document, document, turns = story
    plan, state = read(plan_document, document)
    for turn in turns:
        cycle = run_cycle(plan, state)
        assert [*untrue(plan, state, cycle), *second_cycle(plan, cycle)] == []
        state = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
        state = after(state, turn)


@FEWER
@given(stories())
def test_under_constant_demand_the_cycles_end(story: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read(*story[:2])
    moved = []
    for _ in range(40):
        cycle = run_cycle(plan, state)
        moved = [row for kind in MOVES for row in cycle.document[kind]]
        if not moved:
            break
        state = replace(cycle.after, now=state.now + 31 * SECOND)
    assert moved == []
