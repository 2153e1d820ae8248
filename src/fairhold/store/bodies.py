"""Checks that the documents in a store can still be read. It reads one row at a time, so memory use is constant."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from fairhold.errors import InputError
from fairhold.ports import PlanVersion, SavedState, StoreError
from fairhold.store import queries
from fairhold.store.queries import followed
from fairhold.store.tables import seal_before, table
from fairhold.store.troubles import DAMAGED, RESTORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ports import Entry
    from fairhold.store.connections import Connection

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
_UNSOUND = (*UNREADABLE, StoreError)
"""The same, and what the store itself has noticed."""
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
    if isinstance(error, StoreError):
        return error.what
    return str(error).partition("\n")[0] or type(error).__name__


def bodies(connection: Connection, contents_of: ContentsOf | None) -> Iterator[Finding]:
    """Plans, snapshots, entries of the log and specs that cannot be read."""
    contents = (contents_of or _Json)(lambda version: queries.plan(connection, version))
    yield from _told("plans", _plans(connection, contents))
    for seq, reason in _snapshots(connection, contents):
        yield "snapshot-damaged", f"the snapshot of entry {seq} cannot be used: {reason}", _REPLACED
    yield from _told("entries", _entries(connection, contents))
    yield from _told("specs", _specs(connection, contents))
    for what in islice(contents.missing(), MOST):
        yield DAMAGED, what, RESTORE


def texts(connection: Connection) -> Iterator[Finding]:
    """Texts in JSON about what is over."""
    for name, key, column in (
        ("jobs", "job", "labels"),
        ("jobs", "job", "summary"),
        ("tasks", "number", "labels"),
        ("past_labels", "job", "labels"),
        ("cycles", "number", "counts"),
        ("cycle_documents", "cycle", "body"),
        ("notifications", "name", "body"),
    ):
        if connection.has_table(name):  # since its format
            yield from _told(name, _texts(connection, name, key, column))


def _told(table: str, unread: Iterable[Unread]) -> Iterator[Finding]:
    unread = iter(unread)
    for key, reason in islice(unread, MOST):
        yield DAMAGED, f"row {key} of {table} cannot be read: {reason}", RESTORE
    if more := sum(1 for _ in unread):
        yield DAMAGED, f"{more} more rows of {table} cannot be read", RESTORE


def _sound(text: object) -> str:
    """A text; raises one of `UNREADABLE` where it is none, or no UTF-8, which the connection forgives."""
    if not isinstance(text, str):
        raise TypeError("it is not a text")
    text.encode()
    return text


def _plans(connection: Connection, contents: Contents) -> Iterator[Unread]:
    for version, at, author, comment, text, *rest, _ in connection.scan(table("plans").select("ORDER BY version")):
        try:
            contents.plan(PlanVersion(version, at, author, comment, _sound(text), *rest))
        except _UNSOUND as error:
            yield version, why(error)


def _snapshots(connection: Connection, contents: Contents) -> Iterator[Unread]:
    snapshots = table("snapshots")
    for row in connection.scan(snapshots.select("ORDER BY seq DESC")):
        try:
            ((seq, at, body),) = snapshots.read([row])
            contents.snapshot(SavedState(seq, at, zlib.decompress(body)))
        except _UNSOUND as error:
            yield row[0], why(error)


def _entries(connection: Connection, contents: Contents) -> Iterator[Unread]:
    last, seal = None, None
    for seq, at, body, mark in connection.scan(table("entries").select("ORDER BY seq")):
        try:
            before = seal if last == seq - 1 else seal_before(connection, seq - 1)
            last, seal = seq, mark
            contents.entry(next(followed([(seq, at, _sound(body), mark)], before)))
        except _UNSOUND as error:
            yield seq, why(error)


def _specs(connection: Connection, contents: Contents) -> Iterator[Unread]:
    for job, body, _ in connection.scan(table("specs").select("ORDER BY job")):
        try:
            contents.spec(job, _sound(body))
        except _UNSOUND as error:
            yield job, why(error)


def _texts(connection: Connection, name: str, key: str, column: str) -> Iterator[Unread]:
    is_packed = name == "cycle_documents"
    for row, body in connection.scan(f"SELECT {key}, {column} FROM {name}"):  # noqa: S608 - names of our own
        try:
            json.loads(zlib.decompress(body) if is_packed else _sound(body))
        except _UNSOUND as error:
            yield row, why(error)
