"""The tables of a store, as the steps of its format make them, and the checksums of their rows.

The steps in `migrations/` are the one source of the layout: columns, types and keys are read from what they make.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

from fairhold.ports import StoreError
from fairhold.store.schema import steps
from fairhold.store.troubles import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairhold.store.connections import Connection

    Row = tuple[Any, ...]

SEAL = "seal"
"""The column of a row's checksum, always the last."""
LOG_REMOVED = "log_removed"
"""Word of a store: number and seal of the last entry that was cleared out."""
BEGIN = 0
"""What stands for the seal before the first entry."""


def seal_of(row: Row) -> int:
    """The checksum of a row without its seal."""
    return crc32(ascii(row).encode("ascii"))


def chained(before: int, seq: int, at: int, body: str) -> int:
    """The seal of an entry of the log: of its own content and, by the seal of the entry before it, of all before it."""
    return crc32(f"{before}:{seq}:{at}:{body}".encode(errors="surrogateescape"))


class Table:
    """One table.

    columns : names, without the seal; types: those of SQLite, one for each
    key     : columns that tell rows apart, in the order in which rows are looked through
    """

    def __init__(self, name: str, columns: Sequence[tuple[str, str]], key: Sequence[str], *, is_sealed: bool) -> None:
        self.name = name
        self.columns = tuple(column for column, _ in columns)
        self.types = dict(columns) | ({SEAL: "INTEGER"} if is_sealed else {})
        self.key = tuple(key)
        self.is_sealed = is_sealed
        self._has_bodies = "BLOB" in self.types.values()

    @cached_property
    def written(self) -> tuple[str, ...]:
        """All columns that a row is written with."""
        return tuple(self.types)

    @cached_property
    def names(self) -> str:
        """These columns, as a query names them."""
        return ", ".join(f'"{column}"' for column in self.written)

    @cached_property
    def insert(self) -> str:
        """The statement that adds a row."""
        return f'INSERT INTO "{self.name}" ({self.names}) VALUES ({", ".join("?" * len(self.written))})'  # noqa: S608

    @cached_property
    def on_conflict(self) -> str:
        """The end of a statement that replaces the row with the same key."""
        news = ", ".join(f'"{column}" = excluded."{column}"' for column in self.written if column not in self.key)
        return f" ON CONFLICT ({self.keys}) DO UPDATE SET {news}"

    @cached_property
    def keys(self) -> str:
        """The key, as a query names it."""
        return ", ".join(f'"{column}"' if column != "rowid" else column for column in self.key)

    def select(self, rest: str = "") -> str:
        """A query of whole rows, to be read by `read`."""
        return f'SELECT {self.names} FROM "{self.name}" {rest}'  # noqa: S608 - names of our own

    def seal(self, row: Row) -> int:
        """The seal of a row of this table; not of an entry of the log, which depends on those before."""
        if self._has_bodies:  # in short, not as text
            row = tuple(crc32(value) if isinstance(value, bytes) else value for value in row)
        return seal_of(row)

    def sealed(self, rows: Iterable[Row]) -> list[Row]:
        """Rows with their seals, where rows of this table have one."""
        if not self.is_sealed:
            return list(rows)
        return [(*row, self.seal(tuple(row))) for row in rows]

    def read(self, rows: Iterable[Any]) -> Iterator[Row]:
        """Rows without their seals. StoreError `store-damaged` where one is not as it was written."""
        for row in rows:
            values = tuple(row[:-1])
            if not self.is_good(values, row[-1]):
                raise StoreError(f"{self.told(values)} is not as it was written", DAMAGED)
            yield values

    def is_good(self, values: Row, seal: int | None) -> bool:
        """Whether a row is as it was written; a store of an earlier format has no seals."""
        return seal is None or self.seal(values) == seal

    def told(self, values: Row) -> str:
        """A row, as people are told of it."""
        key = [str(value) for column, value in zip(self.columns, values, strict=False) if column in self.key]
        return f"row {', '.join(key or map(str, values[:2]))} of {self.name}"


@cache
def shape(number: int) -> frozenset[tuple[str, str, str]]:
    """Kind, name and text of all that the steps make up to a format."""
    with closing(_made(number)) as connection:
        return shape_of(connection)


def shape_of(connection: Connection | sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Kind, name and text of all that is in a file."""
    query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    return frozenset(tuple(row) for row in connection.execute(query).fetchall())


@cache
def tables(number: int | None = None) -> dict[str, Table]:
    """All tables of a format by name; None = of the latest."""
    found = {}
    with closing(_made(number)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
            typed = [(str(each[1]), str(each[2])) for each in columns if each[1] != SEAL]
            key = [str(each[1]) for each in sorted(columns, key=lambda each: each[5]) if each[5]]
            is_sealed = len(typed) < len(columns)
            found[name] = Table(name, typed, key or _UNKEYED[name], is_sealed=is_sealed)
    return found


_UNKEYED = {"specs": ("job",), "usage": ("rowid",)}
"""Keys of the tables that have no primary key; where there is no `rowid` by itself, a column of this name is made."""


def table(name: str) -> Table:
    """A table by its name."""
    return tables()[name]


def _made(number: int | None = None) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in steps()[:number]:
        connection.executescript(step.read_text(encoding="utf-8"))
    return connection


def seal_before(connection: Connection, seq: int) -> int | None:
    """The seal that entry `seq + 1` goes on from; None = it is not known."""
    if not seq:
        return BEGIN
    row = connection.execute("SELECT seal FROM entries WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        kept = connection.execute("SELECT value FROM meta WHERE name = ?", (LOG_REMOVED,)).fetchone()
        number, _, mark = str(kept[0] if kept else "").partition(":")
        return int(mark) if number == str(seq) and mark.isdecimal() else None
    return None if row[0] is None else int(row[0])


def seal_all(connection: Connection, number: int) -> None:
    """Give every row its seal: after the step to format `number`, which has changed rows without theirs."""
    for each in tables(min(number, len(steps()))).values():
        if not each.is_sealed:
            continue
        where = " AND ".join(f'"{column}" = ?' if column != "rowid" else "rowid = ?" for column in each.key)
        update = f'UPDATE "{each.name}" SET seal = ? WHERE {where}'  # noqa: S608 - names of our own
        before, sealed = BEGIN, []
        for *key, rest in _with_keys(connection, each):
            if each.name == "entries":
                before = chained(before, *rest)
            sealed.append((before if each.name == "entries" else each.seal(rest), *key))
        connection.executemany(update, sealed)


def _with_keys(connection: Connection, each: Table) -> Iterator[list[Any]]:
    size = len(each.key)
    columns = ", ".join(f'"{column}"' for column in each.columns)
    query = f'SELECT {each.keys}, {columns} FROM "{each.name}" ORDER BY {each.keys}'  # noqa: S608
    for row in connection.execute(query):
        yield [*row[:size], tuple(row[size:])]
