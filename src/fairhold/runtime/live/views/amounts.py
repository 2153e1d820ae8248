"""What consumers own, hold, borrow, lend, wait for and are entitled to of hosts' resources, in declared units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.quotas import quotas_of_leaves
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amounts_document
from fairhold.runtime.holdings import holdings_now, nothing, rolled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.runtime.holdings import Columns

Document = dict[str, Any]
NAMES = ("owned", "allocated", "borrowed", "lent", "waiting", "reclaiming", "entitled")


def amounts_now(cluster: Cluster, now: int, cycle: VectorCycle, queues: Mapping[str, Document]) -> dict[str, Document]:
    """Path → `NAMES` → resource → amount, exact; nothing is said of what is 0. All but `entitled`: `holdings_now`.

    entitled : of a queue its fair share; else what leaves use of their own, and their usage quotas of pools; while
               nobody waits, what they use
    cycle : the one that would run now; queues: path → how a queue stands, as `queues_now` says it
    """
    books = cluster.books[POOLED]
    plan, paths = books.rows.source, books.rows.source.tree.paths
    columns = holdings_now(cluster, now)
    columns["entitled"] = _entitled(books, cycle, columns["allocated"])
    found = {
        path: {name: amounts_document(plan.resources, tuple(columns[name][path])) for name in NAMES} for path in paths
    }
    for path, queue in queues.items():
        shares = {name: of["fair_share"] for name, of in queue["resources"].items()}
        found[path]["entitled"] = {name: share for name, share in shares.items() if share}
    return found


def _entitled(books: Books, cycle: VectorCycle, allocated: Columns) -> Columns:
    """Sums of the quotas of leaves."""
    found = nothing(books)
    quotas = {leaf: each for done in cycle.done for leaf, each in quotas_of_leaves(done).items()}
    for leaf in books.rows.leaves:
        path = books.rows.path(leaf)
        found[path] = [*quotas.get(leaf, allocated[path])]
    return rolled(books, found)
