"""Sharing by ratio, level by level: every consumer's need, and the division among siblings (R-SHARE-2, R-SHARE-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel
from fairhold.kernels.fill import level
from fairhold.kernels.share import round_off

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import TreeColumns


@kernel
def needs_by_ratio(
    tree: TreeColumns, ratio: array[int], limit: array[int], wanted: array[int], out: array[int]
) -> None:
    """Need of every row, in place; who has ratio 0, and all below it, need nothing (R-SHARE-2, R-NEED-1, R-NEED-2).

    wanted : (rows,) slots that a leaf wants; a parent's entry is not read
    """
    out[0] = 1
    for row in range(1, len(tree.parent)):
        out[row] = 1 if ratio[row] > 0 and out[tree.parent[row]] == 1 else 0
    for row in range(len(tree.parent) - 1, -1, -1):
        if out[row] == 0:
            continue
        if tree.first[row] == tree.end[row]:
            out[row] = min(limit[row], wanted[row])
        else:
            total = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                total += out[child]
            out[row] = min(limit[row], total)


@kernel
def share_by_ratio(
    tree: TreeColumns,
    ratio: array[int],
    floor: array[int],
    cap: array[int],
    nothing: array[int],
    quota: array[int],
) -> None:
    """Divide every parent's quota over its children by ratio, top-down and rounded.

    floor, cap : (rows,) a parent's floor is at least its children's sum
    nothing    : (rows,) zeros
    quota      : in and out, (rows,) whole slots; the root's is given
    """
    for row in range(len(tree.parent)):
        if tree.first[row] == tree.end[row]:
            continue
        rows = tree.child[tree.first[row] : tree.end[row]]
        num, den = level(rows, quota[row], ratio, floor, cap)
        round_off(rows, quota[row], 1, num, den, nothing, ratio, floor, cap, quota)
