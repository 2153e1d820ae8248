"""The rows of one transaction: collected first, then written at once, so that the lock is held briefly."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.store.records import JOBS, TASKS
from fairhold.store.tables import BEGIN, chained, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.access.chain import Record
    from fairhold.model.usage import Usage
    from fairhold.ports import CycleNote, FinishedJob, FinishedTask, PlanVersion
    from fairhold.ports.people import AccessVersion, TokenRecord
    from fairhold.store.connections import Connection
    from fairhold.store.words import Words

LEVEL = 1
"""Of zlib: the others take several times as long for a tenth less."""


ENTRIES = "entries"


class EndOfLog(NamedTuple):
    """Number, instant and seal of the last entry of the log."""

    seq: int = 0
    at: int = 0
    seal: int = BEGIN


def packed(text: bytes) -> bytes:
    """Compressed, as snapshots and documents are kept."""
    return zlib.compress(text, LEVEL)


class GatheredBatch:
    """The batch of one transaction.

    last, last_at, seal : number, instant and seal of the last entry before it, afterwards of its own last one
    committed           : job of a submit key, of what is durable
    settled             : see `ports.Batch`
    """

    def __init__(self, end: EndOfLog, committed: Callable[[str, str], str | None], *, settled: bool = False) -> None:
        self.last, self.last_at, self.seal = end
        self.settled = settled
        self._committed = committed
        self._rows: dict[str, list[Any]] = {}
        self._replacing: dict[str, list[Any]] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._finished: dict[str, list[Any]] = {}
        self._units: dict[str, str] = {}
        self._used: dict[int, int] = {}
        self._notifications: dict[tuple[str, str], str] = {}
        self._changed: list[tuple[str, tuple[Any, ...]]] = []

    @property
    def end(self) -> EndOfLog:
        """Number, instant and seal of the last entry."""
        return EndOfLog(self.last, self.last_at, self.seal)

    def append(self, at: int, body: str) -> int:
        """Add an entry to the log; returns its number."""
        if at < self.last_at:
            raise ValueError(f"an entry of {at} cannot follow one of {self.last_at}")
        self.last += 1
        self.last_at = at
        self.seal = chained(self.seal, self.last, at, body)
        self._rows.setdefault(ENTRIES, []).append((self.last, at, body, self.seal))
        return self.last

    def put_spec(self, job: str, body: str) -> None:
        """Keep what a new job runs."""
        self._add("specs", (job, body))

    def change_spec(self, job: str, body: str) -> None:
        """Keep this in the place of what was put for a job."""
        self._replace("specs", (job, body))

    def put_key(self, user: str, key: str, job: str, at: int) -> None:
        """Remember with which key a user submitted a job; empty = with none."""
        self._keys[user, key] = job
        self._replace("submit_keys", (user, key, job, at))

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key, in this transaction or before it."""
        found = self._keys.get((user, key))
        return self._committed(user, key) if found is None else found

    def put_job(self, job: FinishedJob) -> None:
        """Keep a job that is over."""
        self._finished.setdefault(JOBS.name, []).append(job)

    def put_task(self, task: FinishedTask) -> None:
        """Keep an attempt that is over."""
        self._finished.setdefault(TASKS.name, []).append(task)

    def put_plan(self, plan: PlanVersion) -> None:
        """Keep a new version of the plan."""
        self._add("plans", plan)

    def put_cycle(self, cycle: CycleNote, document: str = "") -> None:
        """Keep that a cycle was run, and a document about it."""
        self._add("cycles", cycle)
        if document:
            self._add("cycle_documents", (cycle.number, cycle.at, packed(document.encode())))

    def put_usage(self, rows: Iterable[Usage]) -> None:
        """Keep what was used."""
        self._rows.setdefault("usage", []).extend(table("usage").sealed(rows))

    def put_unit(self, job: str, unit: str) -> None:
        """Say what a unit of a job is where usage on record does not know it."""
        self._units[job] = unit

    def put_meta(self, name: str, value: str) -> None:
        """Keep a word about the store."""
        self._replace("meta", (name, value))

    def put_access(self, access: AccessVersion) -> None:
        """Keep a new version of the access document."""
        self._add("accesses", access)

    def put_token(self, token: TokenRecord) -> None:
        """Keep a token."""
        self._replace("tokens", token)

    def use_tokens(self, used: Mapping[int, int]) -> None:
        """Keep when tokens were used last."""
        self._used |= used

    def put_record(self, record: Record) -> None:
        """Keep a record of what was done."""
        self._add("records", record)

    def put_notification(self, kind: str, name: str, body: str) -> None:
        """Keep a text about notifications, or let it go."""
        self._notifications[kind, name] = body

    def _add(self, name: str, row: tuple[Any, ...]) -> None:
        self._rows.setdefault(name, []).extend(table(name).sealed([row]))

    def _replace(self, name: str, row: tuple[Any, ...]) -> None:
        self._replacing.setdefault(name, []).extend(table(name).sealed([row]))

    def look_up(self, connection: Connection, words: Words) -> None:
        """Ask for what has to be known before `write`; nobody else writes in between."""
        self._archive(connection, words)
        self._changed = []
        usage, tokens = table("usage"), table("tokens")
        for job, unit in self._units.items():
            query = f"SELECT rowid, {usage.names} FROM \"usage\" WHERE unit = '?' AND job = ?"  # noqa: S608
            statement = 'UPDATE "usage" SET unit = ?, seal = ? WHERE rowid = ?'
            for row, *values in connection.execute(query, (job,)).fetchall():
                named = (*values[:-2], unit)
                self._changed.append((statement, (unit, usage.seal(named), row)))
        for number, instant in self._used.items():
            rows = connection.execute(tokens.select("WHERE number = ?"), (number,)).fetchall()
            for *values, _, _ in rows:
                self._changed.append(
                    (
                        "UPDATE tokens SET used = ?, seal = ? WHERE number = ?",
                        (instant, tokens.seal((*values, instant)), number),
                    )
                )

        kept = [(*key, body) for key, body in self._notifications.items() if body]
        self._replacing["notifications"] = table("notifications").sealed(kept)
        gone = [key for key, body in self._notifications.items() if not body]
        self._changed += [("DELETE FROM notifications WHERE kind = ? AND name = ?", key) for key in gone]

    def _archive(self, connection: Connection, words: Words) -> None:
        """Make rows of finished jobs and attempts, and of the words that they are found by."""
        said = {
            kind.name: [kind.words(record) for record in self._finished[kind.name]]
            for kind in (JOBS, TASKS)
            if kind.name in self._finished
        }
        numbers, self._rows["words"] = words.numbers(
            connection, list({word: None for found in said.values() for each in found for word in each})
        )
        for kind in (JOBS, TASKS):
            if kind.name not in said:
                continue
            last = connection.execute(f"SELECT max(number) FROM {kind.name}").fetchone()[0] or 0  # noqa: S608 - our name
            numbered = list(enumerate(self._finished[kind.name], start=last + 1))
            self._rows[kind.name] = kind.table.sealed(kind.row(row, record) for row, record in numbered)
            self._rows[kind.lists] = [
                (numbers[word], record.ended, row)
                for (row, record), each in zip(numbered, said[kind.name], strict=True)
                for word in each
            ]

    def write(self, connection: Connection) -> int:
        """Write everything, inside a transaction that has begun; returns how many rows that were."""
        written = 0
        for name, rows in self._rows.items():
            connection.insert(table(name), rows)
            written += len(rows)
        for name, rows in self._replacing.items():  # after the new ones
            connection.insert(table(name), rows, replaces=True)
            written += len(rows)
        for statement, values in self._changed:
            connection.execute(statement, values)
        return written + len(self._changed)
