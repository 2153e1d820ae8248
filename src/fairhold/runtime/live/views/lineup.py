"""Who is served before whom inside a leaf, counted and not tried (R-GRANT-3)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.books import Books


class _Queue:
    """Waiting requests of one user and one priority, in order.

    units, tasks : (requests + 1,) of the requests before each, and of all; a gang is one task
    """

    def __init__(self, books: Books, rows: list[int]) -> None:
        requests = books.requests
        wanted: list[int] = list(map(sub, map(requests.count.__getitem__, rows), map(requests.held.__getitem__, rows)))
        self.rows = rows
        self.units: list[int] = list(accumulate(wanted, initial=0))
        self.gangs: list[bool] | None = [requests.minimum[row] > 0 for row in rows] if any(requests.minimum) else None
        self.tasks = self.units
        if self.gangs is not None and any(self.gangs):
            ones = (1 if gang else units for gang, units in zip(self.gangs, wanted, strict=True))
            self.tasks = list(accumulate(ones, initial=0))

    def turns(self, units: int) -> tuple[int, int | None]:
        """Tasks that have had their turn before the user has got so many units; who is next at just so many."""
        if units < 0:
            return 0, None
        if units >= self.units[-1]:
            return self.tasks[-1], None
        at = bisect_right(self.units, units) - 1
        if self.gangs is not None and self.gangs[at]:
            begun = self.units[at] < units
            return self.tasks[at] + begun, None if begun else self.rows[at]
        return self.tasks[at] + units - self.units[at], self.rows[at]


class LineUp:
    """The waiting requests of one leaf, as its next units are given out."""

    def __init__(self, books: Books, leaf: int) -> None:
        self._books, self._leaf = books, leaf
        queues = books.requests.lines.of.get(leaf, {})
        self._queues = {name: _Queue(books, list(rows)) for name, rows in queues.items()}
        self._in_turn = books.rows.entry.settings.within == "users"

    def before(self, request: int) -> int:
        """Tasks that are served before the first of a waiting request, were the leaf given units one after another."""
        requests, key = self._books.requests, self._books.requests.lines.key
        rank, user = -requests.priority[request], requests.user[request]
        mine = self._queues[rank, user]
        at = bisect_left(mine.rows, key(request), key=key)
        count: int = mine.tasks[at]
        due = self._used(rank, user) + mine.units[at]
        for (other_rank, other), queue in self._queues.items():
            if other_rank < rank:
                count += queue.tasks[-1]
            elif other_rank == rank and other != user:
                if not self._in_turn:
                    count += queue.tasks[bisect_left(queue.rows, key(request), key=key)]
                    continue
                served, head = queue.turns(due - self._used(rank, other))
                count += served + (head is not None and key(head) < key(request))
        return count

    def _used(self, rank: int, user: int) -> int:
        """Units of the leaf that a user holds when it is the turn of a priority."""
        before = sum(queue.units[-1] for (other, who), queue in self._queues.items() if who == user and other < rank)
        return self._books.requests.used_by.get((self._leaf, user), 0) + before
