"""Removes expired rows in small steps. Every step removes a few rows and returns how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.store.people import CHAIN
from fairhold.store.records import JOBS, TASKS, labels_text

if TYPE_CHECKING:
    import sqlite3

    from fairhold.ports import FinishedJob, FinishedTask, Retention
    from fairhold.store.records import Kind

ENTRIES = 1_000
"""Entries that go at once: they stand side by side."""
ROWS = 300
"""Rows of other tables that go at once."""
RECORDS = 16
"""Finished jobs and attempts that go at once: each stands in many lists."""
SPAN = 3_600_000_000
"""Microseconds that a span of usage lasts at most: so much later a job that has ended may still be named."""
PAGES = 200
"""Pages of the file that are given back at once."""
SPARE = 2_000
"""Empty pages, 8 MB, that the file may keep for what comes; and a quarter of itself."""


def step(connection: sqlite3.Connection, retention: Retention) -> tuple[int, bool]:
    """One short step inside a transaction: rows removed, 0 = all is done, and whether words went too."""
    removed = (
        _entries(connection, retention.entries_through)
        or _old(connection, "submit_keys", "at", "user, key", retention.keys)
        or _old(connection, "cycle_documents", "cycle", "cycle", _cycle_before(connection, retention.documents))
        or _cycles(connection, retention.cycles)
        or _records(connection, retention.records)
        or _old(connection, '"usage"', '"end"', "rowid", retention.usage + 1 if retention.usage else 0)
        or _old(connection, "past_labels", "ended", "job", max(0, retention.usage - SPAN))
    )
    if removed:
        return removed, False
    removed = _jobs(connection, retention.jobs)
    return (removed, True) if removed else (_give_back(connection), False)


def _entries(connection: sqlite3.Connection, through: int) -> int:
    """Entries that two snapshots cover: if the later cannot be read, the earlier and what follows it still can."""
    covered = connection.execute("SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 1 OFFSET 1").fetchone()
    first = connection.execute("SELECT min(seq) FROM entries").fetchone()[0]
    if covered is None or first is None:
        return 0
    last = min(through, covered[0], first + ENTRIES - 1)
    return connection.execute("DELETE FROM entries WHERE seq <= ?", (last,)).rowcount if last >= first else 0


def _old(connection: sqlite3.Connection, table: str, column: str, key: str, before: int) -> int:
    """Rows of a table whose column, which has an index, is below a border."""
    if not before:
        return 0
    some = f"SELECT {key} FROM {table} WHERE {column} < ? ORDER BY {column} LIMIT {ROWS}"  # noqa: S608 - our names
    keys = f"({key})" if "," in key else key
    return connection.execute(f"DELETE FROM {table} WHERE {keys} IN ({some})", (before,)).rowcount  # noqa: S608


def _cycle_before(connection: sqlite3.Connection, instant: int) -> int:
    """A number such that the cycles below it, of the next ones to go, are before an instant; 0 = there are none."""
    query = "SELECT cycle, at FROM cycle_documents ORDER BY cycle LIMIT ?"
    old = [number for number, at in connection.execute(query, (ROWS if instant else 0,)) if at < instant]
    return max(old) + 1 if old else 0


def _cycles(connection: sqlite3.Connection, before: int) -> int:
    query = "SELECT number, at FROM cycles ORDER BY number LIMIT ?"
    old = [(number,) for number, at in connection.execute(query, (ROWS if before else 0,)) if at < before]
    connection.executemany("DELETE FROM cycle_documents WHERE cycle = ?", old)
    connection.executemany("DELETE FROM cycles WHERE number = ?", old)
    return len(old)


def _records(connection: sqlite3.Connection, before: int) -> int:
    """Records of what was done, the first ones; what the chain begins with then is kept."""
    query = "SELECT seq, at, hash FROM records ORDER BY seq LIMIT ?"
    old = [(seq, mark) for seq, at, mark in connection.execute(query, (ROWS if before else 0,)) if at < before]
    if not old:
        return 0
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (CHAIN, "{}:{}".format(*old[-1])))
    return connection.execute("DELETE FROM records WHERE seq <= ?", (old[-1][0],)).rowcount


def _jobs(connection: sqlite3.Connection, before: int) -> int:
    """Finished jobs, each after its attempts and with its spec."""
    if not before:
        return 0
    query = "SELECT number, {} FROM jobs WHERE ended < ? ORDER BY ended, number LIMIT ?"
    jobs = connection.execute(query.format(JOBS.columns), (before, RECORDS)).fetchall()
    removed = 0
    for number, *fields in jobs:
        job = JOBS.record(tuple(fields))
        query = f"SELECT number, {TASKS.columns} FROM tasks WHERE job = ? LIMIT ?"  # noqa: S608 - names of our own
        tasks = connection.execute(query, (job.job, RECORDS - removed)).fetchall()
        _remove(connection, TASKS, [(row, TASKS.record(tuple(rest))) for row, *rest in tasks])
        removed += len(tasks)
        if removed >= RECORDS:
            break  # the job may have more of them
        _remove(connection, JOBS, [(number, job)])
        connection.execute("DELETE FROM specs WHERE job = ?", (job.job,))
        if job.labels:
            _keep_labels(connection, job)
        removed += 1
        if removed >= RECORDS:
            break
    return removed


def _keep_labels(connection: sqlite3.Connection, job: FinishedJob) -> None:
    """The labels of a job that goes stay for its usage."""
    row = (job.job, job.ended, labels_text(job.labels))
    connection.execute("INSERT OR REPLACE INTO past_labels VALUES (?, ?, ?)", row)


def _remove(
    connection: sqlite3.Connection, kind: Kind[Any], records: list[tuple[int, FinishedJob | FinishedTask]]
) -> None:
    """Remove rows, what they are found by, and words that are said of nothing any more."""
    words = {word for _, record in records for word in kind.words(record)}
    known = "SELECT number FROM words WHERE word = ?"
    numbers = {word: int(connection.execute(known, (word,)).fetchone()[0]) for word in words}
    spots = [(numbers[word], record.ended, row) for row, record in records for word in kind.words(record)]
    connection.executemany(f"DELETE FROM {kind.lists} WHERE word = ? AND ended = ? AND row = ?", spots)  # noqa: S608
    connection.executemany(f"DELETE FROM {kind.table} WHERE number = ?", [(row,) for row, _ in records])  # noqa: S608
    connection.executemany(
        "DELETE FROM words WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM jobs_by_word WHERE word = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM tasks_by_word WHERE word = ?1)",
        [(number,) for number in numbers.values()],
    )


def _give_back(connection: sqlite3.Connection) -> int:
    """Give empty pages back to the disk, where there are many."""
    empty = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    if empty <= max(SPARE, pages // 4):
        return 0
    connection.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
    return PAGES
