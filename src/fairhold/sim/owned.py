"""What every consumer owns of one resource, in the terms of its policy: the yardstick of the measures."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.force import entries_in_force
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.hosts import what_there_is
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Host
    from fairhold.orchestrator.cluster import Cluster


def capacity(cluster: Cluster, group: str, resource: str) -> int:
    """Slots, or base units of a resource, of what is up."""
    books = cluster.books[group]
    if group != POOLED:
        return books.slots
    plan = books.rows.source
    at = _place(books, resource)
    hosts = (host for name in plan.resource_groups for host in plan.resource_groups[name].hosts if host.amounts)
    return sum(_amount(cluster, host, at) for host in hosts)


def _amount(cluster: Cluster, host: Host, at: int) -> int:
    """What counts of one resource of a host, without overcommitment (R-UP-1)."""
    if cluster.is_open(POOLED, host.name):
        return host.amounts[at]
    return what_there_is(cluster, host, cluster.books[POOLED].rows.source.resources)[at]


def open_room(cluster: Cluster, group: str, resource: str) -> int:
    """The same of hosts that may start work: not of those that are closed, or silent."""
    books = cluster.books[group]
    if group != POOLED:
        hosts = books.hosts
        return books.slots - sum(hosts.slots[host] for host in hosts.closed)
    if not books.hosts.closed:
        return capacity(cluster, group, resource)
    at = _place(books, resource)
    groups = books.rows.source.resource_groups.values()
    hosts_there = (host for each in groups for host in each.hosts if host.amounts)
    return sum(host.amounts[at] for host in hosts_there if cluster.is_open(POOLED, host.name))


def owned_amounts(cluster: Cluster, group: str, resource: str, now: int) -> dict[str, int]:
    """Path → slots or base units: owned, planned by ratio, or deserved; who owns nothing is left out."""
    books = cluster.books[group]
    found = _of_slots(books) if group != POOLED else _of_vectors(cluster, resource, now)
    return {path: amount for path, amount in found.items() if amount}


def _of_slots(books: Books) -> dict[str, int]:
    """What is owned as the group is now; under `share_ratio` the planned share, floored level by level."""
    rows, slots = books.rows, books.slots
    if "share_ratio" not in rows.policies:
        return {rows.path(row): rows.owned_now(row, slots) for row in range(1, len(rows))}
    share = [0] * len(rows)
    share[0] = slots
    for row in range(len(rows)):
        children = range(rows.tree.first[row], rows.tree.end[row])
        total = sum(rows.ratio[child] for child in children)
        for child in children if total else ():
            share[child] = share[row] * rows.ratio[child] // total
    return {rows.path(row): share[row] for row in range(1, len(rows))}


def _of_vectors(cluster: Cluster, resource: str, now: int) -> dict[str, int]:
    """What is owned of hosts as adjusted last, and what queues deserve; owners' ancestors own it, too."""
    books = cluster.books[POOLED]
    plan, at = books.rows.source, _place(books, resource)
    tree, found = plan.tree, [0] * len(plan.tree)
    assert books.vectors is not None
    for parcel in books.vectors.ownership or ():
        found[parcel.consumer] += parcel.amounts[at]
    for row in range(len(tree) - 1, 0, -1):
        found[tree.parent[row]] += found[row]
    for force in entries_in_force(plan, now):
        if force.entry.settings.fair_share is None:
            continue
        for row, settings in force.entry.consumers.items():
            amount = dict(settings.queue.deserved).get(at, 0)
            found[row] = capacity(cluster, POOLED, resource) if amount == UNLIMITED else amount
    return {tree.paths[row]: found[row] for row in range(1, len(tree))}


def amount_of(books: Books, unit: tuple[tuple[str, str], ...], units: int, resource: str) -> int:
    """Slots of a task, or base units of a resource that one of its units takes."""
    if books.vectors is None:
        return units
    of = books.rows.source.resources[_place(books, resource)]
    return int(Fraction(dict(unit).get(resource, "0")) * of.base)


def unit_of(books: Books, resource: str) -> tuple[str, int]:
    """What amounts of a resource are in, as `GiB`, and base units of one."""
    if books.vectors is None:
        return "", 1
    of = books.rows.source.resources[_place(books, resource)]
    return of.unit, of.base


def _place(books: Books, resource: str) -> int:
    return [each.name for each in books.rows.source.resources].index(resource)
