"""Inside a leaf: which request gets its units, and on which hosts."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Protocol

from fairhold.ledger.decision import Grant

if TYPE_CHECKING:
    from fairhold.ledger.books import Books


class Places(Protocol):
    """What knows where the next unit goes."""

    def place(self, request: int, units: int) -> list[Grant]:
        """Put units of a request on hosts; fewer where there is no room."""
        ...


class Placement:
    """Where the next unit goes: the first host in inventory order that has an idle slot (R-PLACE-1, `stacked`).

    A request comes first to slots that are kept for it; slots kept for another one are the last resort. Inside one
    cycle idle space only shrinks, so a host passed over once is never looked at again.
    """

    def __init__(self, books: Books) -> None:
        hosts, keeps = books.hosts, books.keeps
        columns = zip(hosts.slots, hosts.used, hosts.up, strict=True)
        self.idle = [max(0, slots - used) if up else 0 for slots, used, up in columns]
        self.kept: dict[tuple[int, int], int] = {}  # host, request → units
        for row in keeps.live:
            if hosts.up[keeps.host[row]]:
                key = (keeps.host[row], keeps.request[row])
                self.kept[key] = self.kept.get(key, 0) + keeps.units[row]
        self.kept_on = list(hosts.kept)
        self.first = 0

    def place(self, request: int, units: int) -> list[Grant]:
        """Put units of a request on hosts; fewer where there is no room."""
        grants: dict[int, int] = {}
        for host in sorted(host for host, other in self.kept if other == request):
            units -= self._take(grants, host, request, min(units, self.idle[host], self.kept[host, request]))
        while units > 0 and self.first < len(self.idle):
            units -= self._take(
                grants, self.first, request, min(units, max(0, self.idle[self.first] - self.kept_on[self.first]))
            )
            if units:
                self.first += 1
        for host in range(len(self.idle) if units else 0):
            units -= self._take(grants, host, request, min(units, self.idle[host]))
        return [Grant(request, host, count) for host, count in sorted(grants.items())]

    def _take(self, grants: dict[int, int], host: int, request: int, units: int) -> int:
        if units > 0:
            grants[host] = grants.get(host, 0) + units
            self.idle[host] -= units
            own = min(units, self.kept.get((host, request), 0))
            if own:
                self.kept[host, request] -= own
                self.kept_on[host] -= own
        return max(0, units)


def serve_leaf(books: Books, leaf: int, units: int, places: Places) -> list[Grant]:
    """Give a leaf's units to its requests: by priority, high first; then users in turn; then submitted, id (R-GRANT-3).

    In turn: the user whose requests hold the fewest units of the leaf is next, the earlier request where two hold
    equally many. Within `fifo`, and where there is one user, only submitted and id count.

    A gang below its minimum takes all that it misses to the minimum at once, or the next request is asked. Units that
    are kept for a request are others' only as far as it does not take them itself.
    """
    requests = books.requests
    queues = requests.lines.of.get(leaf)
    if not queues or not units:
        return []
    served = _Served(books, leaf, units)
    if len(queues) == 1:  # by far the most frequent case
        (queue,) = queues.values()
        for row in queue:
            served.serve(row, alone=True)
            if not served.units:
                break
        return [grant for row, count in served.given.items() for grant in places.place(row, count)]
    in_turn = books.rows.settings(leaf).within == "users"
    used = {user: requests.used_by.get((leaf, user), 0) if in_turn else 0 for _, user in queues}
    for priority in sorted({name[0] for name in queues}):
        mine = {user: queue for (rank, user), queue in queues.items() if rank == priority}
        turns = [(used[user], *requests.lines.key(queue[0]), user, 0) for user, queue in mine.items()]
        heapify(turns)
        while turns and served.units:
            *_, user, at = heappop(turns)
            queue = mine[user]
            taken = served.serve(queue[at], alone=not turns or not in_turn)
            used[user] += taken if in_turn else 0
            if not taken or served.is_served(queue[at]):
                at += 1
            if at < len(queue):
                heappush(turns, (used[user], *requests.lines.key(queue[at]), user, at))
        if not served.units:
            break
    return [grant for row, count in served.given.items() for grant in places.place(row, count)]


class _Served:
    """What was given so far of a leaf's units."""

    def __init__(self, books: Books, leaf: int, units: int) -> None:
        self.units = units
        self.given: dict[int, int] = {}
        self._requests = books.requests
        self._kept = _kept_for(books, leaf)
        # A gang that does not run may not be able to start, and would keep its units from all others.
        requests = books.requests
        self._reserved = {
            row: min(kept, requests.count[row] - requests.held[row])
            for row, kept in self._kept.items()
            if requests.count[row] > requests.held[row] >= requests.minimum[row]
        }
        self._others = sum(self._reserved.values())

    def is_served(self, row: int) -> bool:
        """Whether a request has all that it wants."""
        return self._wanted(row) == 0

    def _wanted(self, row: int) -> int:
        return self._requests.count[row] - self._requests.held[row] - self.given.get(row, 0)

    def serve(self, row: int, *, alone: bool) -> int:
        """Give units to a request, as many as it wants where it is `alone`, otherwise those of one turn."""
        self._others -= self._reserved.pop(row, 0)
        given, kept = self.given.get(row, 0), self._kept.get(row, 0)
        usable = min(self.units, max(self.units - self._others, kept - given))
        wanted = self._wanted(row)
        starts_with = self._requests.minimum[row] - self._requests.held[row] - given
        if starts_with > min(usable, wanted):
            return 0
        count = min(usable, wanted) if alone else min(usable, wanted, max(1, starts_with))
        if count > 0:
            self.given[row] = given + count
            self.units -= count
        return max(0, count)


def _kept_for(books: Books, leaf: int) -> dict[int, int]:
    """Units kept for each request of a leaf that waits."""
    kept: dict[int, int] = {}
    for row in books.keeps.live if books.kept[leaf] else ():
        request = books.keeps.request[row]
        if books.hosts.up[books.keeps.host[row]] and books.requests.leaf[request] == leaf:
            kept[request] = kept.get(request, 0) + books.keeps.units[row]
    return kept
