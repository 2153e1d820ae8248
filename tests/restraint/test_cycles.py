"""Random cycles under controls: truths, the independent check, and rest; for every slot policy."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from tests.examples import FEWER
from tests.ownership.test_verify import numbers, result_of
from tests.properties.strategies import GROUP, LONGEST_GRACE, NOW
from tests.restraint.strategies import restrained

if TYPE_CHECKING:
    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")
ROUNDS = 400


@given(restrained(switched=None))
def test_the_truths_hold_and_the_check_agrees(case: Case) -> None:
    """R-CONTROL-1 to R-CONTROL-5."""
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    assert check(run(books[GROUP], case.state.now)) == ()
    assert verify(case.plan, case.state, result_of(case)) == ()


@given(restrained(switched=None))
def test_a_second_cycle_changes_nothing(case: Case) -> None:
    after = run_cycle(case.plan, case.state).after
    second = run_cycle(case.plan, after)
    assert [second.document[kind] for kind in MOVES] == [[], [], [], []]
    assert second.after == after
    assert parse_state(json.dumps(state_document(case.plan, after)), case.plan, "after.json") == after


@FEWER
@given(restrained(switched=None), st.data())
def test_a_changed_number_is_found_out(case: Case, data: st.DataObject) -> None:
    result = result_of(case)
    places = [place for place in numbers(result) if place[-1] != "fairhold_state"]
    moved = [place for place in places if place[0] in {*MOVES, "observed"}]
    place = data.draw(st.sampled_from(moved or places))
    node: Any = result
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] += data.draw(st.sampled_from([1, -1]))
    assert verify(case.plan, case.state, result), place


@FEWER
@given(restrained(switched=None), st.data())
def test_a_notice_that_is_left_out_or_only_shown_is_found_out(case: Case, data: st.DataObject) -> None:
    result = result_of(case)
    kinds = [kind for kind in ("reclaims", "observed") if result.get(kind)]
    if not kinds:
        return
    row = result[kinds[0]].pop()
    if data.draw(st.booleans()):
        result.setdefault("observed" if kinds[0] == "reclaims" else "reclaims", []).append(row)
    assert verify(case.plan, case.state, result)


@FEWER
@given(restrained(switched=None), st.data())
def test_a_changed_shortage_is_found_out(case: Case, data: st.DataObject) -> None:
    result = result_of(case)
    rows = result["state"].setdefault("shortages", [])
    if not rows:
        leaf = case.plan.tree.paths[case.plan.tree.first_level[-1]]
        rows.append({"consumer": leaf, "resource_group": GROUP, "since": NOW})
    row = data.draw(st.sampled_from(rows))
    row |= data.draw(st.sampled_from([{"taking": not row.get("taking")}, {"since": "2026-01-05T08:00:00Z"}]))
    assert verify(case.plan, case.state, result)


@FEWER
@given(restrained())
def test_under_constant_demand_cycles_that_are_due_come_to_rest(case: Case) -> None:
    """Cycles run when one is due and when a grace ends; then nothing moves any more, and nothing is due."""
    assume(not any(entry.settings.observe_only for entry in case.plan.policies))
    cycle = run_cycle(case.plan, case.state)
    for _ in range(ROUNDS):
        dues = [notice.deadline for notice in cycle.after.notices]
        dues += [result.decision.due for result in cycle.results.values() if result.decision.due is not None]
        if not dues:
            break
        cycle = run_cycle(case.plan, replace(cycle.after, now=max(min(dues), cycle.after.now + 1)))
    last = run_cycle(case.plan, replace(cycle.after, now=cycle.after.now + LONGEST_GRACE))
    assert [last.document[kind] for kind in MOVES] == [[], [], [], []]


@FEWER
@given(restrained())
def test_no_more_is_newly_noticed_than_is_allowed(case: Case) -> None:
    """R-CONTROL-1: but for limits, lost slots, switches and a gang that goes alone."""
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    result = run(books[GROUP], case.state.now)
    rows, held = result.snapshot.rows, result.draft.held
    over = [row for row in range(1, len(rows)) if held[row] > rows.plan.limit[row]]
    requests, request_of = books[GROUP].requests, books[GROUP].allocations.request
    going: Counter[int] = Counter()
    for notice in (*result.decision.notices, *result.decision.observed):
        request = request_of[notice.allocation]
        assume(requests.minimum[request] == 0)
        going[rows.chosen[requests.leaf[request]]] += notice.units
    assume(not over and not result.snapshot.lost)
    for at, units in going.items():
        most = rows.entries[at].settings.max_reclaims
        assert most is None or units <= most


@FEWER
@given(restrained())
def test_nobody_young_is_told(case: Case) -> None:
    """R-CONTROL-5: but for limits and lost slots."""
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    result = run(books[GROUP], case.state.now)
    rows, held = result.snapshot.rows, result.draft.held
    assume(not any(held[row] > rows.plan.limit[row] for row in range(1, len(rows))) and not result.snapshot.lost)
    table = books[GROUP].allocations
    for notice in result.decision.notices:
        leaf = books[GROUP].requests.leaf[table.request[notice.allocation]]
        assert case.state.now - table.started[notice.allocation] >= rows.min_runtime[leaf]
