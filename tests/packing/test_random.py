"""Random plans and states on hosts, under every packing: verified, true, and at rest after a while."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.packing.strategies import packed, sited

if TYPE_CHECKING:
    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")


def assert_verified(case: Case) -> None:
    """Its quotas and its cycle are true, and the independent check finds nothing."""
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()
    cycle = run_cycle(case.plan, case.state, check=True)
    assert not cycle.untrue
    result = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(result))) == ()


def assert_rests(case: Case) -> None:
    """Cycles come to rest under constant demand, everything under notice being stopped in between."""
    state = case.state
    cycle = run_cycle(case.plan, state)
    for _ in range(40):
        if not any(cycle.document[kind] for kind in MOVES):
            return
        state = replace(cycle.after, now=cycle.after.now + 60 * SECOND)
        cycle = run_cycle(case.plan, state)
    raise AssertionError(f"still moving: { {kind: cycle.document[kind] for kind in MOVES} }")


@given(packed())
def test_every_packing_is_verified(case: Case) -> None:
    """R-PLACE-2, R-HOSTS-1, R-HOSTS-2."""
    assert_verified(case)


@given(packed())
def test_cycles_come_to_rest(case: Case) -> None:
    """Whatever the packing."""
    assert_rests(case)


@given(sited())
def test_labels_are_verified(case: Case) -> None:
    """R-SITE-1, R-SITE-2, R-SITE-3, R-SITE-4."""
    assert_verified(case)


@FEWER
@given(sited())
def test_cycles_with_labels_come_to_rest(case: Case) -> None:
    """Whatever hosts requests ask for."""
    assert_rests(case)
