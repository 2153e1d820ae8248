"""The picture of a policy entry whose consumers are queues: for every resource the tree, with a bar for each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.run import quota_pools
from fairhold.drawing.bars import OF_QUEUES, Bar, bar_legend
from fairhold.drawing.legend import heading
from fairhold.drawing.marks import Block, below
from fairhold.drawing.table import Row, draw_table, in_order
from fairhold.drawing.terms import BUDGET, NOTHING, budget_cells, queue_cells, used_of
from fairhold.errors import printable
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.model.vector import amount_text, decimal_text
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.drawing.terms import Cells
    from fairhold.ledger.queues import QueueTerms
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.model.vector import Resource

Numbers = dict[str, Any]
_OF_QUEUE = (
    "priority",
    "reclaim_grace",
    "reclaim_min_runtime",
    "preempt_min_runtime",
    "preemption_delay",
    "min_runtime",
)
_COLUMNS = (*_OF_QUEUE, BUDGET, "weight", "deserved", "limit", "wants", "holds", "fair share")


def draw_queues(plan: Plan, force: InForce, state: State, *, has_state: bool) -> Block:
    """A tree for every resource; has_state: with what is wanted, held and each is entitled to."""
    said, terms = (queue_terms_of(plan, each, force.members) for each in (force.as_stated(plan), force.entry))
    numbers = quota_pools(plan, force.entry, force.part_of(plan, state), force.members)
    noticed = _noticed(plan, force, state)
    nodes = in_order(plan.tree, [row for row in plan.tree.children[0] if row in force.members])
    parts: list[Block] = []
    bars: list[Bar] = []
    there = [at for at, each in enumerate(plan.resources) if each.name in numbers["amounts"]]
    for at in there or [*terms.resources][:1]:
        resource, rows = plan.resources[at], []
        for node in nodes:
            queue = numbers["consumers"][plan.tree.paths[node]]
            bar = _planned(plan, terms, numbers, at, node)
            cells = _said(plan, force, said, at, node, is_first=not parts) if node else {}
            if has_state:
                bar = _used(bar, resource, queue, noticed[at][node])
                cells |= _held(resource, queue)
                if not parts:
                    cells |= budget_cells(plan.policies[force.at].consumers.get(node, NOTHING), used_of(state, node))
            bars.append(bar)
            rows.append(Row(node, cells, 0, bar.block()))
        size = numbers["amounts"].get(resource.name, 0)
        title = heading(f"{printable(resource.name)} {size} {resource.unit}".rstrip())
        parts.append(below([title, draw_table(plan.tree, _COLUMNS, rows, frozenset()).block], 4))
    return below([*parts, bar_legend(bars, has_arrows=False, words=OF_QUEUES)], 16)


def _said(plan: Plan, force: InForce, terms: QueueTerms, at: int, node: int, *, is_first: bool) -> Cells:
    """What the plan says of a queue; is_first: with what is not said of one resource."""
    stated = plan.policies[force.at].consumers.get(node, NOTHING)
    resource = plan.resources[at]
    cells: Cells = {}
    if is_first:
        cells = queue_cells(plan, force.entry, stated, node)
        if len(set(terms.priority[1:])) > 1:
            cells["priority"] = (str(terms.priority[node]),)
    if len(set(terms.weight[at][1:])) > 1:
        weight = Fraction(terms.weight[at][node], terms.weight_of_one[at])
        cells["weight"] = (decimal_text(weight),)
    deserved, limit = terms.deserved[at][node], terms.limit[at][node]
    if deserved:
        cells["deserved"] = ("all" if deserved >= UNLIMITED else amount_text(resource, deserved),)
    if limit < UNLIMITED:
        cells["limit"] = (amount_text(resource, limit),)
    return cells


def _held(resource: Resource, queue: Numbers) -> Cells:
    """What a state makes of it."""
    told = (("wants", "requested"), ("holds", "allocated"), ("fair share", "fair_share"))
    return {name: (str(queue[key].get(resource.name, 0)),) for name, key in told}


def _planned(plan: Plan, terms: QueueTerms, numbers: Numbers, at: int, node: int) -> Bar:
    """The bar of a queue as the plan says it; the root's is all that there is."""
    total = _units(plan.resources[at], numbers["amounts"])
    deserved, limit = terms.deserved[at][node], terms.limit[at][node]
    longest = max(total, 1)
    return Bar(
        key=_key(plan, node),
        longest=longest,
        owned=min(deserved, total) if node else total,
        reserved=0,
        planned=Fraction(0),
        limit=limit if node and limit <= longest else None,
        held=None,
        noticed=0,
        wanted=0,
        quota=0,
        is_leaf=plan.tree.is_leaf(node),
    )


def _used(bar: Bar, resource: Resource, queue: Numbers, noticed: int) -> Bar:
    """The same with what is held."""
    return replace(
        bar,
        held=_units(resource, queue["allocated"]),
        noticed=noticed,
        wanted=_units(resource, queue["requested"]),
        quota=_units(resource, queue["fair_share"]),
    )


def _units(resource: Resource, amounts: Mapping[str, int | float | str]) -> int:
    """An amount of a result in base units, rounded down where KAI's doubles are reproduced."""
    return int(Fraction(str(amounts.get(resource.name, 0))) * resource.base)


def _key(plan: Plan, node: int) -> int:
    """The key of its colour: that of its first level."""
    return plan.tree.children[0].index(plan.tree.first_level[node]) + 1 if node else 0


def _noticed(plan: Plan, force: InForce, state: State) -> list[list[int]]:
    """By resource and row, base units under notice, of a parent those of all below it."""
    found = [[0] * len(plan.tree) for _ in plan.resources]
    asked = {request.id: request for request in force.part_of(plan, state).requests}
    for notice in state.notices:
        request = asked.get(notice.request)
        for at, need in enumerate(request.unit if request else ()):
            found[at][notice.consumer] += need * notice.units
    for column in found:
        for node in range(len(plan.tree) - 1, 0, -1):
            column[plan.tree.parent[node]] += column[node]
    return found
