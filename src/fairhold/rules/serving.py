"""Inside a leaf: which request gets its units, and on which hosts."""

from __future__ import annotations

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
    """Give a leaf's units to its requests: priority (high first), submitted, id (R-GRANT-3).

    A gang below its minimum takes all that it misses to the minimum at once, or the next request is asked. Units that
    are kept for a request are others' only as far as it does not take them itself.
    """
    requests = books.requests
    waiting = [row for row in requests.by_leaf.get(leaf, ()) if requests.count[row] > requests.held[row]]
    waiting.sort(key=lambda row: (-requests.priority[row], requests.submitted[row], requests.id[row]))
    kept = _kept_for(books, leaf)
    # A gang that does not run may not be able to start, and would keep its units from all others.
    reserved = {
        row: min(kept.get(row, 0), requests.count[row] - requests.held[row])
        if requests.held[row] >= requests.minimum[row]
        else 0
        for row in waiting
    }
    grants: list[Grant] = []
    others = sum(reserved.values())
    for row in waiting:
        if units == 0:
            break
        others -= reserved[row]
        usable = min(units, max(units - others, kept.get(row, 0)))
        wanted = requests.count[row] - requests.held[row]
        starts_with = requests.minimum[row] - requests.held[row]
        if starts_with > min(usable, wanted):
            continue
        placed = places.place(row, min(usable, wanted))
        grants.extend(placed)
        units -= sum(grant.units for grant in placed)
    return grants


def _kept_for(books: Books, leaf: int) -> dict[int, int]:
    """Units kept for each request of a leaf."""
    kept: dict[int, int] = {}
    for row in books.keeps.live if books.kept[leaf] else ():
        if books.hosts.up[books.keeps.host[row]]:
            request = books.keeps.request[row]
            kept[request] = kept.get(request, 0) + books.keeps.units[row]
    return kept
