"""Pages of finished jobs and attempts, the latest end first.

Rows are ordered by (instant of the end, number of the row), which never changes; a cursor is the last such pair of a
page. Every search word has a list in this order. A search with several words intersects their lists: each list in turn
is asked for its first pair at or after the last pair found; where all lists have the same pair, it is a hit. This is
fast where a list is short, or where the lists have nearly all rows in common. Otherwise the search ends after `MOST`
queries with a shorter page and a cursor, so that no page takes long, however many rows there are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fairhold.errors import Fault, InputError
from fairhold.ports import FinishedJob, FinishedTask, Page, StoreError
from fairhold.store.records import wanted_words
from fairhold.store.troubles import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ports import Filter
    from fairhold.store.connections import Connection
    from fairhold.store.records import Kind

MOST = 4_000
"""Questions to lists for one page."""
MOST_ROWS = 1_000
"""Rows of one page."""
_END = 2**62
_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
Spot = tuple[int, int]
"""Instant of the end and number of a row."""
Record = TypeVar("Record", FinishedJob, FinishedTask)


class Span(NamedTuple):
    """Where to look: before a spot, not before an instant, for so many rows."""

    before: Spot
    since: int
    limit: int


def page(connection: Connection, kind: Kind[Record], wanted: Filter, cursor: str, limit: int) -> Page[Record]:
    """One page; `limit` is brought between 1 and `MOST_ROWS`."""
    limit = min(max(limit, 1), MOST_ROWS)
    before = _parse(cursor) if cursor else (wanted.until or _END, 0)
    numbers: list[int] = []
    for word in wanted_words(wanted, kind):
        row = connection.execute("SELECT number FROM words WHERE word = ?", (word,)).fetchone()
        if row is None:
            return Page([], "")
        numbers.append(row[0])
    if len(numbers) < 2:
        spots, rest = _run(connection, kind, numbers, Span(before, wanted.since, limit))
    else:
        query = (
            f'SELECT ended, "row" FROM {kind.lists} WHERE word = ? AND (ended, "row") < (?, ?) '  # noqa: S608
            'ORDER BY ended DESC, "row" DESC LIMIT 1'
        )

        def seek(word: int, spot: Spot) -> Spot | None:
            found = connection.execute(query, (word, *spot)).fetchone()
            return (int(found[0]), int(found[1])) if found else None

        spots, rest = _leap(seek, numbers, Span(before, wanted.since, limit))
    rows = list(kind.read(_row(connection, kind, number) for _, number in spots))
    return Page(rows, f"{rest[0]}-{rest[1]}" if rest else "")


def _row(connection: Connection, kind: Kind[Any], number: int) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(kind.table.select("WHERE number = ?"), (number,)).fetchone()
    if found is None:
        raise StoreError(f"row {number} of {kind.name} is missing", DAMAGED)
    return found


def _parse(cursor: str) -> Spot:
    match = _CURSOR.fullmatch(cursor)
    if not match:
        raise InputError(
            [Fault("bad-cursor", "this is not a cursor of a page", "use the cursor that came with a page")]
        )
    return int(match[1]), int(match[2])


def _run(connection: Connection, kind: Kind[Any], words: list[int], span: Span) -> tuple[list[Spot], Spot | None]:
    """Spots of one list, or of all rows, and where to go on; None: nowhere."""
    source = f'ended, "row" FROM {kind.lists} WHERE word = ? AND' if words else f"ended, number FROM {kind.name} WHERE"
    number = '"row"' if words else "number"
    query = f"SELECT {source} (ended, {number}) < (?, ?) AND ended >= ? ORDER BY ended DESC, {number} DESC LIMIT ?"
    found = connection.execute(query, (*words, *span.before, span.since, span.limit + 1)).fetchall()
    return found[: span.limit], found[span.limit - 1] if len(found) > span.limit else None


def _leap(seek: Callable[[int, Spot], Spot | None], words: list[int], span: Span) -> tuple[list[Spot], Spot | None]:
    """Spots that stand in all lists; `seek` gives the first of a list that comes behind a spot."""
    found: list[Spot] = []
    spot = span.before
    agreed = asked = 0
    while asked < max(MOST, len(words)):  # once round finds a row or comes forward
        word = words[asked % len(words)]
        asked += 1
        # a spot that others agree on is looked for itself, hence the row after it as the border
        met = seek(word, (spot[0], spot[1] + 1) if agreed else spot)
        if met is None or met[0] < span.since:
            return found, None
        agreed = agreed + 1 if met == spot and agreed else 1
        spot = met
        if agreed == len(words):
            found.append(spot)
            if len(found) == span.limit:
                return found, spot
            agreed = 0
    # the spot in hand is not decided where some agreed: the next page begins with it
    return found, (spot[0], spot[1] + 1) if agreed else spot
