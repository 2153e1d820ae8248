"""Who lends a consumer what, and to whom it lends, now."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import number
from fairhold.orchestrator.lending import lending
from fairhold.orchestrator.lending_pairs import pairs_of
from fairhold.orchestrator.owned import deserved_now, lent_parts
from fairhold.runtime.holdings import holdings_now, queue_lending

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ledger.books import Books
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
SLOTS = "slots"


class Loan(NamedTuple):
    """Paths of a lender, `/` = nobody, and of a leaf that borrows; what of a resource, in declared units."""

    lender: str
    borrower: str
    resource: str
    units: Fraction


def lending_document(core: Core, consumer: str) -> Document:
    """Resource group → `pairs` in which the consumer, or somebody below it, lends or borrows."""

    def is_mine(path: str) -> bool:
        return f"{path}/".startswith(f"{consumer.rstrip('/')}/")

    found = {}
    for group, books in core.orchestrator.books.items():
        loans = _of_vectors(core) if group == POOLED else _of_slots(books)
        rows = [each for each in loans if is_mine(each.lender) or is_mine(each.borrower)]
        found[books.rows.group.name] = {"pairs": together([each._asdict() for each in rows])}
    return {"consumer": consumer, "resource_groups": found}


def together(rows: Iterable[Document]) -> list[Document]:
    """Rows that name the same lender, borrower and resource as one, in the order in which each was named first."""
    sums: dict[tuple[str, str, str], Fraction] = {}
    for row in rows:
        key = row["lender"], row["borrower"], row["resource"]
        sums[key] = sums.get(key, Fraction(0)) + Fraction(row["units"])
    return [
        {"lender": lender, "borrower": borrower, "resource": resource, "units": number(units)}
        for (lender, borrower, resource), units in sums.items()
    ]


def _of_slots(books: Books) -> Iterator[Loan]:
    rows = books.rows
    for lender, borrower, units in pairs_of(lending(books), rows.tree, books.borrowed):
        yield Loan(rows.path(lender), rows.path(borrower), SLOTS, Fraction(units))


def _of_vectors(core: Core) -> Iterator[Loan]:
    """By whose parcels units stand on; of queues, who have none, by sums as of slots."""
    cluster, now = core.cluster, core.orchestrator.now
    books = cluster.books[POOLED]
    plan, tree = books.rows.source, books.rows.tree
    queues = deserved_now(plan, now, books.rows.spent)
    for attempt in cluster.attempts.values():
        leaf = attempt.job.consumer
        if attempt.job.resource_group != POOLED or leaf in queues:
            continue
        for lender, part in lent_parts(books, attempt):
            for resource, amount in zip(plan.resources, part, strict=True):
                if amount:
                    yield Loan(lender, leaf, resource.name, Fraction(amount, resource.base))
    for at, found in queue_lending(cluster, now, holdings_now(cluster, now)) if queues else ():
        resource = plan.resources[at]
        for pair in pairs_of(found, tree):
            lender, borrower = books.rows.path(pair.lender), books.rows.path(pair.borrower)
            yield Loan(lender, borrower, resource.name, Fraction(pair.units, resource.base))
