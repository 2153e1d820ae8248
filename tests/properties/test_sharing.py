"""`share_ratio` against the reference, its truths and the independent check, whatever the plan and the state."""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.invariants import check, more_demand_never_lowers_a_quota
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import quotas, run
from fairhold.cycle.verify import verify
from fairhold.planio.state import state_document
from fairhold.reference.quotas import entitled_in
from fairhold.reference.situation import read_situation
from tests.properties.strategies import GROUP, LONGEST_GRACE, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")


@pytest.mark.parametrize("enforce", ["leaf", "parent"])
@given(st.data())
def test_planned_and_exact_shares_and_quotas_are_those_of_the_reference(enforce: str, data: DataObject) -> None:
    case = data.draw(sharing(requested=False, enforce=enforce, entitlement="workload"))
    result = quotas(open_books(case.plan, case.state)[GROUP], case.state.now)
    expected = entitled_in(read_situation(case.plan, case.state, GROUP))
    planned = result.draft.planned
    assert planned is not None
    for row in range(1, len(result.snapshot.rows)):
        path = result.snapshot.rows.path(row)
        found = (planned.exact(row), result.draft.needs.need[row], result.draft.exact(row), result.draft.quota[row])
        of_rules = expected.planned[path], expected.need[path], expected.exact[path], expected.quota[path]
        assert found == of_rules, path
        assert planned.whole[row] + planned.broken[row] == ceil(expected.planned[path])


@given(sharing())
def test_the_truths_hold_of_every_cycle(case: Case) -> None:
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    assert check(run(books[GROUP], case.state.now)) == ()


@given(sharing())
def test_the_independent_check_accepts_every_result(case: Case) -> None:
    result = run_cycle(case.plan, case.state)
    document = result.document | {"state": state_document(case.plan, result.after)}
    for each in (document, quota_document(case.plan, case.state)):
        assert verify(case.plan, case.state, json.loads(json.dumps(each))) == ()


@given(sharing(), st.data())
def test_more_demand_never_lowers_a_quota(case: Case, data: DataObject) -> None:
    result = run(open_books(case.plan, case.state)[GROUP], case.state.now)
    leaf = data.draw(st.sampled_from(result.snapshot.rows.leaves))
    units = data.draw(st.integers(1, 9))
    assert list(more_demand_never_lowers_a_quota(result, leaf, units)) == []


@given(sharing())
def test_under_constant_demand_the_cycles_come_to_rest(case: Case) -> None:
    """Every cycle goes over a longest grace; what is reclaimed in all is at most what was above the quotas at first."""
    state = case.state
    cycle = run_cycle(case.plan, state)
    for _ in range(12):
        if not any(cycle.document[kind] for kind in MOVES) and not cycle.after.notices:
            return
        state = replace(cycle.after, now=cycle.after.now + LONGEST_GRACE + 1)
        cycle = run_cycle(case.plan, state)
    assert [cycle.document[kind] for kind in MOVES] == [[], [], [], []]
