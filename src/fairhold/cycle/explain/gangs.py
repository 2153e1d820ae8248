"""Gangs in an explanation: those that never fit, and those for which units are held (R-GANG-1, R-HOLD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import Control
from fairhold.rules.gangs import waiting_gangs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def is_bound_by_gangs(result: CycleResult, leaf: int) -> bool:
    """Whether a leaf has gangs that wait and are larger than its quota, so that they do not count."""
    return any(units for _, units in _too_large(result, leaf))


def gangs_of(result: CycleResult, row: int) -> Iterator[Control]:
    """Leaves of a subtree with gangs that do not count, then those with a gang for which units are held."""
    rows = result.snapshot.rows
    start = rows.position[row]
    leaves = [leaf for leaf in rows.tree.path[start : start + rows.size[row]] if rows.is_leaf(leaf)]
    for leaf in leaves:
        units = sum(units for _, units in _too_large(result, leaf))
        if units:
            yield Control("gang", rows.path(leaf), units)
    for hold in result.draft.holds:
        if hold.leaf in leaves and hold.units:
            yield Control("hold_after", rows.path(hold.leaf), hold.units, hold.until or 0)


def _too_large(result: CycleResult, leaf: int) -> Iterator[tuple[int, int]]:
    """Gangs of a leaf that wait and that its quota, where it counts fewer units than it wants, is too small for."""
    snapshot, books = result.snapshot, result.snapshot.books
    counts = snapshot.most[leaf] if snapshot.rows.is_fixed else snapshot.usable[leaf]
    if leaf in books.requests.lines.gangs and counts < snapshot.counted[leaf]:
        for gang in waiting_gangs(books, leaf):
            if books.requests.minimum[gang] > result.draft.quota[leaf] - snapshot.held[leaf]:
                yield gang, books.requests.count[gang] - books.requests.held[gang]
