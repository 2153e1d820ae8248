"""Random stories of queues: what must hold of every cycle does, and cycles end (SPEC §10)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.strategies import after, read
from tests.pools.truths import MOVES, not_conserved, second_cycle, too_full, too_long
from tests.queues.strategies import stories

Json = dict[str, Any]


@FEWER
@given(stories())
def test_what_must_hold_of_every_cycle_of_queues_does(story: tuple[Json, Json, list[Json]]) -> None:
    plan_document, document, turns = story
    plan, state = read(plan_document, document)
    for turn in turns:
        cycle = run_cycle(plan, state, check=True)
        assert cycle.untrue == ()
        assert [*too_full(plan, cycle.after), *not_conserved(state, cycle), *second_cycle(plan, cycle)] == []
        assert [*too_long(plan, state, cycle)] == []
        state = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
        state = after(state, turn)


@FEWER
@given(stories())
def test_under_constant_demand_queues_come_to_rest(story: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read(*story[:2])
    moved = []
    for _ in range(40):
        cycle = run_cycle(plan, state)
        moved = [row for kind in MOVES for row in cycle.document[kind]]
        if not moved:
            break
        state = replace(cycle.after, now=state.now + 31 * SECOND)
    assert moved == []
