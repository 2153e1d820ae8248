"""The order of waiting requests inside a leaf: an index, so that serving need not sort."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from copy import copy
from operator import add, or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.renumbering import NewRows
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
    gang_line : leaf → (-priority, submitted, id, row) of requests with a minimum that hold units or want some, in order
    in_gangs : leaf → units that these want
    priorities : leaf → priorities that requests of it have or had
    answers : leaf → cached results about its requests, by question; valid until one of them changes
    changed : (leaf, row) of requests whose demand, allocations or place have changed since watching began; None = not
        watched
    """

    __slots__ = (
        "_least",
        "_requests",
        "_wanted",
        "answers",
        "changed",
        "gang_line",
        "gangs",
        "in_gangs",
        "of",
        "priorities",
        "waiting",
    )

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self.of: dict[int, dict[tuple[int, int], Queue]] = {}
        self.gangs: dict[int, dict[int, None]] = {}
        self.waiting: dict[tuple[int, int], int] = {}
        self.gang_line: dict[int, list[tuple[int, int, str, int]]] = {}
        self.in_gangs: dict[int, int] = {}
        self.priorities: dict[int, set[int]] = {}
        self.answers: dict[int, dict[tuple[int, int, int], int]] = {}
        self.changed: set[tuple[int, int]] | None = None
        self._wanted: dict[int, int] = {}  # rows in `gang_line` → units that they want
        self._least: dict[int, int] = {}  # leaf → what `least` said, until one of its requests changes

    def apart(self, requests: Requests) -> Lines:
        """A copy for a copy of the requests."""
        other = Lines(requests)
        other.of = {leaf: {name: copy(queue) for name, queue in lines.items()} for leaf, lines in self.of.items()}
        other.gangs = {leaf: {**rows} for leaf, rows in self.gangs.items()}
        other.waiting, other.in_gangs, other._wanted = {**self.waiting}, {**self.in_gangs}, {**self._wanted}
        other.gang_line = {leaf: line[:] for leaf, line in self.gang_line.items()}
        other.priorities = {leaf: {*known} for leaf, known in self.priorities.items()}
        return other

    def renumber(self, new: NewRows) -> None:
        """Leaves have other rows, which stand in the column of the requests already."""
        self.of = new.by_row(self.of, self._joined)
        self.gangs, self.priorities = new.by_row(self.gangs, or_), new.by_row(self.priorities, or_)
        self.gang_line = new.by_row(self.gang_line, lambda one, other: sorted(one + other))
        self.waiting, self.in_gangs = new.by_user(self.waiting), new.by_row(self.in_gangs, add)
        self.answers, self._least = {}, {}

    def _joined(
        self, one: dict[tuple[int, int], Queue], other: dict[tuple[int, int], Queue]
    ) -> dict[tuple[int, int], Queue]:
        """The queues of two leaves that are one now."""
        found = one | other
        for name in one.keys() & other.keys():
            rows = sorted((*one[name], *other[name]), key=self.key)
            found[name] = rows if len(rows) < LONG else deque(rows)
        return found

    def least(self, leaf: int) -> int:
        """Fewest units of which any request that waits in a leaf could use some; one waits."""
        known = self._least.get(leaf)
        if known is None:
            gangs, requests = self.gangs.get(leaf, {}), self._requests
            known = 1
            if sum(map(len, self.of[leaf].values())) == len(gangs):
                known = max(1, min(requests.minimum[row] - requests.held[row] for row in gangs))
            self._least[leaf] = known
        return known

    def key(self, row: int) -> tuple[int, str, int]:
        """Place in its queue; the row tells requests of one name apart."""
        return self._requests.submitted[row], self._requests.id[row], row

    def rank(self, row: int) -> None:
        """A request has a leaf and a priority from now on."""
        leaf = self._requests.leaf[row]
        known = self.priorities.get(leaf)
        if known is None:
            known = self.priorities[leaf] = set()
        known.add(self._requests.priority[row])

    def update(self, row: int) -> None:
        """A request has changed what it wants or holds."""
        requests = self._requests
        self._touch(row)
        units = requests.count[row] - requests.held[row]
        if requests.minimum[row]:
            self._stand(row, is_there=units > 0 or requests.held[row] > 0)
        if units > 0:
            if not requests.queued[row]:
                self._enter(row)
            self._count(row, units)
        elif requests.queued[row]:
            self._leave(row)

    def _stand(self, row: int, *, is_there: bool) -> None:
        """A gang stands in the line of its leaf, or does not, with what it wants now."""
        requests = self._requests
        leaf, before = requests.leaf[row], self._wanted.get(row)
        if is_there:
            wanted = self._wanted[row] = requests.count[row]
            if before is None:
                insort(self.gang_line.setdefault(leaf, []), self._place(row))
            self.in_gangs[leaf] = self.in_gangs.get(leaf, 0) + wanted - (before or 0)
        elif before is not None:
            del self._wanted[row]
            line = self.gang_line[leaf]
            del line[bisect_left(line, self._place(row))]
            self.in_gangs[leaf] -= before

    def _place(self, row: int) -> tuple[int, int, str, int]:
        requests = self._requests
        return -requests.priority[row], requests.submitted[row], requests.id[row], row

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
        """A request is about to change its leaf, priority or place; `update` follows."""
        self._touch(row)
        if self._requests.minimum[row]:
            self._stand(row, is_there=False)
        if self._requests.queued[row]:
            self._leave(row)

    def _touch(self, row: int) -> None:
        """Drop cached results about the requests of its leaf."""
        leaf = self._requests.leaf[row]
        self.answers.pop(leaf, None)
        self._least.pop(leaf, None)
        if self.changed is not None:
            self.changed.add((leaf, row))

    def _leave(self, row: int) -> None:
        """A request waits no more."""
        requests = self._requests
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
