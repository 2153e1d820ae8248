"""Random trees and columns for kernels: any shape, any numbers that the kernels take."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from fairhold.kernels.columns import TreeColumns, zeros

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

HUGE = 10**12


def column(*values: int) -> array[int]:
    return array("q", values)


def tree_of(families: list[int], ranks: list[int]) -> TreeColumns:
    """The n-th row has `families[n]` children; every row has a rank."""
    parent, first, end, child = [-1], [], [], [0]
    for row, size in enumerate(families):
        first.append(len(parent))
        parent += [row] * size
        end.append(len(parent))
        child += sorted(range(first[-1], end[-1]), key=ranks.__getitem__)
    path, stack = [], [0]
    while stack:
        row = stack.pop()
        path.append(row)
        stack.extend(reversed(child[first[row] : end[row]]))
    return TreeColumns(*(array("q", each) for each in (parent, child, first, end, ranks, path)))


@st.composite
def trees(draw: DrawFn, most: int = 12) -> TreeColumns:
    """A tree of up to `most` rows below the root."""
    families: list[int] = []
    rows = 1
    while len(families) < rows:
        size = draw(st.integers(0 if families else 1, 4))
        size = min(size, 1 + most - rows)
        families.append(size)
        rows += size
    return tree_of(families, draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)))


def chain(length: int) -> TreeColumns:
    """One leaf under `length` parents, the root included."""
    return tree_of([1] * length + [0], [0] * (length + 1))


def numbers(most: int = 12) -> SearchStrategy[int]:
    """Small numbers mostly, so that ties are frequent; now and then huge ones."""
    return st.integers(0, most)


def columns(tree: TreeColumns, value: SearchStrategy[int]) -> SearchStrategy[array[int]]:
    rows = len(tree.parent)
    return st.lists(value, min_size=rows, max_size=rows).map(lambda values: array("q", values))


def is_leaf(tree: TreeColumns, row: int) -> bool:
    return row > 0 and tree.first[row] == tree.end[row]


def summed(tree: TreeColumns, leaves: array[int]) -> array[int]:
    """A column of the leaves summed into their parents; what stood at parents is lost."""
    out = array("q", leaves)
    for row in range(len(out)):
        if not is_leaf(tree, row):
            out[row] = 0
    for row in range(len(out) - 1, 0, -1):
        out[tree.parent[row]] += out[row]
    return out


def place_in_path(tree: TreeColumns) -> array[int]:
    """Place of every row in path order."""
    place = zeros(len(tree.path))
    for position, row in enumerate(tree.path):
        place[row] = position
    return place


def sizes(tree: TreeColumns) -> array[int]:
    """Rows in the subtree of every row."""
    size = array("q", [1]) * len(tree.path)
    for row in range(len(size) - 1, 0, -1):
        size[tree.parent[row]] += size[row]
    return size
