"""Who leads a store in PostgreSQL: a word of the store, over a connection of its own."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import psycopg

from fairhold.ports.leading import LeaderNote, note_of
from fairhold.store.postgresql.opening import end_holder
from fairhold.store.postgresql.patience import Patience
from fairhold.store.postgresql.session import PostgresConnection
from fairhold.store.postgresql.troubles import speaking
from fairhold.store.tables import table
from fairhold.store.turns import LEADER, Turn, put_turn, put_word, taken_over, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.store.postgresql.address import Address

    Answer = TypeVar("Answer")
_SECONDS = 1.0
"""That an answer may take: a lease that is not renewed in time is no lease."""
_CONNECTING = "2"
"""Seconds, the least that the library knows."""
_RENEW = "UPDATE meta SET value = ?, seal = ? WHERE name = ? AND value = ?"


class SharedLease:
    """`ports.leading.StoreLease`; see there. A connection that fails is made anew with the next request."""

    def __init__(self, address: Address) -> None:
        self._address = replace(address, settings={**address.settings, "connect_timeout": _CONNECTING})
        self._patience = Patience(_SECONDS)
        self._connection: PostgresConnection | None = None

    def look(self) -> LeaderNote | None:
        """Who leads."""
        return self._asked(_looked)

    def begin(self, note: LeaderNote) -> None:
        """Write one's own note."""

        def begin(connection: PostgresConnection) -> None:
            with connection.raw.transaction():
                put_word(connection, LEADER, note.text)  # waits for who takes the store over at this moment
                if turn_of(connection).term > note.term:
                    raise taken_over()

        self._asked(begin)

    def renew(self, seen: LeaderNote, note: LeaderNote) -> bool:
        """Write it again."""
        values = (note.text, table("meta").seal((LEADER, note.text)), LEADER, seen.text)
        return self._asked(lambda connection: connection.execute(_RENEW, values).rowcount == 1)

    def take(self, seen: LeaderNote, note: LeaderNote) -> LeaderNote | None:
        """Take the store over; the connection by which another still writes is ended."""

        def take(connection: PostgresConnection) -> LeaderNote | None:
            with connection.raw.transaction():
                row = connection.execute("SELECT value FROM meta WHERE name = ? FOR UPDATE", (LEADER,)).fetchone()
                if row is None or note_of(row[0]) != seen:
                    return None
                end_holder(connection)
                taken = note._replace(term=max(seen.term, turn_of(connection).term) + 1)
                put_turn(connection, Turn(taken.term))
                put_word(connection, LEADER, taken.text)
                return taken

        return self._asked(take)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _asked(self, ask: Callable[[PostgresConnection], Answer]) -> Answer:
        with speaking():
            try:
                if self._connection is None or self._connection.raw.closed:
                    self._connection = PostgresConnection(
                        self._address, f"fairhold lease of {socket.gethostname()}", self._patience
                    )
                return ask(self._connection)
            except psycopg.Error:
                with suppress(psycopg.Error):
                    self.close()
                raise


def _looked(connection: PostgresConnection) -> LeaderNote | None:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (LEADER,)).fetchone()
    return note_of(row[0]) if row else None
