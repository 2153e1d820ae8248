"""Units of a live cluster held for gangs that have waited too long (R-HOLD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.decision import Grant, book_keeps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.changes import Kept
    from fairhold.orchestrator.cluster import Cluster

    Told = tuple[str, str, int]


def count_kept(cluster: Cluster, change: Kept, _now: int) -> None:
    """All that is held for gangs of a group, or, in vectors, of what was freed for somebody."""
    vectors = cluster.books[change.resource_group].vectors
    if vectors is not None:
        vectors.held = {(job, host): units for job, host, units in change.held}
        vectors.freed.clear()
        return
    book_keeps(cluster.books[change.resource_group], _found(cluster, change.resource_group, change.held))


def kept_told(books: Books, kept: Iterable[Grant]) -> tuple[Told, ...]:
    """What is held, in names: id of the gang's request, host, units."""
    return tuple((books.requests.id[each.request], books.hosts.name[each.host], each.units) for each in kept)


def freeze_kept(cluster: Cluster) -> dict[str, dict[str, list[list[object]]]]:
    """What is held for gangs, by group; nothing where nothing is."""
    found: dict[str, list[list[object]]] = {}
    for group, books in cluster.books.items():
        keeps = books.keeps
        live = [Grant(keeps.request[row], keeps.host[row], keeps.units[row]) for row in keeps.live]
        if live:
            found[group] = [list(each) for each in kept_told(books, live)]
    return {"kept": found} if found else {}


def restore_kept(cluster: Cluster, document: dict[str, dict[str, list[Told]]]) -> None:
    """The reverse of `freeze_kept`, as far as gangs and hosts are still there."""
    for group, held in document.get("kept", {}).items():
        if group in cluster.books:
            book_keeps(cluster.books[group], _found(cluster, group, held))


def _found(cluster: Cluster, group: str, held: Iterable[Told]) -> Iterator[Grant]:
    hosts = cluster.books[group].hosts.row_of
    for name, host, units in held:
        job = cluster.jobs.get(name) or cluster.jobs.get(name.rpartition("[")[0])
        rows: dict[str, int] = {}
        if job is not None and job.resource_group == group:
            rows = {job.name: job.request} if job.gangs is None else dict(job.gangs)
        if name in rows and host in hosts:
            yield Grant(rows[name], hosts[host], units)
