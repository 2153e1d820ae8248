"""Numbers of the search words of finished jobs and attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_MOST = 20_000


class Words:
    """Remembers the numbers of some words; used by whoever writes.

    `forget` after a transaction that was taken back, and after words were removed.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, connection: sqlite3.Connection, word: str) -> int:
        """The number of a word; a new word gets one."""
        number = self._numbers.get(word)
        if number is None:
            row = connection.execute("SELECT number FROM words WHERE word = ?", (word,)).fetchone()
            if row is None:
                row = (connection.execute("INSERT INTO words (word) VALUES (?)", (word,)).lastrowid,)
            number = int(row[0])
            if len(self._numbers) >= _MOST:
                self._numbers.clear()
            self._numbers[word] = number
        return number

    def forget(self) -> None:
        """Ask the file again."""
        self._numbers.clear()
