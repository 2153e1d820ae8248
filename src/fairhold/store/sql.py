"""An open store in a database that understands SQL: all that does not depend on which."""

from __future__ import annotations

import threading
from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairhold.ports import Log, StoreError
from fairhold.store import queries
from fairhold.store.batch import GatheredBatch, packed
from fairhold.store.compaction import step
from fairhold.store.ordered import Span, in_order
from fairhold.store.pages import page
from fairhold.store.people import PeopleTables
from fairhold.store.records import JOBS, TASKS
from fairhold.store.tables import seal_before, table
from fairhold.store.troubles import DAMAGED, RESTORE, refusal
from fairhold.store.turns import LEADER, RESTORED, TURN, turn_of
from fairhold.store.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.errors import InputError
    from fairhold.model.usage import Usage
    from fairhold.ports import CycleNote, Entry, Filter, FinishedJob, FinishedTask, Page, PlanVersion, Retention
    from fairhold.store.batch import EndOfLog
    from fairhold.store.connections import Connection


class SqlStore(PeopleTables):
    """`ports.Store`; see there.

    place : what errors name
    """

    def __init__(self, place: object, end: EndOfLog) -> None:
        self._place = place
        self._end = end
        self._epoch = 0
        self._gathering = threading.Lock()
        self._words = Words()

    @abstractmethod
    def _write(
        self,
        work: Callable[[Connection], int],
        *,
        before: Callable[[Connection], object] = lambda _: None,
        may_be_lost: bool = False,
    ) -> None:
        """Do some work, which says how many rows that were, in a transaction of its own.

        before      : what has to be asked before; nobody writes in between
        may_be_lost : the transaction need not be durable before the next one is
        """

    @property
    @abstractmethod
    def term(self) -> int:
        """By which this store is written; 0 = it is only read."""

    def refresh(self) -> int:
        """Look how far the log goes, of a store that another service writes; number of its last entry.

        StoreError `store-restored` where another store is in its place, `store-behind` where the log is not the same.
        """
        with self._reading() as connection:
            end, epoch = queries.end_of_log(connection), turn_of(connection).epoch
            if self._end.seq and epoch != self._epoch:
                raise StoreError("the store was restored from a backup", RESTORED)
            before = seal_before(connection, self._end.seq)
            if end.seq < self._end.seq or before not in {self._end.seal, None}:
                what = f"its log ends with entry {end.seq}, and entry {self._end.seq} was followed, or is another there"
                raise StoreError(what, "store-behind")
            self._end, self._epoch = end, epoch
        return end.seq

    def _settle(self) -> bool:
        """Find out about a transaction of which nobody saw the end: whether there was one, and it is durable."""
        return False

    def _give_back(self, _connection: Connection) -> int:
        """Return a little room to the disk, inside a transaction; says how much."""
        return 0

    @property
    def last(self) -> int:
        """Number of the last entry that is durable."""
        return self._end.seq

    @property
    def last_at(self) -> int:
        """Instant of the last entry."""
        return self._end.at

    @contextmanager
    def transaction(self) -> Iterator[GatheredBatch]:
        """A batch that is durable when the `with` is left."""
        if not self._gathering.acquire(blocking=False):
            raise StoreError("two threads write at once", "store-busy")
        try:
            settled = self._settle()
            batch = GatheredBatch(self._end, self.job_of_key, settled=settled)
            yield batch
            self._write(batch.write, before=lambda connection: batch.look_up(connection, self._words))
            self._end = batch.end
        finally:
            self._gathering.release()

    def load(self, before: int = 0) -> Log:
        """The latest readable snapshot of an entry below `before`, 0 = of any, and all entries after it."""
        with self._reading() as connection:
            snapshot, unreadable = queries.snapshot(connection, before)
        return Log(snapshot, self._entries_after(snapshot.seq if snapshot else 0), unreadable)

    def _entries_after(self, seq: int) -> Iterator[Entry]:
        until = self.last
        while seq < until:
            entries = self.entries(seq, until, queries.CHUNK)
            if not entries or entries[0].seq != seq + 1 or entries[-1].seq != seq + len(entries):
                raise refusal("store-gap", f"entries of the log after {seq} are missing", RESTORE, self._place)
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
        if not 0 < seq <= self.last:
            raise ValueError(f"the log ends with entry {self.last}, there is no entry {seq}")
        snapshots, small = table("snapshots"), packed(body)

        def work(connection: Connection) -> int:
            connection.insert(snapshots, snapshots.sealed([(seq, at, small)]), replaces=True)
            keep = "SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 2"
            connection.execute(f"DELETE FROM snapshots WHERE seq NOT IN ({keep})")  # noqa: S608
            return 1 + len(small) // 1_000

        self._write(work)

    def spec(self, job: str) -> str | None:
        """What a job runs."""
        with self._reading() as connection:
            return queries.spec(connection, job)

    def specs(self, jobs: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """What each of these jobs runs."""
        with self._reading() as connection:
            for job in jobs:
                yield job, queries.spec(connection, job)

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key."""
        with self._reading() as connection:
            return queries.job_of_key(connection, user, key)

    def job(self, job: str) -> FinishedJob | None:
        """A finished job."""
        with self._reading() as connection:
            return queries.job(connection, job)

    def jobs(self, wanted: Filter, cursor: str = "", limit: int = 100) -> Page[FinishedJob]:
        """Finished jobs, the latest end first."""
        with self._reading() as connection:
            return page(connection, JOBS, wanted, cursor, limit)

    def jobs_in_order(
        self, wanted: Filter, column: str, *, is_down: bool, after: tuple[int | str, int] | None, limit: int
    ) -> list[FinishedJob]:
        """Finished jobs by a column."""
        with self._reading() as connection:
            return in_order(connection, wanted, Span(column, is_down, after, limit))

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
            words = queries.words(connection) | {"format": str(connection.format())}
            return {name: value for name, value in words.items() if name not in {TURN, LEADER}}

    def compact(self, retention: Retention) -> bool:
        """A short step of clearing out. Its commit need not wait for the disk: the next one does."""
        removed = 0

        def work(connection: Connection) -> int:
            nonlocal removed
            removed, has_words = step(connection, retention, lambda: self._give_back(connection))
            if has_words:  # before anybody else writes: their numbers are no longer true
                self._words.forget()
            return removed

        self._write(work, may_be_lost=True)
        return removed > 0

    def damaged(self, what: str) -> InputError:
        """What is raised where something in the store cannot be used."""
        return refusal(DAMAGED, what, RESTORE, self._place)
