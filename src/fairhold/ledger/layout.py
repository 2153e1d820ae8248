"""A plan's tree in columns: the rows of the plan, and the order of siblings by rank."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.kernels.columns import TreeColumns, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.tree import ConsumerTree


def lay_tree(tree: ConsumerTree, rank: Sequence[int]) -> TreeColumns:
    """The tree in columns.

    rank : (rows,) rank in force
    """
    child, first, end = array("q", [0]), zeros(len(tree)), zeros(len(tree))
    for row in child:  # grows while it is read: breadth first
        first[row] = len(child)
        child.extend(sorted(tree.children[row], key=rank.__getitem__))  # stable: plan order among equal ranks
        end[row] = len(child)
    columns = TreeColumns(array("q", tree.parent), child, first, end, array("q", rank), array("q"))
    columns.path.extend(_depth_first(columns))
    return columns


def _depth_first(tree: TreeColumns) -> list[int]:
    """Rows in path order; a stack of our own, because a path may be thousands of levels deep."""
    order = []
    stack = [0]
    while stack:
        row = stack.pop()
        order.append(row)
        stack.extend(reversed(tree.children(row)))
    return order
