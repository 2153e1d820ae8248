"""Random plans and states of pools: the computation and its check agree on every number and row (ADR 0006)."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from tests.cycle.test_verify_mutations import mutations
from tests.examples import FEW, FEWER
from tests.pools.strategies import after, read
from tests.pools.test_random import stories
from tests.pools.test_verify import cycle_of, quota_of

Json = dict[str, Any]


@st.composite
def wide_stories(draw: st.DrawFn) -> tuple[Json, Json, list[Json]]:
    """Stories with overcommitment, whole hosts and several entries of one group, too."""
    plan, state, turns = draw(stories())
    wide = copy.deepcopy(plan)
    if draw(st.booleans()):
        wide["resources"]["cpu"] = {"overcommit": draw(st.sampled_from((1.5, 2)))}
    if draw(st.integers(0, 3)) == 0:
        wide["policies"][0]["settings"]["packing"] = "exclusive"
    for each in wide["policies"][0]["consumers"].values():
        for entry in each.get("own", [])[:1] if draw(st.booleans()) else ():
            more = {"hosts": 1, "reserved": not entry.get("reserved", False), "preference": draw(st.integers(1, 10))}
            each["own"].append({"resource_group": entry["resource_group"], **more})
    try:
        parse_plan(json.dumps(wide), "plan.json")
    except InputError:
        return plan, state, turns
    return wide, state, turns


@FEWER
@given(wide_stories())
def test_what_is_computed_is_verified(story: tuple[Json, Json, list[Json]]) -> None:
    plan_document, document, turns = story
    plan, state = read(plan_document, document)
    for turn in turns:
        assert verify(plan, state, quota_of(plan, state)) == ()
        assert verify(plan, state, cycle_of(plan, state)) == ()
        closed = run_cycle(plan, state).after
        state = parse_state(json.dumps(state_document(plan, closed)), plan, "state.json")
        state = after(state, turn)


@FEW
@given(wide_stories(), st.integers(0, 60))
def test_changes_are_found(story: tuple[Json, Json, list[Json]], first: int) -> None:
    plan, state = read(*story[:2])
    result = cycle_of(plan, state)
    made = list(mutations(result))
    tried = made[first % len(made) :: 61]
    assert [name for name, made in tried if not verify(plan, state, made())] == []
