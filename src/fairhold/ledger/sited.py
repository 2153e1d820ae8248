"""Requests that can run on some hosts only: which hosts, and how much these hosts have for them in total."""

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


def open_hosts_for(books: Books, siting: Siting) -> list[int]:
    """Those of them that start something: hosts that are not closed (R-UP-1)."""
    return [host for host in hosts_for(books, siting) if host not in books.hosts.closed]


def is_on_one(books: Books, request: int) -> bool:
    """Whether all units of a request stand on one host: those of a gang that packs (R-SITE-3)."""
    requests = books.requests
    return requests.minimum[request] > 0 and requests.siting.get(request, ANYWHERE).place == PACK


def most_of(books: Books, request: int) -> int:
    """Slots of the hosts that will do for a request and are open; for one that packs those of one host (R-HOLD-1)."""
    hosts, allocations = books.hosts, books.allocations
    able = open_hosts_for(books, books.requests.siting.get(request, ANYWHERE))
    if not is_on_one(books, request):
        return sum(hosts.slots[host] for host in able)
    mine = {allocations.host[row] for row in allocations.by_request.get(request, ())}
    return max((hosts.slots[host] for host in able if not mine or host in mine), default=0)
