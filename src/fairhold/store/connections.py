"""Connections to the file of a store: one that writes, some that read."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from fairhold.ports import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 5.0
"""Seconds to wait for another program that writes."""
LOG_SIZE = 4 << 20
"""Bytes that the log may have: above, it is carried over, begins anew and is cut to this."""
_IDLE = 8
"""Readers that are kept for later."""


def connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """Open a file that is there; nothing is begun or committed but in so many words."""
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(uri, PATIENCE, uri=True, isolation_level=None, check_same_thread=False)


def writer(path: Path) -> sqlite3.Connection:
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


def reader(path: Path) -> sqlite3.Connection:
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
    """Connections that read, lent to one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._is_closed = False

    @contextmanager
    def one(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a read transaction: all that is read is of one instant."""
        with self._lock:
            if self._is_closed:
                raise StoreError("the store is closed", "store-closed")
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = reader(self._path)
        try:
            connection.execute("BEGIN")
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

    def close(self) -> None:
        """Close those that nobody uses; the others are closed when they come back."""
        with self._lock:
            idle, self._idle, self._is_closed = self._idle, [], True
        for connection in idle:
            connection.close()
