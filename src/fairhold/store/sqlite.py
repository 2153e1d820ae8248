"""An open store in an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from fairhold.ports import Log, StoreError, StoreFull
from fairhold.store import copies, queries
from fairhold.store.batch import GatheredBatch, packed
from fairhold.store.checking import findings
from fairhold.store.checkpoints import Checkpoints
from fairhold.store.compaction import step
from fairhold.store.connections import Readers, reader
from fairhold.store.pages import page
from fairhold.store.people import PeopleTables
from fairhold.store.records import JOBS, TASKS
from fairhold.store.schema import format_of
from fairhold.store.troubles import DAMAGED, RESTORE, UNSURE, code_of, refusal, speaking, translated
from fairhold.store.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fairhold.errors import Fault, InputError
    from fairhold.model.usage import Usage
    from fairhold.ports import CycleNote, Entry, Filter, FinishedJob, FinishedTask, Page, PlanVersion, Retention
    from fairhold.store.directory import Lock


class SqliteStore(PeopleTables):
    """`ports.Store`; see there. Made by `open_store`.

    Writers take turns by `_writing`, which is held while a transaction is written, not while it is gathered.
    """

    def __init__(self, path: Path, lock: Lock, connection: sqlite3.Connection) -> None:
        self._path = path
        self._lock = lock
        self._connection = connection
        self._gathering = threading.Lock()
        self._writing = threading.Lock()
        self._words = Words()
        self._broken: StoreError | None = None
        self._is_closed = False
        self._last, self._last_at = queries.end_of_log(connection)
        self._readers = Readers(path)
        self._checkpoints = Checkpoints(path, self._writing)

    @property
    def last(self) -> int:
        """Number of the last entry that is durable."""
        return self._last

    @property
    def last_at(self) -> int:
        """Instant of the last entry."""
        return self._last_at

    @contextmanager
    def transaction(self) -> Iterator[GatheredBatch]:
        """A batch that is durable when the `with` is left."""
        if not self._gathering.acquire(blocking=False):
            raise StoreError("two threads write at once", "store-busy")
        try:
            batch = GatheredBatch(self._last, self._last_at, self.job_of_key)
            yield batch
            self._write(lambda: batch.write(self._connection, self._words))
            self._last, self._last_at = batch.last, batch.last_at
        finally:
            self._gathering.release()

    def _write(self, work: Callable[[], int], synchronous: str = "FULL") -> int:
        """Do some work in a transaction of its own; returns what it returns, the number of rows."""
        with self._writing, speaking():
            if self._broken:
                raise self._broken
            connection = self._connection
            try:
                if synchronous != "FULL":
                    connection.execute(f"PRAGMA synchronous={synchronous}")
                connection.execute("BEGIN IMMEDIATE")
                rows = work()
                connection.execute("COMMIT")
            except BaseException as error:
                self._words.forget()
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error) and code_of(error) in UNSURE:
                    self._broken = translated(error)
                elif isinstance(error, sqlite3.Error) and isinstance(translated(error), StoreFull):
                    self._checkpoints.make_room()
                raise
            finally:
                if synchronous != "FULL":
                    connection.execute("PRAGMA synchronous=FULL")
            self._checkpoints.wrote(rows)
            return rows

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with speaking(), self._readers.one() as connection:
            yield connection

    def load(self, before: int = 0) -> Log:
        """The latest readable snapshot of an entry below `before`, 0 = of any, and all entries after it."""
        with self._reading() as connection:
            snapshot, unreadable = queries.snapshot(connection, before)
        return Log(snapshot, self._entries_after(snapshot.seq if snapshot else 0), unreadable)

    def _entries_after(self, seq: int) -> Iterator[Entry]:
        until = self._last
        while seq < until:
            entries = self.entries(seq, until, queries.CHUNK)
            if not entries or entries[0].seq != seq + 1 or entries[-1].seq != seq + len(entries):
                raise refusal("store-gap", f"entries of the log after {seq} are missing", RESTORE, self._path)
            yield from entries
            seq = entries[-1].seq

    def entries(self, after: int, until: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries with numbers above `after` up to `until`."""
        with self._reading() as connection:
            return queries.entries(connection, after, until, limit)

    def first(self) -> int:
        """Number of the first entry that is still there."""
        with self._reading() as connection:
            return queries.first(connection)

    def seq_at(self, instant: int) -> int:
        """Number of the last entry at or before an instant."""
        with self._reading() as connection:
            return queries.seq_at(connection, instant)

    def save_snapshot(self, seq: int, at: int, body: bytes) -> None:
        """Keep a snapshot; the last two are kept. ValueError where the log does not reach `seq`."""
        if not 0 < seq <= self._last:
            raise ValueError(f"the log ends with entry {self._last}, there is no entry {seq}")
        small = packed(body)

        def work() -> int:
            self._connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (seq, at, small))
            keep = "SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 2"
            self._connection.execute(f"DELETE FROM snapshots WHERE seq NOT IN ({keep})")  # noqa: S608
            return 1 + len(small) // 1_000

        self._write(work)

    def spec(self, job: str) -> str | None:
        """What a job runs."""
        with self._reading() as connection:
            return queries.text(connection, queries.SPEC, job)

    def specs(self, jobs: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """What each of these jobs runs."""
        with self._reading() as connection:
            for job in jobs:
                yield job, queries.text(connection, queries.SPEC, job)

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key."""
        with self._reading() as connection:
            return queries.text(connection, "SELECT job FROM submit_keys WHERE user = ? AND key = ?", user, key)

    def job(self, job: str) -> FinishedJob | None:
        """A finished job."""
        with self._reading() as connection:
            return queries.job(connection, job)

    def jobs(self, wanted: Filter, cursor: str = "", limit: int = 100) -> Page[FinishedJob]:
        """Finished jobs, the latest end first."""
        with self._reading() as connection:
            return page(connection, JOBS, wanted, cursor, limit)

    def tasks(self, wanted: Filter, cursor: str = "", limit: int = 100) -> Page[FinishedTask]:
        """Finished attempts, the latest end first."""
        with self._reading() as connection:
            return page(connection, TASKS, wanted, cursor, limit)

    def tasks_of(self, job: str, after: tuple[int, int] = (-1, 0), limit: int = 100) -> list[FinishedTask]:
        """Finished attempts of one job in order."""
        with self._reading() as connection:
            return queries.tasks_of(connection, job, after, limit)

    def plan(self, version: int = 0) -> PlanVersion | None:
        """A version of the plan, 0 = the latest."""
        with self._reading() as connection:
            return queries.plan(connection, version)

    def plans(self, before: int = 0, limit: int = 100) -> list[PlanVersion]:
        """Versions of the plan, the latest first."""
        with self._reading() as connection:
            return queries.plans(connection, before, limit)

    def cycle(self, number: int) -> tuple[CycleNote, str] | None:
        """A cycle and its document."""
        with self._reading() as connection:
            return queries.cycle(connection, number)

    def cycles(self, resource_group: str = "", before: int = 0, limit: int = 100) -> list[CycleNote]:
        """Cycles, the latest first."""
        with self._reading() as connection:
            return queries.cycles(connection, resource_group, before, limit)

    def usage(self, since: int, until: int) -> Iterator[Usage]:
        """Usage in a span of time."""
        spot = (since, 2**62, 0)
        while True:
            with self._reading() as connection:
                rows = queries.usage(connection, spot, until)
            for *_, row in rows:
                yield row
            if len(rows) < queries.CHUNK:
                return
            spot = rows[-1][:3]

    def jobs_of_unknown_unit(self) -> list[str]:
        """Jobs of whose usage on record it is not known what a unit was."""
        with self._reading() as connection:
            return [job for (job,) in connection.execute("SELECT DISTINCT job FROM \"usage\" WHERE unit = '?'")]

    def labels(self, jobs: Iterable[str]) -> dict[str, dict[str, str]]:
        """Labels of jobs, also of those that are gone."""
        asked, found = list(jobs), dict[str, dict[str, str]]()
        for at in range(0, len(asked), queries.CHUNK):
            with self._reading() as connection:
                found |= queries.labels(connection, asked[at : at + queries.CHUNK])
        return found

    def meta(self) -> dict[str, str]:
        """Words about the store, and `format`, the number of its format."""
        with self._reading() as connection:
            words = dict(connection.execute("SELECT name, value FROM meta").fetchall())
            return words | {"format": str(format_of(connection))}

    def compact(self, retention: Retention) -> bool:
        """A short step of clearing out. Its commit need not wait for the disk: the next one does."""

        def work() -> int:
            removed, has_words = step(self._connection, retention)
            if has_words:  # before anybody else writes: their numbers are no longer true
                self._words.forget()
            return removed

        return self._write(work, synchronous="NORMAL") > 0

    def backup(self, path: Path) -> None:
        """Copy all to a new file, while the store is in use."""
        copies.backup_store(self._path.parent, path)

    def check(self) -> tuple[Fault, ...]:
        """Everything that is wrong in the store."""
        with speaking(), closing(reader(self._path)) as connection:
            connection.execute("BEGIN")
            return findings(connection, self._path)

    def damaged(self, what: str) -> InputError:
        """What is raised where something in the store cannot be used."""
        return refusal(DAMAGED, what, RESTORE, self._path)

    def close(self) -> None:
        """Carry the log over, leave the directory to others; may be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._checkpoints.close()
        self._readers.close()
        with self._writing:
            with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()
        self._lock.release()
