"""Checkpoints the write-ahead log into the file, in a thread of its own and not during a commit."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.store.connections import LOG_SIZE, reader

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 4_000
"""Rows written after which it is worth while."""
PAUSE = 5.0
"""Seconds after which it is done for fewer rows too."""
LONG = LOG_SIZE // 4_200
"""Pages of the log, a little less than `LOG_SIZE`, above which nobody may write for a moment: then it begins anew."""
ROUNDS = 8
"""How often to try to come near."""
STEP = 1 << 20
"""Bytes that a log that is too long grows by before the next try: a long reader may be in the way."""
SHORT = 100
"""Pages that are a short rest."""


class Checkpoints:
    """A thread with a connection of its own.

    writing : held while somebody writes
    """

    def __init__(self, path: Path, writing: threading.Lock) -> None:
        self._connection = reader(path)
        self._writing = writing
        self._log = f"{path}-wal"
        self._rows = self._tried = 0
        self._wake = threading.Event()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="fairhold-checkpoints", daemon=True)
        self._thread.start()

    def wrote(self, rows: int) -> None:
        """So many rows were committed; called while `writing` is held."""
        self._rows += rows
        with suppress(OSError):
            size = os.stat(self._log).st_size  # noqa: PTH116 - at every commit
            if size < self._tried:  # it was cut
                self._tried = 0
            if size > LOG_SIZE and size >= self._tried + STEP:
                self._tried = size
                self._wake.set()
        if self._rows >= ROWS:
            self._wake.set()

    def make_room(self) -> None:
        """A commit found no room: what is carried over need not stay in the log."""
        self._rows += 1
        self._wake.set()

    def close(self) -> None:
        """End the thread; may be called twice."""
        self._is_over = True
        self._wake.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while True:
            self._wake.wait(PAUSE)
            if self._is_over:
                return
            self._wake.clear()
            if self._rows:
                self._rows = 0
                # A full disk, or a damage that the writer will meet itself: the log keeps everything, try again later.
                try:
                    self._carry_over()
                except sqlite3.Error:
                    self._rows += 1

    def _carry_over(self) -> None:
        done = self._once()
        if done <= LONG:
            return
        # Whoever writes all the time is always a little ahead, and the log would grow without end. Come near first;
        # then, for the short rest, let nobody write. Once all is carried over, the next commit begins the log anew.
        for _ in range(ROUNDS):
            before, done = done, self._once()
            if done - before <= SHORT:
                break
        with self._writing:
            self._once()

    def _once(self) -> int:
        """Carry over what is in the log now, while others write; returns how many pages the log has."""
        return int(self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])
