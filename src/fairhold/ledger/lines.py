"""Who waits in front of whom inside a leaf: the index that serving reads instead of sorting."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.tables import Requests

Queue = list[int] | deque[int]
"""Rows of waiting requests of one leaf, one priority and one user, by (submitted, id)."""
LONG = 500
"""From this length on a queue is a deque: its first row leaves it without the others being moved."""


class Lines:
    """The waiting requests of every leaf, in queues that are kept in order.

    A request waits where it wants more units than it holds. One in the middle is found by bisection, and the usual
    one, the latest, goes to the end at once.

    of    : leaf → (-priority, user) → queue; empty queues are not kept
    gangs : leaf → requests with a minimum that wait in it
    waiting : (leaf, user) → units that wait; 0 is not kept
    """

    __slots__ = ("_requests", "gangs", "of", "waiting")

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self.of: dict[int, dict[tuple[int, int], Queue]] = {}
        self.gangs: dict[int, dict[int, None]] = {}
        self.waiting: dict[tuple[int, int], int] = {}

    def apart(self, requests: Requests) -> Lines:
        """A copy for a copy of the requests."""
        other = Lines(requests)
        other.of = {leaf: {name: copy(queue) for name, queue in lines.items()} for leaf, lines in self.of.items()}
        other.gangs = {leaf: {**rows} for leaf, rows in self.gangs.items()}
        other.waiting = {**self.waiting}
        return other

    def key(self, row: int) -> tuple[int, str, int]:
        """Place in its queue; the row tells requests of one name apart."""
        return self._requests.submitted[row], self._requests.id[row], row

    def update(self, row: int) -> None:
        """A request has changed what it wants or holds."""
        requests = self._requests
        units = requests.count[row] - requests.held[row]
        if units > 0:
            if not requests.queued[row]:
                self._enter(row)
            self._count(row, units)
        else:
            self.leave(row)

    def _count(self, row: int, units: int) -> None:
        requests = self._requests
        if units != requests.queued[row]:
            key = (requests.leaf[row], requests.user[row])
            waiting = self.waiting.get(key, 0) + units - requests.queued[row]
            requests.queued[row] = units
            if waiting:
                self.waiting[key] = waiting
            else:
                del self.waiting[key]

    def _enter(self, row: int) -> None:
        requests = self._requests
        queues = self.of.setdefault(requests.leaf[row], {})
        name = (-requests.priority[row], requests.user[row])
        queue = queues.setdefault(name, [])
        if not queue or self.key(queue[-1]) < self.key(row):
            queue.append(row)
            if len(queue) == LONG:
                queues[name] = deque(queue)
        else:
            queue.insert(bisect_left(queue, self.key(row), key=self.key), row)
        if requests.minimum[row]:
            self.gangs.setdefault(requests.leaf[row], {})[row] = None

    def leave(self, row: int) -> None:
        """A request waits no more, or is about to change its leaf, priority or place."""
        requests = self._requests
        if not requests.queued[row]:
            return
        queues = self.of[requests.leaf[row]]
        name = (-requests.priority[row], requests.user[row])
        queue = queues[name]
        at = 0 if queue[0] == row else bisect_left(queue, self.key(row), key=self.key)
        assert queue[at] == row, "the queue is in order"
        del queue[at]
        if not queue:
            del queues[name]
            if not queues:
                del self.of[requests.leaf[row]]
        self._count(row, 0)
        if requests.minimum[row]:
            gangs = self.gangs[requests.leaf[row]]
            del gangs[row]
            if not gangs:
                del self.gangs[requests.leaf[row]]
