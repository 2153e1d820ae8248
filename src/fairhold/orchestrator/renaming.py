"""Where the consumers of a cluster are under another plan: the one place that translates their paths and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books


class Renaming:
    """Paths and rows under a plan of consumers as they were called before it.

    books : of the plan
    moved : old path → new path of consumers that the plan calls otherwise, with all below them
    """

    def __init__(self, books: Mapping[str, Books], moved: Mapping[str, str]) -> None:
        self.books, self.moved = books, moved
        self._leaves: dict[tuple[str, str], int | None] = {}

    def path(self, path: str) -> str:
        """Where a consumer is now, whether the plan has it or not."""
        head = path if self.moved else ""
        while head and head not in self.moved:
            head = head.rpartition("/")[0]
        return self.moved[head] + path[len(head) :] if head else path

    def node(self, group: str, path: str) -> int:
        """Row of a consumer in the plan's tree, -1 where it is gone."""
        return self.books[group].rows.source.tree.rows.get(self.path(path), -1)

    def leaf(self, group: str, path: str) -> int | None:
        """Row of a leaf in the books of a resource group, None where one of them is gone."""
        key = (group, path)
        if key not in self._leaves:
            rows = self.books[group].rows if group in self.books else None
            row = rows.by_path.get(self.path(path)) if rows is not None else None
            self._leaves[key] = row if rows is not None and row is not None and rows.is_leaf(row) else None
        return self._leaves[key]
