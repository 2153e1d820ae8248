"""What every consumer owns now, in the terms of its policy; the live service and simulations use the same code."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.kernels.vectors import common, total
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.hosts import what_there_is
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.model.plan import Host, Plan
    from fairhold.model.state import Parts
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster


def capacity(cluster: Cluster, group: str, resource: str) -> int:
    """Slots, or base units of a resource, of hosts that are up."""
    books = cluster.books[group]
    if group != POOLED:
        return books.slots
    plan = books.rows.source
    at = place_of(books, resource)
    hosts = (host for name in plan.resource_groups for host in plan.resource_groups[name].hosts if host.amounts)
    return sum(_amount(cluster, host, at) for host in hosts)


def _amount(cluster: Cluster, host: Host, at: int) -> int:
    """What counts of one resource of a host, without overcommitment (R-UP-1)."""
    if cluster.is_open(POOLED, host.name):
        return host.amounts[at]
    return what_there_is(cluster, host, cluster.books[POOLED].rows.source.resources)[at]


def open_room(cluster: Cluster, group: str, resource: str) -> int:
    """The same of hosts that may start work, which excludes closed and silent ones."""
    books = cluster.books[group]
    if group != POOLED:
        hosts = books.hosts
        return books.slots - sum(hosts.slots[host] for host in hosts.closed)
    if not books.hosts.closed:
        return capacity(cluster, group, resource)
    at = place_of(books, resource)
    groups = books.rows.source.resource_groups.values()
    hosts_there = (host for each in groups for host in each.hosts if host.amounts)
    return sum(host.amounts[at] for host in hosts_there if cluster.is_open(POOLED, host.name))


def owned_amounts(cluster: Cluster, group: str, resource: str, now: int) -> dict[str, int]:
    """Path → slots or base units: owned, planned by ratio, or deserved; consumers that own nothing are left out."""
    books = cluster.books[group]
    if group == POOLED:
        found = _of_vectors(cluster, resource, now)
    else:
        found = dict(
            zip(map(books.rows.path, range(len(books.rows))), owned_slots(books.rows, books.slots), strict=True)
        )
        del found["/"]
    return {path: amount for path, amount in found.items() if amount}


def owned_slots(rows: Rows, slots: int) -> list[int]:
    """(rows,) what is owned of so many slots, whole ones (R-SCALE-1).

    Under `share_ratio` it is the planned share, floored level by level.
    """
    if not rows.entry.policy.divides_by_ratio:
        return [slots, *rows.all_owned_now(slots)[1:]]
    share = [0] * len(rows)
    share[0] = slots
    for row in range(len(rows)):
        children, total = rows.tree.children(row), rows.tree.total(rows.ratio, row)
        for child in children if total else ():
            share[child] = share[row] * rows.ratio[child] // total
    return share


def _of_vectors(cluster: Cluster, resource: str, now: int) -> dict[str, int]:
    """What is owned of hosts as adjusted last, and what queues deserve; owners' ancestors own it, too."""
    books = cluster.books[POOLED]
    plan, at = books.rows.source, place_of(books, resource)
    tree, found = plan.tree, [0] * len(plan.tree)
    assert books.vectors is not None
    for parcel in books.vectors.ownership or ():
        found[parcel.consumer] += parcel.amounts[at]
    for row in range(len(tree) - 1, 0, -1):
        found[tree.parent[row]] += found[row]
    for force in entries_in_force(plan, now, books.rows.spent):
        if force.entry.settings.fair_share is None:
            continue
        for row, settings in force.entry.consumers.items():
            amount = dict(settings.queue.deserved).get(at, 0)
            found[row] = capacity(cluster, POOLED, resource) if amount == UNLIMITED else amount
    return {tree.paths[row]: found[row] for row in range(1, len(tree))}


def deserved_now(plan: Plan, now: int, spent: frozenset[int]) -> dict[str, Vector]:
    """Path of a queue of the entries in force → what it deserves of every resource, in base units.

    spent : rows of consumers whose budgets are used up
    """
    found: dict[str, Vector] = {}
    for force in entries_in_force(plan, now, spent):
        if force.entry.policy.has_queues:
            deserved = queue_terms_of(plan, force.entry, force.members).deserved
            for row, top in enumerate(plan.tree.first_level):
                if top in force.members:
                    found[plan.tree.paths[row]] = tuple([column[row] for column in deserved])
    return found


def unit_held(books: Books, attempt: Attempt) -> Vector:
    """Base units that an attempt holds of every resource; none where the plan does not know its unit any more."""
    assert books.vectors is not None
    return books.vectors.unit(attempt.job.terms.unit) or (0,) * len(books.rows.source.resources)


def owners_of(books: Books, attempt: Attempt) -> Parts:
    """(row of an owner, 0 = nobody; what of its parcels a unit stands on)."""
    assert books.vectors is not None
    if parts := books.vectors.parts(attempt.parts):
        return parts
    owner = attempt.lenders[0] if attempt.lenders else attempt.job.consumer if attempt.is_own else "/"
    return ((books.rows.source.tree.rows[owner], unit_held(books, attempt)),)


def own_part(books: Books, attempt: Attempt) -> Vector:
    """What of a unit stands on parcels of its leaf or of those above it."""
    tree = books.rows.source.tree
    row = tree.rows[attempt.job.consumer]
    mine = (part for owner, part in owners_of(books, attempt) if _is_own(tree, owner, row))
    return common(unit_held(books, attempt), total(mine, len(books.rows.source.resources)))


def lent_parts(books: Books, attempt: Attempt) -> list[tuple[str, Vector]]:
    """(path of a consumer, `/` = nobody; what of a unit stands on its parcels) of those whose unit it is not."""
    tree, row = books.rows.source.tree, books.rows.source.tree.rows[attempt.job.consumer]
    return [(tree.paths[owner], part) for owner, part in owners_of(books, attempt) if not _is_own(tree, owner, row)]


def borrowed_parts(books: Books, attempt: Attempt) -> list[tuple[int, Vector]]:
    """(row of a consumer, what of a unit it borrows) of a leaf and all above it but the root.

    Borrowed is what stands on parcels of neither the consumer nor those above or below it.
    """
    tree, resources = books.rows.source.tree, len(books.rows.source.resources)
    owners, row = owners_of(books, attempt), tree.rows[attempt.job.consumer]
    found = []
    while row > 0:
        others = total((part for owner, part in owners if not _is_own(tree, owner, row)), resources)
        if any(others):
            found.append((row, others))
        row = tree.parent[row]
    return found


def _is_own(tree: ConsumerTree, owner: int, row: int) -> bool:
    """Whether what an owner owns is a consumer's own: the owner is it, or above it, or below it."""
    path, other = tree.paths[owner], tree.paths[row]
    return owner != 0 and (f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"))


def amount_of(books: Books, unit: tuple[tuple[str, str], ...], units: int, resource: str) -> int:
    """Slots of a task, or base units of a resource that one of its units takes."""
    if books.vectors is None:
        return units
    of = books.rows.source.resources[place_of(books, resource)]
    return int(Fraction(dict(unit).get(resource, "0")) * of.base)


def unit_of(books: Books, resource: str) -> tuple[str, int]:
    """What amounts of a resource are in, as `GiB`, and base units of one."""
    if books.vectors is None:
        return "", 1
    of = books.rows.source.resources[place_of(books, resource)]
    return of.unit, of.base


def place_of(books: Books, resource: str) -> int:
    """Where a vector has the amount of a resource."""
    return [each.name for each in books.rows.source.resources].index(resource)
