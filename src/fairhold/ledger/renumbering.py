"""Other rows for the leaves and hosts of books: under another plan."""

from __future__ import annotations

from operator import or_
from typing import TYPE_CHECKING, TypeVar

from fairhold.kernels.columns import zeros
from fairhold.ledger.tables import NOBODY

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.tables import Table

Value = TypeVar("Value")


class NewRows:
    """Where rows are now.

    rows : old row → row now, NOBODY where it is gone: nothing is in the books of it. Several may have one row now.
    """

    def __init__(self, rows: Sequence[int]) -> None:
        self.rows = rows
        self._of = [*rows, NOBODY].__getitem__  # the last place is that of NOBODY himself

    def column(self, table: Table, name: str) -> None:
        """A column of a table that has such rows."""
        column = table.columns[name]
        column[:] = type(column)("q", map(self._of, column))

    def sums(self, column: Sequence[int], rows: int) -> array[int]:
        """A column of sums by row, for so many rows now."""
        found = zeros(rows)
        for row, units in enumerate(column):
            if units:
                found[self.rows[row]] += units
        return found

    def by_row(self, values: Mapping[int, Value], join: Callable[[Value, Value], Value]) -> dict[int, Value]:
        """Values by row; join: makes one of two."""
        found: dict[int, Value] = {}
        for row, value in values.items():
            if (now := self.rows[row]) != NOBODY:
                found[now] = join(found[now], value) if now in found else value
        return found

    def by_user(self, values: Mapping[tuple[int, int], int]) -> dict[tuple[int, int], int]:
        """Sums by row and user."""
        found: dict[tuple[int, int], int] = {}
        for (row, user), units in values.items():
            found[self.rows[row], user] = found.get((self.rows[row], user), 0) + units
        return found


def renumber_leaves(books: Books, new: NewRows, rows: int) -> None:
    """Requests and notices of books, and the sums of them: leaves have other rows, so many in all."""
    requests = books.requests
    new.column(requests, "leaf")
    new.column(books.notices, "taker")
    requests.holders, requests.gangs = new.by_row(requests.holders, or_), new.by_row(requests.gangs, or_)
    requests.used_by = new.by_user(requests.used_by)
    requests.lines.renumber(new)
    books.demand, books.held = new.sums(books.demand, rows), new.sums(books.held, rows)
    books.noticed = new.sums(books.noticed, rows)


def carry(old: Books, books: Books, leaves: NewRows, hosts: NewRows) -> None:
    """Requests, allocations and notices go from the old books to new ones, which are empty, of another plan."""
    books.requests, books.allocations, books.notices = old.requests, old.allocations, old.notices
    books.demand, books.held, books.noticed = old.demand, old.held, old.noticed
    renumber_leaves(books, leaves, len(books.rows))
    books.requests.lines.changed = None
    hosts.column(books.allocations, "host")
    books.hosts.used[:] = hosts.sums(old.hosts.used, len(books.hosts.used))
