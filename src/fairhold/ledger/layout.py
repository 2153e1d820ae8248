"""A plan's tree in columns: breadth first, siblings by rank."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.kernels.columns import TreeColumns

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.model.tree import ConsumerTree


def lay_tree(tree: ConsumerTree, rank_of: Callable[[int], int]) -> tuple[array[int], TreeColumns]:
    """(rows,) the consumer of every row, and the tree in columns.

    rank_of : consumer → rank in force
    """
    node = array("q", [0])
    columns = TreeColumns(array("q", [-1]), array("q"), array("q"), array("q", [0]), array("q"))
    for row, at in enumerate(node):  # grows while it is read: breadth first
        children = sorted(tree.children[at], key=rank_of)  # stable: plan order among equal ranks
        columns.first.append(len(node))
        columns.end.append(len(node) + len(children))
        node.extend(children)
        columns.parent.extend([row] * len(children))
        columns.rank.extend(map(rank_of, children))
    columns.path.extend(_depth_first(columns))
    return node, columns


def _depth_first(tree: TreeColumns) -> list[int]:
    """Rows in path order; a stack of our own, because a path may be thousands of levels deep."""
    order = []
    stack = [0]
    while stack:
        row = stack.pop()
        order.append(row)
        stack.extend(range(tree.end[row] - 1, tree.first[row] - 1, -1))
    return order
