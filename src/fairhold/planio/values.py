"""Plain values of a document and the places in it that are to be found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fairhold.errors import Place, Step

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
"""What a document is made of."""
Mark: TypeAlias = tuple[int, int]
"""1-based line and column; (0, 0) = unknown."""

DEEPEST = 1000
"""How deep values may be nested in each other."""
TOO_DEEP = "the values of the file are nested too deep"
MEND_EMPTY = "write its keys and values"
MEND_TWICE = "keep one of the two"
MEND_DEEP = "write the tree by path: `consumers: {/A: {}, /A/B: {}}`"


class Wanted:
    """A trie of places whose lines are asked for.

    children : step → what is wanted below it
    mark     : where the place stands, None until it is found
    """

    __slots__ = ("children", "mark")

    def __init__(self) -> None:
        self.children: dict[Step, Wanted] = {}
        self.mark: Mark | None = None

    def add(self, place: Place) -> None:
        """Ask for one place."""
        node = self
        for step in place:
            node = node.children.setdefault(step, Wanted())

    def nearest(self, place: Place) -> Mark:
        """Where a place stands, or else the nearest place above it."""
        node, mark = self, self.mark
        for step in place:
            node = node.children[step]
            mark = node.mark or mark
        return mark or (0, 0)

    def count(self) -> int:
        """How many steps are to be found, this one apart."""
        total, todo = 0, [self]
        while todo:
            node = todo.pop()
            total += len(node.children)
            todo.extend(node.children.values())
        return total
