"""Whole random cycles of `ownership`, alone and beside `hybrid`: truths, rest, and the state after (SPEC §10)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.invariants import check, more_demand_never_lowers_a_quota
from fairhold.cycle.run import run
from fairhold.planio.state import parse_state, state_document
from tests.ownership.strategies import owning
from tests.properties.machinery import books_of, comes_to_rest, cycle, excess, is_quiet, stop_expired
from tests.properties.strategies import LONGEST_GRACE

if TYPE_CHECKING:
    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")
NOTHING: dict[str, list[object]] = {kind: [] for kind in MOVES}
ROUNDS = 14


@given(owning(switched=None))
def test_the_truths_hold_of_the_cycle(case: Case) -> None:
    books = books_of(case)
    stop_expired(books, case.state.now)
    assert check(run(books, case.state.now)) == ()


@given(owning(switched=None))
def test_a_second_cycle_changes_nothing(case: Case) -> None:
    after = run_cycle(case.plan, case.state).after
    second = run_cycle(case.plan, after)
    assert {kind: second.document[kind] for kind in MOVES} == NOTHING
    assert second.after == after
    assert parse_state(json.dumps(state_document(case.plan, after)), case.plan, "after.json") == after


@given(owning(), st.integers(1, 30), st.data())
def test_more_demand_never_lowers_a_quota(case: Case, more: int, data: st.DataObject) -> None:
    books = books_of(case)
    leaf = data.draw(st.sampled_from(books.rows.leaves))
    assert tuple(more_demand_never_lowers_a_quota(run(books, case.state.now), leaf, more)) == ()


@given(owning(requested=False))
def test_cycles_come_to_rest_and_take_at_most_the_excess(case: Case) -> None:
    books, now = books_of(case), case.state.now
    most, stopped, quiet = excess(books, now), 0, 0
    for _ in range(ROUNDS):
        stopped += stop_expired(books, now)
        quiet = quiet + 1 if is_quiet(cycle(books, now)) else 0
        now += LONGEST_GRACE
    assert quiet > 1
    overdue = sum(notice.units for notice in case.state.notices if notice.deadline <= case.state.now)
    assert stopped <= max(most, overdue) + overdue
    assert not any(books.noticed)


@given(owning(requested=True))
def test_cycles_with_gangs_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)
