"""What consumers own, hold, borrow, lend, wait for and are entitled to of hosts' resources, in declared units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.cycle.pooled.quotas import quotas_of_leaves
from fairhold.kernels.vectors import total
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amounts_document
from fairhold.orchestrator.hosts import what_there_is
from fairhold.orchestrator.owned import borrowed_parts, deserved_now, owned_amounts, owners_of, unit_held
from fairhold.orchestrator.spans import apportion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.orchestrator.tasks import Attempt

Document = dict[str, Any]
NAMES = ("owned", "allocated", "borrowed", "lent", "waiting", "reclaiming", "entitled")
_Columns = dict[str, list[int]]
"""Path of a consumer, all of them → base units of every resource."""


def amounts_now(cluster: Cluster, now: int, cycle: VectorCycle, queues: Mapping[str, Document]) -> dict[str, Document]:
    """Path → `NAMES` → resource → amount, exact; nothing is said of what is 0.

    owned     : what it deserves as a queue, else what it and those below it own of hosts by now
    borrowed  : allocated beyond what it, and under `multidimensional` those above and below it, own
    lent      : owned and allocated by others: by whose parcels units stand on; of queues, who have no hosts, by sums
    entitled  : of a queue its fair share; else what leaves use of their own, and their usage quotas of pools; while
                nobody waits, what they use
    cycle : the one that would run now; queues: path → how a queue stands, as `queues_now` says it
    """
    books = cluster.books[POOLED]
    plan, paths = books.rows.source, books.rows.source.tree.paths
    attempts = [each for each in cluster.attempts.values() if each.job.resource_group == POOLED]
    by_name = [owned_amounts(cluster, POOLED, each.name, now) for each in plan.resources]
    columns: dict[str, _Columns] = {
        "owned": {path: [of.get(path, 0) for of in by_name] for path in paths},
        "allocated": _sums(books, ((each.job.leaf, unit_held(books, each), 1) for each in attempts)),
        "waiting": _sums(books, _waiting(cluster)),
        "reclaiming": _sums(books, ((each.job.leaf, unit_held(books, each), 1) for each in attempts if each.notice)),
    }
    columns["borrowed"], columns["lent"] = _by_parcels(books, attempts)
    _borrow_deserved(columns, deserved_now(plan, now))
    _lend_deserved(cluster, now, columns)
    columns["entitled"] = _entitled(books, cycle, columns["allocated"])
    found = {
        path: {name: amounts_document(plan.resources, tuple(columns[name][path])) for name in NAMES} for path in paths
    }
    for path, queue in queues.items():
        shares = {name: of["fair_share"] for name, of in queue["resources"].items()}
        found[path]["entitled"] = {name: share for name, share in shares.items() if share}
    return found


def _nothing(books: Books) -> _Columns:
    return {path: [0] * len(books.rows.source.resources) for path in books.rows.source.tree.paths}


def _sums(books: Books, parts: Iterable[tuple[int, Vector, int]]) -> _Columns:
    """Of every consumer what leaves below it have; parts: (leaf, unit, how many units)."""
    found = _nothing(books)
    for leaf, unit, count in parts:
        _add(found[books.rows.path(leaf)], (count * need for need in unit))
    return _rolled(books, found)


def _rolled(books: Books, found: _Columns) -> _Columns:
    """What leaves have, added to all above them."""
    tree = books.rows.source.tree
    for row in range(len(tree) - 1, 0, -1):
        _add(found[tree.paths[tree.parent[row]]], found[tree.paths[row]])
    return found


def _waiting(cluster: Cluster) -> Iterable[tuple[int, Vector, int]]:
    """Units that may start as soon as there is room."""
    books = cluster.books[POOLED]
    requests = books.requests
    assert books.vectors is not None
    for row in requests.rows():
        count = requests.count[row] - requests.held[row]
        unit = books.vectors.unit(cluster.jobs[requests.id[row]].terms.unit) if count > 0 else None
        if unit is not None:
            yield requests.leaf[row], unit, count


def _by_parcels(books: Books, attempts: Iterable[Attempt]) -> tuple[_Columns, _Columns]:
    """What consumers borrow (`owned.borrowed_parts`), and what of their own others use."""
    borrowed, lent, paths = _nothing(books), _nothing(books), books.rows.source.tree.paths
    for attempt in attempts:
        leaf = books.rows.path(attempt.job.leaf)
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


def _borrow_deserved(columns: dict[str, _Columns], paths: Iterable[str]) -> None:
    """Queues borrow what they hold beyond what they deserve."""
    for path in paths:
        has = zip(columns["allocated"][path], columns["owned"][path], strict=True)
        columns["borrowed"][path] = [max(0, held - own) for held, own in has]


def _lend_deserved(cluster: Cluster, now: int, columns: dict[str, _Columns]) -> None:
    """Queues lend what they deserve and others hold, by sums as slots are lent: what nobody deserves goes first."""
    books = cluster.books[POOLED]
    plan = books.rows.source
    tree, resources = plan.tree, range(len(plan.resources))
    owned, allocated, lent = columns["owned"], columns["allocated"], columns["lent"]
    for force in entries_in_force(plan, now):
        if not force.entry.policy.has_queues:
            continue
        hosts = [host for group in force.entry.resource_groups for host in plan.resource_groups[group].hosts]
        there = total((what_there_is(cluster, host, plan.resources) for host in hosts), len(plan.resources))
        rows = (books.rows.node[leaf] for leaf in books.rows.leaves)
        leaves = [tree.paths[row] for row in rows if tree.first_level[row] in force.members]
        for at in resources:
            room = [max(0, owned[path][at] - allocated[path][at]) for path in leaves]
            beyond = sum(columns["borrowed"][path][at] for path in leaves)
            unowned = max(0, there[at] - sum(owned[path][at] for path in leaves))
            for path, part in zip(leaves, apportion(beyond - unowned, room), strict=True):
                row = tree.rows[path] if part else 0
                while row > 0:
                    above = tree.paths[row]
                    lent[above][at] = min(lent[above][at] + part, max(0, owned[above][at] - allocated[above][at]))
                    row = tree.parent[row]


def _entitled(books: Books, cycle: VectorCycle, allocated: _Columns) -> _Columns:
    """Sums of the quotas of leaves."""
    found = _nothing(books)
    quotas = {leaf: each for done in cycle.done for leaf, each in quotas_of_leaves(done).items()}
    for leaf in books.rows.leaves:
        path = books.rows.path(leaf)
        found[path] = [*quotas.get(books.rows.node[leaf], allocated[path])]
    return _rolled(books, found)
