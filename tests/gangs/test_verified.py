"""Cycles with gangs obey every truth and the independent check, and come to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.statewrite import state_document
from tests.examples import FEWER
from tests.gangs.crossed import crossed
from tests.gangs.strategies import gangs
from tests.properties.machinery import comes_to_rest

if TYPE_CHECKING:
    from tests.properties.strategies import Case

ROUNDS = 14


@FEWER
@given(gangs())
def test_cycles_with_gangs_are_true_and_verified(case: Case) -> None:
    cycle = run_cycle(case.plan, case.state, check=True)
    assert cycle.untrue == ()
    document = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, document) == ()
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()


@FEWER
@given(crossed())
def test_cycles_with_gangs_labels_and_user_limits_are_true(case: Case) -> None:
    """R-HOLD-1, R-SITE-2, R-USER-1: a second cycle at the same instant changes nothing."""
    assert run_cycle(case.plan, case.state, check=True).untrue == ()


@FEWER
@given(st.one_of(gangs(), crossed()))
def test_cycles_with_gangs_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)
