"""Moves the books to new columns when other policy entries come into force (R-WINDOW-2)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.ledger.renumbering import NewRows, renumber_leaves

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows


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
    moved = NewRows(new)
    renumber_leaves(books, moved, len(new))
    books.kept = moved.sums(books.kept, len(new))
    books.borrowed = {(new[one], new[other]): units for (one, other), units in books.borrowed.items()}
    books.shortages = {new[row]: short for row, short in books.shortages.items()}
