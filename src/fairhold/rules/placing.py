"""Chooses the host of a unit (R-PLACE-1, R-PLACE-2, R-HOSTS-1)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from math import lcm
from typing import TYPE_CHECKING, Protocol

from fairhold.ledger.decision import Grant
from fairhold.ledger.occupants import holders, occupants
from fairhold.ledger.sited import is_on_one
from fairhold.ledger.tables import NOBODY
from fairhold.model.siting import ANYWHERE, SPREAD
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.books import Books
    from fairhold.model.siting import Siting


class Places(Protocol):
    """Chooses hosts for units."""

    def room(self, request: int) -> int:
        """How many more units of a request could be placed, as far as that is known beforehand."""
        ...

    def take(self, request: int, units: int) -> None:
        """Take units of a request that are to be placed, in the order of the turns; at most `room`."""
        ...

    def place(self, request: int, units: int) -> list[Grant]:
        """The hosts of the units of a request, after all turns; fewer units where there is no room."""
        ...


class Placement:
    """Puts units on the first host in inventory order that has an idle slot (R-PLACE-1, `stacked`).

    With `balanced`: on the host with the smallest part in use, then in inventory order (R-PLACE-2). A request uses
    slots kept for it first, and slots kept for another request last. Within a cycle idle space only shrinks. So in
    inventory order a host that was passed over once is not looked at again.
    """

    def __init__(self, books: Books) -> None:
        hosts, keeps = books.hosts, books.keeps
        columns = zip(hosts.slots, hosts.used, hosts.up, strict=True)
        self.books = books
        self.idle = [max(0, slots - used) if up else 0 for slots, used, up in columns]
        self.kept: dict[tuple[int, int], int] = {}  # host, request → units
        for row in keeps.live:
            if hosts.up[keeps.host[row]]:
                key = (keeps.host[row], keeps.request[row])
                self.kept[key] = self.kept.get(key, 0) + keeps.units[row]
        self.kept_on = list(hosts.kept)
        self.first = 0
        self.is_balanced = books.rows.packing == "balanced"
        # Parts in use are compared as whole numbers over one denominator.
        self.scale = lcm(*(slots for slots in hosts.slots if slots)) if self.is_balanced else 1

    def room(self, request: int) -> int:  # noqa: ARG002 - any request fits on any host
        """No bound: every unit that is granted is idle on some host."""
        return UNLIMITED

    def take(self, request: int, units: int) -> None:
        """Does nothing: the first request of a leaf gets the first hosts for all its units."""

    def place(self, request: int, units: int) -> list[Grant]:
        """Put units of a request on hosts; fewer where there is no room."""
        grants: dict[int, int] = {}
        for host in sorted(host for host, other in self.kept if other == request):
            units -= self._take(grants, host, request, min(units, self.idle[host], self.kept[host, request]))
        if self.is_balanced:
            units = self._balance(grants, request, units, range(len(self.idle)))
        while units > 0 and self.first < len(self.idle):
            units -= self._take(grants, self.first, request, min(units, self._common(self.first)))
            if units:
                self.first += 1
        for host in range(len(self.idle) if units else 0):
            units -= self._take(grants, host, request, min(units, self.idle[host]))
        return [Grant(request, host, count) for host, count in sorted(grants.items())]

    def put_back(self, request: int) -> None:
        """Nothing: no unit of a request is on a host before it is placed."""

    def _common(self, host: int) -> int:
        """Idle slots of a host that are kept for nobody."""
        return max(0, self.idle[host] - self.kept_on[host])

    def _balance(self, grants: dict[int, int], request: int, units: int, hosts: Iterable[int]) -> int:
        """Put units one by one where the smallest part is in use; returns those left (R-PLACE-2)."""
        if units <= 0:
            return units
        waiting = [(self._part_in_use(host), host) for host in hosts if self._common(host)]
        heapify(waiting)
        while units > 0 and waiting:
            host = waiting[0][1]
            units -= self._take(grants, host, request, 1)
            if self._common(host):
                heapreplace(waiting, (self._part_in_use(host), host))
            else:
                heappop(waiting)
        return units

    def _part_in_use(self, host: int) -> int:
        slots = self.books.hosts.slots[host]
        return (slots - self.idle[host]) * (self.scale // slots)

    def _take(self, grants: dict[int, int], host: int, request: int, units: int) -> int:
        if units > 0:
            grants[host] = grants.get(host, 0) + units
            self.idle[host] -= units
            own = min(units, self.kept.get((host, request), 0))
            if own:
                self.kept[host, request] -= own
                self.kept_on[host] -= own
        return max(0, units)


class Sites(Placement):
    """Puts units on hosts where only some will do (R-SITE-1 to R-SITE-3), or one consumer uses a host (R-HOSTS-1).

    Units are put on hosts turn by turn, so each request finds what the requests before it have left.

    standing : (hosts,) leaf → units there; holder: (hosts,) the leaf that uses it; where one consumer uses a host
    stands   : request → host → units, for requests that say how their units are placed together
    taken    : request → host → units put there in this cycle
    """

    def __init__(self, books: Books) -> None:
        super().__init__(books)
        self.is_exclusive = books.rows.is_exclusive
        self.standing = [dict(here) for here in occupants(books)] if self.is_exclusive else []
        self.holder = holders(books, self.standing)
        self.taken: dict[int, dict[int, int]] = {}
        self.stands: dict[int, dict[int, int]] = {}

    def room(self, request: int) -> int:
        """Idle slots of the hosts where the request may stand; of a gang that packs, of the one with most of them."""
        free = [self.idle[host] for host in self._hosts(request)]
        return max(free, default=0) if self._is_on_one(request) else sum(free)

    def take(self, request: int, units: int) -> None:
        """Put units of a request on hosts, each where it likes best to be."""
        waiting = [self._rank(request, host, units) for host in self._hosts(request)]
        if self._is_on_one(request):
            waiting = [min(rank for rank in waiting if self.idle[rank[-1]] >= units)]
        heapify(waiting)
        part = 1 if self._goes_one_by_one(request) else units
        taken = self.taken.setdefault(request, {})
        while units > 0:
            host = heappop(waiting)[-1]
            units -= self._put(taken, host, request, min(part, units, self._near(host, request)))
            if self.is_exclusive:  # which empty host is next depends on how many are left
                waiting = [self._rank(request, other, units) for *_, other in waiting]
                heapify(waiting)
            if self.idle[host] > 0:
                heappush(waiting, self._rank(request, host, units))

    def _put(self, taken: dict[int, int], host: int, request: int, units: int) -> int:
        self._take(taken, host, request, units)
        if self.is_exclusive:
            leaf = self.books.requests.leaf[request]
            self.holder[host] = leaf
            self.standing[host][leaf] = self.standing[host].get(leaf, 0) + units
        return units

    def put_back(self, request: int) -> None:
        """Make units of a request that were to be placed idle again, and keep them for it on their hosts."""
        leaf = self.books.requests.leaf[request]
        for host, units in self.taken.pop(request, {}).items():
            self.idle[host] += units
            self.kept[host, request] = self.kept.get((host, request), 0) + units
            self.kept_on[host] += units
            if self.is_exclusive:
                self.standing[host][leaf] -= units
                if not self.standing[host][leaf]:
                    del self.standing[host][leaf]
                    self.holder[host] = NOBODY

    def place(self, request: int, units: int) -> list[Grant]:  # noqa: ARG002 - they stand already
        """Where the units went."""
        return [Grant(request, host, count) for host, count in sorted(self.taken.pop(request, {}).items())]

    def _hosts(self, request: int) -> list[int]:
        """Hosts with idle slots where a request may stand; one that packs only where it could start."""
        siting, labels, slots = self._siting(request), self.books.hosts.labels, self.books.hosts.slots
        mine = {self.books.requests.leaf[request], NOBODY}
        one = self._stands(request) if self._is_on_one(request) else {}
        least = self.books.requests.minimum[request] if self._is_on_one(request) and not one else 0
        return [
            host
            for host, idle in enumerate(self.idle)
            if idle > 0
            and slots[host] >= least
            and (not self.is_exclusive or self.holder[host] in mine)
            and siting.fits(labels.get(host, frozenset()))
            and (not one or host in one)
        ]

    def _siting(self, request: int) -> Siting:
        return self.books.requests.siting.get(request, ANYWHERE)

    def _is_on_one(self, request: int) -> bool:
        return is_on_one(self.books, request)

    def _goes_one_by_one(self, request: int) -> bool:
        return self._siting(request).place == SPREAD or (self.is_balanced and not self._is_on_one(request))

    def _stands(self, request: int) -> dict[int, int]:
        """Units of a request by host, with those of this cycle."""
        if request not in self.stands:
            found: dict[int, int] = {}
            for row in self.books.allocations.by_request.get(request, ()):
                host = self.books.allocations.host[row]
                found[host] = found.get(host, 0) + self.books.allocations.units[row]
            self.stands[request] = found
        both = self.stands[request].copy()
        for host, units in self.taken.get(request, {}).items():
            both[host] = both.get(host, 0) + units
        return both

    def _near(self, host: int, request: int) -> int:
        """Idle slots of a host for a request: those kept for it, else those kept for nobody, else all."""
        return min(self.idle[host], self.kept.get((host, request), 0)) or self._common(host) or self.idle[host]

    def _rank(self, request: int, host: int, units: int) -> tuple[int, ...]:
        """Order of hosts for the next units of a request, the host itself last."""
        siting, leaf = self._siting(request), self.books.requests.leaf[request]
        kept = 0 if self.kept.get((host, request)) else 1 if self._common(host) else 2
        liked = -siting.liking(self.books.hosts.labels.get(host, frozenset()))
        beside = 0 if not siting.place else self._stands(request).get(host, 0) * (1 if siting.place == SPREAD else -1)
        home = packed = 0
        if self.is_exclusive:
            home = int(self.holder[host] != leaf)
            packed = int(self.idle[host] > units) if home else -self.standing[host][leaf]
        elif self.is_balanced:
            packed = self._part_in_use(host)
        return kept, home, liked, beside, packed, host


def placement(books: Books) -> Placement:
    """Where units go in a cycle, by the packing of the group and what its requests say of hosts."""
    return Sites(books) if books.rows.is_exclusive or books.requests.siting else Placement(books)
