"""Requests that may stand on some hosts only: which ones, and what of their demand these hosts could never take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE, PACK

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.siting import Siting


def hosts_for(books: Books, siting: Siting) -> list[int]:
    """Hosts that are up and will do for a request (R-SITE-1)."""
    hosts = books.hosts
    labels = hosts.labels
    return [host for host, up in enumerate(hosts.up) if up and siting.fits(labels.get(host, frozenset()))]


def is_on_one(books: Books, request: int) -> bool:
    """Whether all units of a request stand on one host: those of a gang that packs (R-SITE-3)."""
    requests = books.requests
    return requests.minimum[request] > 0 and requests.siting.get(request, ANYWHERE).place == PACK


def beyond_hosts(books: Books) -> dict[int, int]:
    """Request → units that it wants beyond what the hosts that will do could ever take (R-SITE-2).

    Requests of a leaf that want the same of hosts share these, in the order of priority, submitted, id. What a request
    holds counts in any case.
    """
    requests, slots = books.requests, books.hosts.slots
    room: dict[tuple[int, Siting], list[int]] = {}
    beyond: dict[int, int] = {}

    def place(row: int) -> tuple[int, int, str]:
        return -requests.priority[row], requests.submitted[row], requests.id[row]

    for row in sorted(requests.siting, key=place):
        siting, held = requests.siting[row], requests.held[row]
        alike = requests.leaf[row], siting._replace(prefer=(), place="")
        if alike not in room:
            sizes = [slots[host] for host in hosts_for(books, siting)]
            room[alike] = [sum(sizes), max(sizes, default=0)]
        most = min(room[alike]) if is_on_one(books, row) else room[alike][0]
        most = max(held, min(requests.count[row], most))
        if most < requests.minimum[row]:
            most = held
        room[alike][0] -= min(room[alike][0], most)
        if most < requests.count[row]:
            beyond[row] = requests.count[row] - most
    return beyond
