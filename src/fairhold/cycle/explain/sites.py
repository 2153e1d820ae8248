"""Labels and places in an explanation: what only some hosts can serve, and they do not (R-SITE-2, R-SITE-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import Control
from fairhold.ledger.sited import is_on_one, open_hosts_for
from fairhold.model.siting import ANYWHERE, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books

ALL = "all hosts"


def sites_of(result: CycleResult, row: int) -> Iterator[Control]:
    """What leaves of a subtree want beyond all slots of the hosts that will do, an entry for each kind of hosts."""
    rows, books = result.snapshot.rows, result.snapshot.books
    start = rows.position[row]
    for leaf in rows.tree.path[start : start + rows.size[row]]:
        units: dict[str, int] = {}
        kinds: dict[tuple[str, int], int] = {}
        for request, beyond in result.snapshot.unplaceable.get(leaf, {}).items():
            where = _hosts_of(books, request)
            units[where] = units.get(where, 0) + beyond
            kinds.setdefault((where, books.requests.minimum[request]), request)
        for where, beyond in units.items():
            alike = (request for (hosts, _), request in kinds.items() if hosts == where)
            away = dict.fromkeys(name for request in alike for name in _away(books, request))
            yield Control("site.never", rows.path(leaf), beyond, hosts=where, away=tuple(away))


def hosts_waited_for(books: Books, leaf: int) -> str:
    """On which hosts the waiting requests of a leaf may stand that may not stand on all."""
    found = {_hosts_of(books, row) for row in _waiting(books, leaf)} - {ALL}
    return found.pop() if len(found) == 1 else "the hosts that will do"


def hosts_bound_to(books: Books, leaf: int) -> set[int]:
    """The same hosts, but for those that start nothing."""
    sitings = [
        books.requests.siting.get(row, ANYWHERE) for row in _waiting(books, leaf) if _hosts_of(books, row) != ALL
    ]
    return {host for siting in sitings for host in open_hosts_for(books, siting)}


def _waiting(books: Books, leaf: int) -> list[int]:
    return [row for queue in books.requests.lines.of.get(leaf, {}).values() for row in queue]


def _away(books: Books, request: int) -> list[str]:
    """Hosts that are not up, or closed, and that would do for a request.

    For a request whose units all stand on one host, those that have slots for its minimum.
    """
    hosts, siting = books.hosts, books.requests.siting.get(request, ANYWHERE)
    least = books.requests.minimum[request] if is_on_one(books, request) else 1
    planned = {host.name: host.slots for host in books.rows.group.hosts}
    return [
        name
        for name, at in hosts.row_of.items()
        if (not hosts.up[at] or at in hosts.closed)
        and planned.get(name, 0) >= least
        and siting.fits(hosts.labels.get(at, frozenset()))
    ]


def _hosts_of(books: Books, request: int) -> str:
    """`hosts with zone=a`, `one host`; ALL for a request that may stand on any."""
    siting = books.requests.siting.get(request, ANYWHERE)
    on_one = is_on_one(books, request)
    if siting.need or siting.avoid:
        return f"{'one host' if on_one else 'hosts'} {words_of(siting)}"
    return "one host" if on_one else ALL
