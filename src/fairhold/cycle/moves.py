"""What a cycle moves as rows of a document, in the terms of `cycle --json`; a run's record has the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import NoticeGiven

Row = dict[str, Any]


def grants(result: SlotCycle, **more: str) -> Iterator[Row]:
    """Units granted; `more` are values that every row has beside its consumer."""
    books = result.books
    for grant in result.decision.grants:
        yield _holder(books, grant.request, grant.host, more) | {"units": grant.units}


def reclaims(result: SlotCycle, **more: str) -> Iterator[Row]:
    """New notices."""
    yield from _notices(result, result.decision.notices, more)


def observed(result: SlotCycle, **more: str) -> Iterator[Row]:
    """Notices that are decided and given to nobody (R-CONTROL-4)."""
    yield from _notices(result, result.decision.observed, more)


def _notices(result: SlotCycle, notices: Iterable[NoticeGiven], more: Row) -> Iterator[Row]:
    books = result.books
    for notice in notices:
        yield _holder_of(books, notice.allocation, more) | {
            "units": notice.units,
            "for": None if notice.taker == NOBODY else books.rows.path(notice.taker),
            "deadline": format_instant(notice.deadline),
            "reason": REASONS[notice.reason],
        }


def withdrawn(result: SlotCycle, **more: str) -> Iterator[Row]:
    """Notices that no longer hold."""
    books = result.books
    for withdrawal in result.decision.withdrawals:
        yield _holder_of(books, books.notices.allocation[withdrawal.notice], more) | {"units": withdrawal.units}


def merged(rows: Iterator[Row]) -> list[Row]:
    """Rows that differ in `units` alone become one, at the place of the first."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple((name, value) for name, value in row.items() if name != "units")
        if key in found:
            found[key]["units"] += row["units"]
        else:
            found[key] = row
    return list(found.values())


def _holder_of(books: Books, allocation: int, more: Row) -> Row:
    return _holder(books, books.allocations.request[allocation], books.allocations.host[allocation], more)


def _holder(books: Books, request: int, host: int, more: Row) -> Row:
    """Consumer, and where the state has requests, the request and its host."""
    row: Row = {"consumer": books.rows.path(books.requests.leaf[request])} | more
    if books.requests.id[request]:
        row["request"] = books.requests.id[request]
        if books.hosts.name[host]:
            row["host"] = books.hosts.name[host]
    return row
