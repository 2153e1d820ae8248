"""How often a cycle goes through its sweeps, and what holds where the bound ends it (R-SWEEP-2)."""

from __future__ import annotations

import json

import pytest

import fairhold.cycle.verify.pooled.sweeps as verified
from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from fairhold.rules.pools import sweeps
from fairhold.units import SECOND
from tests.pools.dense import dense_story
from tests.pools.strategies import after, read
from tests.pools.truths import second_cycle, untrue

OFTEN = 8
"""More rounds than random cycles ever needed: of 57,774 none went on for more than four."""
SEVERAL = {10000983: 2, 10002694: 3, 10027768: 2}
"""Stories with cycles that go through their sweeps more than once."""


def rounds_of(number: int) -> list[int]:
    """How often each cycle of a story goes through its sweeps; none of them tells that it did not come to an end."""
    document, first, turns = dense_story(number)
    plan, state = read(document, first)
    found = []
    for turn in turns:
        cycle = run_cycle(plan, state)
        assert [row for row in cycle.document["warnings"] if row["code"] == "unsettled"] == []
        found += [entry.sweeps.rounds for _, entry in cycle.pooled]
        state = after(parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json"), turn)
    return found


def test_r_sweep_2_sweeps_are_gone_through_a_few_times() -> None:
    for number in range(500_000, 500_012):
        assert max(rounds_of(number)) <= OFTEN, number


@pytest.mark.parametrize("number", SEVERAL, ids=str)
def test_r_sweep_2_some_are_gone_through_more_than_once(number: int) -> None:
    assert max(rounds_of(number)) >= SEVERAL[number]


@pytest.mark.parametrize("number", [*SEVERAL, *range(6)], ids=str)
def test_r_sweep_2_where_the_bound_ends_a_cycle_all_but_rest_holds(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "MOST_ROUNDS", 1)
    monkeypatch.setattr(verified, "MOST_ROUNDS", 1)
    document, first, turns = dense_story(number)
    plan, state = read(document, first)
    told = set()
    for turn in turns:
        cycle = run_cycle(plan, state)
        is_told = any(row["code"] == "unsettled" for row in cycle.document["warnings"])
        (pooled,) = [entry for _, entry in cycle.pooled]
        assert is_told is not pooled.sweeps.is_settled
        if is_told and not plan.policies[0].settings.observe_only:
            assert pooled.due == state.now + SECOND
        assert list(untrue(plan, state, cycle)) == []
        after_it = state_document(plan, cycle.after)
        if not is_told:
            result = json.loads(json.dumps(cycle.document | {"state": after_it}))
            assert list(map(str, verify(plan, state, result))) == []
            assert list(second_cycle(plan, cycle)) == []
        told.add(is_told)
        state = after(parse_state(json.dumps(after_it), plan, "state.json"), turn)
    assert number not in SEVERAL or True in told
