"""The order of turns in a pool while usages change (R-TURN-1)."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.terms import Terms
    from fairhold.cycle.verify.pooled.usage import By

Place = tuple[int, Fraction, int, str]
"""Of a sibling: the best share priority first, then the smallest usage / ratio, then plan order."""


class Turns:
    """Leaves in the order of their turns.

    usage : as it is now, by path
    left  : path → leaves at or below it that still have a turn
    lines : parent → those of its children that have, the next one first
    """

    def __init__(self, terms: Terms, pool: str, leaves: Iterable[str], usage: By) -> None:
        self.terms, self.pool, self.usage = terms, pool, usage
        able = [leaf for leaf in leaves if terms.takes_part(pool, leaf)]
        self.left = Counter(path for leaf in able for path in terms.up[leaf])
        self.lines: dict[str, list[Place]] = {}
        self.places: dict[str, Place] = {}

    def next(self) -> str | None:
        """The leaf whose turn it is; None: no leaf is left."""
        path = self.pool
        while self.terms.children[path]:
            line = self._line(path)
            if not line:
                return None
            path = line[0][-1]
        return path

    def _line(self, parent: str) -> list[Place]:
        """Children that have turns, sorted on first use."""
        if parent not in self.lines:
            members = [child for child in self.terms.children[parent] if self.left[child]]
            self.places |= {child: self._place(child) for child in members}
            self.lines[parent] = sorted(self.places[child] for child in members)
        return self.lines[parent]

    def _place(self, path: str) -> Place:
        terms = self.terms
        return -terms.priority[path], Fraction(self.usage.get(path, 0)) / terms.ratio[path], terms.place[path], path

    def moved(self, leaf: str) -> None:
        """Update the usage of a leaf and of its ancestors in the pool."""
        for path in self.terms.down(self.pool, leaf):
            line = self.lines.get(self.terms.up[path][1], [])
            if path in self.places and self.left[path]:
                del line[bisect_left(line, self.places[path])]
                self.places[path] = self._place(path)
                insort(line, self.places[path])

    def drop(self, leaf: str) -> None:
        """Remove a leaf: it has no more turns."""
        for path in self.terms.down(self.pool, leaf):
            self.left[path] -= 1
            if not self.left[path] and path in self.places:
                line = self.lines[self.terms.up[path][1]]
                del line[bisect_left(line, self.places[path])]
