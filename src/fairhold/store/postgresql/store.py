"""An open store in a PostgreSQL database."""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import psycopg

from fairhold.errors import InputError
from fairhold.ports import StoreError, StoreGone
from fairhold.store import queries
from fairhold.store.batch import EndOfLog
from fairhold.store.connections import Readers
from fairhold.store.postgresql.troubles import speaking
from fairhold.store.sql import SqlStore
from fairhold.store.tables import table
from fairhold.store.turns import TURN, Turn, only_read, put_turn, taken_over, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.store.connections import Connection
    from fairhold.store.directory import Lock
    from fairhold.store.postgresql.address import Address
    from fairhold.store.postgresql.session import PostgresConnection

ONE_INSTANT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""How who only reads begins."""
_TAKE_TURN = (
    "WITH moved AS (UPDATE meta SET value = ?, seal = ? WHERE name = 'turn' AND value = ? RETURNING 1) "
    "SELECT 1 / count(*) FROM moved"
)
"""The first statement of every transaction. Where the turn is another's it divides by zero, and nothing is applied."""


class PostgresStore(SqlStore):
    """`ports.Store`; see there. Made by `opening.open_store`.

    One service writes: it holds a lock of the database as long as it is connected, and every transaction moves the turn
    on from where this service left it. So who lost the lock without noticing writes nothing after another has come; and
    where the connection breaks during a commit, the turn says whether it was applied. One that follows only reads,
    until `lead`.
    """

    def __init__(self, address: Address, connect: Callable[[Turn], PostgresConnection]) -> None:
        """Connect makes a connection with the lock for who has this turn; one that reads is made by the address."""
        super().__init__(address.told, EndOfLog())
        self._address = address
        self._lock: Lock | None = None
        self._connection: PostgresConnection | None = None
        self._connect = connect
        self._turn = Turn(0)
        self._writing = threading.Lock()
        self._unsure: bool | None = None
        """Of a transaction nobody saw the end of: whether it is one of `transaction`; None = there is none."""
        self._settled = False
        self._broken: StoreError | None = None
        self._is_closed = False
        self._readers = Readers(self._reader, ONE_INSTANT)

    def begin(self, lock: Lock, connection: PostgresConnection, term: int = 0) -> None:
        """Write from now on, by a connection with the lock of the schema, which is closed with this.

        term : that was taken, 0 = the next, for who has the store for itself alone
        """
        self._lock, self._connection = lock, connection
        self._end = queries.end_of_log(connection)
        self._turn = Turn(term or turn_of(connection).term + 1)
        if not term:
            put_turn(connection, self._turn)

    def lead(self, directory: Path, term: int) -> None:
        """Write from now on: the lease was taken, with this term. StoreError where it was taken again, StoreGone.

        directory : of the state, held from now on
        """
        from fairhold.store.postgresql.opening import lead  # noqa: PLC0415 - that module makes stores

        self.refresh()
        with speaking():
            lead(self, self._address, directory, term)

    @property
    def term(self) -> int:
        """By which this store is written; 0 = it is only read."""
        return self._turn.term

    def _reader(self) -> PostgresConnection:
        from fairhold.store.postgresql.opening import connect  # noqa: PLC0415 - that module makes stores

        return connect(self._address)

    def _write(
        self,
        work: Callable[[Connection], int],
        *,
        before: Callable[[Connection], object] | None = None,
        may_be_lost: bool = False,
    ) -> None:
        with self._writing, speaking():
            connection = self._connected()
            following = self._turn.following
            is_ending = False
            try:
                with connection.waiting():
                    if before is not None:
                        before(connection)
                    # all at once, and one answer: work that asks something meanwhile is done step by step
                    with nullcontext() if may_be_lost else connection.raw.pipeline():
                        connection.execute("BEGIN")
                        if may_be_lost:
                            connection.execute("SET LOCAL synchronous_commit = off")
                        seal = table("meta").seal((TURN, following.text))
                        connection.execute(_TAKE_TURN, (following.text, seal, self._turn.text))
                        work(connection)
                        is_ending = True
                        connection.execute("COMMIT")
            except BaseException as error:
                self._failed(error, connection, is_batch=before is not None, is_ending=is_ending)
                raise
            self._turn = following

    def _failed(self, error: BaseException, connection: PostgresConnection, *, is_batch: bool, is_ending: bool) -> None:
        """Leave a transaction; what is known of it afterwards decides how to go on."""
        self._words.forget()
        if not connection.raw.closed:
            with suppress(psycopg.Error):
                connection.raw.rollback()
                if isinstance(error, psycopg.errors.DivisionByZero):
                    self._broken = taken_over()
                    raise self._broken from error
                return
        if is_ending:  # with the connection gone in the middle of it
            self._unsure = is_batch
        self._let_go()

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._readers.drop()

    def _connected(self) -> PostgresConnection:
        """The connection that writes; a new one where the server was gone. StoreGone while it is."""
        if self._broken:
            raise self._broken
        if self._is_closed:
            raise StoreError("the store is closed", "store-closed")
        if not self._turn.term:
            raise only_read()
        if self._connection is None:
            connection = self._connect(self._turn)
            try:
                self._take_up(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _take_up(self, connection: PostgresConnection) -> None:
        """Go on from what was left: the turn says what became of the last transaction, and whether others wrote."""
        turn, left = turn_of(connection), self._turn
        if self._unsure is not None and turn == left.following:
            self._turn = turn
            if self._unsure:
                self._settled = True
                self._end = queries.end_of_log(connection)
        elif turn != left:
            if turn.term > left.term:
                self._broken = taken_over()
            else:
                what = "the database has lost transactions that it had confirmed, as after a change to a late replica"
                self._broken = StoreError(what, "store-behind")
            raise self._broken
        self._unsure = None

    def _settle(self) -> bool:
        with self._writing, speaking():
            self._connected()
            settled, self._settled = self._settled, False
            return settled

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with speaking(), self._readers.one() as connection:
                yield connection
        except StoreGone:
            self._readers.drop()
            raise

    def backup(self, path: Path) -> None:
        """Copy all to a new SQLite file, while the store is in use."""
        from fairhold.store.postgresql.opening import backup_store  # noqa: PLC0415 - that module makes stores

        backup_store(self._address, path)

    def check(self) -> tuple[Fault, ...]:
        """Everything that is wrong in the store."""
        from fairhold.store.postgresql.opening import check_store  # noqa: PLC0415 - that module makes stores

        try:
            return check_store(self._address)
        except InputError as error:
            raise StoreError(error.faults[0].what, error.faults[0].code) from error

    def close(self) -> None:
        """Leave the store and the directory to others; may be called twice."""
        self._is_closed = True
        self._readers.close()
        with self._writing:
            if self._connection is not None:
                with suppress(psycopg.Error):  # at once, not when the server notices
                    self._connection.execute("SELECT pg_advisory_unlock_all()")
                self._connection.close()
                self._connection = None
        if self._lock is not None:
            self._lock.release()
