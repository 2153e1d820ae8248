"""Who is served before whom inside a leaf, counted and not tried (R-GRANT-3)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.tables import Requests


class _Queue:
    """Waiting requests of one user and one priority, in order.

    units, tasks : (requests + 1,) of the requests before each, and of all; a gang is one task
    """

    def __init__(self, rows: list[int], units: Sequence[int]) -> None:
        self.rows = rows
        self.units = self.tasks = units
        self.gangs: list[bool] | None = None

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


def _queue_of_ones(rows: list[int]) -> _Queue:
    """A queue of requests that want one unit each, by far the most frequent case."""
    return _Queue(rows, range(len(rows) + 1))


def _queue(requests: Requests, rows: list[int]) -> _Queue:
    wanted = list(map(sub, map(requests.count.__getitem__, rows), map(requests.held.__getitem__, rows)))
    queue = _Queue(rows, list(accumulate(wanted, initial=0)))
    gangs = [requests.minimum[row] > 0 for row in rows]
    if any(gangs):
        queue.gangs = gangs
        ones = (1 if gang else units for gang, units in zip(gangs, wanted, strict=True))
        queue.tasks = list(accumulate(ones, initial=0))
    return queue


class LineUp:
    """The waiting requests of one leaf, as its next units are given out; true until the books change."""

    def __init__(self, books: Books, leaf: int) -> None:
        requests = self._requests = books.requests
        queues = {
            name: rows if isinstance(rows, list) else list(rows)  # the middle of a deque is far away
            for name, rows in requests.lines.of.get(leaf, {}).items()
        }
        waiting = books.demand[leaf] - books.held[leaf]
        if waiting == sum(map(len, queues.values())):
            self._queues = {name: _queue_of_ones(rows) for name, rows in queues.items()}
        else:
            self._queues = {name: _queue(requests, rows) for name, rows in queues.items()}
        self._in_turn = books.rows.settings(leaf).within == "users"
        self._used: dict[tuple[int, int], int] = {}
        """Units of the leaf that a user holds when it is the turn of a priority."""
        used: dict[int, int] = {}
        for rank, user in sorted(self._queues):
            before = self._used[rank, user] = used.setdefault(user, requests.used_by.get((leaf, user), 0))
            used[user] = before + self._queues[rank, user].units[-1]

    def before(self, request: int) -> int:
        """Tasks that are served before the first of a waiting request, were the leaf given units one after another."""
        requests, key = self._requests, self._requests.lines.key
        rank, user = -requests.priority[request], requests.user[request]
        mine, place = self._queues[rank, user], key(request)
        at = bisect_left(mine.rows, place, key=key)
        count: int = mine.tasks[at]
        due = self._used[rank, user] + mine.units[at]
        for (other_rank, other), queue in self._queues.items():
            if other_rank < rank:
                count += queue.tasks[-1]
            elif other_rank == rank and other != user:
                if not self._in_turn:
                    count += queue.tasks[bisect_left(queue.rows, place, key=key)]
                    continue
                served, head = queue.turns(due - self._used[rank, other])
                count += served + (head is not None and key(head) < place)
        return count
