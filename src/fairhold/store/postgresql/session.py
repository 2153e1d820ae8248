"""A connection to a PostgreSQL database that understands what the store says; see `connections.Connection`."""

from __future__ import annotations

import logging
import re
from contextlib import nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.adapt import Loader

from fairhold.store.postgresql.patience import PATIENCE, Patience
from fairhold.store.tables import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from psycopg.abc import Buffer

    from fairhold.store.connections import Rows
    from fairhold.store.postgresql.address import Address
    from fairhold.store.tables import Table

_MARK = re.compile(r"'[^']*'|\?|%")
_AT_ONCE = 2_000
"""Rows that a scan has in memory."""
TYPES = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}
"""Types of SQLite, as they are called here."""
logging.getLogger("psycopg").setLevel(logging.ERROR)  # a connection that is lost is told by whoever uses it
FORMAT = "format"
"""Word of a store in PostgreSQL: the number of its format."""


@cache
def said(statement: str) -> str:
    """A statement with `?` for its values, as psycopg wants it."""
    return _MARK.sub(lambda found: {"?": "%s", "%": "%%"}.get(found[0], found[0].replace("%", "%%")), statement)


class _Forgiving(Loader):
    """Texts of any bytes."""

    def load(self, data: Buffer) -> str:
        return str(bytes(data), "utf-8", "surrogateescape")


class PostgresConnection:
    """A connection; nothing is begun or committed but in so many words."""

    def __init__(self, address: Address, name: str, patience: Patience = PATIENCE) -> None:
        """Name : of this program, for people who look at the server; patience: with it. Raises psycopg.Error."""
        self._patience = patience
        settings = {"application_name": name, "client_encoding": "utf8", **address.settings}
        self.raw = psycopg.connect(autocommit=True, **settings)
        self.schema = address.schema
        self._scans = 0
        try:
            self.execute("SELECT set_config('search_path', ?, false)", (f'"{address.schema}"',))
            if self.execute("SHOW synchronous_commit").fetchone() == ("off",):
                self.execute("SET synchronous_commit = on")  # a commit is durable, whatever others are content with
        except BaseException:
            self.raw.close()
            raise

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a statement."""
        with self.waiting():
            if not values:
                return self.raw.execute(statement.encode())
            return self.raw.execute(said(statement).encode(), values)

    def waiting(self) -> AbstractContextManager[None]:
        """While the server is asked for something."""
        return nullcontext() if self.raw.closed else self._patience.at(self.raw.fileno())

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement for each of some rows."""
        cursor = self.raw.cursor()
        cursor.executemany(said(statement).encode(), rows)
        return cursor

    def scan(self, query: str, /) -> Iterator[Any]:
        """The rows of a query, a part of them in memory at a time; inside a transaction."""
        self._scans += 1
        with self.raw.cursor(name=f"scan{self._scans}") as cursor:
            cursor.itersize = _AT_ONCE
            cursor.execute(query.encode())
            yield from cursor

    def insert(self, into: Table, rows: Sequence[Sequence[Any]], /, *, replaces: bool = False) -> None:
        """Add rows, all by one statement: a column of them is one value."""
        if replaces:  # a statement may replace a row once
            keys = [into.columns.index(column) for column in into.key]
            rows = list({tuple(row[at] for at in keys): row for row in rows}.values())
        if rows:
            columns = zip(*rows, strict=True)
            values = [_ARRAYS[kind](column) for kind, column in zip(into.types.values(), columns, strict=True)]
            self.raw.execute(_inserted(into, replaces=replaces).encode(), values)

    def number_in(self, column: str, name: str, /) -> str:
        """A whole number of a JSON text."""
        return f"CAST(CAST({column} AS json) ->> '{name}' AS bigint)"

    def forgive(self) -> None:
        """Do not stumble over what is no UTF-8."""
        self.raw.adapters.register_loader("text", _Forgiving)

    def has_table(self, name: str, /) -> bool:
        """Whether there is such a table."""
        found = self.execute("SELECT to_regclass(?)", (f'"{self.schema}"."{name}"',)).fetchone()
        return found is not None and found[0] is not None

    def format(self) -> int:
        """Number of the format, 0 = there is none."""
        if not self.has_table("meta"):
            return 0
        row = self.execute("SELECT value FROM meta WHERE name = ?", (FORMAT,)).fetchone()
        return int(row[0]) if row and str(row[0]).isdecimal() else 0

    def faults(self) -> Iterator[str]:
        """Tables that are not as the steps of the format make them. The server looks after its pages itself."""
        query = (
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"
        )
        for each in tables().values():
            there = dict(self.execute(query, (self.schema, each.name)).fetchall())
            if any(there.get(column) != TYPES[kind] for column, kind in each.types.items()):
                yield f"the layout of {each.name} is not that of its format"

    def close(self) -> None:
        """Let go."""
        self.raw.close()


@cache
def _inserted(into: Table, *, replaces: bool) -> str:
    arrays = ", ".join(f"%s::{TYPES[kind]}[]" for kind in into.types.values())
    end = into.on_conflict if replaces else ""
    return f'INSERT INTO "{into.name}" ({into.names}) SELECT * FROM unnest({arrays}){end}'  # noqa: S608 - our names


def _joined(said_so: Callable[[Any], str], column: Iterable[Any]) -> str:
    return f"{{{','.join(map(said_so, column))}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_ARRAYS: dict[str, Callable[[Iterable[Any]], str]] = {
    "INTEGER": partial(_joined, str),
    "TEXT": partial(_joined, _quoted),
    "BLOB": partial(_joined, lambda body: f'"\\\\x{body.hex()}"'),
}
"""A column of rows as the text of an array, by its type: several times as fast as a list of values."""
