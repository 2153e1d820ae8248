"""Selects the few rows that a rule has to look at one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import TreeColumns


@kernel
def leaves_where_more(tree: TreeColumns, one: array[int], other: array[int], out: array[int]) -> int:
    """Leaves whose value in `one` is larger than in `other`, in path order; returns how many.

    out : (rows,) its first entries are the rows found
    """
    count = 0
    for position in range(1, len(tree.path)):
        row = tree.path[position]
        if tree.first[row] == tree.end[row] and one[row] > other[row]:
            out[count] = row
            count += 1
    return count


@kernel
def leaves_where_other(tree: TreeColumns, one: array[int], other: array[int], out: array[int]) -> int:
    """Leaves whose values in two columns differ, in path order; returns how many.

    out : (rows,) its first entries are the rows found
    """
    count = 0
    for position in range(1, len(tree.path)):
        row = tree.path[position]
        if tree.first[row] == tree.end[row] and one[row] != other[row]:
            out[count] = row
            count += 1
    return count


@kernel
def is_at_rest(
    tree: TreeColumns,
    entitled: array[int],
    reserve: array[int],
    limit: array[int],
    whole: array[int],
    noticed: array[int],
) -> bool:
    """Whether no unit is missing, no limit is broken and no unit is under notice: then nothing is reclaimed.

    whole : (rows,) units held and set aside in the subtree
    """
    for row in range(1, len(tree.parent)):
        wanted = entitled[row] if tree.first[row] == tree.end[row] else reserve[row]
        if wanted > whole[row] or whole[row] > limit[row] or noticed[row] > 0:
            return False
    return True
