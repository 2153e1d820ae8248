"""An open store in an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from fairhold.ports import StoreError, StoreFull
from fairhold.store import copies, queries
from fairhold.store.batch import EndOfLog
from fairhold.store.checking import findings
from fairhold.store.checkpoints import Checkpoints
from fairhold.store.connections import Readers, connect, reader, writer
from fairhold.store.directory import Lock, changing_hands
from fairhold.store.sql import SqlStore
from fairhold.store.troubles import UNSURE, code_of, refusing, speaking, translated
from fairhold.store.turns import Turn, check_turn, only_read, put_turn, taken_over, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.store.connections import Connection, SqliteConnection

PAGES = 200
"""Pages of the file that are given back at once."""
SPARE = 2_000
"""Empty pages, 8 MB, that the file may keep for what comes; and a quarter of itself."""


class SqliteStore(SqlStore):
    """`ports.Store`; see there. Made by `open_store`, or by `follow_store` for who only reads until `lead`.

    Writers take turns by `_writing`, which is held while a transaction is written, not while it is gathered. Every
    transaction looks whether the turn is still that of this service; the first of a service that opened the store for
    itself alone takes the turn.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, EndOfLog())
        self._path = path
        self._lock: Lock | None = None
        self._connection: SqliteConnection | None = None
        self._turn, self._expected = Turn(0), Turn(0)
        self._writing = threading.Lock()
        self._broken: StoreError | None = None
        self._is_closed = False
        self._inode = 0
        self._readers = Readers(lambda: reader(path))
        self._checkpoints: Checkpoints | None = None

    def begin(self, lock: Lock, connection: SqliteConnection, term: int = 0) -> None:
        """Write from now on, by a connection that is closed with this, as the lock is.

        term : that was taken, 0 = the next, for who has the store for itself alone
        """
        self._lock, self._connection = lock, connection
        self._end, self._expected = queries.end_of_log(connection), turn_of(connection)
        self._turn = Turn(term or self._expected.term + 1)
        self._checkpoints = Checkpoints(self._path, self._writing)

    def refresh(self) -> int:
        """Look how far the log goes; see `SqlStore.refresh`."""
        with speaking():
            number = self._path.stat().st_ino
        if number != self._inode:  # another file has its name by now
            self._inode = number
            self._readers.drop()
        return super().refresh()

    def lead(self, directory: Path, term: int) -> None:
        """Write from now on: the lease was taken, with this term. StoreError where it was taken again, InputError."""
        self.refresh()
        with speaking(), refusing(directory), changing_hands(directory):
            connection = writer(self._path)
            try:
                check_turn(connection, Turn(term))
                lock = Lock(directory, replaces=True)
            except BaseException:
                connection.close()
                raise
            self.begin(lock, connection, term)

    @property
    def term(self) -> int:
        """By which this store is written; 0 = it is only read."""
        return self._turn.term

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
            connection, checkpoints = self._connection, self._checkpoints
            if connection is None or checkpoints is None:
                raise only_read()
            try:
                if may_be_lost:
                    connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("BEGIN IMMEDIATE")
                self._take_turn(connection)
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
                    checkpoints.make_room()
                raise
            finally:
                if may_be_lost:
                    connection.execute("PRAGMA synchronous=FULL")
            self._expected = self._turn
            checkpoints.wrote(rows)

    def _take_turn(self, connection: SqliteConnection) -> None:
        """Look whether nobody has taken the store over. StoreError."""
        if turn_of(connection) != self._expected:
            self._broken = taken_over()
            raise self._broken
        if self._expected != self._turn:
            put_turn(connection, self._turn)

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
        if self._checkpoints is not None:
            self._checkpoints.close()
        self._readers.close()
        with self._writing:
            if self._connection is not None:
                with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                self._connection.close()
        if self._lock is not None:
            self._lock.release()
