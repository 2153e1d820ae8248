"""Whose turn it is in a pool: best share priority first, then the smallest usage / ratio (SPEC §6.5, R-TURN-1)."""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.pools import Terms


class Turns:
    """The consumers of a pool that want something, from the owner of the pool down to leaves.

    usage : row → its usage, which the caller changes and then says so
    """

    def __init__(self, terms: Terms, pool: int, leaves: Iterable[int], usage: Mapping[int, int]) -> None:
        self._terms, self._pool, self._usage = terms, pool, usage
        self._alive: dict[int, int] = {}
        """Row → children that still take part; of a leaf 1."""
        self._bands: dict[int, dict[int, list[tuple[int, int]]]] = {}
        """Row → share priority → heap of (weighed usage, child)."""
        self._weight: dict[int, int] = {}
        for leaf in leaves:
            self._join(leaf)
        for row, bands in self._bands.items():
            common = lcm(*[terms.ratio[child] for child in self._children(row)])
            for child in self._children(row):
                self._weight[child] = common // terms.ratio[child]
                heappush(bands[-terms.priority[child]], (self._key(child), child))
            self._bands[row] = dict(sorted(bands.items()))

    def _children(self, row: int) -> list[int]:
        return [child for child in self._terms.tree.children[row] if child in self._alive]

    def _join(self, leaf: int) -> None:
        """A leaf takes part, unless a ratio of 0 keeps it out (R-SHARE-2)."""
        way = self._terms.above[leaf]
        way = way[: way.index(self._pool)]
        if leaf in self._alive or any(not self._terms.ratio[row] for row in way):
            return
        for row in way:
            above = self._terms.tree.parent[row]
            is_new = row not in self._alive
            if is_new:
                self._alive[row] = 1 if row == leaf else 0
            if row != leaf:
                self._alive[row] += 1
            self._bands.setdefault(above, {}).setdefault(-self._terms.priority[row], [])
            if above == self._pool:
                self._alive.setdefault(above, 0)
                self._alive[above] += is_new
            if not is_new:
                break

    def _key(self, row: int) -> int:
        return self._usage.get(row, 0) * self._weight[row]

    def next(self) -> int | None:
        """The leaf whose turn it is; None = nobody is left."""
        if not self._alive.get(self._pool):
            return None
        row = self._pool
        while row in self._bands:
            row = self._first(row)
        return row

    def _first(self, row: int) -> int:
        alive, usage, weight = self._alive, self._usage, self._weight
        for heap in self._bands[row].values():
            while heap:
                key, child = heap[0]
                if not alive[child]:
                    heappop(heap)
                elif key != (now := usage.get(child, 0) * weight[child]):
                    heapreplace(heap, (now, child))
                else:
                    return child
        raise AssertionError("a row with members that take part has a first one")

    def changed(self, leaf: int) -> None:
        """The usage of a leaf and of those above it became smaller; what became larger is seen by itself."""
        for row in self._terms.above[leaf]:
            if row == self._pool:
                return
            if row in self._alive:
                band = self._bands[self._terms.tree.parent[row]][-self._terms.priority[row]]
                heappush(band, (self._key(row), row))

    def drop(self, leaf: int) -> None:
        """A leaf is satisfied, or nothing fits for it."""
        row = leaf
        self._alive[row] = 0
        while row != self._pool:
            row = self._terms.tree.parent[row]
            self._alive[row] -= 1
            if self._alive[row]:
                return
