"""The order of turns in a pool: best share priority first, then the smallest usage / ratio (SPEC §6.5, R-TURN-1)."""

from __future__ import annotations

from heapq import heappop, heapreplace
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.pool_terms import Terms

    Heap = list[tuple[int, int]]


class Turns:
    """The consumers of a pool that want something, from the owner of the pool down to leaves.

    Siblings of one share priority are a heap of (weighed usage, row); whose turn it is, is the first of its heap at
    every level, so that what it takes is put right from there up.
    """

    def __init__(self, terms: Terms, pool: int, leaves: Iterable[int], usage: Mapping[int, int]) -> None:
        """Begin.

        usage : row → common parts of the pool that it uses
        """
        self._pool = pool
        self._bands: dict[int, list[Heap]] = {}
        """Row → heaps of its children that take part, one for every share priority, the best last."""
        self._way: dict[int, list[tuple[int, Heap, int]]] = {}
        """Leaf → (row, heap in which it is, its weight) from itself up to below the owner of the pool."""
        ratio, priority = terms.ratio, terms.priority
        alive: dict[int, dict[int, None]] = {}
        ways: dict[int, tuple[int, ...]] = {}
        for leaf in leaves:
            way = terms.above[leaf]
            way = way[: way.index(pool) + 1]
            if leaf not in ways and all(map(ratio.__getitem__, way[:-1])):  # a ratio of 0 keeps it out (R-SHARE-2)
                ways[leaf] = way
                for at in range(len(way) - 1):
                    alive.setdefault(way[at + 1], {})[way[at]] = None
        place: dict[int, tuple[int, Heap, int]] = {}
        for above, rows in alive.items():
            common = lcm(*{ratio[row] for row in rows})
            bands: dict[int, Heap] = {}
            for row in rows:
                weight = common // ratio[row]
                heap = bands.setdefault(priority[row], [])
                heap.append((usage.get(row, 0) * weight, row))
                place[row] = row, heap, weight
            for heap in bands.values():
                heap.sort()
            self._bands[above] = [heap for _, heap in sorted(bands.items())]
        for leaf, way in ways.items():
            self._way[leaf] = [place[row] for row in way[:-1]]

    def next(self) -> int | None:
        """The leaf whose turn it is; None = no leaf is left."""
        bands, row = self._bands, self._pool
        if not bands.get(row):
            return None
        while row in bands:
            row = bands[row][-1][0][1]
        return row

    def took(self, leaf: int, parts: int) -> None:
        """The leaf whose turn it was uses this many common parts of the pool more."""
        for row, heap, weight in self._way[leaf]:
            heapreplace(heap, (heap[0][0] + parts * weight, row))

    def drop(self, leaf: int) -> None:
        """Drop the leaf whose turn it was: it is satisfied, or nothing fits for it."""
        way = self._way[leaf]
        for at, (_, heap, _) in enumerate(way):
            heappop(heap)
            if heap:
                return
            above = way[at + 1][0] if at + 1 < len(way) else self._pool
            self._bands[above].pop()
            if self._bands[above]:
                return
