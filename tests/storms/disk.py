"""A store in memory that outlives the service, and fails as a disk and a database do."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairhold.ports import StoreFull, StoreGone
from fairhold.store import queries
from fairhold.store.connections import SqliteConnection
from fairhold.store.schema import migrate
from fairhold.store.sql import SqlStore
from fairhold.store.tables import seal_all
from fairhold.store.troubles import speaking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.store.connections import Connection
    from tests.storms.kernel import Kernel


class Disk:
    """What is durable.

    terms   : how many services have opened it
    is_full, is_gone : nothing can be written, and whether the end of a transaction can still be found out
    slow    : microseconds that every write takes longer
    deadly  : chance that the service dies at a write, right before or right after it is durable
    unsure  : chance that a write fails where nobody sees whether it became durable
    written : is told after every transaction
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.connection = sqlite3.connect(":memory:", isolation_level=None, factory=SqliteConnection)
        migrate(self.connection, None, seal_all)  # type: ignore[arg-type]  # named in errors only
        self.terms = 0
        self.is_full = self.is_gone = False
        self.slow = 0
        self.deadly = self.unsure = 0.0
        self.written: Callable[[], None] = lambda: None

    def recover(self) -> None:
        """It can be written to again."""
        self.is_full = self.is_gone = False
        self.slow = 0

    def calm(self) -> None:
        """Nothing happens to it any more."""
        self.recover()
        self.deadly = self.unsure = 0.0

    def begin(self) -> None:
        """Before a transaction: it may not come to it. Raises StoreWaits, Killed."""
        if self.is_full:
            raise StoreFull("the disk is full")
        if self.is_gone:
            raise StoreGone("the database is gone")
        kernel = self.kernel
        if kernel.current is not None and (self.slow or kernel.random.random() < 0.3):
            kernel.block(kernel.now + self.slow + int(kernel.random.random() * 2000))
        self.maybe_die()

    def maybe_die(self) -> None:
        """The service may die here."""
        current = self.kernel.current
        if current is not None and self.deadly and self.kernel.random.random() < self.deadly:
            current.process.end(9)


class MemoryStore(SqlStore):
    """The product's store over a disk, for one start of a service."""

    def __init__(self, disk: Disk) -> None:
        super().__init__("the simulated store", queries.end_of_log(disk.connection))
        self._disk, self._term = disk, 0
        self._unsure = False

    @property
    def term(self) -> int:
        """By which this store is written."""
        return self._term

    def lead(self, directory: Path | None = None, term: int = 0) -> None:
        """It is written from now on, by a term, 0 = the next."""
        del directory  # there is no state directory to hold
        self._term = self._disk.terms = term or self._disk.terms + 1

    def _write(
        self,
        work: Callable[[Connection], int],
        *,
        before: Callable[[Connection], object] = lambda _: None,
        may_be_lost: bool = False,  # noqa: ARG002 - all is durable here
    ) -> None:
        disk, connection = self._disk, self._disk.connection
        disk.begin()
        with speaking():
            connection.execute("BEGIN")
            try:
                before(connection)
                work(connection)
                is_lost = disk.unsure and disk.kernel.random.random() < disk.unsure
                if is_lost and disk.kernel.random.random() < 0.5:
                    self._unsure = True
                    raise StoreGone("the database went in the midst of it")  # noqa: TRY301 - as its driver would
                connection.execute("COMMIT")
            except BaseException:
                self._words.forget()
                connection.execute("ROLLBACK")
                raise
        disk.written()
        if is_lost:
            self._unsure = True
            raise StoreGone("the database went right after it")
        disk.maybe_die()

    def _settle(self) -> bool:
        """Whether the transaction whose end nobody saw is durable."""
        if self._disk.is_gone:
            raise StoreGone("the database is gone")
        if not self._unsure:
            return False
        self._unsure = False
        end = queries.end_of_log(self._disk.connection)
        is_durable, self._end = end != self._end, end
        return is_durable

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with speaking():
            yield self._disk.connection

    def backup(self, path: Path) -> None:
        raise NotImplementedError

    def check(self) -> tuple[Fault, ...]:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held."""
