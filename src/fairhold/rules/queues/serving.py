"""The order of turns of queues, and grants of idle resources in this order (SPEC §7, S4.10, S4.13, R-SERVE-1)."""

from __future__ import annotations

from bisect import bisect_left
from heapq import heapify, heappop, heappush, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.ledger.pools import PUBLIC
from fairhold.ledger.queues import amounts_of
from fairhold.rules.pools.placing import Placing
from fairhold.rules.queues.queue_metrics import dominant_share, is_above, stays_deserved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.queues.gates import Gates
    from fairhold.rules.queues.request_classes import RequestClass, RequestClasses

    Entry = tuple[tuple[object, ...], int, PendingRequest, RequestClass | None, int]
    """A request in the line of its queue: its place there; of a class its next one, and how far along that is."""

ROOT = 0


def serving_key(queues: Queues, row: int, need: list[int]) -> tuple[object, ...]:
    """Sort key of a queue among its siblings, for the request that it would serve next; the smallest is served.

    Queues not above their fair share come first; then those within what they deserve; then by priority; by the smaller
    dominant share with the request, then without it; then plan order.
    """
    asked = [at for at, units in enumerate(need) if units]
    nothing = [0] * len(need)
    return (
        is_above(queues, row, asked),
        not stays_deserved(queues, row, need, asked),
        -queues.terms.priority[row],
        dominant_share(queues, row, need),
        dominant_share(queues, row, nothing),
        row,
    )


def next_units(asked: PendingRequest) -> int:
    """Units that a request takes in one turn: all that a gang misses of its minimum, else one."""
    return asked.missing or min(1, asked.waiting)


def request_key(asked: PendingRequest) -> tuple[object, ...]:
    """Place of a request inside its queue: priority, below the minimum of its gang first, submitted, id."""
    model = asked.model
    return -model.priority, not asked.missing, model.submitted, model.id


class Turns:
    """Queues that want something, level by level, the next to be served first.

    Whoever gets nothing is dropped, and with it all of its class that come right after it: they stand for their queue
    as it did, so that they would come next, and nothing has changed for them.
    """

    def __init__(
        self,
        queues: Queues,
        waiting: Iterable[PendingRequest],
        units: Callable[[PendingRequest], int],
        classes: Iterable[RequestClass] = (),
        *,
        by_age: bool = False,
    ) -> None:
        """Begin.

        waiting : those of no class
        units   : what a request takes in one turn
        by_age  : whether one of a class may get something where an earlier one did not
        """
        self._queues, self._units, self._by_age = queues, units, by_age
        self._lines: dict[int, list[Entry]] = {}
        for asked in waiting:
            self._lines.setdefault(asked.leaf, []).append(_entry(asked, None, 0))
        for request_class in classes:
            if request_class.line:
                self._lines.setdefault(request_class.line[0].leaf, []).append(
                    _entry(request_class.line[0], request_class, 0)
                )
        self._heaps: dict[int, list[tuple[tuple[object, ...], int]]] = {}
        rows: set[int] = set()
        for leaf, line in self._lines.items():
            heapify(line)
            rows.update(queues.terms.above[leaf])
        for row in sorted(rows, reverse=True):  # children stand after their parents
            if row not in self._lines:
                heap = [(self._key(child), child) for child in queues.terms.children[row] if child in rows]
                heapify(heap)
                self._heaps[row] = heap

    def next(self) -> PendingRequest | None:
        """The request that is served next; None = nobody wants anything any more."""
        return self._first(ROOT)

    def _first(self, row: int) -> PendingRequest | None:
        while row in self._heaps:
            if not self._heaps[row]:
                return None
            row = self._heaps[row][0][1]
        line = self._lines.get(row)
        return line[0][2] if line else None

    def _key(self, row: int) -> tuple[object, ...]:
        asked = self._first(row)
        assert asked is not None
        return serving_key(self._queues, row, amounts_of(asked.unit, self._units(asked)))

    def served(self, asked: PendingRequest) -> None:
        """The next request got what it took; it comes again if it wants more."""
        line = self._lines[asked.leaf]
        _, _, _, request_class, at = heappop(line)
        if request_class is not None:
            request_class.leave(at)
            _push(line, request_class, at)
        if self._units(asked):
            heappush(line, _entry(asked, None, 0))
        self._renew(asked.leaf)

    def drop(self, asked: PendingRequest) -> None:
        """The next request gets nothing more."""
        line = self._lines[asked.leaf]
        _, _, _, request_class, at = heappop(line)
        if request_class is not None and self._by_age:
            _push(line, request_class, at + 1)
        elif request_class is not None and line:
            _push(line, request_class, bisect_left(request_class.line, line[0][:2], lo=at + 1, key=_place))
        self._renew(asked.leaf)

    def _renew(self, leaf: int) -> None:
        above = self._queues.terms.above[leaf]
        for row, parent in pairwise(above):
            heap = self._heaps[parent]
            if self._first(row) is None:
                heappop(heap)
            else:
                heapreplace(heap, (self._key(row), row))


def _place(asked: PendingRequest) -> tuple[tuple[object, ...], int]:
    return request_key(asked), asked.place


def _entry(asked: PendingRequest, request_class: RequestClass | None, at: int) -> Entry:
    return request_key(asked), asked.place, asked, request_class, at


def _push(line: list[Entry], request_class: RequestClass, at: int) -> None:
    """The one at a place of its class is in the line now, where there is one."""
    if at < len(request_class.line):
        heappush(line, _entry(request_class.line[at], request_class, at))


def _has_room(books: PoolBooks, waiting: Iterable[PendingRequest]) -> bool:
    """Whether a unit of any waiting request fits on what is idle or held on a host; if not, none can be placed."""
    assert books.free is not None, "queues own no parts of hosts"
    return any(map(books.free.able, {asked.unit for asked in waiting}))


def serve(
    books: PoolBooks, queues: Queues, reservations: Reservations, gates: Gates, classes: RequestClasses
) -> list[Unit]:
    """Grant idle resources in the serving order, up to the limits; returns units in the order of placing.

    A request also waits for units on their way to it: they count as held already, until idle resources replace
    them.
    """
    waiting = classes.waiting
    if not _has_room(books, classes.kinds):
        return []
    placing = Placing(books, PUBLIC, gates, books.hosts)
    coming = {asked: reservations.new_units(asked) for asked in waiting}
    turns = Turns(queues, waiting, next_units, classes.all)
    placed: list[Unit] = []
    while (asked := turns.next()) is not None:
        units = next_units(asked)
        new = placing.put(asked, units) if units <= asked.waiting else []
        if new:
            known = min(coming.get(asked, 0), len(new))
            if known:
                coming[asked] -= known
            queues.add(asked, len(new) - known)
            placed += new
            turns.served(asked)
        else:
            turns.drop(asked)
    return placed
