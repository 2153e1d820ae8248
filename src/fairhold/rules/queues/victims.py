"""The order of victims: the most saturated queue first, then inside it (SPEC §7, S4.15, R-CONTEST-3)."""

from __future__ import annotations

from functools import partial
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.ledger.queues import is_preemptible
from fairhold.rules.queues.queue_metrics import weighed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.pools import Machine, PendingRequest, Unit
    from fairhold.ledger.queues import Queues

Piece = tuple["Unit", ...]
"""Units that go together: one, or the core of a gang, which stops whole."""


def giving_key(asked: PendingRequest) -> tuple[object, ...]:
    """Place of a request inside its queue among those that give: lowest priority, then youngest."""
    return asked.model.priority, -asked.model.submitted, -asked.place


def pieces_of(asked: PendingRequest) -> list[Piece]:
    """What a request gives, piece by piece: what is beyond the minimum of a gang, the youngest first, then its core."""
    units = [unit for unit in asked.units if unit.notice is None]
    units.sort(key=lambda unit: (-unit.started, -unit.serial))
    least = asked.model.min_count
    if not least:
        return [(unit,) for unit in units]
    beyond = max(0, len(units) - least)
    core = tuple(units[beyond:])
    return [*((unit,) for unit in units[:beyond]), *([core] if core else [])]


def whole(piece: Piece, gone: Iterable[Piece]) -> Piece:
    """A piece, with what else stays of a gang that it would break: surplus that was spared, or stands elsewhere.

    gone : pieces that are taken before it
    """
    least = piece[0].asked.model.min_count
    if least < 2 or len(piece) < 2:
        return piece
    taken = {unit for each in (piece, *gone) for unit in each}
    stays = [unit for unit in piece[0].asked.units if unit.notice is None and unit not in taken]
    return (*piece, *stays) if len(stays) < least else piece


def is_broken(asked: PendingRequest, gone: Iterable[Piece]) -> bool:
    """Whether a gang goes on below its minimum when some pieces are gone."""
    least = asked.model.min_count
    if not least:
        return False
    taken = sum(len(piece) for piece in gone if piece[0].asked is asked)
    return taken > 0 and 0 < sum(unit.notice is None for unit in asked.units) - taken < least


def longer_than(runtime: int) -> int:
    """Microseconds that a unit has run for at least when it has run longer than `reclaim_min_runtime`; 0 = none."""
    return runtime + 1 if runtime else 0


