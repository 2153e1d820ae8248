"""Inside a leaf: the order in which its requests get units."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairhold.ledger.effective_demand import room_of_user
from fairhold.ledger.snapshot import WINDOW
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.wait_queue import Queue
    from fairhold.rules.holding import Hold
    from fairhold.rules.placing import Places


def serve_leaf(  # noqa: PLR0917 - what is given, where, and what comes first
    books: Books,
    leaf: int,
    units: int,
    places: Places,
    hold: Hold | None = None,
    leaving: Mapping[int, int] = MappingProxyType({}),
) -> list[Grant]:
    """Give a leaf's units to its requests: by priority, high first; then users in turn; then submitted, id (R-GRANT-3).

    In turn: next is the user whose requests hold the fewest units of the leaf; of equal users, the one with the earlier
    request. With `fifo`, or with one user, only submitted and id count.

    A gang below its minimum takes all units to its minimum at once, or none, and the next request is served. No user
    gets more than the leaf's user limit (R-USER-1).

    hold : the gangs that come first within their priority, and what is held for one that cannot start; after all
        others, requests that may use the held units are served (R-HOLD-2)
    leaving : request → units that it loses by a switch of windows in this cycle; a gang that they break gets no more,
        and neither does one that an earlier switch has broken (R-SWITCH-1)
    """
    queues = books.requests.lines.of.get(leaf)
    if not queues or not units:
        return []
    served = Served(books, leaf, units, places, leaving)
    if len(queues) == 1 and hold is None:  # by far the most frequent case
        (queue,) = queues.values()
        for row in queue:
            served.serve(row, alone=True)
            if not served.units or not served.room(row):
                break
        return [grant for row, count in served.given.items() for grant in places.place(row, count)]
    in_turn = books.rows.settings(leaf).within == "users"
    used = {user: books.requests.used_by.get((leaf, user), 0) if in_turn else 0 for _, user in queues}
    turns = _Turns(books, served, used, in_turn=in_turn)
    for priority in sorted({name[0] for name in queues}):
        for user, taken in hold.come_first(-priority, served).items() if hold is not None else ():
            used[user] += taken if in_turn else 0
        turns.take({user: queue for (rank, user), queue in queues.items() if rank == priority})
    if hold is not None and hold.opens(served):
        for priority in sorted({name[0] for name in queues}):
            turns.take({user: hold.allowed(queue) for (rank, user), queue in queues.items() if rank == priority})
        hold.lay(served)
    grants = [grant for row, count in served.given.items() for grant in places.place(row, count)]
    if hold is not None:
        hold.place()
    return grants


class _Turns:
    """Whose turn it is among users of one priority.

    used : user → units that count for his turn
    """

    def __init__(self, books: Books, served: Served, used: dict[int, int], *, in_turn: bool) -> None:
        self.key = books.requests.lines.key
        self.served = served
        self.used = used
        self.in_turn = in_turn

    def take(self, queues: Mapping[int, Queue]) -> None:
        """Serve queues of users until nobody can use more."""
        served, used, key = self.served, self.used, self.key
        turns = [(used[user], *key(queue[0]), user, 0) for user, queue in queues.items() if queue]
        heapify(turns)
        while turns and served.units:
            *_, user, at = heappop(turns)
            queue = queues[user]
            taken = served.serve(queue[at], alone=not turns or not self.in_turn)
            used[user] += taken if self.in_turn else 0
            has_room = served.room(queue[at]) > 0
            if not taken or served.is_served(queue[at]):
                at += 1
            if at < len(queue) and has_room:
                heappush(turns, (used[user], *key(queue[at]), user, at))


class Served:
    """What was given so far of a leaf's units."""

    def __init__(
        self,
        books: Books,
        leaf: int,
        units: int,
        places: Places,
        leaving: Mapping[int, int],
    ) -> None:
        self.units = units
        self.places = places
        self.given: dict[int, int] = {}
        self._requests = books.requests
        self._books, self._leaf, self._leaving = books, leaf, leaving
        self._is_limited = books.rows.controls.user_limit[leaf] < UNLIMITED
        self._room: dict[int, int] = {}

    def is_served(self, row: int) -> bool:
        """Whether a request has all that it wants."""
        return self._wanted(row) == 0

    def room(self, row: int) -> int:
        """Units that the user of a request may still be given in this leaf, by the user limit."""
        if not self._is_limited:
            return UNLIMITED
        user = self._requests.user[row]
        if user not in self._room:
            self._room[user] = room_of_user(self._books, self._leaf, user)
        return self._room[user]

    def take_room(self, row: int, units: int) -> None:
        """Take units off the room of the user of a request."""
        if self.room(row) < UNLIMITED:
            self._room[self._requests.user[row]] -= units

    def _wanted(self, row: int) -> int:
        return self._requests.count[row] - self._requests.held[row] - self.given.get(row, 0)

    def _stays(self, row: int) -> int:
        """Units of a request but for those of a gang that leave for a switch of windows."""
        requests, found = self._requests, self._requests.held[row]
        if not requests.minimum[row] or not (self._leaving or requests.noticed[row]):
            return found
        notices = self._books.notices
        mine = (notices.by_allocation.get(each, ()) for each in self._books.allocations.by_request.get(row, ()))
        pinned = [notices.units[each] for told in mine for each in told if notices.reason[each] == WINDOW]
        return found - sum(pinned) - self._leaving.get(row, 0)

    def serve(self, row: int, *, alone: bool) -> int:
        """Give units to a request, as many as it wants where it is `alone`, otherwise those of one turn."""
        given, usable = self.given.get(row, 0), min(self.units, self.room(row))
        wanted = min(self._wanted(row), self.places.room(row))
        starts_with = self._requests.minimum[row] - self._stays(row) - given
        if starts_with > min(usable, wanted):
            return 0
        count = min(usable, wanted) if alone else min(usable, wanted, max(1, starts_with))
        if count > 0:
            self.given[row] = given + count
            self.units -= count
            self.take_room(row, count)
            self.places.take(row, count)
        return max(0, count)
