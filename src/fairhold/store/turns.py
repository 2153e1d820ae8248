"""Whose turn it is to write: a word of the store that every transaction looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.agent.rank import EPOCH
from fairhold.ports import StoreError
from fairhold.store.tables import table

if TYPE_CHECKING:
    from fairhold.store.connections import Connection

TURN = "turn"
"""Word of a store: term and number of the turn."""
LEADER = "leader"
"""Word of a store in PostgreSQL: the note of who leads."""
LOST = "store-lost"
RESTORED = "store-restored"


class Turn(NamedTuple):
    """Whose turn it is.

    term   : counts services that have written to the store
    number : of the transactions of the latest, where they are counted
    """

    term: int
    number: int = 0

    @property
    def text(self) -> str:
        """As it is kept."""
        return f"{self.term}:{self.number}"

    @property
    def epoch(self) -> int:
        """How often the store was restored from a backup."""
        return self.term // EPOCH

    @property
    def following(self) -> Turn:
        """After one more transaction."""
        return self._replace(number=self.number + 1)


def turn_of(connection: Connection) -> Turn:
    """The turn that a store is at."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (TURN,)).fetchone()
    term, _, number = str(row[0] if row else "0:0").partition(":")
    return Turn(int(term), int(number))


def check_turn(connection: Connection, turn: Turn) -> None:
    """StoreError `store-lost` where a store is at another turn."""
    if turn_of(connection) != turn:
        raise taken_over()


def put_turn(connection: Connection, turn: Turn) -> None:
    """Write a turn, inside a transaction."""
    put_word(connection, TURN, turn.text)


def put_word(connection: Connection, name: str, value: str) -> None:
    """Keep a word about the store."""
    meta = table("meta")
    connection.insert(meta, meta.sealed([(name, value)]), replaces=True)


def raise_epoch(connection: Connection) -> None:
    """Let terms go on above all that services may have had of which this store knows nothing."""
    put_turn(connection, Turn((turn_of(connection).epoch + 1) * EPOCH))


def taken_over() -> StoreError:
    """What is told to who wants to write with an older term."""
    return StoreError("another service has taken the store over", LOST)


def only_read() -> StoreError:
    """What is told to who wants to write and only follows."""
    return StoreError("this service follows the store, and does not write to it", "store-followed")