class Candidates:
    """Pieces of all queues that may be reclaimed, in the order of giving; without units under notice."""

    def __init__(self, queues: Queues, by_leaf: Mapping[int, Sequence[PendingRequest]]) -> None:
        """Begin.

        by_leaf : leaf → requests that may hold something
        """
        self._queues = queues
        self.terms = queues.terms
        self._by_leaf = by_leaf
        self._lines: dict[int, list[PendingRequest]] = {}
        self._begin: dict[int, int] = {}

    def _line(self, leaf: int) -> list[PendingRequest]:
        """Requests of a queue that hold something that may be taken, those that give first before the others."""
        if leaf not in self._lines:
            mine = [each for each in self._by_leaf[leaf] if each.units and is_preemptible(each)]
            self._lines[leaf] = sorted(mine, key=giving_key)
            self._begin[leaf] = 0
        return self._lines[leaf]

    def inside(self, leaf: int, is_able: Callable[[PendingRequest], bool] | None = None) -> Iterator[Piece]:
        """Pieces of one queue."""
        line = self._line(leaf)
        while self._begin[leaf] < len(line) and _is_gone(line[self._begin[leaf]]):
            self._begin[leaf] += 1
        for at in range(self._begin[leaf], len(line)):
            if is_able is None or is_able(line[at]):
                yield from pieces_of(line[at])

    def among(self, sides: Iterable[int], short: Iterable[int]) -> Iterator[tuple[int, Piece]]:
        """(side, piece) of some sides, the most saturated first; what was taken meanwhile counts."""
        line = _Line(self, list(sides), list(short))
        while (found := line.first()) is not None:
            side, leaf, piece = found
            yield side, piece
            line.pass_over(side, leaf)

    def on(self, host: Machine, sides: Collection[int], short: Iterable[int]) -> Iterator[tuple[int, Piece]]:
        """The same, of what stands on one host alone."""
        short = list(short)
        above = self._queues.terms.above
        left: dict[Piece, tuple[int, ...]] = {}
        for asked in dict.fromkeys(unit.asked for unit in host.units if unit.notice is None):
            depth = next((depth for depth, row in enumerate(above[asked.leaf]) if row in sides), None)
            if depth is not None and is_preemptible(asked):
                mine = (piece for piece in pieces_of(asked) if any(unit.host is host for unit in piece))
                left |= dict.fromkeys(mine, above[asked.leaf][depth::-1])
        while left:
            piece = self._first_of(left, short)
            yield left.pop(piece)[0], piece

    def _first_of(self, ways: Mapping[Piece, tuple[int, ...]], short: list[int]) -> Piece:
        """Which of some pieces gives first: level by level, each queue by what it would give next.

        ways : piece → rows from a queue down to its leaf
        """
        below: dict[int, dict[Piece, tuple[int, ...]]] = {}
        for piece, (row, *rest) in ways.items():
            below.setdefault(row, {})[piece] = tuple(rest)
        firsts = {}
        for row, mine in below.items():
            inner = {piece: way for piece, way in mine.items() if way}
            first = self._first_of(inner, short) if inner else min(mine, key=partial(self.key, row, short=short))
            firsts[first] = self.key(row, first, short)
        return min(firsts, key=firsts.__getitem__)

    def key(self, row: int, piece: Piece, short: list[int]) -> tuple[object, ...]:
        """Place of a queue among those that give: the most saturated first, then by what it would give next."""
        queues = self._queues
        is_unbound, most = max(weighed(queues.held[at][row], queues.fair[at][row]) for at in short)
        first = piece[0]
        return not is_unbound, -most, *giving_key(first.asked), -first.started, -first.serial


def _is_gone(asked: PendingRequest) -> bool:
    return all(unit.notice is not None for unit in asked.units)


class _Line:
    """Sides and the queues below them, level by level in heaps: who gives next is the first of the first.

    Between two pieces only the queues above the last one change.
    """

    def __init__(self, candidates: Candidates, sides: list[int], short: list[int]) -> None:
        self._candidates, self._short = candidates, short
        self._pieces: dict[int, Iterator[Piece]] = {}
        self._heads: dict[int, Piece | None] = {}
        self._heaps: dict[int, list[tuple[tuple[object, ...], int]]] = {}
        self._sides = self._heap(sides)

    def first(self) -> tuple[int, int, Piece] | None:
        """Side, leaf and piece that give next; None = nobody has any more."""
        if not self._sides:
            return None
        side = self._sides[0][1]
        found = self._first(side)
        return (side, *found) if found else None

    def _heap(self, rows: Iterable[int]) -> list[tuple[tuple[object, ...], int]]:
        heap = [(self._key(row, found[1]), row) for row in rows if (found := self._first(row)) is not None]
        heapify(heap)
        return heap

    def _first(self, row: int) -> tuple[int, Piece] | None:
        """Leaf and piece that give next below a row."""
        children = self._candidates.terms.children[row]
        if not children:
            piece = self._head(row)
            return None if piece is None else (row, piece)
        if row not in self._heaps:
            self._heaps[row] = self._heap(children)
        heap = self._heaps[row]
        return self._first(heap[0][1]) if heap else None

    def _head(self, leaf: int) -> Piece | None:
        if leaf not in self._heads:
            self._pieces[leaf] = self._candidates.inside(leaf)
            self._heads[leaf] = next(self._pieces[leaf], None)
        return self._heads[leaf]

    def _key(self, row: int, piece: Piece) -> tuple[object, ...]:
        return self._candidates.key(row, piece, self._short)

    def pass_over(self, side: int, leaf: int) -> None:
        """The first piece was taken or not: the next of its queue stands for it."""
        self._heads[leaf] = next(self._pieces[leaf], None)
        for row, above in pairwise(self._candidates.terms.above[leaf]):
            heap = self._sides if row == side else self._heaps[above]
            found = self._first(row)
            if found is None:
                heappop(heap)
            else:
                heapreplace(heap, (self._key(row, found[1]), row))
            if row == side:
                return
