"""Fair shares of queues: by hand, and the product on random plans."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.reference.quotas.queues import Queues, fair_shares, in_steps
from tests.queues.strategies import plans, states
from tests.reference.cases import told_quotas

Json = dict[str, Any]
NO_SITING = ("need", "prefer", "avoid", "place")
PLAN: Json = {
    "fairhold": 1,
    "resources": {"gpu": {}},
    "resource_groups": {"g": {"hosts": [{"name": "h0", "gpu": 6}]}},
    "consumers": {"A": {}, "B": {}},
    "policies": [{"resource_groups": ["g"], "policy": "fair_share"}],
}


@st.composite
def documents(draw: st.DrawFn) -> tuple[Json, Json]:
    """A plan that divides exactly, and requests that name no labels."""
    plan, leaves = draw(plans().filter(lambda drawn: "division" not in drawn[0]["policies"][0]["settings"]))
    state = draw(states(plan, leaves))
    for request in state["requests"]:
        for key in NO_SITING:
            request.pop(key, None)
    return plan, state


@given(documents())
def test_as_the_product(drawn: tuple[Json, Json]) -> None:
    plan = parse_plan(json.dumps(drawn[0]), "plan.json")[0]
    state = parse_state(json.dumps(drawn[1]), plan, "state.json")
    told = told_quotas(plan, state)["resource_groups"]["g"]["consumers"]
    for at, resource in enumerate(plan.resources):
        queues = Queues(plan, state, plan.policies[0], at)
        found = fair_shares(queues)
        for row, path in enumerate(plan.tree.paths):
            assert found[row] / resource.base == Fraction(str(told[path]["fair_share"].get(resource.name, 0))), path


def test_what_no_host_could_take_counts_for_nothing_also_beside_units_that_run() -> None:
    """R-QUEUE-1: two units run on a host without the label that the request asks for now."""
    plan = parse_plan(json.dumps(PLAN), "plan.json")[0]
    unit = {"unit": {"gpu": 1}}
    state = {
        "fairhold_state": 1,
        "now": "2026-01-05T09:00:00Z",
        "requests": [
            {"id": "a", "consumer": "/A", "count": 3, "need": "zone", **unit},
            {"id": "b", "consumer": "/B", "count": 6, **unit},
        ],
        "allocations": [{"request": "a", "host": "h0", "units": 2, "started": "2026-01-05T08:00:00Z"}],
    }
    told = told_quotas(plan, parse_state(json.dumps(state), plan, "state.json"))["resource_groups"]["g"]["consumers"]
    assert told["/A"]["requested"] == {"gpu": 2}
    assert [told[path]["fair_share"] for path in ("/A", "/B")] == [{"gpu": 2}, {"gpu": 4}]


def test_eight_for_three_of_one_band_are_three_three_and_two() -> None:
    """R-QUEUE-3: whole steps by largest fraction, then plan order."""
    weights, caps = dict.fromkeys((1, 2, 3), Fraction(1)), dict.fromkeys((1, 2, 3), Fraction(99))
    assert in_steps(Fraction(8), weights, caps, 1) == {1: 3, 2: 3, 3: 2}


def test_three_that_want_half_a_step_share_one() -> None:
    """R-QUEUE-3: what is left of the floors goes one step at a time, up to what each can use."""
    weights, caps = dict.fromkeys((1, 2, 3), Fraction(1)), dict.fromkeys((1, 2, 3), Fraction(500))
    assert in_steps(Fraction(1000), weights, caps, 1000) == {1: 500, 2: 500, 3: 0}


def test_what_only_a_closed_host_could_take_counts_for_nothing() -> None:
    """R-QUEUE-1, R-UP-1: a host that is closed is not up."""
    hosts = {"resource_groups": {"g": {"hosts": [{"name": "h0", "gpu": 5}, {"name": "h1", "gpu": 2}]}}}
    plan = parse_plan(json.dumps(PLAN | hosts), "plan.json")[0]
    state = {
        "fairhold_state": 1,
        "now": "2026-01-05T09:00:00Z",
        "hosts_closed": ["h0"],
        "requests": [
            {"id": "a", "consumer": "/A", "count": 3, "unit": {"gpu": 3}},
            {"id": "b", "consumer": "/B", "count": 6, "unit": {"gpu": 1}},
        ],
    }
    told = told_quotas(plan, parse_state(json.dumps(state), plan, "state.json"))["resource_groups"]["g"]["consumers"]
    assert [told[path]["fair_share"] for path in ("/A", "/B")] == [{"gpu": 0}, {"gpu": 2}]
