"""What an explanation says is true when it is tried."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.explain.derivation import derive_level
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.properties.strategies import GROUP, Case, cases

if TYPE_CHECKING:
    from fairhold.cycle.explain import Explanation
    from fairhold.cycle.run import CycleResult


WHOLE = {Bound.DEMAND, Bound.BELOW, Bound.LIMIT, Bound.RESERVE, Bound.GANGS}
"""Bounds of those that get all that they need."""


def cycle_of(case: Case) -> CycleResult:
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    return run(books[GROUP], case.state.now)


@given(cases())
def test_a_derivation_adds_up_to_the_quotas(case: Case) -> None:
    result = cycle_of(case)
    rows, quota = result.snapshot.rows, result.draft.quota
    for parent in range(len(rows)):
        if rows.tree.first[parent] == rows.tree.end[parent]:
            continue
        level = derive_level(result, parent)
        total = sum((sibling.exact for sibling in level.siblings), Fraction(0))
        assert total == min(level.amount, sum(sibling.need for sibling in level.siblings))
        for sibling in level.siblings:
            assert abs(sibling.quota - sibling.exact) < 1
            assert sibling.quota == quota[rows.by_path[sibling.path]]
            assert (sibling.bound in WHOLE) == (sibling.exact == sibling.need)


def explained(plan: str, state: str, path: str) -> Explanation:
    parsed, _ = parse_plan(plan, "plan")
    result_state = parse_state(state, parsed, "state")
    books = open_books(parsed, result_state)
    unseen = result_state.hosts_never_seen
    return explain(parsed, run(books["compute"], result_state.now), path, unseen=unseen)


PLAN = """
fairhold: 1
resource_groups: {compute: {slots: 40, configured_slots: 50}}
consumers: {A: {}, B: {rank: 1}, C: {}, D: {}, E: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {/A: {owned: 25}, /B: {owned: 15, limit: 20}, /D: {owned: 5, reserved: 4}, /E: {owned: 5}}
"""
STATE = """
fairhold_state: 1
now: 2026-01-05T09:00:00Z
demand: {/A: {compute: %d}, /B: {compute: %d}, /C: {compute: 5}, /E: {compute: 1}}
"""


@pytest.mark.parametrize(
    ("a", "b", "path", "bound"),
    [
        (100, 100, "/A", Bound.RATIO),
        (3, 100, "/A", Bound.DEMAND),
        (3, 100, "/B", Bound.LIMIT),
        (3, 100, "/D", Bound.RESERVE),
        (100, 100, "/C", Bound.NOTHING_LEFT),
        (100, 100, "/E", Bound.DEMAND),
    ],
)
def test_the_bound_that_held_is_named(a: int, b: int, path: str, bound: Bound) -> None:
    explanation = explained(PLAN, STATE % (a, b), path)
    mine = next(row for row in explanation.levels[-1].siblings if row.path == path)
    assert mine.bound is bound


def test_what_waits_for_whom_is_told_on_both_sides() -> None:
    state = STATE % (30, 100) + "allocated: {/C: {compute: 40}}\n"
    for path in ("/A", "/C"):
        moves = explained(PLAN, state, path).moves
        assert [(move.kind, move.consumer, move.taker) for move in moves if move.taker == "/A"] == [
            ("notice", "/C", "/A")
        ]
