"""The columns that kernels share: `array('q')`, 64-bit whole numbers, one entry a row."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels._jit import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def zeros(rows: int) -> array[int]:
    """A column of zeros."""
    return _blank(rows)[:]


@lru_cache(maxsize=16)
def _blank(rows: int) -> array[int]:
    return array("q", bytes(8 * rows))


@lasting
class TreeColumns(NamedTuple):
    """The consumer tree of one resource group, one row a consumer.

    The rows are those of the plan's tree, whatever the ranks are: row 0 the root, parents before children. So a
    roll-up is one backward loop, a division one forward loop.

    parent   : (rows,) row of the parent, -1 at the root
    child    : (rows,) the root, then the children of one parent side by side, sorted by (rank, plan order)
    first    : (rows,) place in `child` of the first child
    end      : (rows,) one past the place of the last child; equal to `first` at a leaf
    rank     : (rows,) rank in force
    path     : (rows,) rows in path order: (rank, plan order) level by level, depth first
    """

    parent: array[int]
    child: array[int]
    first: array[int]
    end: array[int]
    rank: array[int]
    path: array[int]

    def children(self, row: int) -> array[int]:
        """Rows of the children, by (rank, plan order)."""
        return self.child[self.first[row] : self.end[row]]

    def families(self) -> Iterator[tuple[int, array[int]]]:
        """Every parent with its children, parents before their children's children."""
        for row, start in enumerate(self.first):
            if start < self.end[row]:
                yield row, self.child[start : self.end[row]]

    def total(self, column: Sequence[int], row: int) -> int:
        """What a column says of all children together."""
        return sum([column[child] for child in self.children(row)])


@lasting
class LeafColumns(NamedTuple):
    """The leaves of a tree.

    leaf       : (leaves,) rows in path order: those of one branch stand side by side
    first, end : (rows,) place in `leaf` of the first leaf of a subtree, and one past that of its last
    """

    leaf: array[int]
    first: array[int]
    end: array[int]


def leaves_of(tree: TreeColumns) -> LeafColumns:
    """The leaves of a tree, and those of every subtree of it."""
    leaf, first, end = array("q"), zeros(len(tree.parent)), zeros(len(tree.parent))
    for row in tree.path:
        first[row] = len(leaf)
        if row > 0 and tree.first[row] == tree.end[row]:
            leaf.append(row)
        end[row] = len(leaf)
    for row in range(len(tree.parent) - 1, 0, -1):
        end[tree.parent[row]] = max(end[tree.parent[row]], end[row])
    return LeafColumns(leaf, first, end)


@lasting
class PlanColumns(NamedTuple):
    """What the policy entry states, one row a consumer, in slots; 0 and no limit at the root.

    owned, reserved, limit : (rows,)
    """

    owned: array[int]
    reserved: array[int]
    limit: array[int]


class Needs(NamedTuple):
    """What each consumer needs and is sure of now, in slots (R-NEED, R-SCALE, R-QUOTA-3).

    reserve : (rows,) reserve now
    sure    : (rows,) min(need, owned, whole slots owned now); a parent's is its children's sum at least
    need    : (rows,)
    """

    reserve: array[int]
    sure: array[int]
    need: array[int]


PHASE_OWNERS = 0
"""Only owners share; who owns nothing has its floor."""
PHASE_REST = 1
"""Owners have their fill; what is left is shared in equal amounts (by those who own nothing; in even mode by all)."""
