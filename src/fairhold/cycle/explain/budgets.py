"""Budgets and user limits in an explanation: where they bind, and until when (R-BUDGET-2 to R-BUDGET-4, R-USER-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.gangs import is_bound_by_gangs
from fairhold.cycle.explain.nouns import Bound, Control

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def bound_of_demand(result: CycleResult, leaf: int) -> Bound:
    """What holds a leaf that has all that counts of its demand."""
    snapshot = result.snapshot
    if snapshot.rows.is_leaf(leaf) and is_bound_by_gangs(result, leaf):
        return Bound.GANGS
    if snapshot.rows.is_exclusive and snapshot.usable[leaf] < snapshot.counted[leaf] and snapshot.rows.is_leaf(leaf):
        return Bound.HOSTS
    if not snapshot.rows.is_leaf(leaf) or snapshot.counted[leaf] >= snapshot.demand[leaf]:
        return Bound.DEMAND
    return Bound.BUDGET if snapshot.rows.controls.waits[leaf] else Bound.USER_LIMIT


def bounds_of(result: CycleResult, row: int) -> Iterator[Control]:
    """Budgets that are used up above a consumer, at it and below it, then leaves below with users at their limit.

    Its units are those that are wanted and do not count because of it.
    """
    snapshot, rows = result.snapshot, result.snapshot.rows
    start = rows.position[row]
    inside = rows.tree.path[start : start + rows.size[row]]
    line = [row]
    while rows.tree.parent[line[-1]] > 0:
        line.append(rows.tree.parent[line[-1]])
    spending = snapshot.books.spending
    for at in (*reversed(line[1:]), *inside):
        if at in rows.controls.budgets and rows.node[at] in rows.spent:
            budget = rows.controls.budgets[at]
            units = snapshot.demand[row] - snapshot.counted[row] if budget.then == "wait" else 0
            until = 0 if spending is None else spending.period(budget.period, snapshot.now)[1]
            yield Control(f"budget.{budget.then}", rows.path(at), units, until)
    for leaf in inside:
        if rows.is_leaf(leaf) and bound_of_demand(result, leaf) is Bound.USER_LIMIT:
            yield Control("user_limit", rows.path(leaf), snapshot.demand[leaf] - snapshot.counted[leaf])
