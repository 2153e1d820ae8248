"""What a cycle of a live cluster leaves beside what it moves: loans, and notices that can no longer be withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger import transitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.changes import CycleRan, LoansCounted, Pinned
    from fairhold.orchestrator.cluster import Cluster


def count_cycle(cluster: Cluster, change: CycleRan, _now: int) -> None:
    """A cycle ran; where nothing is reclaimed by order, the notices of a switch are still to be given (R-SWITCH-1)."""
    cluster.cycles = change.number
    if not cluster.paused.get(change.resource_group, (False, False))[1]:
        cluster.books[change.resource_group].before = ()


def count_loans(cluster: Cluster, change: LoansCounted, _now: int) -> None:
    """Who uses whose slots from now on (R-LEND-4)."""
    books = cluster.books[change.resource_group]
    row = books.rows.by_path
    books.borrowed = {(row[borrower], row[lender]): units for borrower, lender, units in change.loans}


def pin(cluster: Cluster, change: Pinned, _now: int) -> None:
    """The notice of an attempt counts for a switch of windows, and is never withdrawn (R-SWITCH-1)."""
    attempt = cluster.attempts[change.attempt]
    notices = cluster.books[attempt.job.resource_group].notices
    assert attempt.notice is not None
    attempt.notice = attempt.notice._replace(reason="window")
    for allocation in attempt.allocations:
        for notice in notices.by_allocation.get(allocation, ()):
            notices.reason[notice] = transitions.WINDOW


def told(books: Books, loans: Iterable[tuple[tuple[int, int], int]]) -> Iterator[tuple[str, str, int]]:
    """Loans in paths: borrower, lender, units."""
    for (borrower, lender), units in loans:
        yield books.rows.path(borrower), books.rows.path(lender), units
