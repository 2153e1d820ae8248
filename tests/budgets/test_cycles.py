"""Whole random cycles with budgets and user limits: the independent check, the truths, and rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.invariants import check
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from tests.budgets.strategies import bounded
from tests.properties.machinery import books_of, comes_to_rest, stop_expired

if TYPE_CHECKING:
    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")
NOTHING: dict[str, list[object]] = {kind: [] for kind in MOVES}
ROUNDS = 14


@given(bounded())
def test_a_cycle_is_verified(case: Case) -> None:
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()
    done = run_cycle(case.plan, case.state)
    result = done.document | {"state": state_document(case.plan, done.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(result))) == ()


@given(bounded())
def test_the_truths_hold_of_the_cycle(case: Case) -> None:
    books = books_of(case)
    stop_expired(books, case.state.now)
    assert check(run(books, case.state.now)) == ()


@given(bounded())
def test_a_second_cycle_changes_nothing(case: Case) -> None:
    after = run_cycle(case.plan, case.state).after
    second = run_cycle(case.plan, after)
    assert {kind: second.document[kind] for kind in MOVES} == NOTHING
    assert second.after == after
    assert parse_state(json.dumps(state_document(case.plan, after)), case.plan, "after.json") == after


@given(bounded())
def test_cycles_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)
