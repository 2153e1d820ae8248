"""The columns that kernels share: `array('q')`, 64-bit whole numbers, one entry a row."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import NamedTuple

from fairhold.kernels._jit import lasting


def zeros(rows: int) -> array[int]:
    """A column of zeros."""
    return _blank(rows)[:]


@lru_cache(maxsize=16)
def _blank(rows: int) -> array[int]:
    return array("q", bytes(8 * rows))


@lasting
class TreeColumns(NamedTuple):
    """The consumer tree of one resource group, one row a consumer.

    Breadth first, row 0 the root: parents before children, the children of one parent side by side, sorted by
    (rank, plan order). So a roll-up is one backward loop, a division one forward loop.

    parent   : (rows,) row of the parent, -1 at the root
    first    : (rows,) row of the first child
    end      : (rows,) one past the last child; equal to `first` at a leaf
    rank     : (rows,) rank in force
    path     : (rows,) rows in path order: (rank, plan order) level by level, depth first
    """

    parent: array[int]
    first: array[int]
    end: array[int]
    rank: array[int]
    path: array[int]


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
