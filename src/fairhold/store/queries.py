"""Reads from a store, one query per function."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, Entry, PlanVersion, SavedState, StoreError
from fairhold.store.batch import EndOfLog
from fairhold.store.records import JOBS, TASKS
from fairhold.store.tables import chained, seal_before, table
from fairhold.store.troubles import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ports import FinishedJob, FinishedTask
    from fairhold.store.connections import Connection

CHUNK = 4_096
"""Rows that are read at once."""
_ALL = 2**62


def end_of_log(connection: Connection) -> EndOfLog:
    """Number, instant and seal of the last entry."""
    row = connection.execute("SELECT seq, at, seal FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    return EndOfLog._make(row) if row else EndOfLog()


def first(connection: Connection) -> int:
    """Number of the first entry that is still there."""
    return int(connection.execute("SELECT min(seq) FROM entries").fetchone()[0] or 0)


def entries(connection: Connection, after: int, until: int, limit: int) -> list[Entry]:
    """Entries with numbers above `after` up to `until`, 0 = the last. StoreError where one is not as it was written."""
    query = "SELECT seq, at, body, seal FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
    rows = connection.execute(query, (after, until or _ALL, limit)).fetchall()
    return list(followed(rows, seal_before(connection, rows[0][0] - 1))) if rows else []


def followed(rows: Iterable[tuple[int, int, str, int | None]], before: int | None) -> Iterator[Entry]:
    """Entries of rows whose seals go on from `before`, None = it is not known; StoreError where they do not."""
    for seq, at, body, seal in rows:
        if before is not None and seal is not None and chained(before, seq, at, body) != seal:
            raise StoreError(f"entry {seq} of the log is not as it was written", DAMAGED)
        before = seal
        yield Entry(seq, at, body)


def seq_at(connection: Connection, instant: int) -> int:
    """Number of the last entry at or before an instant; instants never go back, so halves are looked at."""
    low, high = first(connection) - 1, end_of_log(connection)[0]
    while low < high:
        middle = (low + high + 1) // 2
        row = connection.execute("SELECT at FROM entries WHERE seq = ?", (middle,)).fetchone()
        low, high = (middle, high) if row and row[0] <= instant else (low, middle - 1)
    return max(low, 0)


def snapshot(connection: Connection, before: int = 0) -> tuple[SavedState | None, tuple[int, ...]]:
    """The latest snapshot below `before` (0 = any) that can be read, and those above it, which cannot.

    StoreError `store-damaged` where none can be and the log does not go back to its first entry.
    """
    query = "SELECT seq FROM snapshots WHERE seq < ? ORDER BY seq DESC"
    unreadable: list[int] = []
    for (seq,) in connection.execute(query, (before or _ALL,)).fetchall():
        snapshots = table("snapshots")
        try:
            ((_, at, body),) = snapshots.read(connection.execute(snapshots.select("WHERE seq = ?"), (seq,)))
            return SavedState(seq, at, zlib.decompress(body)), tuple(unreadable)
        except (zlib.error, TypeError, StoreError):
            unreadable.append(seq)  # entries go only where two snapshots cover them: the one before has all it needs
    if first(connection) > 1:
        raise StoreError("no snapshot can be read, and earlier entries are gone", DAMAGED)
    return None, tuple(unreadable)


def spec(connection: Connection, job: str) -> str | None:
    """What a job runs."""
    found = _one(connection, "specs", "WHERE job = ?", job)
    return None if found is None else str(found[1])


def job_of_key(connection: Connection, user: str, key: str) -> str | None:
    """Job that was submitted with a key."""
    found = _one(connection, "submit_keys", 'WHERE "user" = ? AND "key" = ?', user, key)
    return None if found is None else str(found[2])


def _one(connection: Connection, name: str, rest: str, *values: object) -> tuple[Any, ...] | None:
    """The one row of a table."""
    found = table(name)
    return next(found.read(connection.execute(found.select(rest), values)), None)


def job(connection: Connection, name: str) -> FinishedJob | None:
    """A finished job."""
    return next(JOBS.read(connection.execute(JOBS.table.select("WHERE job = ?"), (name,))), None)


def tasks_of(connection: Connection, name: str, after: tuple[int, int], limit: int) -> list[FinishedTask]:
    """Finished attempts of one job by (task, number), behind `after`."""
    query = TASKS.table.select("WHERE job = ? AND (task, try) > (?, ?) ORDER BY task, try LIMIT ?")
    return list(TASKS.read(connection.execute(query, (name, *after, limit))))


def plan(connection: Connection, version: int) -> PlanVersion | None:
    """A version of the plan, 0 = the latest."""
    if not version:
        return next(iter(plans(connection, 0, 1)), None)
    found = _one(connection, "plans", "WHERE version = ?", version)
    return PlanVersion._make(found) if found else None


def plans(connection: Connection, before: int, limit: int) -> list[PlanVersion]:
    """Versions of the plan, the latest first."""
    found = table("plans")
    query = found.select("WHERE version < ? ORDER BY version DESC LIMIT ?")
    return list(map(PlanVersion._make, found.read(connection.execute(query, (before or _ALL, limit)))))


def cycle(connection: Connection, number: int) -> tuple[CycleNote, str] | None:
    """A cycle and its document."""
    row = _one(connection, "cycles", "WHERE number = ?", number)
    if not row:
        return None
    document = _one(connection, "cycle_documents", "WHERE cycle = ?", number)
    return CycleNote._make(row), zlib.decompress(document[2]).decode() if document else ""


def cycles(connection: Connection, group: str, before: int, limit: int) -> list[CycleNote]:
    """Cycles of a resource group, or of all, the latest first."""
    found = table("cycles")
    of_group = "resource_group = ? AND" if group else ""
    query = found.select(f"WHERE {of_group} number < ? ORDER BY number DESC LIMIT ?")
    values = (group, before or _ALL, limit) if group else (before or _ALL, limit)
    return list(map(CycleNote._make, found.read(connection.execute(query, values))))


def usage(connection: Connection, spot: tuple[int, int, int], until: int) -> list[tuple[int, int, int, Usage]]:
    """Usage by (end, begin, row) behind a spot that begins before `until`, each behind its own spot; one chunk."""
    found = table("usage")
    query = (
        f'SELECT rowid, {found.names} FROM "usage" '  # noqa: S608 - names of our own
        'WHERE ("end", "begin", rowid) > (?, ?, ?) AND "begin" < ? ORDER BY "end", "begin", rowid LIMIT ?'
    )
    rows = connection.execute(query, (*spot, until, CHUNK)).fetchall()
    used = map(Usage._make, found.read(row[1:] for row in rows))
    return [(each.end, each.begin, row[0], each) for row, each in zip(rows, used, strict=True)]


def labels(connection: Connection, asked: list[str]) -> dict[str, dict[str, str]]:
    """Job → labels, of those of these jobs that have any."""
    where = f"WHERE job IN ({', '.join('?' * len(asked))})"
    rows: dict[str, dict[str, str]] = {}
    for name, place in (("past_labels", 2), ("jobs", 8)):
        found = table(name)
        for row in found.read(connection.execute(found.select(where), asked)):
            job = row[found.columns.index("job")]
            rows[job] = json.loads(row[place])
    specs = table("specs")
    for job, body in specs.read(connection.execute(specs.select(where), asked)):
        rows[job] = json.loads(body).get("labels") or {}
    return {job: found for job, found in rows.items() if found}


def words(connection: Connection) -> dict[str, str]:
    """Words about the store."""
    return dict(table("meta").read(connection.execute(table("meta").select())))
