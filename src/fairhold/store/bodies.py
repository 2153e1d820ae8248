"""Checks that the documents in a store can still be read. It reads one row at a time, so memory use is constant."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from fairhold.errors import InputError
from fairhold.ports import Entry, PlanVersion, SavedState
from fairhold.store import queries
from fairhold.store.troubles import DAMAGED, RESTORE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    InputError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
"""What is raised where something that was written down is not as it was written."""
MOST = 20
"""Rows of one table that are told."""
Finding = tuple[str, str, str]
"""Code, what, and how to mend it."""
Unread = tuple[object, str]
"""Key of a row, and why it cannot be read."""
_REPLACED = "nothing is lost if the snapshot before it can be read; the next one replaces it"


class Contents(Protocol):
    """Reads what a store keeps and does not look into; raises one of `UNREADABLE` where it cannot.

    Called in this order, each for all that there is.
    """

    def plan(self, plan: PlanVersion) -> object:
        """A version of the plan, the earliest first."""
        ...

    def snapshot(self, saved: SavedState) -> object:
        """A snapshot, the latest first."""
        ...

    def entry(self, entry: Entry) -> object:
        """An entry of the log, in order."""
        ...

    def spec(self, job: str, body: str) -> object:
        """What a job runs."""
        ...

    def missing(self) -> Iterable[str]:
        """What should have been there."""
        ...


ContentsOf = Callable[[Callable[[int], PlanVersion | None]], Contents]
"""Contents for one check, made with what gives a version of the plan."""


class _Json:
    """What can be said of it by a store alone."""

    def __init__(self, _plan_of: Callable[[int], PlanVersion | None]) -> None:
        pass

    def plan(self, plan: PlanVersion) -> object:
        """Any text may be a plan."""

    def snapshot(self, saved: SavedState) -> object:
        """That it could be unpacked is enough."""

    def entry(self, entry: Entry) -> object:
        return json.loads(entry.body)

    def spec(self, _job: str, body: str) -> object:
        return json.loads(body)

    def missing(self) -> Iterable[str]:
        """Nothing that a store alone could miss."""
        return ()


def why(error: BaseException) -> str:
    """Why something cannot be read, in a line."""
    if isinstance(error, KeyError):
        return f"{error} is not there"
    return str(error).partition("\n")[0] or type(error).__name__


def bodies(connection: sqlite3.Connection, contents_of: ContentsOf | None) -> Iterator[Finding]:
    """Plans, snapshots, entries of the log and specs that cannot be read."""
    contents = (contents_of or _Json)(lambda version: queries.plan(connection, version))
    yield from _told("plans", _plans(connection, contents))
    for seq, reason in _snapshots(connection, contents):
        yield "snapshot-damaged", f"the snapshot of entry {seq} cannot be used: {reason}", _REPLACED
    yield from _told("entries", _entries(connection, contents))
    yield from _told("specs", _specs(connection, contents))
    for what in islice(contents.missing(), MOST):
        yield DAMAGED, what, RESTORE


def texts(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Texts in JSON about what is over."""
    for table, key, column in (
        ("jobs", "job", "labels"),
        ("jobs", "job", "summary"),
        ("tasks", "number", "labels"),
        ("past_labels", "job", "labels"),
        ("cycles", "number", "counts"),
        ("cycle_documents", "cycle", "body"),
    ):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():  # since its format
            yield from _told(table, _texts(connection, table, key, column))


def _told(table: str, unread: Iterable[Unread]) -> Iterator[Finding]:
    unread = iter(unread)
    for key, reason in islice(unread, MOST):
        yield DAMAGED, f"row {key} of {table} cannot be read: {reason}", RESTORE
    if more := sum(1 for _ in unread):
        yield DAMAGED, f"{more} more rows of {table} cannot be read", RESTORE


# All texts are read as bytes: what is no UTF-8 is a finding like any other.


def _plans(connection: sqlite3.Connection, contents: Contents) -> Iterator[Unread]:
    query = 'SELECT version, at, author, comment, CAST("text" AS BLOB), based_on, until FROM plans ORDER BY version'
    for version, at, author, comment, text, *rest in connection.execute(query):
        try:
            contents.plan(PlanVersion(version, at, author, comment, str(text, "utf-8"), *rest))
        except UNREADABLE as error:
            yield version, why(error)


def _snapshots(connection: sqlite3.Connection, contents: Contents) -> Iterator[Unread]:
    for seq, at, body in connection.execute("SELECT seq, at, CAST(body AS BLOB) FROM snapshots ORDER BY seq DESC"):
        try:
            contents.snapshot(SavedState(seq, at, zlib.decompress(body)))
        except UNREADABLE as error:
            yield seq, why(error)


def _entries(connection: sqlite3.Connection, contents: Contents) -> Iterator[Unread]:
    for seq, at, body in connection.execute("SELECT seq, at, CAST(body AS BLOB) FROM entries ORDER BY seq"):
        try:
            contents.entry(Entry(seq, at, str(body, "utf-8")))
        except UNREADABLE as error:
            yield seq, why(error)


def _specs(connection: sqlite3.Connection, contents: Contents) -> Iterator[Unread]:
    for job, body in connection.execute("SELECT job, CAST(body AS BLOB) FROM specs ORDER BY rowid"):
        try:
            contents.spec(job, str(body, "utf-8"))
        except UNREADABLE as error:
            yield job, why(error)


def _texts(connection: sqlite3.Connection, table: str, key: str, column: str) -> Iterator[Unread]:
    query = f"SELECT {key}, CAST({column} AS BLOB) FROM {table} WHERE {column} <> '{{}}'"  # noqa: S608
    is_packed = table == "cycle_documents"
    for row, body in connection.execute(query):
        try:
            json.loads(zlib.decompress(body) if is_packed else body)
        except UNREADABLE as error:
            yield row, why(error)
