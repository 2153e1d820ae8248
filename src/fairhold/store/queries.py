"""Reads from a store, one query per function."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, Entry, PlanVersion, SavedState, StoreError
from fairhold.store.records import JOBS, TASKS
from fairhold.store.troubles import DAMAGED

if TYPE_CHECKING:
    import sqlite3

    from fairhold.ports import FinishedJob, FinishedTask

CHUNK = 4_096
"""Rows that are read at once."""
_ALL = 2**62


def end_of_log(connection: sqlite3.Connection) -> tuple[int, int]:
    """Number and instant of the last entry."""
    row = connection.execute("SELECT seq, at FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def first(connection: sqlite3.Connection) -> int:
    """Number of the first entry that is still there."""
    return int(connection.execute("SELECT min(seq) FROM entries").fetchone()[0] or 0)


def entries(connection: sqlite3.Connection, after: int, until: int, limit: int) -> list[Entry]:
    """Entries with numbers above `after` up to `until`, 0 = the last."""
    query = "SELECT seq, at, body FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
    return list(map(Entry._make, connection.execute(query, (after, until or _ALL, limit))))


def seq_at(connection: sqlite3.Connection, instant: int) -> int:
    """Number of the last entry at or before an instant; instants never go back, so halves are looked at."""
    low, high = first(connection) - 1, end_of_log(connection)[0]
    while low < high:
        middle = (low + high + 1) // 2
        row = connection.execute("SELECT at FROM entries WHERE seq = ?", (middle,)).fetchone()
        low, high = (middle, high) if row and row[0] <= instant else (low, middle - 1)
    return max(low, 0)


def snapshot(connection: sqlite3.Connection, before: int = 0) -> tuple[SavedState | None, tuple[int, ...]]:
    """The latest snapshot below `before` (0 = any) that can be read, and those above it, which cannot.

    StoreError `store-damaged` where none can be and the log does not go back to its first entry.
    """
    query = "SELECT seq FROM snapshots WHERE seq < ? ORDER BY seq DESC"
    unreadable: list[int] = []
    for (seq,) in connection.execute(query, (before or _ALL,)).fetchall():
        _, at, body = connection.execute("SELECT seq, at, body FROM snapshots WHERE seq = ?", (seq,)).fetchone()
        try:
            return SavedState(seq, at, zlib.decompress(body)), tuple(unreadable)
        except (zlib.error, TypeError):
            unreadable.append(seq)  # entries go only where two snapshots cover them: the one before has all it needs
    if first(connection) > 1:
        raise StoreError("no snapshot can be read, and earlier entries are gone", DAMAGED)
    return None, tuple(unreadable)


SPEC = "SELECT body FROM specs WHERE job = ?"
"""What a job runs."""


def text(connection: sqlite3.Connection, query: str, *values: str) -> str | None:
    """The one text of a row."""
    row = connection.execute(query, values).fetchone()
    return str(row[0]) if row else None


def job(connection: sqlite3.Connection, name: str) -> FinishedJob | None:
    """A finished job."""
    row = connection.execute(f"SELECT {JOBS.columns} FROM jobs WHERE job = ?", (name,)).fetchone()  # noqa: S608
    return JOBS.record(row) if row else None


def tasks_of(connection: sqlite3.Connection, name: str, after: tuple[int, int], limit: int) -> list[FinishedTask]:
    """Finished attempts of one job by (task, number), behind `after`."""
    query = f"SELECT {TASKS.columns} FROM tasks WHERE job = ? AND (task, try) > (?, ?) ORDER BY task, try LIMIT ?"  # noqa: S608
    return [TASKS.record(row) for row in connection.execute(query, (name, *after, limit))]


_PLAN = 'SELECT version, at, author, comment, "text", based_on, until FROM plans'


def plan(connection: sqlite3.Connection, version: int) -> PlanVersion | None:
    """A version of the plan, 0 = the latest."""
    if not version:
        return next(iter(plans(connection, 0, 1)), None)
    row = connection.execute(f"{_PLAN} WHERE version = ?", (version,)).fetchone()
    return PlanVersion._make(row) if row else None


def plans(connection: sqlite3.Connection, before: int, limit: int) -> list[PlanVersion]:
    """Versions of the plan, the latest first."""
    rows = connection.execute(f"{_PLAN} WHERE version < ? ORDER BY version DESC LIMIT ?", (before or _ALL, limit))
    return list(map(PlanVersion._make, rows))


_CYCLE = "SELECT number, at, resource_group, cause, duration, counts FROM cycles"


def cycle(connection: sqlite3.Connection, number: int) -> tuple[CycleNote, str] | None:
    """A cycle and its document."""
    row = connection.execute(f"{_CYCLE} WHERE number = ?", (number,)).fetchone()
    if not row:
        return None
    document = connection.execute("SELECT body FROM cycle_documents WHERE cycle = ?", (number,)).fetchone()
    return CycleNote._make(row), zlib.decompress(document[0]).decode() if document else ""


def cycles(connection: sqlite3.Connection, group: str, before: int, limit: int) -> list[CycleNote]:
    """Cycles of a resource group, or of all, the latest first."""
    of_group = "resource_group = ? AND" if group else ""
    query = f"{_CYCLE} WHERE {of_group} number < ? ORDER BY number DESC LIMIT ?"
    values = (group, before or _ALL, limit) if group else (before or _ALL, limit)
    return list(map(CycleNote._make, connection.execute(query, values)))


def usage(connection: sqlite3.Connection, spot: tuple[int, int, int], until: int) -> list[tuple[int, int, int, Usage]]:
    """Usage by (end, begin, row) behind a spot that begins before `until`, each behind its own spot; one chunk."""
    query = (
        'SELECT "end", "begin", rowid, consumer, user, job, kind, amount, unit FROM "usage" '
        'WHERE ("end", "begin", rowid) > (?, ?, ?) AND "begin" < ? ORDER BY "end", "begin", rowid LIMIT ?'
    )
    rows = connection.execute(query, (*spot, until, CHUNK))
    return [(end, begin, row, Usage(begin, end, *rest)) for end, begin, row, *rest in rows]


_LABELS = (
    "WITH asked (job) AS (SELECT value FROM json_each(?)) "
    "SELECT job, labels FROM past_labels WHERE job IN asked UNION ALL "
    "SELECT job, labels FROM jobs WHERE job IN asked UNION ALL "
    "SELECT job, json_extract(body, '$.labels') FROM specs WHERE job IN asked"
)


def labels(connection: sqlite3.Connection, asked: list[str]) -> dict[str, dict[str, str]]:
    """Job → labels, of those of these jobs that have any."""
    rows = connection.execute(_LABELS, (json.dumps(asked),))
    return {job: json.loads(found) for job, found in rows if found and found != "{}"}
