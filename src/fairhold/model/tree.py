"""The consumer tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = 0


def moved_path(path: str, moved: Mapping[str, str]) -> str:
    """What a consumer is called by another plan; the longest of the paths that moved decides.

    moved : old path → new path, with all below it
    """
    head = path
    while head and head not in moved:
        head = head.rpartition("/")[0]
    return moved[head] + path[len(head) :] if head else path


@dataclass(frozen=True)
class ConsumerTree:
    """The consumers of a plan, one row each; row 0 is the root `/`, parents stand before their children.

    name   : (rows,) last part of the path, empty at the root
    parent : (rows,) row of the parent, -1 at the root
    rank   : (rows,) rank stated in the tree, None where none is (then the plan's default; not inherited, S1.24-26)
    grace  : (rows,) reclaim grace stated in the tree in microseconds, None where none is (then inherited, S1.61)

    Plan order is the order of the rows among siblings.
    """

    name: Sequence[str]
    parent: Sequence[int]
    rank: Sequence[int | None]
    grace: Sequence[int | None]

    def __len__(self) -> int:
        return len(self.name)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Rows of the children of every row, in plan order."""
        lists: list[list[int]] = [[] for _ in self.name]
        for row in range(1, len(self.name)):
            lists[self.parent[row]].append(row)
        return tuple(map(tuple, lists))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Full path of every row."""
        paths = ["/"] * len(self.name)
        for row in range(1, len(self.name)):
            above = self.parent[row]
            paths[row] = f"/{self.name[row]}" if above == ROOT else f"{paths[above]}/{self.name[row]}"
        return tuple(paths)

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of every path."""
        return {path: row for row, path in enumerate(self.paths)}

    def is_leaf(self, row: int) -> bool:
        """Whether a row may have its own demand (the root never has)."""
        return row != ROOT and not self.children[row]

    @cached_property
    def first_level(self) -> tuple[int, ...]:
        """For every row the row of its first-level ancestor (itself on the first level, 0 at the root)."""
        first = [0] * len(self.name)
        for row in range(1, len(self.name)):
            above = self.parent[row]
            first[row] = row if above == ROOT else first[above]
        return tuple(first)
