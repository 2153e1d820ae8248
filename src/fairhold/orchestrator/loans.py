"""Results of a cycle of a live cluster besides grants and notices: loans, shortages, pinned notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger import transitions
from fairhold.ledger.decision import Shortage
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.kept_units import count_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.renaming import Renaming


def count_cycle(cluster: Cluster, change: say.CycleRan, now: int) -> None:
    """A cycle ran. While reclaims are paused, notices of a switch still have to be given later (R-SWITCH-1)."""
    cluster.cycles = change.number
    cluster.books[change.resource_group].ran = now
    if not cluster.paused.get(change.resource_group, (False, False))[1]:
        cluster.books[change.resource_group].before = ()


def pause(cluster: Cluster, change: say.Paused, _now: int) -> None:
    """Pause grants or reclaims of a group, or resume them."""
    cluster.paused[change.resource_group] = (change.grants, change.reclaims)


def count_loans(cluster: Cluster, change: say.LoansCounted, _now: int) -> None:
    """Record the loans from now on (R-LEND-4)."""
    books = cluster.books[change.resource_group]
    row = books.rows.by_path
    books.borrowed = {(row[borrower], row[lender]): units for borrower, lender, units in change.loans}


def count_shortages(cluster: Cluster, change: say.ShortagesCounted, _now: int) -> None:
    """Record deficits and since when (R-CONTROL-3)."""
    books = cluster.books[change.resource_group]
    row = books.rows.by_path
    books.shortages = {row[path]: Shortage(since, is_taking) for path, since, is_taking in change.shortages}


def pin(cluster: Cluster, change: say.Pinned, _now: int) -> None:
    """The notice of an attempt counts for a switch of windows, and is never withdrawn (R-SWITCH-1)."""
    attempt = cluster.attempts[change.attempt]
    notices = cluster.books[attempt.job.resource_group].notices
    assert attempt.notice is not None
    attempt.notice = attempt.notice._replace(reason="window")
    for allocation in attempt.allocations:
        for notice in notices.by_allocation.get(allocation, ()):
            notices.reason[notice] = transitions.WINDOW


def shortages_told(books: Books, shortages: Mapping[int, Shortage]) -> tuple[tuple[str, int, bool], ...]:
    """Shortages in paths, in path order: leaf, since when, whether it takes back."""
    place = books.rows.position
    return tuple((books.rows.path(leaf), *shortages[leaf]) for leaf in sorted(shortages, key=place.__getitem__))


def told(books: Books, loans: Iterable[tuple[tuple[int, int], int]]) -> Iterator[tuple[str, str, int]]:
    """Loans in paths: borrower, lender, units."""
    for (borrower, lender), units in loans:
        yield books.rows.path(borrower), books.rows.path(lender), units


def restore_loans(books: Mapping[str, Books], document: Mapping[str, Any], now: Renaming) -> None:
    """Who uses whose slots, and who misses units since when, of those that are still there."""
    for group, loans in document.get("borrowed", {}).items():
        for borrower, lender, units in loans:
            one, other = now.leaf(group, borrower), now.leaf(group, lender)
            if one is not None and other is not None:
                books[group].borrowed[one, other] = units
    for group, shortages in document.get("shortages", {}).items():
        for path, since, is_taking in shortages:
            row = now.leaf(group, path)
            if row is not None:
                books[group].shortages[row] = Shortage(since, is_taking)


BY_CYCLES: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.Pinned: pin,
    say.Paused: pause,
    say.LoansCounted: count_loans,
    say.ShortagesCounted: count_shortages,
    say.Kept: count_kept,
    say.CycleRan: count_cycle,
}
"""What these changes do to a cluster."""
