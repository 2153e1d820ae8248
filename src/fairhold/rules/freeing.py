"""Free slots: reported after the grants of a cycle, never an input of it (SPEC §3.5; R-FREE-1, R-FREE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.kernels.fill import level
from fairhold.kernels.share import round_off

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def free_slots(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    """Free slots of every consumer.

    While a consumer wants more than it holds, within its limits: what reserves still lack (S1.66-68). Otherwise the
    idle slots, divided top-down in proportion to owned slots, or equally where no sibling owns any (S1.69); under
    `share_ratio` by share ratio.
    """
    if _somebody_wants_more(snapshot, draft):
        return _reserves_lacking(snapshot, draft)
    return _idle_by_ownership(snapshot, draft)


def _somebody_wants_more(snapshot: Snapshot, draft: CycleContext) -> bool:
    rows, limit = snapshot.rows, snapshot.rows.plan.limit
    for leaf in rows.leaves:
        row = leaf
        if rows.is_owner[leaf]:  # said of `hybrid` alone
            continue
        if min(snapshot.counted[leaf], limit[leaf]) > draft.held[leaf]:
            while row > 0 and draft.held[row] < limit[row]:
                row = rows.tree.parent[row]
            if row == 0:
                return True
    return False


def _reserves_lacking(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    tree, reserve = snapshot.rows.tree, draft.needs.reserve
    free = zeros(len(snapshot.rows))
    for row in range(len(free) - 1, -1, -1):
        below = tree.total(free, row)
        free[row] = max(0, below, reserve[row] - draft.held[row]) if row else below
    return free


def _idle_by_ownership(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    rows = snapshot.rows
    tree, owned = rows.tree, rows.ratio if rows.entry.policy.divides_by_ratio else rows.plan.owned
    free = zeros(len(snapshot.rows))
    free[0] = max(0, snapshot.slots - draft.held[0])
    for row in range(len(free)):
        children = tree.children(row)
        count = len(children)
        if count == 0 or free[row] == 0:
            continue
        weight = [owned[child] for child in children] if tree.total(owned, row) else [1] * count
        none, all_of_it = [0] * count, [free[row] * 2] * count  # a cap that nobody reaches
        num, den = level(range(count), free[row], weight, none, all_of_it)
        share = [0] * count
        round_off(range(count), free[row], 1, num, den, none, weight, none, all_of_it, share)
        for child, units in zip(children, share, strict=True):
            free[child] = units
    return free
