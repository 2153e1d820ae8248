"""Numbers of the search words of finished jobs and attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.store.connections import Connection

_MOST = 20_000
_AT_ONCE = 500


class Words:
    """Remembers the numbers of some words; used by whoever writes.

    `forget` after a transaction that was taken back, and after words were removed.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, connection: Connection, words: Collection[str]) -> tuple[dict[str, int], list[tuple[int, str]]]:
        """Numbers of words, and the rows of those that are new, which have yet to be written."""
        if len(self._numbers) + len(words) > _MOST:
            self._numbers.clear()
        unknown = [word for word in words if word not in self._numbers]
        for at in range(0, len(unknown), _AT_ONCE):
            asked = unknown[at : at + _AT_ONCE]
            query = f"SELECT word, number FROM words WHERE word IN ({', '.join('?' * len(asked))})"  # noqa: S608 - marks
            self._numbers.update(connection.execute(query, asked).fetchall())
        news = [word for word in unknown if word not in self._numbers]
        if not news:
            return self._numbers, []
        last = int(connection.execute("SELECT max(number) FROM words").fetchone()[0] or 0)
        rows = list(enumerate(news, start=last + 1))
        self._numbers.update((word, number) for number, word in rows)
        return self._numbers, rows

    def forget(self) -> None:
        """Ask the database again."""
        self._numbers.clear()
