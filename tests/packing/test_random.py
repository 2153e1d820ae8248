"""Random plans and states on hosts, under every packing: verified, true, and at rest after a while."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.properties.strategies import Case, plans, requests, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

MOVES = ("stops", "grants", "reclaims", "withdrawn")


@st.composite
def packed(draw: DrawFn) -> Case:
    """A plan on hosts under a packing that is not `stacked`, with requests."""
    packing = draw(st.sampled_from(["balanced", "exclusive", "exclusive"]))
    if draw(st.booleans()):
        plan = draw(plans(hosts=True))
        case = Case(plan, draw(requests(plan)))
    else:
        case = draw(sharing(requested=True).filter(lambda case: "hosts" in case.plan_document["resource_groups"]["g"]))
    for entry in case.plan_document["policies"]:
        entry["settings"]["packing"] = packing
    case.state_document["held"] = []  # what is kept for a request may be more than a limit above it
    return case


@given(packed())
def test_every_packing_is_verified(case: Case) -> None:
    """R-PLACE-2, R-HOSTS-1, R-HOSTS-2."""
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()
    cycle = run_cycle(case.plan, case.state, check=True)
    assert not cycle.untrue
    result = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(result))) == ()


@given(packed())
def test_cycles_come_to_rest(case: Case) -> None:
    """Under constant demand, everything under notice being stopped in between."""
    state = case.state
    cycle = run_cycle(case.plan, state)
    for _ in range(40):
        if not any(cycle.document[kind] for kind in MOVES):
            return
        state = replace(cycle.after, now=cycle.after.now + 60 * SECOND)
        cycle = run_cycle(case.plan, state)
    raise AssertionError(f"still moving: { {kind: cycle.document[kind] for kind in MOVES} }")


LABELS = ("zone=a", "zone=b", "ssd", "gpu=h100")


@st.composite
def sited(draw: DrawFn) -> Case:
    """As `packed`, under any packing, with labels on hosts and requests that ask for some."""
    case = draw(packed())
    packing = draw(st.sampled_from(["stacked", "stacked", "balanced", "exclusive"]))
    for entry in case.plan_document["policies"]:
        entry["settings"]["packing"] = packing
    for host in case.plan_document["resource_groups"]["g"]["hosts"]:
        host["labels"] = draw(st.sampled_from([[], ["zone=a"], ["zone=b"], ["zone=a", "ssd"], ["zone=b", "gpu=h100"]]))
    for request in case.state_document["requests"]:
        for key in ("need", "prefer", "avoid"):
            if draw(st.integers(0, 2)) == 0:
                taken = request.get("need", [])
                request[key] = draw(
                    st.lists(st.sampled_from([each for each in LABELS if each not in taken]), max_size=2)
                )
        if draw(st.integers(0, 3)) == 0:
            request["place"] = draw(st.sampled_from(["spread", "pack"]))
    return case


@given(sited())
def test_labels_are_verified(case: Case) -> None:
    """R-SITE-1, R-SITE-2, R-SITE-3, R-SITE-4."""
    test_every_packing_is_verified.hypothesis.inner_test(case)  # type: ignore[attr-defined]


@FEWER
@given(sited())
def test_cycles_with_labels_come_to_rest(case: Case) -> None:
    """Whatever hosts requests ask for."""
    test_cycles_come_to_rest.hypothesis.inner_test(case)  # type: ignore[attr-defined]
