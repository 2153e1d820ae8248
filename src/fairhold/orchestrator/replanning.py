"""Puts another plan in force in a live cluster, which goes on: nothing is made anew that there are very many of.

Requests, allocations and notices stay in their tables, in which only the columns of leaves and hosts change, and jobs
and attempts stay as they are, but for paths. What the plan itself is as large as goes the way of `freeze` and `thaw`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.renumbering import NewRows, carry
from fairhold.ledger.tables import NOBODY
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.budgets import count_held, restore_spent
from fairhold.orchestrator.freeze import freeze_told, restore_told
from fairhold.orchestrator.histories import count_rates
from fairhold.orchestrator.hosts import label_hosts, restore_hosts
from fairhold.orchestrator.in_use import refuse_where_in_use, takes
from fairhold.orchestrator.renaming import Renaming
from fairhold.orchestrator.vectors import stand_again

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


def put_in_force(cluster: Cluster, books: Mapping[str, Books], moved: Mapping[str, str] | None = None) -> None:
    """A cluster goes on under another plan, as `thaw` of what `freeze` says of it would; whole, or not at all.

    books, moved : as in `thaw`
    Raises InUseError, with nothing changed, as `thaw` does.
    """
    now, told = Renaming(books, moved or {}), freeze_told(cluster)
    restore_spent(books, told, now.node)
    leaves = {
        group: [now.leaf(group, old.rows.path(row)) for row in range(len(old.rows))]
        for group, old in cluster.books.items()
    }
    is_fitting = all(leaves[group][row] is not None for group, old in cluster.books.items() for row in old.rows.leaves)
    ended = [] if is_fitting and POOLED not in cluster.books else _check(cluster, now)
    before, hosts = cluster.books, cluster.hosts
    _rename(cluster, now, ended)
    cluster.use(books)
    used = {(group, old.hosts.name[row]) for group, old in before.items() for row in _used(old)}
    restore_hosts(cluster, ((*name, host.slots, host.is_up, host.planned) for name, host in hosts.items()), used)
    label_hosts(cluster, cluster.machines)
    for group in books:
        if group in before:
            _carry(before[group], books[group], leaves[group])
    _stand_again(cluster, now)
    count_held(cluster, told, now.node)
    count_rates(cluster)
    cluster.fit_all()
    restore_told(cluster, told, now)


def forget_machines(cluster: Cluster, nodes: Collection[str]) -> None:
    """Machines are forgotten that were nodes of a cluster and are gone, once nothing of them is booked.

    nodes : those that there are
    """
    hosts = {cluster.machine_of(host) for _, host in cluster.hosts}
    idle = [name for name, each in cluster.machines.items() if each.is_silent and each.shut is None]
    for name in idle:
        if name not in hosts and name not in nodes and not cluster.on(name):
            del cluster.machines[name]


def _check(cluster: Cluster, now: Renaming) -> list[JobRecord]:
    """Jobs that have ended and whose leaf is gone; raises InUseError where others have no place any more."""
    known: dict[tuple[int, str], bool] = {}
    out = []
    for job in cluster.jobs.values():
        key = id(job.terms), job.consumer
        if key not in known:
            known[key] = takes(now, job.terms.resource_group, job.consumer, job.terms.unit)
        if not known[key]:
            out.append(job)
    live = [job for job in out if not job.is_over]
    refuse_where_in_use(((job.name, job.resource_group, job.consumer, job.terms.unit) for job in live), now)
    return [job for job in out if now.leaf(job.resource_group, job.consumer) is None]


def _carry(old: Books, books: Books, leaves: Iterable[int | None]) -> None:
    """The tables of a group's books go over to those of the plan; leaves: by row before, the row now."""
    row_of = books.hosts.row_of
    hosts = [row_of.get(name, NOBODY) for name in old.hosts.name]
    carry(old, books, NewRows([NOBODY if leaf is None else leaf for leaf in leaves]), NewRows(hosts))


def _used(books: Books) -> Iterable[int]:
    return (row for row, units in enumerate(books.hosts.used) if units)


def _rename(cluster: Cluster, now: Renaming, ended: list[JobRecord]) -> None:
    """Jobs whose leaf is called otherwise say so; those that have ended and whose leaf is gone are forgotten."""
    paths = {path for old in cluster.books.values() for path in old.rows.paths} if now.moved else ()
    new = {path: now.path(path) for path in paths}
    renamed = [job for job in cluster.jobs.values() if new[job.consumer] != job.consumer] if new else []
    for watch in cluster.watches:
        watch.copy(ended)
        watch.rename(renamed)
    for job in renamed:
        job.consumer = new[job.consumer]
    for job in ended:
        del cluster.jobs[job.name]


def _stand_again(cluster: Cluster, now: Renaming) -> None:
    """Takers and lenders of attempts are called otherwise, or are gone; cycles of vectors are told everything anew."""
    for attempt in cluster.attempts.values():
        group, notice = attempt.job.terms.resource_group, attempt.notice
        if notice is not None and notice.taker:
            taker = "" if now.leaf(group, notice.taker) is None else now.path(notice.taker)
            attempt.notice = notice._replace(taker=taker)
        if group == POOLED:
            stand_again(attempt, cluster.books[group], now.path)
    vectors = cluster.books[POOLED].vectors if POOLED in cluster.books else None
    if vectors is not None:
        for job in cluster.jobs.values():
            if job.terms.resource_group == POOLED:
                job.noun, job.serial = None, vectors.next_job()
