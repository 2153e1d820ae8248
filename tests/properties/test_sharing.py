"""`share_ratio` against its oracle, its truths and the independent check, whatever the plan and the state."""

from __future__ import annotations

import json
from dataclasses import replace
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
from fairhold.units import UNLIMITED
from tests.oracles import sharing as oracle
from tests.properties.strategies import GROUP, LONGEST_GRACE, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

    from fairhold.cycle.run import CycleResult
    from tests.properties.strategies import Case

MOVES = ("stops", "grants", "reclaims", "withdrawn")


def oracle_of(result: CycleResult) -> list[oracle.Node]:
    """The group's consumers as the oracle takes them, by row."""
    rows, demand = result.snapshot.rows, result.snapshot.demand
    nodes = []
    for row in range(len(rows)):
        limit = None if rows.plan.limit[row] >= UNLIMITED else rows.plan.limit[row]
        nodes.append(oracle.Node(rows.ratio[row] if row else 1, limit, demand[row]))
    for row, node in enumerate(nodes):
        node.children += [nodes[child] for child in rows.tree.children(row)]
    oracle.entitle(nodes[0], result.snapshot.slots, by_leaf=rows.is_flat)
    return nodes


@pytest.mark.parametrize("enforce", ["leaf", "parent"])
@given(st.data())
def test_planned_and_exact_shares_and_quotas_are_those_of_the_oracle(enforce: str, data: DataObject) -> None:
    case = data.draw(sharing(requested=False, enforce=enforce, entitlement="workload"))
    result = quotas(open_books(case.plan, case.state)[GROUP], case.state.now)
    planned = result.draft.planned
    assert planned is not None
    for row, node in enumerate(oracle_of(result)[1:], 1):
        found = (planned.exact(row), result.draft.needs.need[row], result.draft.exact(row), result.draft.quota[row])
        assert found == (node.planned, node.need, node.exact, node.quota), result.snapshot.rows.path(row)
        assert planned.whole[row] + planned.broken[row] == -(-node.planned // 1)


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
