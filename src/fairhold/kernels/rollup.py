"""Roll-up from the leaves: for every consumer the slots owned now, reserved, guaranteed and needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import Needs, PlanColumns, TreeColumns


@kernel
def roll_up(tree: TreeColumns, value: array[int]) -> None:
    """Sum a column of the leaves into their parents, in place."""
    for row in range(len(tree.parent) - 1, -1, -1):
        if tree.first[row] < tree.end[row]:
            total = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                total += value[child]
            value[row] = total


@kernel
def exceeds(tree: TreeColumns, limit: array[int], value: array[int]) -> bool:
    """Whether a row, with all below it, has more than its limit; a column of the leaves is summed up in place.

    The sums are those of all rows only where none has more.
    """
    for row in range(len(tree.parent) - 1, -1, -1):
        if tree.first[row] < tree.end[row]:
            total = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                total += value[child]
            value[row] = total
        if value[row] > limit[row]:
            return True
    return False


@kernel
def needs(tree: TreeColumns, plan: PlanColumns, scale_num: int, scale_den: int, demand: array[int], out: Needs) -> None:
    """Reserve, sure slots and need of every row, in place (R-SCALE-1, R-SCALE-2, R-NEED-1, R-NEED-2, R-QUOTA-3).

    scale_num, scale_den : slots that there are / slots that were configured, for the policy's consumers
    demand : (rows,) slots wanted now, running ones included
    """
    for row in range(len(tree.parent) - 1, -1, -1):
        owned_now = plan.owned[row] * scale_num // scale_den if scale_den > 0 else 0
        reserve = min(plan.reserved[row], owned_now)
        if tree.first[row] == tree.end[row]:
            need = min(plan.limit[row], max(demand[row], reserve))
            sure = max(reserve, min(need, plan.owned[row], owned_now))
        else:
            child_reserve = 0
            child_need = 0
            child_sure = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                child_reserve += out.reserve[child]
                child_need += out.need[child]
                child_sure += out.sure[child]
            reserve = max(reserve, child_reserve)
            need = min(plan.limit[row], max(reserve, child_need))
            sure = max(reserve, min(need, plan.owned[row], owned_now))
            sure = min(plan.limit[row], max(sure, child_sure))
        out.reserve[row] = reserve
        out.need[row] = need
        out.sure[row] = sure
