"""Connections to a store: what every database's can do, and those to an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from fairhold.ports import StoreError
from fairhold.store.schema import WITH_SEALS, format_of, steps
from fairhold.store.tables import shape, shape_of, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from fairhold.store.tables import Table

PATIENCE = 5.0
"""Seconds to wait for another program that writes."""
LOG_SIZE = 4 << 20
"""Bytes that the log may have: above, it is carried over, begins anew and is cut to this."""
_IDLE = 8
"""Readers that are kept for later."""


class Rows(Protocol):
    """What a statement has found."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of any columns
        """The next row, None = there is no more."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection to the database of a store. Values stand in statements as `?`."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a statement; what it finds may be kept in memory."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement that finds nothing for each of some rows."""
        ...

    def scan(self, query: str, /) -> Iterable[Any]:
        """The rows of a query, one after the other, however many there are."""
        ...

    def insert(self, into: Table, rows: Sequence[Sequence[Any]], /, *, replaces: bool = False) -> None:
        """Add rows with their seals; replaces: in the place of those with the same key."""
        ...

    def number_in(self, column: str, name: str, /) -> str:
        """The expression for a whole number of a JSON text in a column."""
        ...

    def forgive(self) -> None:
        """From now on a text that is no UTF-8 comes with `surrogateescape` in the place of an error."""
        ...

    def has_table(self, name: str, /) -> bool:
        """Whether there is such a table."""
        ...

    def format(self) -> int:
        """Number of the format."""
        ...

    def faults(self) -> Iterable[str]:
        """What the database itself finds wrong with its pages and layout."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class SqliteConnection(sqlite3.Connection):
    """A connection to an SQLite file."""

    def scan(self, query: str, /) -> Iterable[Any]:
        """The rows of a query."""
        return self.execute(query)

    def insert(self, into: Table, rows: Sequence[Sequence[Any]], /, *, replaces: bool = False) -> None:
        """Add rows."""
        self.executemany(into.insert + into.on_conflict if replaces else into.insert, rows)

    def number_in(self, column: str, name: str, /) -> str:
        """A whole number of a JSON text."""
        return f"json_extract({column}, '$.{name}')"

    def forgive(self) -> None:
        """Do not stumble over what is no UTF-8."""
        self.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")

    def has_table(self, name: str, /) -> bool:
        """Whether there is such a table."""
        return bool(self.execute("SELECT 1 FROM main.sqlite_master WHERE name = ?", (name,)).fetchone())

    def format(self) -> int:
        """Number of the format, 0 = empty."""
        return format_of(self)

    def faults(self) -> Iterator[str]:
        """Pages and indexes, as SQLite checks them; a layout that no step of the format has made."""
        for (line,) in self.execute("PRAGMA integrity_check(20)"):
            if line != "ok":
                yield str(line)
        yield from (f"the layout of {name} is not that of its format" for name in self.strange_layouts())

    def strange_layouts(self) -> list[str]:
        """Names of tables and indexes that are not as the steps of this format make them."""
        number = format_of(self)
        if number > len(steps()):
            return []
        there, made = shape_of(self), shape(number)
        return sorted({str(name) for _, name, _ in there ^ made})  # a flipped bit makes bytes of a text

    def hide_lack_of_seals(self) -> None:
        """Let a query for the seals of an earlier format find none. The file does not change."""
        if format_of(self) >= WITH_SEALS:
            return
        (is_reader,) = self.execute("PRAGMA query_only").fetchone()
        self.execute("PRAGMA query_only=OFF")
        for each in tables().values():
            if each.is_sealed and self.has_table(each.name):
                view = f'CREATE TEMP VIEW "{each.name}" AS SELECT *, NULL AS seal FROM main."{each.name}"'  # noqa: S608
                self.execute(view)
        self.execute(f"PRAGMA query_only={is_reader}")


def connect(path: Path, mode: str = "rw") -> SqliteConnection:
    """Open a file that is there; nothing is begun or committed but in so many words."""
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(
        uri, PATIENCE, uri=True, isolation_level=None, check_same_thread=False, factory=SqliteConnection
    )


def writer(path: Path) -> SqliteConnection:
    """A connection that writes: every commit is on the disk before it returns.

    Its log is carried over into the file by another thread (`checkpoints`), never in the middle of a commit.
    """
    connection = connect(path)
    try:
        for setting in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "wal_autocheckpoint=0",
            f"journal_size_limit={LOG_SIZE}",
            "cache_size=-8000",
            "secure_delete=OFF",
        ):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def reader(path: Path) -> SqliteConnection:
    """A connection that reads. Opened for writing all the same: a reader may have to recover the log."""
    connection = connect(path)
    try:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
    except BaseException:
        connection.close()
        raise
    return connection


class Readers:
    """Connections that read, lent to one thread at a time; made by `connect`."""

    def __init__(self, connect: Callable[[], Connection], begin: str = "BEGIN") -> None:
        self._connect = connect
        self._begin = begin
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._is_closed = False

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """A connection inside a read transaction: all that is read is of one instant."""
        with self._lock:
            if self._is_closed:
                raise StoreError("the store is closed", "store-closed")
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
        try:
            connection.execute(self._begin)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < _IDLE and not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()

    def drop(self) -> None:
        """Close those that nobody uses, as what they are connected to is gone; others may be made."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close those that nobody uses; the others are closed when they come back."""
        with self._lock:
            self._is_closed = True
        self.drop()
