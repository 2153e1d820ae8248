"""Results as plain documents: what `quota --json` and `cycle --json` print (SPEC §11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.open import Stop, close_books, open_books, settle
from fairhold.cycle.run import CycleResult, quotas, run
from fairhold.ledger.decision import apply
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.rules.freeing import free_slots
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]


class Cycle(NamedTuple):
    """One whole cycle over all resource groups of a state.

    results : by resource group, in plan order
    stops   : units whose grace had run out before
    after   : the state when the decision has been applied
    """

    results: Mapping[str, CycleResult]
    stops: tuple[Stop, ...]
    after: State
    document: Document


def quota_document(plan: Plan, state: State) -> Document:
    """The quotas of the state as it is, nothing moved."""
    results = {group: quotas(book, state.now) for group, book in open_books(plan, state).items()}
    return {
        "now": format_instant(state.now),
        "resource_groups": {group: _group(result) for group, result in results.items()},
    }


def run_cycle(plan: Plan, state: State) -> Cycle:
    """One whole cycle on a state: settle, quotas, grants, reclaims, and the state after it."""
    books = open_books(plan, state)
    stops = tuple(settle(books, state))
    results = {group: run(book, state.now) for group, book in books.items()}
    document: Document = {
        "now": format_instant(state.now),
        "resource_groups": {group: _group(result) | {"idle": result.draft.idle} for group, result in results.items()},
        "stops": merged(_stop(plan, stop) for stop in stops),
        "grants": merged(row for group, result in results.items() for row in _grants(group, result)),
        "reclaims": merged(row for group, result in results.items() for row in _reclaims(group, result)),
        "withdrawn": merged(row for group, result in results.items() for row in _withdrawn(group, result)),
        "warnings": [],
    }
    for group, book in books.items():
        apply(book, results[group].decision, state.now)
    return Cycle(results, stops, close_books(books, state), document)


def _group(result: CycleResult) -> Document:
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    free = free_slots(snapshot, draft)
    quota = draft.quota[:]
    quota[0] = sum(quota[rows.tree.first[0] : rows.tree.end[0]])  # the root reports what its children got (SPEC §2)
    consumers: Document = {}
    for row in rows.row:  # in the order of the plan's tree
        limit = rows.plan.limit[row]
        consumers[rows.path(row)] = {
            "demand": snapshot.demand[row],
            "need": draft.needs.need[row],
            "owned": rows.plan.owned[row],
            "reserve": draft.needs.reserve[row],
            "limit": None if limit >= UNLIMITED else limit,
            "allocated": snapshot.held[row],
            "quota": quota[row],
            "free": free[row],
        }
    return {"slots": snapshot.slots, "consumers": consumers}


def _holder(book: Books, group: str, allocation: int) -> Document:
    request = book.allocations.request[allocation]
    return _request(book, group, request, book.allocations.host[allocation])


def _request(book: Books, group: str, request: int, host: int) -> Document:
    row: Document = {"consumer": book.rows.path(book.requests.leaf[request]), "resource_group": group}
    if book.requests.id[request]:
        row["request"] = book.requests.id[request]
        if book.hosts.name[host]:
            row["host"] = book.hosts.name[host]
    return row


def merged(rows: Iterator[Document]) -> list[Document]:
    """Rows that differ in `units` alone become one, at the place of the first."""
    found: dict[tuple[Any, ...], Document] = {}
    for row in rows:
        key = tuple((name, value) for name, value in row.items() if name != "units")
        if key in found:
            found[key]["units"] += row["units"]
        else:
            found[key] = row
    return list(found.values())


def _grants(group: str, result: CycleResult) -> Iterator[Document]:
    for grant in result.decision.grants:
        yield _request(result.snapshot.books, group, grant.request, grant.host) | {"units": grant.units}


def _reclaims(group: str, result: CycleResult) -> Iterator[Document]:
    book = result.snapshot.books
    for notice in result.decision.notices:
        yield _holder(book, group, notice.allocation) | {
            "units": notice.units,
            "for": None if notice.taker == NOBODY else book.rows.path(notice.taker),
            "deadline": format_instant(notice.deadline),
            "reason": REASONS[notice.reason],
        }


def _withdrawn(group: str, result: CycleResult) -> Iterator[Document]:
    book = result.snapshot.books
    for withdrawal in result.decision.withdrawals:
        yield _holder(book, group, book.notices.allocation[withdrawal.notice]) | {"units": withdrawal.units}


def _stop(plan: Plan, stop: Stop) -> Document:
    row: Document = {
        "consumer": plan.tree.paths[stop.consumer],
        "resource_group": stop.resource_group,
        "units": stop.units,
    }
    if stop.request:
        row["request"] = stop.request
        if stop.host:
            row["host"] = stop.host
    return row
