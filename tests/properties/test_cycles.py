"""Whole random cycles: the truths of SPEC §10 hold, and the independent recomputation agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.invariants import check, more_demand_never_lowers_a_quota, sums_are_those_of_the_tables
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from tests.properties.machinery import books_of, stop_expired
from tests.properties.strategies import GROUP, Case, cases

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

MOVES = ("stops", "grants", "reclaims", "withdrawn")
NOTHING: dict[str, list[object]] = {kind: [] for kind in MOVES}


def cycle_of(case: Case) -> Cycle:
    return run_cycle(case.plan, case.state)


def assert_verified(case: Case) -> None:
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()
    cycle = cycle_of(case)
    result = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(result))) == ()


@given(cases(requested=False))
def test_a_cycle_on_counts_is_verified(case: Case) -> None:
    assert_verified(case)


@given(cases(requested=True, gangs=False))
def test_a_cycle_on_requests_is_verified(case: Case) -> None:
    assert_verified(case)


@given(cases(requested=True))
def test_a_cycle_with_gangs_is_verified(case: Case) -> None:
    assert_verified(case)


@given(cases())
def test_the_truths_hold_of_the_cycle(case: Case) -> None:
    books = books_of(case)
    assert tuple(sums_are_those_of_the_tables(books)) == ()
    stop_expired(books, case.state.now)
    assert check(run(books, case.state.now)) == ()


@given(cases(), st.integers(1, 30), st.data())
def test_more_demand_never_lowers_a_quota(case: Case, more: int, data: st.DataObject) -> None:
    books = books_of(case)
    leaf = data.draw(st.sampled_from(books.rows.leaves))
    result = run(books, case.state.now)
    assert tuple(more_demand_never_lowers_a_quota(result, leaf, more)) == ()


@given(cases())
def test_a_second_cycle_on_the_state_after_changes_nothing(case: Case) -> None:
    after = cycle_of(case).after
    second = run_cycle(case.plan, after)
    assert {kind: second.document[kind] for kind in MOVES} == NOTHING
    assert second.after == after


@given(cases())
def test_the_state_after_survives_its_file(case: Case) -> None:
    after = cycle_of(case).after
    assert parse_state(json.dumps(state_document(case.plan, after)), case.plan, "after.json") == after


@given(cases())
def test_the_document_says_what_the_decision_did(case: Case) -> None:
    """Held before, grants and stops give what is held after; the file and the books tell the same story."""
    cycle = cycle_of(case)
    table = cycle.document["resource_groups"][GROUP]["consumers"]
    books = books_of(Case(case.plan_document, state_document(case.plan, cycle.after)))
    for leaf in books.rows.leaves:
        path = books.rows.path(leaf)
        units = {kind: sum(row["units"] for row in cycle.document[kind] if row["consumer"] == path) for kind in MOVES}
        assert books.held[leaf] == table[path]["allocated"] + units["grants"]
        before = books_of(case)
        assert table[path]["allocated"] == before.held[leaf] - units["stops"]
        assert books.noticed[leaf] == before.noticed[leaf] - units["stops"] + units["reclaims"] - units["withdrawn"]
        assert books.demand[leaf] == before.demand[leaf]


@given(cases(requested=False))
def test_the_order_of_a_file_decides_nothing_but_plan_order(case: Case) -> None:
    """Demand and holdings listed in another order give the same numbers."""
    state = case.state
    backward = replace(
        state,
        demand=dict(reversed(list(state.demand.items()))),
        allocated=dict(reversed(list(state.allocated.items()))),
    )
    one, two = cycle_of(case).document, run_cycle(case.plan, backward).document
    assert one == two


@given(cases())
def test_a_cycle_leaves_its_input_alone(case: Case) -> None:
    books = books_of(case)
    before = (list(books.held), list(books.demand), list(books.noticed), list(books.hosts.used))
    tables = (list(books.allocations.units), list(books.notices.units), list(books.requests.held))
    first = run(books, case.state.now).decision
    assert (list(books.held), list(books.demand), list(books.noticed), list(books.hosts.used)) == before
    assert (list(books.allocations.units), list(books.notices.units), list(books.requests.held)) == tables
    assert run(books, case.state.now).decision == first


@given(cases())
def test_a_notice_runs_as_long_as_its_holders_grace(case: Case) -> None:
    """S1.61-62, and whom it is for: a leaf that misses something, or nobody."""
    books = books_of(case)
    result = run(books, case.state.now)
    for notice in result.decision.notices:
        holder = books.requests.leaf[books.allocations.request[notice.allocation]]
        assert notice.deadline == case.state.now + books.rows.grace[holder]
        if notice.taker >= 0:
            assert result.draft.balance.missing[notice.taker] > 0
            assert notice.taker != holder
