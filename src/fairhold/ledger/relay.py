"""Moves the books to new columns when other policy entries come into force (R-WINDOW-2)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, TypeVar

from fairhold.kernels.columns import zeros
from fairhold.ledger.tables import NOBODY

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows

Value = TypeVar("Value")


def relay(books: Books, rows: Rows) -> None:
    """Carry all books over to other columns of the same tree.

    Demand, allocations and notices stay the same. `before` names the earlier entries until the next cycle.
    """
    old = books.rows
    new = array("q", (rows.row[node] for node in old.node))
    before = books.before or old.force
    books.before = () if before == rows.force else before
    books.rows = rows
    if books.spending is not None:
        books.spending.use(rows)
    if new == array("q", range(len(new))):
        return
    for name in ("demand", "held", "noticed", "kept"):
        column, moved = getattr(books, name), zeros(len(new))
        for row, units in enumerate(column):
            moved[new[row]] = units
        setattr(books, name, moved)
    requests, notices = books.requests, books.notices
    for request, leaf in enumerate(requests.leaf):
        requests.leaf[request] = new[leaf]
    for notice, taker in enumerate(notices.taker):
        if taker != NOBODY:
            notices.taker[notice] = new[taker]
    books.borrowed = {(new[one], new[other]): units for (one, other), units in books.borrowed.items()}
    books.shortages = _by_row(books.shortages, new)
    requests.holders = _by_row(requests.holders, new)
    requests.gangs = _by_row(requests.gangs, new)
    requests.lines.of = _by_row(requests.lines.of, new)
    requests.lines.waiting = {(new[leaf], user): units for (leaf, user), units in requests.lines.waiting.items()}
    requests.lines.gangs = _by_row(requests.lines.gangs, new)
    requests.lines.gang_line = _by_row(requests.lines.gang_line, new)
    requests.lines.in_gangs = _by_row(requests.lines.in_gangs, new)
    requests.lines.priorities = _by_row(requests.lines.priorities, new)
    requests.lines.answers = _by_row(requests.lines.answers, new)
    requests.used_by = {(new[leaf], user): units for (leaf, user), units in requests.used_by.items()}


def _by_row(values: dict[int, Value], new: array[int]) -> dict[int, Value]:
    return {new[row]: value for row, value in values.items()}
