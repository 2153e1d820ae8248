"""Controls of single consumers in columns: budgets, maximum run time, maximum units per user."""

from __future__ import annotations

from array import array
from functools import cached_property
from operator import gt, mul
from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.ledger.spent import in_subtrees
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.rows import Rows
    from fairhold.model.budget import Budget


def shorter(one: int, other: int) -> int:
    """The shorter of two durations of which 0 means any time (R-RUN-1)."""
    return min(one, other) if one and other else one or other


class Controls:
    """What a policy entry states for single consumers beside shares, resolved down the tree; made once for rows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @cached_property
    def user_limit(self) -> array[int]:
        """(rows,) units that one user may hold in a leaf: the nearest node's; UNLIMITED = no limit (R-USER-1)."""
        rows, most = self._rows, array("q", [UNLIMITED]) * len(self._rows)
        for row in range(1, len(rows)):
            stated = rows.stated(row).user_limit
            most[row] = most[rows.tree.parent[row]] if stated is None else stated
        return most

    @cached_property
    def max_run_time(self) -> array[int]:
        """(rows,) microseconds that an attempt may run: the nearest node's; 0 = any time (R-RUN-1)."""
        rows, most = self._rows, zeros(len(self._rows))
        for row in range(1, len(rows)):
            stated = rows.stated(row).max_run_time
            most[row] = most[rows.tree.parent[row]] if stated is None else stated
        return most

    @cached_property
    def all_budgets(self) -> tuple[tuple[int, Budget], ...]:
        """(row, budget) of all who have one in the group, now or at another time."""
        rows = self._rows
        mine = (
            entry
            for entry in rows.source.policies
            if (entry.policy.shares_vectors if rows.is_pooled else rows.group.name in entry.resource_groups)
        )
        stated = ((row, each.budget) for entry in mine for row, each in entry.consumers.items())
        return tuple((row, budget) for row, budget in stated if budget is not None)

    @cached_property
    def has_budgets(self) -> bool:
        """Whether any consumer has a budget in the group, now or at another time."""
        return self._rows.source.zone is not None and bool(self.all_budgets)

    @cached_property
    def budgets(self) -> dict[int, Budget]:
        """Row → its budget, of those that have one now."""
        found = ((row, self._rows.stated(row).budget) for row in range(1, len(self._rows)))
        return {row: budget for row, budget in found if budget is not None}

    @cached_property
    def with_user_limit(self) -> tuple[int, ...]:
        """Leaves with a user limit."""
        return tuple(leaf for leaf in self._rows.leaves if self.user_limit[leaf] < UNLIMITED)

    @cached_property
    def waits(self) -> array[int]:
        """(rows,) 1 where its own budget, or an ancestor's, is used up and it is granted nothing (R-BUDGET-2)."""
        return self._under("wait")

    @cached_property
    def waiting_leaves(self) -> tuple[int, ...]:
        """Leaves that are granted nothing."""
        return tuple(leaf for leaf in self._rows.leaves if self.waits[leaf])

    @cached_property
    def comes_after(self) -> array[int]:
        """(rows,) 1 for an owner that only gets what others leave, because a budget is used up (R-BUDGET-3)."""
        return array("q", map(mul, self._under("borrow_only"), self._rows.is_owner))

    @cached_property
    def owns_nothing(self) -> array[int]:
        """(rows,) 1 where owned slots do not count under `hybrid`, because a budget is used up (R-BUDGET-3)."""
        return array("q", map(gt, self._under("borrow_only"), self._rows.is_owner))

    def _under(self, then: str) -> array[int]:
        rows = self._rows
        tops = {row for row, budget in self.budgets.items() if budget.then == then} & rows.spent
        return array("q", map(int, in_subtrees(rows.source.tree, tops)))
