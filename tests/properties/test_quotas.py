"""Quotas of random trees against the reference (R-SCALE, R-NEED, R-QUOTA, R-ROUND, R-EXACT)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.run import quotas
from fairhold.model.plan import ConsumerSettings, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.state import State
from fairhold.model.tree import ConsumerTree
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.reference.quotas import entitled_in
from fairhold.reference.quotas.hybrid import floors
from fairhold.reference.situation import read_situation
from fairhold.units import LARGEST
from tests.properties.machinery import books_of
from tests.properties.strategies import GROUP, NOW, Case, Json, counts, instant, leaves_of, plans, whole

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from fairhold.cycle.run import CycleResult


@st.composite
def quota_cases(draw: DrawFn, *, evenly: bool, most: int = 24, depth: int = 3) -> Case:
    """Plans with states that only want something; the group has anything from nothing to three times the plan."""
    plan = draw(plans(evenly=evenly, most=most, depth=depth))
    state = draw(counts(plan, notices=False)) if most < LARGEST else {"fairhold_state": 1, "now": NOW}
    if most == LARGEST:
        state["demand"] = {leaf: {GROUP: draw(whole(LARGEST // 9))} for leaf in leaves_of(plan)}
        state["resource_groups"] = {GROUP: {"slots": draw(st.sampled_from([0, 1, 10**6 + 3, LARGEST]))}}
    return Case(plan, state)


def with_mode(plan: Json, *, evenly: bool) -> Json:
    entry = plan["policies"][0]
    return plan | {"policies": [entry | {"settings": entry["settings"] | {"distribute_evenly": evenly}}]}


def compute(case: Case) -> CycleResult:
    return quotas(books_of(case), case.state.now)


def assert_equals_reference(case: Case) -> None:
    result = compute(case)
    rows = result.snapshot.rows
    situation = read_situation(case.plan, case.state, GROUP)
    expected = entitled_in(situation)
    sure = floors(situation.consumers, expected)
    exact = result.draft.exact
    for row in range(1, len(rows)):
        path = rows.path(row)
        found = (
            result.draft.needs.reserve[row],
            result.draft.needs.sure[row],
            result.draft.needs.need[row],
            result.draft.quota[row],
            exact(row),
        )
        of_rules = expected.reserve[path], sure[path], expected.need[path], expected.quota[path], expected.exact[path]
        assert found == of_rules, path


@given(quota_cases(evenly=False))
def test_quotas_are_those_of_the_reference(case: Case) -> None:
    assert_equals_reference(case)


@given(quota_cases(evenly=True))
def test_quotas_in_even_mode_are_those_of_the_reference(case: Case) -> None:
    assert_equals_reference(case)


@given(quota_cases(evenly=False, most=LARGEST))
def test_quotas_of_huge_plans_are_exact(case: Case) -> None:
    assert_equals_reference(case)


@given(quota_cases(evenly=True, most=LARGEST))
def test_quotas_of_huge_plans_in_even_mode_are_exact(case: Case) -> None:
    assert_equals_reference(case)


@given(quota_cases(evenly=False, most=9, depth=8))
def test_quotas_of_deep_trees_are_those_of_the_reference(case: Case) -> None:
    assert_equals_reference(case)


@given(quota_cases(evenly=False, depth=6), st.booleans())
def test_a_quota_is_less_than_its_depth_from_the_exact_share(case: Case, evenly: bool) -> None:  # noqa: FBT001
    """Every level rounds by less than one unit, and passes on no more than what moved the parent."""
    document = with_mode(case.plan_document, evenly=evenly)
    result = compute(Case(document, case.state_document))
    rows = result.snapshot.rows
    exact = result.draft.exact
    depth = [0] * len(rows)
    for row in range(1, len(rows)):
        depth[row] = depth[rows.tree.parent[row]] + 1
        assert abs(exact(row) - result.draft.quota[row]) < depth[row]


@given(quota_cases(evenly=False), st.booleans(), st.data())
def test_more_demand_never_lowers_ones_own_quota(case: Case, evenly: bool, data: st.DataObject) -> None:  # noqa: FBT001
    document = with_mode(case.plan_document, evenly=evenly)
    leaf = data.draw(st.sampled_from(leaves_of(document)))
    wanted = case.state_document["demand"][leaf][GROUP]
    demand = case.state_document["demand"] | {leaf: {GROUP: wanted + data.draw(st.integers(1, 20))}}
    before = compute(Case(document, case.state_document))
    after = compute(Case(document, case.state_document | {"demand": demand}))
    row = case.plan.tree.rows[leaf]
    assert after.draft.quota[row] >= before.draft.quota[row]


@given(
    st.integers(0, 60), st.integers(1, 7), st.integers(0, 9), st.booleans(), st.lists(whole(2), min_size=7, max_size=7)
)
def test_equal_siblings_differ_by_one_at_most(
    slots: int,
    siblings: int,
    owned: int,
    evenly: bool,  # noqa: FBT001
    ranks: list[int],
) -> None:
    """S1.20, S1.22-23: and the better placed have the unit more."""
    settings = {
        f"/{name}": {"owned": owned, "rank": rank} for name, rank in zip("abcdefg"[:siblings], ranks, strict=False)
    }
    entry = {"resource_groups": [GROUP], "policy": "hybrid", "settings": {"distribute_evenly": evenly}}
    plan = {
        "fairhold": 1,
        "resource_groups": {GROUP: {"slots": slots}},
        "consumers": {path[1:]: {} for path in settings},
        "policies": [entry | {"consumers": settings}],
    }
    demand = {path: {GROUP: 9} for path in settings}
    result = compute(Case(plan, {"fairhold_state": 1, "now": NOW, "demand": demand}))
    found = [result.draft.quota[row] for row in result.snapshot.rows.tree.path[1:]]
    assert found == sorted(found, reverse=True)
    assert found[0] - found[-1] <= 1
    assert sum(found) == min(slots, 9 * siblings)


@pytest.mark.parametrize("evenly", [False, True])
def test_a_chain_of_ten_thousand_levels(evenly: bool) -> None:  # noqa: FBT001
    """No recursion: a path may be as deep as the plan likes; all levels owning, 7 of 9 slots there."""
    length = 10_000
    tree = ConsumerTree(
        name=["", *("x" for _ in range(length))],
        parent=[*range(-1, length)],
        rank=[None] * (length + 1),
        grace=[None] * (length + 1),
    )
    entry = PolicyEntry(
        (GROUP,),
        HYBRID,
        PolicySettings(distribute_evenly=evenly),
        {row: ConsumerSettings(owned=9, reserved=2) for row in range(1, length + 1)},
    )
    plan = Plan("c", "UTC", 0, tree, {GROUP: ResourceGroup(GROUP, 9)}, (entry,))
    state = State(instant(NOW), slots={GROUP: 7}, demand={(length, GROUP): 20})
    case = Case({}, {})
    object.__setattr__(case, "plan", plan)
    object.__setattr__(case, "state", state)
    result = compute(case)
    assert set(result.draft.quota) == {7}
    assert set(result.draft.needs.sure[1:]) == {7}
    idle = replace(state, demand={})
    object.__setattr__(case, "state", idle)
    assert set(compute(case).draft.quota[1:]) == {2}
