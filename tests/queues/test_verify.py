"""The independent check of queues agrees with every cycle, and finds what is changed (ADR 0006)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from tests.cycle.test_verify_mutations import mutations
from tests.examples import FEW, FEWER
from tests.pools.strategies import after, read
from tests.pools.test_verify import cycle_of, quota_of
from tests.queues.strategies import stories

Json = dict[str, Any]


@FEWER
@given(stories())
def test_what_is_computed_of_queues_is_verified(story: tuple[Json, Json, list[Json]]) -> None:
    plan_document, document, turns = story
    plan, state = read(plan_document, document)
    for turn in turns:
        assert verify(plan, state, quota_of(plan, state)) == ()
        assert verify(plan, state, cycle_of(plan, state)) == ()
        closed = run_cycle(plan, state).after
        state = parse_state(json.dumps(state_document(plan, closed)), plan, "state.json")
        state = after(state, turn)


@FEW
@given(stories(), st.integers(0, 60))
def test_changes_of_queues_are_found(story: tuple[Json, Json, list[Json]], first: int) -> None:
    plan, state = read(*story[:2])
    made = list(mutations(cycle_of(plan, state)))
    assert [
        name for name, make in made[first % len(made) :: max(61, len(made) // 8)] if not verify(plan, state, make())
    ] == []
