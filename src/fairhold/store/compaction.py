"""Removes expired rows in small steps. Every step removes a few rows and returns how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.store.people import CHAIN
from fairhold.store.records import JOBS, TASKS, labels_text
from fairhold.store.tables import LOG_REMOVED, seal_before, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ports import FinishedJob, FinishedTask, Retention
    from fairhold.store.connections import Connection
    from fairhold.store.records import Kind

ENTRIES = 1_000
"""Entries that go at once: they stand side by side."""
ROWS = 300
"""Rows of other tables that go at once."""
RECORDS = 16
"""Finished jobs and attempts that go at once: each stands in many lists."""
SPAN = 3_600_000_000
"""Microseconds that a span of usage lasts at most: so much later a job that has ended may still be named."""


def step(connection: Connection, retention: Retention, give_back: Callable[[], int] = lambda: 0) -> tuple[int, bool]:
    """One short step inside a transaction: rows removed, 0 = all is done, and whether words went too.

    give_back : returns room to the disk, a little, and says how much
    """
    removed = (
        _entries(connection, retention.entries_through)
        or _old(connection, "submit_keys", "at", retention.keys)
        or _old(connection, "cycle_documents", "cycle", _cycle_before(connection, retention.documents))
        or _cycles(connection, retention.cycles)
        or _records(connection, retention.records)
        or _old(connection, "usage", "end", retention.usage + 1 if retention.usage else 0)
        or _old(connection, "past_labels", "ended", max(0, retention.usage - SPAN))
    )
    if removed:
        return removed, False
    removed = _jobs(connection, retention.jobs)
    return (removed, True) if removed else (give_back(), False)


def _entries(connection: Connection, through: int) -> int:
    """Entries that two snapshots cover: if the later cannot be read, the earlier and what follows it still can."""
    covered = connection.execute("SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 1 OFFSET 1").fetchone()
    first = connection.execute("SELECT min(seq) FROM entries").fetchone()[0]
    if covered is None or first is None:
        return 0
    last = min(through, covered[0], first + ENTRIES - 1)
    if last < first:
        return 0
    _keep_word(connection, LOG_REMOVED, f"{last}:{seal_before(connection, last)}")
    return connection.execute("DELETE FROM entries WHERE seq <= ?", (last,)).rowcount


def _keep_word(connection: Connection, name: str, value: str) -> None:
    meta = table("meta")
    connection.insert(meta, meta.sealed([(name, value)]), replaces=True)


def _old(connection: Connection, name: str, column: str, before: int) -> int:
    """Rows of a table whose column, which has an index, is below a border."""
    if not before:
        return 0
    keys = table(name).keys
    some = f'SELECT {keys} FROM "{name}" WHERE "{column}" < ? ORDER BY "{column}" LIMIT {ROWS}'  # noqa: S608 - our names
    return connection.execute(f'DELETE FROM "{name}" WHERE ({keys}) IN ({some})', (before,)).rowcount  # noqa: S608


def _cycle_before(connection: Connection, instant: int) -> int:
    """A number such that the cycles below it, of the next ones to go, are before an instant; 0 = there are none."""
    query = "SELECT cycle, at FROM cycle_documents ORDER BY cycle LIMIT ?"
    old = [number for number, at in connection.execute(query, (ROWS if instant else 0,)) if at < instant]
    return max(old) + 1 if old else 0


def _cycles(connection: Connection, before: int) -> int:
    query = "SELECT number, at FROM cycles ORDER BY number LIMIT ?"
    old = [(number,) for number, at in connection.execute(query, (ROWS if before else 0,)) if at < before]
    connection.executemany("DELETE FROM cycle_documents WHERE cycle = ?", old)
    connection.executemany("DELETE FROM cycles WHERE number = ?", old)
    return len(old)


def _records(connection: Connection, before: int) -> int:
    """Records of what was done, the first ones; what the chain begins with then is kept."""
    query = "SELECT seq, at, hash FROM records ORDER BY seq LIMIT ?"
    old = [(seq, mark) for seq, at, mark in connection.execute(query, (ROWS if before else 0,)) if at < before]
    if not old:
        return 0
    _keep_word(connection, CHAIN, "{}:{}".format(*old[-1]))
    return connection.execute("DELETE FROM records WHERE seq <= ?", (old[-1][0],)).rowcount


def _jobs(connection: Connection, before: int) -> int:
    """Finished jobs, each after its attempts and with its spec."""
    if not before:
        return 0
    query = JOBS.table.select("WHERE ended < ? ORDER BY ended, number LIMIT ?")
    jobs = connection.execute(query, (before, RECORDS)).fetchall()
    removed = 0
    for row in jobs:
        job = JOBS.record(row)
        query = TASKS.table.select("WHERE job = ? LIMIT ?")
        tasks = connection.execute(query, (job.job, RECORDS - removed)).fetchall()
        _remove(connection, TASKS, [(each[0], TASKS.record(each)) for each in tasks])
        removed += len(tasks)
        if removed >= RECORDS:
            break  # the job may have more of them
        _remove(connection, JOBS, [(row[0], job)])
        connection.execute("DELETE FROM specs WHERE job = ?", (job.job,))
        if job.labels:
            _keep_labels(connection, job)
        removed += 1
        if removed >= RECORDS:
            break
    return removed


def _keep_labels(connection: Connection, job: FinishedJob) -> None:
    """The labels of a job that goes stay for its usage."""
    labels = table("past_labels")
    connection.insert(labels, labels.sealed([(job.job, job.ended, labels_text(job.labels))]), replaces=True)


def _remove(connection: Connection, kind: Kind[Any], records: list[tuple[int, FinishedJob | FinishedTask]]) -> None:
    """Remove rows, what they are found by, and words that are said of nothing any more."""
    words = {word for _, record in records for word in kind.words(record)}
    known = "SELECT number FROM words WHERE word = ?"
    numbers = {word: int(connection.execute(known, (word,)).fetchone()[0]) for word in words}
    spots = [(numbers[word], record.ended, row) for row, record in records for word in kind.words(record)]
    connection.executemany(f'DELETE FROM {kind.lists} WHERE word = ? AND ended = ? AND "row" = ?', spots)  # noqa: S608
    connection.executemany(f"DELETE FROM {kind.name} WHERE number = ?", [(row,) for row, _ in records])  # noqa: S608
    connection.executemany(
        "DELETE FROM words WHERE number = ? AND NOT EXISTS (SELECT 1 FROM jobs_by_word WHERE word = words.number) "
        "AND NOT EXISTS (SELECT 1 FROM tasks_by_word WHERE word = words.number)",
        [(number,) for number in numbers.values()],
    )
