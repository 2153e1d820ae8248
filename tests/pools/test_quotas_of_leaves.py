"""What leaves may use by their quotas, held against the documents of a cycle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.pooled.merge_results import run_entries
from fairhold.cycle.pooled.quotas import quotas_of_leaves
from fairhold.ledger.pools import OWN
from tests.examples import FEWER
from tests.pools.strategies import plans, read, states
from tests.queues import strategies as queues

Json = dict[str, Any]


@st.composite
def stories(draw: st.DrawFn) -> tuple[Json, Json]:
    plan, leaves = draw(plans())
    return plan, draw(states(plan, leaves))


@FEWER
@given(stories())
def test_it_is_what_is_used_of_the_own_and_the_quotas_of_all_pools(story: tuple[Json, Json]) -> None:
    plan, state = read(*story)
    for _, cycle in run_entries(plan, state):
        found = quotas_of_leaves(cycle)
        if not any(asked.waiting for asked in cycle.books.asked.values()):
            assert found == {}
            continue
        for leaf in cycle.books.terms.leaves:
            told = [pool["consumers"].get(plan.tree.paths[leaf]) for pool in cycle.pools.values()]
            mine = [unit for unit in cycle.books.units() if unit.asked.leaf == leaf and unit.pool == OWN]
            for at, resource in enumerate(plan.resources):
                parts = [Fraction(each["approximate_share_quota"][resource.name]) for each in told if each]
                used = sum(unit.asked.unit[at] for unit in mine)
                assert found[leaf][at] == int(sum(parts) * resource.base + used)


@st.composite
def queued(draw: st.DrawFn) -> tuple[Json, Json]:
    plan, leaves = draw(queues.plans())
    return plan, draw(queues.states(plan, leaves))


@FEWER
@given(queued())
def test_of_a_queue_it_is_its_fair_share_while_somebody_waits(story: tuple[Json, Json]) -> None:
    plan, state = read(*story)
    ((_, cycle),) = run_entries(plan, state)
    found = quotas_of_leaves(cycle)
    assert bool(found) is any(asked.waiting for asked in cycle.books.asked.values())
    for leaf, amounts in found.items():
        fair = cycle.queues["consumers"][plan.tree.paths[leaf]]["fair_share"]
        for at, resource in enumerate(plan.resources):
            assert abs(amounts[at] - Fraction(fair[resource.name]) * resource.base) < 1
