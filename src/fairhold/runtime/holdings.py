"""What consumers own, hold, borrow, lend and wait for of hosts' resources: one meaning for `run` and the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.kernels.columns import zeros
from fairhold.kernels.vectors import total
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amounts_document
from fairhold.orchestrator.hosts import what_there_is
from fairhold.orchestrator.lending import Lenders
from fairhold.orchestrator.owned import borrowed_parts, deserved_now, owned_amounts, owners_of, unit_held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.lending import Lending

Columns = dict[str, list[int]]
"""Path of a consumer, all of them → base units of every resource."""


def holdings_now(cluster: Cluster, now: int) -> dict[str, Columns]:
    """`owned`, `allocated`, `waiting`, `reclaiming`, `borrowed` and `lent` → path → amounts.

    owned    : what it deserves as a queue, else what it and those below it own of hosts by now
    borrowed : allocated beyond what it, and under `multidimensional` those above and below it, own
    lent     : owned and allocated by others: by whose parcels units stand on; of queues, who have no hosts, by sums
    """
    books = cluster.books[POOLED]
    plan, paths = books.rows.source, books.rows.source.tree.paths
    attempts = [each for each in cluster.attempts.values() if each.job.resource_group == POOLED]
    by_name = [owned_amounts(cluster, POOLED, each.name, now) for each in plan.resources]
    columns: dict[str, Columns] = {
        "owned": {path: [of.get(path, 0) for of in by_name] for path in paths},
        "allocated": _sums(books, _held(books, attempts)),
        "waiting": _sums(books, _waiting(cluster)),
        "reclaiming": _sums(books, _held(books, [each for each in attempts if each.notice])),
    }
    columns["borrowed"], columns["lent"] = _by_parcels(books, attempts)
    _borrow_deserved(columns, deserved_now(plan, now, books.rows.spent))
    _lend_deserved(cluster, now, columns)
    return columns


def amounts_text(books: Books, vector: Sequence[int]) -> str:
    """Amounts as `cpu 4, gpu 2`; `0` = nothing of any resource."""
    amounts = amounts_document(books.rows.source.resources, tuple(vector))
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items()) or "0"


def owners(books: Books) -> list[str]:
    """Paths of consumers that own something of hosts in some window."""
    plan = books.rows.source
    rows = {row for entry in plan.policies for row, stated in entry.consumers.items() if stated.own}
    return [plan.tree.paths[row] for row in sorted(rows)]


def nothing(books: Books) -> Columns:
    """Nothing of any resource for anybody."""
    return {path: [0] * len(books.rows.source.resources) for path in books.rows.source.tree.paths}


def _sums(books: Books, parts: Iterable[tuple[str, Vector, int]]) -> Columns:
    """Of every consumer what leaves below it have; parts: (path of a leaf, unit, how many units)."""
    found = nothing(books)
    for leaf, unit, count in parts:
        _add(found[leaf], (count * need for need in unit))
    return rolled(books, found)


def _held(books: Books, attempts: Iterable[Attempt]) -> Iterable[tuple[str, Vector, int]]:
    return ((each.job.consumer, unit_held(books, each), 1) for each in attempts)


def rolled(books: Books, found: Columns) -> Columns:
    """What leaves have, added to all above them."""
    tree = books.rows.source.tree
    for row in range(len(tree) - 1, 0, -1):
        _add(found[tree.paths[tree.parent[row]]], found[tree.paths[row]])
    return found


def _waiting(cluster: Cluster) -> Iterable[tuple[str, Vector, int]]:
    """Units that may start as soon as there is room."""
    books = cluster.books[POOLED]
    requests = books.requests
    assert books.vectors is not None
    for row in requests.rows():
        count = requests.count[row] - requests.held[row]
        job = cluster.jobs[requests.id[row]] if count > 0 else None
        unit = books.vectors.unit(job.terms.unit) if job is not None else None
        if job is not None and unit is not None:
            yield job.consumer, unit, count


def _by_parcels(books: Books, attempts: Iterable[Attempt]) -> tuple[Columns, Columns]:
    """What consumers borrow (`owned.borrowed_parts`), and what of their own others use."""
    borrowed, lent, paths = nothing(books), nothing(books), books.rows.source.tree.paths
    for attempt in attempts:
        leaf = attempt.job.consumer
        for row, part in borrowed_parts(books, attempt):
            _add(borrowed[paths[row]], part)
        for owner, part in owners_of(books, attempt):
            for path in _line(paths[owner]) if owner else ():
                if not _is_in(leaf, path):
                    _add(lent[path], part)
    return borrowed, lent


def _line(path: str) -> list[str]:
    """A consumer and all above it but the root."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]


def _is_in(path: str, other: str) -> bool:
    return f"{path}/".startswith(f"{other}/")


def _add(sums: list[int], more: Iterable[int]) -> None:
    sums[:] = [one + other for one, other in zip(sums, more, strict=True)]


def _borrow_deserved(columns: dict[str, Columns], paths: Iterable[str]) -> None:
    """Queues borrow what they hold beyond what they deserve."""
    for path in paths:
        has = zip(columns["allocated"][path], columns["owned"][path], strict=True)
        columns["borrowed"][path] = [max(0, held - own) for held, own in has]


def _lend_deserved(cluster: Cluster, now: int, columns: dict[str, Columns]) -> None:
    """Queues lend what they deserve and others hold, by sums as slots are lent."""
    paths = cluster.books[POOLED].rows.source.tree.paths
    for at, lending in queue_lending(cluster, now, columns):
        for row, amount in lending.lent.items():
            columns["lent"][paths[row]][at] = amount


def queue_lending(cluster: Cluster, now: int, columns: Mapping[str, Columns]) -> Iterator[tuple[int, Lending]]:
    """Of every entry of queues and each resource: its place in a vector, who borrows and who lends.

    columns : with `owned` and `allocated`, as `holdings_now` has them
    """
    books = cluster.books[POOLED]
    plan, paths = books.rows.source, books.rows.source.tree.paths
    owned, allocated = columns["owned"], columns["allocated"]
    for force in entries_in_force(plan, now):
        if not force.entry.policy.has_queues:
            continue
        hosts = [host for group in force.entry.resource_groups for host in plan.resource_groups[group].hosts]
        there = total((what_there_is(cluster, host, plan.resources) for host in hosts), len(plan.resources))
        is_mine = [top in force.members for top in plan.tree.first_level]
        for at in range(len(plan.resources)):
            own = [owned[path][at] if mine else 0 for path, mine in zip(paths, is_mine, strict=True)]
            lenders = Lenders(books.rows.tree, own, zeros(len(own)), there[at])
            for leaf in books.rows.leaves:
                lenders.hold(leaf, allocated[paths[leaf]][at] if is_mine[leaf] else 0)
            yield at, lenders.now()
