"""The derivation of quotas of who owns exactly: what is its own, borrowed of whom, lent to whom (SPEC §4)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain.budgets import bound_of_demand
from fairhold.cycle.explain.loans import lack_slots
from fairhold.cycle.explain.nouns import Bound, Level, Parts
from fairhold.cycle.explain.standing import standing

if TYPE_CHECKING:
    from fairhold.cycle.run import CycleResult


def derive_owned(result: CycleResult, parent: int) -> Level:
    """The children of a parent that own exactly, each with its parts."""
    rows = result.snapshot.rows
    siblings = [row for row in rows.tree.children(parent) if rows.is_owner[row]]
    parts = _parts(result, parent)
    return Level(
        parent=rows.path(parent),
        amount=sum(result.draft.quota[row] for row in siblings),
        water=Fraction(0),
        phase="owned",
        siblings=tuple(
            standing(
                result,
                row,
                floor=parts[row].own,
                exact=result.draft.exact(row),
                bound=_bound(result, row, parts[row]),
                parts=parts[row],
            )
            for row in siblings
        ),
    )


def _parts(result: CycleResult, parent: int) -> dict[int, Parts]:
    """What the quotas of a parent's children are made of."""
    rows, draft, owning = result.snapshot.rows, result.draft, result.draft.owning
    assert owning is not None
    child_of: dict[int, int] = {}
    own: dict[int, int] = {}
    balance: dict[int, int] = {}
    borrowed: dict[int, dict[str, int]] = {}
    lent: dict[int, dict[str, int]] = {}
    for child in rows.tree.children(parent):
        inside = rows.tree.path[rows.position[child] : rows.position[child] + rows.size[child]]
        child_of |= dict.fromkeys(inside, child)
        own[child] = sum(owning.own[row] for row in inside)
        balance[child] = sum(owning.balance[row] for row in inside)
        borrowed[child], lent[child] = {}, {}
    for borrower, lender, units in zip(*rows.lists[:2], owning.lent, strict=True):
        for mine, other, side in ((borrower, lender, borrowed), (lender, borrower, lent)) if units else ():
            if mine in child_of:
                found, path = side[child_of[mine]], rows.path(other)
                found[path] = found.get(path, 0) + units
    shared = {child: draft.quota[child] - own[child] - balance[child] - sum(borrowed[child].values()) for child in own}
    return {child: Parts(own[child], balance[child], shared[child], borrowed[child], lent[child]) for child in own}


def _bound(result: CycleResult, row: int, parts: Parts) -> Bound:
    rows, draft, tree = result.snapshot.rows, result.draft, result.snapshot.rows.tree
    need = draft.needs.need[row]
    if draft.quota[row] >= need:
        return _bound_of_need(result, row)
    above = tree.parent[row]
    while above > 0:
        if draft.quota[above] >= rows.plan.limit[above]:
            return Bound.LIMIT_OF_BRANCH
        above = tree.parent[above]
    if rows.is_leaf(row) and rows.controls.comes_after[row]:
        return Bound.BORROWS
    misses_own = rows.is_leaf(row) and parts.own < min(need, rows.plan.owned[row])
    if misses_own or lack_slots(result, row):
        return Bound.SLOTS
    if parts.shared:
        return Bound.UNOWNED
    return Bound.LENDERS if row in rows.lists.borrower else Bound.OWNED


def _bound_of_need(result: CycleResult, row: int) -> Bound:
    """Why a consumer that has all that it needs does not need more."""
    snapshot, tree = result.snapshot, result.snapshot.rows.tree
    need, below = result.draft.needs.need[row], tree.total(result.draft.needs.need, row)
    if need < (snapshot.usable[row] if snapshot.rows.is_leaf(row) else below):
        return Bound.LIMIT
    return bound_of_demand(result, row) if need <= snapshot.demand[row] else Bound.RESERVE
