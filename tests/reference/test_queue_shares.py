"""Fair shares of queues: by hand, and the product on random plans."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.reference.quotas.queues import Queues, fair_shares, in_steps
from tests.queues.strategies import plans, states
from tests.reference.cases import told_quotas

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
NO_SITING = ("need", "prefer", "avoid", "place")


@st.composite
def documents(draw: st.DrawFn) -> tuple[Json, Json]:
    """A plan that divides exactly, and requests that name no labels."""
    plan, leaves = draw(plans().filter(lambda drawn: "division" not in drawn[0]["policies"][0]["settings"]))
    state = draw(states(plan, leaves))
    for request in state["requests"]:
        for key in NO_SITING:
            request.pop(key, None)
    return plan, state


def runs_where_it_could_not_start(plan: Plan, state: State) -> bool:
    """Whether a request runs and no host that is up could take its next unit: the product counts what it waits for."""
    queues = Queues(plan, state, plan.policies[0], 0)
    held: Counter[str] = Counter()
    for each in state.allocations:
        held[each.request] += each.units
    return any(
        request.id in held and held[request.id] < request.count and not queues.could_start(request, held[request.id])
        for request in state.requests
    )


@given(documents())
def test_as_the_product(drawn: tuple[Json, Json]) -> None:
    plan = parse_plan(json.dumps(drawn[0]), "plan.json")[0]
    state = parse_state(json.dumps(drawn[1]), plan, "state.json")
    assume(not runs_where_it_could_not_start(plan, state))
    told = told_quotas(plan, state)["resource_groups"]["g"]["consumers"]
    for at, resource in enumerate(plan.resources):
        queues = Queues(plan, state, plan.policies[0], at)
        found = fair_shares(queues)
        for row, path in enumerate(plan.tree.paths):
            assert found[row] / resource.base == Fraction(str(told[path]["fair_share"].get(resource.name, 0))), path


def test_eight_for_three_of_one_band_are_three_three_and_two() -> None:
    """R-QUEUE-3: whole steps by largest fraction, then plan order."""
    weights, caps = dict.fromkeys((1, 2, 3), Fraction(1)), dict.fromkeys((1, 2, 3), Fraction(99))
    assert in_steps(Fraction(8), weights, caps, 1) == {1: 3, 2: 3, 3: 2}


def test_three_that_want_half_a_step_share_one() -> None:
    """R-QUEUE-3: what is left of the floors goes one step at a time, up to what each can use."""
    weights, caps = dict.fromkeys((1, 2, 3), Fraction(1)), dict.fromkeys((1, 2, 3), Fraction(500))
    assert in_steps(Fraction(1000), weights, caps, 1000) == {1: 500, 2: 500, 3: 0}
