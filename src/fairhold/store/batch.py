"""The rows of one transaction: collected first, then written at once, so that the lock is held briefly."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from fairhold.store.records import JOBS, TASKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.access.chain import Record
    from fairhold.model.usage import Usage
    from fairhold.ports import CycleNote, FinishedJob, FinishedTask, PlanVersion
    from fairhold.ports.people import AccessVersion, TokenRecord
    from fairhold.store.records import Kind
    from fairhold.store.words import Words

LEVEL = 1
"""Of zlib: the others take several times as long for a tenth less."""


def packed(text: bytes) -> bytes:
    """Compressed, as snapshots and documents are kept."""
    return zlib.compress(text, LEVEL)


class GatheredBatch:
    """The batch of one transaction.

    last, last_at : number and instant of the last entry before it, afterwards of its own last one
    committed     : job of a submit key, of what is durable
    """

    def __init__(self, last: int, last_at: int, committed: Callable[[str, str], str | None]) -> None:
        self.last = last
        self.last_at = last_at
        self._committed = committed
        self._entries: list[tuple[int, int, str]] = []
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._jobs: list[FinishedJob] = []
        self._tasks: list[FinishedTask] = []
        self._changed_specs: list[tuple[str, str]] = []

    def append(self, at: int, body: str) -> int:
        """Add an entry to the log; returns its number."""
        if at < self.last_at:
            raise ValueError(f"an entry of {at} cannot follow one of {self.last_at}")
        self.last += 1
        self.last_at = at
        self._entries.append((self.last, at, body))
        return self.last

    def put_spec(self, job: str, body: str) -> None:
        """Keep what a new job runs."""
        self._add("INSERT INTO specs VALUES (?, ?)", job, body)

    def change_spec(self, job: str, body: str) -> None:
        """Keep this in the place of what was put for a job."""
        self._changed_specs.append((job, body))

    def put_key(self, user: str, key: str, job: str, at: int) -> None:
        """Remember with which key a user submitted a job."""
        self._keys[user, key] = job
        self._add("INSERT INTO submit_keys VALUES (?, ?, ?, ?)", user, key, job, at)

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key, in this transaction or before it."""
        return self._keys.get((user, key)) or self._committed(user, key)

    def put_job(self, job: FinishedJob) -> None:
        """Keep a job that is over."""
        self._jobs.append(job)

    def put_task(self, task: FinishedTask) -> None:
        """Keep an attempt that is over."""
        self._tasks.append(task)

    def put_plan(self, plan: PlanVersion) -> None:
        """Keep a new version of the plan."""
        self._add("INSERT INTO plans VALUES (?, ?, ?, ?, ?, ?, ?)", *plan)

    def put_cycle(self, cycle: CycleNote, document: str = "") -> None:
        """Keep that a cycle was run, and a document about it."""
        self._add("INSERT INTO cycles VALUES (?, ?, ?, ?, ?, ?)", *cycle)
        if document:
            body = packed(document.encode())
            self._add("INSERT INTO cycle_documents VALUES (?, ?, ?)", cycle.number, cycle.at, body)

    def put_usage(self, rows: Iterable[Usage]) -> None:
        """Keep what was used."""
        self._rows.setdefault('INSERT INTO "usage" VALUES (?, ?, ?, ?, ?, ?, ?, ?)', []).extend(rows)

    def put_unit(self, job: str, unit: str) -> None:
        """Say what a unit of a job is where usage on record does not know it."""
        self._add("UPDATE \"usage\" SET unit = ?2 WHERE unit = '?' AND job = ?1", job, unit)

    def put_meta(self, name: str, value: str) -> None:
        """Keep a word about the store."""
        self._add("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value)

    def put_access(self, access: AccessVersion) -> None:
        """Keep a new version of the access document."""
        self._add("INSERT INTO accesses VALUES (?, ?, ?, ?, ?)", *access)

    def put_token(self, token: TokenRecord) -> None:
        """Keep a token."""
        self._add("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *token)

    def use_tokens(self, used: Mapping[int, int]) -> None:
        """Keep when tokens were used last."""
        for number, instant in used.items():
            self._add("UPDATE tokens SET used = ?2 WHERE number = ?1", number, instant)

    def put_record(self, record: Record) -> None:
        """Keep a record of what was done."""
        self._add("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *record)

    def _add(self, statement: str, *values: object) -> None:
        self._rows.setdefault(statement, []).append(values)

    def write(self, connection: sqlite3.Connection, words: Words) -> int:
        """Write everything, inside a transaction that has begun; returns how many rows that were."""
        written = len(self._entries)
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", self._entries)
        for statement, rows in self._rows.items():
            connection.executemany(statement, rows)
            written += len(rows)
        connection.executemany("INSERT OR REPLACE INTO specs VALUES (?, ?)", self._changed_specs)  # after the new ones
        written += len(self._changed_specs)
        if self._jobs:
            written += _archive(connection, JOBS, self._jobs, words)
        if self._tasks:
            written += _archive(connection, TASKS, self._tasks, words)
        return written


def _archive(connection: sqlite3.Connection, kind: Kind[Any], records: list[Any], words: Words) -> int:
    marks = ", ".join("?" * (1 + len(kind.columns.split(","))))
    number = 1 + (connection.execute(f"SELECT max(number) FROM {kind.table}").fetchone()[0] or 0)  # noqa: S608
    numbered = list(enumerate(records, start=number))
    connection.executemany(
        f"INSERT INTO {kind.table} (number, {kind.columns}) VALUES ({marks})",  # noqa: S608
        [(row, *kind.row(record)) for row, record in numbered],
    )
    spots = [
        (words.number(connection, word), record.ended, row) for row, record in numbered for word in kind.words(record)
    ]
    connection.executemany(f"INSERT INTO {kind.lists} VALUES (?, ?, ?)", spots)  # noqa: S608
    return len(numbered) + len(spots)
