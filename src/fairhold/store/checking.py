"""Checks a store for faults; it only reads, from one transaction, while others may write."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from fairhold.access.chain import Record, first_break
from fairhold.errors import Fault, count
from fairhold.store.bodies import bodies, texts
from fairhold.store.people import chain_begin
from fairhold.store.schema import format_of
from fairhold.store.troubles import DAMAGED, RESTORE, is_damage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.store.bodies import ContentsOf, Finding

_WITH_RECORDS = 7
"""The first format that has them."""
_MOST = 20
"""Findings of SQLite that are told."""


def findings(connection: sqlite3.Connection, path: Path, contents: ContentsOf | None = None) -> tuple[Fault, ...]:
    """What is wrong; `path` is named in the faults.

    contents : reads what the store does not look into; None = it has to be JSON, and that is all
    """
    found: list[Fault] = []
    try:
        for one in (_pages, _strangers, _log, _lists, _records, texts):
            found += (Fault(code, what, mend, file=str(path)) for code, what, mend in one(connection))
        found += (Fault(code, what, mend, file=str(path)) for code, what, mend in bodies(connection, contents))
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        if not found:
            found.append(Fault(DAMAGED, f"the store is damaged: {error}", RESTORE, file=str(path)))
    return tuple(found)


def _pages(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Pages and indexes, as SQLite checks them."""
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if line != "ok":
            yield DAMAGED, f"the store is damaged: {line}", RESTORE


def _strangers(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Rows that name rows that are not there."""
    rows = connection.execute('SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2')
    for table, parent, number in rows:
        yield "store-strangers", f"{count(number, 'row')} of {table}, that refer to missing rows of {parent}", RESTORE


def _log(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Numbers without a gap back to a snapshot or to 1, instants that never go back."""
    first, last, number = connection.execute("SELECT min(seq), max(seq), count(*) FROM entries").fetchone()
    snapshots = [seq for (seq,) in connection.execute("SELECT seq FROM snapshots ORDER BY seq")]
    if number and last - first + 1 != number:
        query = "SELECT seq FROM entries AS e WHERE NOT EXISTS (SELECT 1 FROM entries WHERE seq = e.seq + 1) LIMIT 1"
        (seq,) = connection.execute(query).fetchone()
        missing = last - first + 1 - number
        yield "store-gap", f"{missing} entries of the log are missing, the first after entry {seq}", RESTORE
    if (first or 1) > (snapshots[0] if snapshots else 0) + 1:
        reach = f"the log begins with entry {first}, and no snapshot covers what was before"
        yield "store-gap", reach, RESTORE
    if snapshots and snapshots[-1] > (last or 0):
        yield "store-gap", f"there is a snapshot of entry {snapshots[-1]}, and the log ends with {last or 0}", RESTORE
    query = (
        "SELECT seq FROM (SELECT seq, at, lag(at) OVER (ORDER BY seq) AS before FROM entries) WHERE at < before LIMIT 1"
    )
    for (seq,) in connection.execute(query):
        yield "store-clock", f"entry {seq} has an earlier time than the entry before it", RESTORE


def _records(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Records of what was done that do not follow from those before."""
    if format_of(connection) < _WITH_RECORDS:
        return
    rows = (Record(*row) for row in connection.execute("SELECT * FROM records ORDER BY seq"))
    broken = first_break(rows, chain_begin(connection))[1]
    if broken is not None:
        mend = "keep this store to look into it; a backup may have the record whole"
        yield "record-broken", f"the record of what was done: {broken.why}", mend


def _lists(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Finished jobs and attempts that no page would find."""
    for table in ("jobs", "tasks"):
        query = (
            f"SELECT count(*) FROM {table} AS r WHERE NOT EXISTS (SELECT 1 FROM words AS w JOIN {table}_by_word AS l "  # noqa: S608
            "ON l.word = w.number AND l.ended = r.ended AND l.row = r.number WHERE w.word = 's:' || r.state)"
        )
        (number,) = connection.execute(query).fetchone()
        if number:
            yield "store-strangers", f"{count(number, 'row')} of {table} in no list", RESTORE
