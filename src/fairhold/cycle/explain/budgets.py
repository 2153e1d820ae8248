"""Budgets and user limits in an explanation: where they bind, and until when (R-BUDGET-2 to R-BUDGET-4, R-USER-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.gangs import is_bound_by_gangs
from fairhold.cycle.explain.nouns import Bound, Control
from fairhold.ledger.effective_demand import what_counts
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def bound_of_demand(result: CycleResult, row: int) -> Bound:
    """What holds a consumer that has all that counts of its demand."""
    snapshot = result.snapshot
    if snapshot.rows.is_leaf(row):
        return _bound_of_leaf(result, row)
    return Bound.DEMAND if result.draft.quota[row] >= snapshot.demand[row] else Bound.BELOW


def _bound_of_leaf(result: CycleResult, leaf: int) -> Bound:
    snapshot = result.snapshot
    if is_bound_by_gangs(result, leaf):
        return Bound.GANGS
    if snapshot.rows.is_exclusive and snapshot.usable[leaf] < snapshot.counted[leaf]:
        return Bound.HOSTS
    need = result.draft.needs.need[leaf]
    if need < snapshot.counted[leaf]:  # its requests could use no more of what its limit leaves
        return Bound.LIMIT if need >= snapshot.rows.plan.limit[leaf] else Bound.GANGS
    if snapshot.counted[leaf] >= snapshot.demand[leaf]:
        return Bound.DEMAND
    if snapshot.rows.controls.waits[leaf]:
        return Bound.BUDGET
    return Bound.USER_LIMIT if leaf not in snapshot.unplaceable and _beyond_users(result, leaf) else Bound.SITE


def _beyond_users(result: CycleResult, leaf: int) -> int:
    """Units that a leaf wants, that hosts could take and its users may not have (R-USER-1)."""
    snapshot = result.snapshot
    if snapshot.rows.controls.user_limit[leaf] >= UNLIMITED:
        return 0
    hosts = snapshot.unplaceable.get(leaf, {})
    return sum(max(0, units - hosts.get(row, 0)) for row, units in what_counts(snapshot.books, leaf).never.items())


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
        if at in rows.controls.budgets and at in rows.spent:
            budget = rows.controls.budgets[at]
            units = snapshot.demand[row] - snapshot.counted[row] if budget.then == "wait" else 0
            until = 0 if spending is None else spending.period(budget.period, snapshot.now)[1]
            yield Control(f"budget.{budget.then}", rows.path(at), units, until)
    for leaf in inside:
        units = _beyond_users(result, leaf) if rows.is_leaf(leaf) and not rows.controls.waits[leaf] else 0
        if units:
            yield Control("user_limit", rows.path(leaf), units)
