"""Checks a store for faults; it only reads, from one transaction, while others may write."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from fairhold.access.chain import Record, first_break
from fairhold.errors import Fault, count
from fairhold.store.bodies import MOST, UNREADABLE, bodies, texts
from fairhold.store.people import chain_begin
from fairhold.store.records import JOBS, TASKS
from fairhold.store.tables import table, tables
from fairhold.store.troubles import DAMAGED, ERRORS, RESTORE, is_damage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.store.bodies import ContentsOf, Finding
    from fairhold.store.connections import Connection
    from fairhold.store.records import Kind

_REFERENCES = (
    ("jobs_by_word", "word", "words"),
    ("jobs_by_word", "row", "jobs"),
    ("tasks_by_word", "word", "words"),
    ("tasks_by_word", "row", "tasks"),
    ("cycle_documents", "cycle", "cycles"),
)
"""Table, its column, and the table whose key that is."""


def findings(connection: Connection, path: object, contents: ContentsOf | None = None) -> tuple[Fault, ...]:
    """What is wrong; `path` is named in the faults.

    contents : reads what the store does not look into; None = it has to be JSON, and that is all
    """
    found: list[Fault] = []
    connection.forgive()
    try:
        for one in (_pages, _seals, _strangers, _log, _lists, _records, texts):
            found += (Fault(code, what, mend, file=str(path)) for code, what, mend in one(connection))
        found += (Fault(code, what, mend, file=str(path)) for code, what, mend in bodies(connection, contents))
    except ERRORS as error:
        if not is_damage(error):
            raise
        if not found:
            found.append(Fault(DAMAGED, f"the store is damaged: {error}", RESTORE, file=str(path)))
    return tuple(found)


def _pages(connection: Connection) -> Iterator[Finding]:
    """Pages, indexes and layout, as the database checks them."""
    for line in connection.faults():
        yield DAMAGED, f"the store is damaged: {line}", RESTORE


def _strangers(connection: Connection) -> Iterator[Finding]:
    """Rows that name rows that are not there."""
    for name, column, parent in _REFERENCES:
        query = (
            f'SELECT count(*) FROM "{name}" WHERE NOT EXISTS '  # noqa: S608 - names of our own
            f'(SELECT 1 FROM "{parent}" WHERE "{parent}"."{table(parent).key[0]}" = "{name}"."{column}")'
        )
        (number,) = connection.execute(query).fetchone()
        if number:
            what = f"{count(number, 'row')} of {name}, that refer to missing rows of {parent}"
            yield "store-strangers", what, RESTORE


def _seals(connection: Connection) -> Iterator[Finding]:
    """Rows that are not as they were written; entries and snapshots are looked at where they are read."""
    for each in tables().values():
        if not each.is_sealed or each.name in {"entries", "snapshots"} or not connection.has_table(each.name):
            continue
        spoiled = (row for row in connection.scan(each.select()) if not each.is_good(tuple(row[:-1]), row[-1]))
        for row in islice(spoiled, MOST):
            yield DAMAGED, f"{each.told(tuple(row[:-1]))} is not as it was written", RESTORE


def _log(connection: Connection) -> Iterator[Finding]:
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
        "SELECT seq FROM (SELECT seq, at, lag(at) OVER (ORDER BY seq) AS earlier FROM entries) AS e "
        "WHERE at < earlier LIMIT 1"
    )
    for (seq,) in connection.execute(query):
        yield "store-clock", f"entry {seq} has an earlier time than the entry before it", RESTORE


def _records(connection: Connection) -> Iterator[Finding]:
    """Records of what was done that do not follow from those before."""
    if not connection.has_table("records"):  # since its format
        return
    rows = (Record(*row) for row in connection.scan(table("records").select("ORDER BY seq")))
    broken = first_break(rows, chain_begin(connection))[1]
    if broken is not None:
        mend = "keep this store to look into it; a backup may have the record whole"
        yield "record-broken", f"the record of what was done: {broken.why}", mend


def _lists(connection: Connection) -> Iterator[Finding]:
    """Finished jobs and attempts that a page would not find, and places in lists that are of none."""
    numbers = dict(connection.scan("SELECT word, number FROM words"))
    for kind in (JOBS, TASKS):
        there, sum_there = 0, 0
        for spot in connection.scan(f'SELECT word, ended, "row" FROM {kind.lists}'):  # noqa: S608 - names of our own
            there, sum_there = there + 1, sum_there + hash(tuple(spot))
        due, sum_due = 0, 0
        for spots in _due(connection, kind, numbers):
            due, sum_due = due + len(spots), sum_due + sum(map(hash, spots))
        if (there, sum_there) != (due, sum_due):
            yield from _lost(connection, kind, numbers, there - due)


def _due(connection: Connection, kind: Kind[Any], numbers: Mapping[str, int]) -> Iterator[list[tuple[int, int, int]]]:
    """The places in lists that each row ought to have."""
    for row in connection.scan(kind.table.select()):
        try:
            record = kind.record(row)
            words = kind.words(record)
        except UNREADABLE:  # told as such
            continue
        yield [(numbers.get(word, 0), record.ended, row[0]) for word in words]


def _lost(connection: Connection, kind: Kind[Any], numbers: Mapping[str, int], surplus: int) -> Iterator[Finding]:
    query = f'SELECT count(*) FROM {kind.lists} WHERE word = ? AND ended = ? AND "row" = ?'  # noqa: S608
    lost = rows = 0
    for spots in list(_due(connection, kind, numbers)):
        missing = sum(not connection.execute(query, spot).fetchone()[0] for spot in spots)
        lost, rows = lost + missing, rows + bool(missing)
    if rows:
        yield "store-strangers", f"{count(rows, 'row')} of {kind.name} in no list", RESTORE
    if surplus + lost > 0:
        yield "store-strangers", f"{count(surplus + lost, 'row')} of {kind.lists} of none of {kind.name}", RESTORE
