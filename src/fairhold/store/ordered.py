"""Finished jobs in the order of a column. It reads all jobs of a search: there is no index for every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.store.records import JOBS, wanted_words

if TYPE_CHECKING:
    from fairhold.ports import Filter, FinishedJob
    from fairhold.store.connections import Connection

_NUMBER = "CAST(job AS BIGINT)"
_OF_ROW = {"job": _NUMBER, "user": '"user"', "running": "number * 0", "waiting": "number * 0"}
_HAS_WORD = f'number IN (SELECT "row" FROM {JOBS.lists} WHERE word = (SELECT number FROM words WHERE word = ?))'  # noqa: S608 - names of our own
_OF_SUMMARY = frozenset({"priority", "tasks"})


class Span(NamedTuple):
    """Which part of an order is wanted: so many behind a place, None = from its begin."""

    column: str
    is_down: bool
    after: tuple[int | str, int] | None
    limit: int


def in_order(connection: Connection, wanted: Filter, span: Span) -> list[FinishedJob]:
    """Finished jobs of a search by (value of the column, number of the job)."""
    column = span.column
    value = connection.number_in("summary", column) if column in _OF_SUMMARY else _OF_ROW.get(column, column)
    words = wanted_words(wanted, JOBS)
    where = ["1 = 1", *(_HAS_WORD for _ in words)]
    values: list[int | str] = [*words]
    if span.after is not None:
        where.append(f"({value}, {_NUMBER}) {'<' if span.is_down else '>'} (?, ?)")
        values += span.after
    way = "DESC" if span.is_down else "ASC"
    rest = f"WHERE {' AND '.join(where)} ORDER BY {value} {way}, {_NUMBER} {way} LIMIT ?"
    query = f"SELECT number FROM {JOBS.name} {rest}"  # noqa: S608 - names of our own
    found = connection.execute(query, (*values, span.limit)).fetchall()
    rows = (connection.execute(JOBS.table.select("WHERE number = ?"), row).fetchone() for row in found)
    return list(JOBS.read(rows))
