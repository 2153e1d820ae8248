"""Who leads a store in a file: a note beside it for the services of one machine, and the term in the store itself."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from fairhold.ports import StoreError
from fairhold.ports.leading import LeaderNote, note_of
from fairhold.store.connections import connect
from fairhold.store.directory import FILE
from fairhold.store.processes import pid_of
from fairhold.store.troubles import code_of, speaking
from fairhold.store.turns import Turn, put_turn, turn_of

if TYPE_CHECKING:
    from pathlib import Path

NOTE = "store.leader"
"""File of the state directory."""
_SIZE = 4_096
_PATIENCE = 500
"""Milliseconds that whoever writes may take."""
_LOG = logging.getLogger("fairhold")


class FileLease:
    """`ports.leading.StoreLease`; see there.

    The note is overwritten in its place, so a full disk takes nobody's lease. Whoever takes the store over writes its
    term into the store first: of two who want to at once, the later one leads, and the other finds that out.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / NOTE

    def look(self) -> LeaderNote | None:
        """Who leads."""
        try:
            return note_of(self._path.read_text(encoding="utf-8", errors="replace"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(error) from error

    def begin(self, note: LeaderNote) -> None:
        """Write one's own note."""
        self._write(note)

    def renew(self, seen: LeaderNote, note: LeaderNote) -> bool:
        """Write it again."""
        there = self.look()
        if there is not None and (there.term > seen.term or (there.term == seen.term and there.holder != seen.holder)):
            return False
        self._write(note)
        return True

    def take(self, seen: LeaderNote, note: LeaderNote) -> LeaderNote | None:
        """Take the store over."""
        if self.look() != seen:
            return None
        with speaking(), closing(connect(self._directory / FILE)) as connection:
            _begin(connection, seen)
            taken = note._replace(term=max(seen.term, turn_of(connection).term) + 1)
            put_turn(connection, Turn(taken.term))
            connection.execute("COMMIT")
        self._write(taken)
        return taken

    def close(self) -> None:
        """Nothing is kept open."""

    def _write(self, note: LeaderNote) -> None:
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, note.text.encode().ljust(_SIZE - 1) + b"\n", 0)
            finally:
                os.close(file)
        except OSError as error:
            raise _unusable(error) from error


def _unusable(error: OSError) -> StoreError:
    return StoreError(f"who leads cannot be read or written: {error.strerror or error}")


def _begin(connection: sqlite3.Connection, seen: LeaderNote) -> None:
    """Begin to write. A leader that was stopped in the middle of a commit keeps all others out: it is ended."""
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE}")
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        pid = pid_of(seen.process)
        if code_of(error) & 0xFF != sqlite3.SQLITE_BUSY or not seen.holder or not pid:
            raise
        _LOG.warning("process %d led, stands still and keeps the store locked: it is killed", pid)
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        connection.execute("BEGIN IMMEDIATE")
