"""An open store in an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from fairhold.ports import StoreError, StoreFull
from fairhold.store import copies, queries
from fairhold.store.checking import findings
from fairhold.store.checkpoints import Checkpoints
from fairhold.store.connections import Readers, connect, reader
from fairhold.store.sql import SqlStore
from fairhold.store.troubles import UNSURE, code_of, speaking, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.store.connections import Connection, SqliteConnection
    from fairhold.store.directory import Lock

PAGES = 200
"""Pages of the file that are given back at once."""
SPARE = 2_000
"""Empty pages, 8 MB, that the file may keep for what comes; and a quarter of itself."""


class SqliteStore(SqlStore):
    """`ports.Store`; see there. Made by `open_store`.

    Writers take turns by `_writing`, which is held while a transaction is written, not while it is gathered.
    """

    def __init__(self, path: Path, lock: Lock, connection: SqliteConnection) -> None:
        super().__init__(path, queries.end_of_log(connection))
        self._path = path
        self._lock = lock
        self._connection = connection
        self._writing = threading.Lock()
        self._broken: StoreError | None = None
        self._is_closed = False
        self._readers = Readers(lambda: reader(path))
        self._checkpoints = Checkpoints(path, self._writing)

    def _write(
        self,
        work: Callable[[Connection], int],
        *,
        before: Callable[[Connection], object] = lambda _: None,
        may_be_lost: bool = False,
    ) -> None:
        with self._writing, speaking():
            if self._broken:
                raise self._broken
            connection = self._connection
            try:
                if may_be_lost:
                    connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("BEGIN IMMEDIATE")
                before(connection)
                rows = work(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                self._words.forget()
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error) and code_of(error) in UNSURE:
                    self._broken = translated(error)
                elif isinstance(error, sqlite3.Error) and isinstance(translated(error), StoreFull):
                    self._checkpoints.make_room()
                raise
            finally:
                if may_be_lost:
                    connection.execute("PRAGMA synchronous=FULL")
            self._checkpoints.wrote(rows)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection of its own, while nobody else writes: for a copy of the whole."""
        with self._writing, speaking(), closing(connect(self._path)) as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with speaking(), self._readers.one() as connection:
            yield connection

    def _give_back(self, connection: Connection) -> int:
        """Give empty pages back to the disk, where there are many."""
        empty = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
        pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
        if empty <= max(SPARE, pages // 4):
            return 0
        connection.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
        return PAGES

    def backup(self, path: Path) -> None:
        """Copy all to a new file, while the store is in use."""
        copies.backup_store(self._path.parent, path)

    def check(self) -> tuple[Fault, ...]:
        """Everything that is wrong in the store."""
        with speaking(), closing(reader(self._path)) as connection:
            connection.execute("BEGIN")
            return findings(connection, self._path)

    def close(self) -> None:
        """Carry the log over, leave the directory to others; may be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._checkpoints.close()
        self._readers.close()
        with self._writing:
            with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()
        self._lock.release()
