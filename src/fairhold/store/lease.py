"""Who leads a store in a file: a note beside it for the services of one machine, and the term in the store itself."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from fairhold.ports import StoreError
from fairhold.ports.leading import LeaderNote, note_of
from fairhold.store.connections import connect
from fairhold.store.directory import FILE, NOTE, changing_hands
from fairhold.store.processes import end_holder
from fairhold.store.troubles import code_of, speaking
from fairhold.store.turns import Turn, put_turn, taken_over, turn_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SIZE = 4_096
_PATIENCE = 500
"""Milliseconds that whoever writes may take."""
_LOOKS = 3
"""Tries to read a note that somebody may be writing."""
_WRITES = 120
"""Byte of the index of the log that SQLite locks for who writes (WAL_WRITE_LOCK)."""
_LOG = logging.getLogger("fairhold")


class FileLease:
    """`ports.leading.StoreLease`; see there.

    The note is overwritten in its place, so a full disk takes nobody's lease. Who changes it has it locked from the
    look at it until it is written. Whoever takes the store over also writes its term into the store meanwhile.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / NOTE

    def look(self) -> LeaderNote | None:
        """Who leads."""
        try:
            for _ in range(_LOOKS):
                text = self._path.read_text(encoding="utf-8", errors="replace")
                if (note := note_of(text)) is not None or not text:
                    return note
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(error) from error
        return None

    def begin(self, note: LeaderNote) -> None:
        """Write one's own note."""
        with self._changing(note) as file:
            there = self.look()
            if there is not None and there.term >= note.term and there.holder != note.holder:
                with speaking(), closing(connect(self._directory / FILE)) as connection:
                    if turn_of(connection).term >= note.term:
                        raise taken_over()
            _write(file, note)

    def renew(self, seen: LeaderNote, note: LeaderNote) -> bool:
        """Write it again."""
        with self._changing(seen) as file:
            there = self.look()
            if there is not None and (
                there.term > seen.term or (there.term == seen.term and there.holder != seen.holder)
            ):
                return False
            _write(file, note)
            return True

    def take(self, seen: LeaderNote, note: LeaderNote) -> LeaderNote | None:
        """Take the store over."""
        with self._changing(seen) as file:
            if self.look() != seen:
                return None
            with speaking(), closing(connect(self._directory / FILE)) as connection:
                self._begin(connection, seen)
                taken = note._replace(term=max(seen.term, turn_of(connection).term) + 1)
                put_turn(connection, Turn(taken.term))
                connection.execute("COMMIT")
            _write(file, taken)
            return taken

    def close(self) -> None:
        """Nothing is kept open."""

    @contextmanager
    def _changing(self, seen: LeaderNote) -> Iterator[int]:
        """The file, which nobody else changes meanwhile. A leader that was stopped while it did is ended."""
        try:
            with changing_hands(self._directory, lambda path: _end(seen, path, "the note of who leads")) as file:
                yield file
        except OSError as error:
            raise _unusable(error) from error

    def _begin(self, connection: sqlite3.Connection, seen: LeaderNote) -> None:
        """Begin to write. A leader that was stopped in the middle of a commit keeps all others out: it is ended."""
        connection.execute(f"PRAGMA busy_timeout={_PATIENCE}")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if code_of(error) & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            _end(seen, self._directory / f"{FILE}-shm", "the store", _WRITES)
            connection.execute("BEGIN IMMEDIATE")


def _write(file: int, note: LeaderNote) -> None:
    os.pwrite(file, note.text.encode().ljust(_SIZE - 1) + b"\n", 0)


def _end(seen: LeaderNote, path: Path, what: str, byte: int = 0) -> None:
    """End a leader that was silent and keeps a file locked, where both are certain."""
    if seen.holder and (pid := end_holder(seen.process, path, byte)):
        _LOG.warning("process %d led, stands still and keeps %s locked: it is killed", pid, what)


def _unusable(error: OSError) -> StoreError:
    return StoreError(f"who leads cannot be read or written: {error.strerror or error}")
