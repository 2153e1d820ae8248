"""Grants on hosts where they may not stand (R-HOSTS-1, R-SITE-1, R-SITE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.occupants import holders, occupants
from fairhold.ledger.tables import NOBODY
from fairhold.model.siting import PACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def misplaced(result: CycleResult) -> Iterator[tuple[str, str]]:
    """(host, what is wrong) of every grant on a host of another consumer, without a label, or apart from its gang."""
    books = result.snapshot.books
    requests, hosts = books.requests, books.hosts
    holder = holders(books, occupants(books)) if books.rows.is_exclusive else []
    for grant in result.decision.grants:
        leaf, siting = requests.leaf[grant.request], requests.siting.get(grant.request)
        if holder:
            if holder[grant.host] not in {leaf, NOBODY}:
                yield hosts.name[grant.host], f"belongs to {books.rows.path(holder[grant.host])}"
            holder[grant.host] = leaf
        if siting is None:
            continue
        if not siting.fits(hosts.labels.get(grant.host, frozenset())):
            yield hosts.name[grant.host], f"{requests.id[grant.request]} needs {siting.need}, avoids {siting.avoid}"
        if siting.place == PACK and requests.minimum[grant.request]:
            rows = books.allocations.by_request.get(grant.request, ())
            stands = {books.allocations.host[row] for row in rows}
            stands |= {other.host for other in result.decision.grants if other.request == grant.request}
            if len(stands) > 1 and grant.host not in {books.allocations.host[row] for row in rows}:
                yield hosts.name[grant.host], f"{requests.id[grant.request]} stands on {len(stands)} hosts"
