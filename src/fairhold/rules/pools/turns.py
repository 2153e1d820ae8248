"""Whose turn it is in a pool: best share priority first, then the smallest usage / ratio (SPEC §6.5, R-TURN-1)."""

from __future__ import annotations

from heapq import heappop, heapreplace
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.pools import Terms


class Turns:
    """The consumers of a pool that want something, from the owner of the pool down to leaves.

    usage : row → its usage, which only grows while these turns last
    """

    def __init__(self, terms: Terms, pool: int, leaves: Iterable[int], usage: Mapping[int, int]) -> None:
        self._terms, self._pool, self._usage = terms, pool, usage
        self._alive: dict[int, int] = {}
        """Row → children that still take part; of a leaf 1."""
        self._bands: dict[int, list[list[tuple[int, int]]]] = {}
        """Row → heaps of (weighed usage, child), one for every share priority, the best first."""
        self._weight: dict[int, int] = {}
        for leaf in leaves:
            self._join(leaf)
        for row in [row for row, children in self._alive.items() if children and terms.tree.children[row]]:
            bands: dict[int, list[tuple[int, int]]] = {}
            children = [child for child in terms.tree.children[row] if child in self._alive]
            common = lcm(*[terms.ratio[child] for child in children])
            for child in children:
                self._weight[child] = common // terms.ratio[child]
                key = usage.get(child, 0) * self._weight[child]
                bands.setdefault(-terms.priority[child], []).append((key, child))
            self._bands[row] = [sorted(band) for _, band in sorted(bands.items())]

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
            if above == self._pool:
                self._alive.setdefault(above, 0)
                self._alive[above] += is_new
            if not is_new:
                break

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
        for heap in self._bands[row]:
            while heap:
                key, child = heap[0]
                if not alive[child]:
                    heappop(heap)
                    continue
                now = usage.get(child, 0) * weight[child]
                if key == now:
                    return child
                heapreplace(heap, (now, child))
        raise AssertionError("a row with members that take part has a first one")

    def drop(self, leaf: int) -> None:
        """A leaf is satisfied, or nothing fits for it."""
        row = leaf
        self._alive[row] = 0
        while row != self._pool:
            row = self._terms.tree.parent[row]
            self._alive[row] -= 1
            if self._alive[row]:
                return
