"""Who uses what others own, of units of vectors: each knows on whose parcels it stands (R-LEND-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import total
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amounts_document
from fairhold.runtime.lending import Lending

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster


class UnitLenders:
    """As `lending.Lenders`, of all that a cluster shares in vectors; a unit of any size counts as one.

    Borrowed is what a leaf holds and neither it nor a consumer above it owns; a unit may have several lenders.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def changed(self, leaf: int) -> None:
        """What a leaf holds is another number; nothing is kept of it here."""

    def now(self) -> Lending:
        """Who borrows and who lends, by row of a consumer."""
        by_path = self._cluster.books[POOLED].rows.by_path
        borrowed: dict[int, int] = {}
        lent: dict[int, int] = {}
        for attempt in self._cluster.attempts.values():
            if attempt.job.resource_group == POOLED:
                if not attempt.is_own:
                    borrowed[attempt.job.leaf] = borrowed.get(attempt.job.leaf, 0) + 1
                for path in attempt.lenders:
                    lent[by_path[path]] = lent.get(by_path[path], 0) + 1
        return Lending(borrowed, lent)


def owners(books: Books) -> list[str]:
    """Paths of consumers that own something of hosts in some window."""
    plan = books.rows.source
    rows = {row for entry in plan.policies for row, stated in entry.consumers.items() if stated.own}
    return [plan.tree.paths[row] for row in sorted(rows)]


def owned_text(books: Books, path: str) -> str:
    """What a consumer and those below it own of hosts by now, as `cpu 4, gpu 2`; empty = nothing."""
    assert books.vectors is not None
    plan = books.rows.source
    mine = [
        parcel.amounts
        for parcel in books.vectors.ownership or ()
        if f"{plan.tree.paths[parcel.consumer]}/".startswith(f"{path}/")
    ]
    amounts = amounts_document(plan.resources, total(mine, len(plan.resources)))
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())
