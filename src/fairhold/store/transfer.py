"""Copies all of a store into one that has nothing, whatever databases they are in, and compares the two."""

from __future__ import annotations

from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.store.tables import Table, table, tables
from fairhold.store.turns import LEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.store.connections import Connection

_AT_ONCE = 5_000
OWN_WORDS = frozenset({"format", LEADER})
"""Words that say something about one database and are not copied."""


def is_new(connection: Connection) -> bool:
    """Whether nothing was written to a store but what its making has written."""
    return not any(
        connection.execute(f'SELECT 1 FROM "{each.name}" LIMIT 1').fetchone()  # noqa: S608 - names of our own
        for each in tables().values()
        if each.name != "meta"
    )


def transfer(source: Connection, target: Connection) -> int:
    """Copy every row with its seal, within a transaction of the target; returns how many they were."""
    copied = 0
    for each in tables().values():
        rows = iter(rows_of(source, each))
        while some := list(islice(rows, _AT_ONCE)):
            target.insert(each, some, replaces=each.name == "meta")
            copied += len(some)
    return copied


def refuse_differences(source: Connection, target: Connection, place: object) -> None:
    """InputError `store-differs` where a row of one store is not in the other, as it is; place: of the target."""
    for each in tables().values():
        for one, other in zip_longest(rows_of(source, each), rows_of(target, each)):
            if one != other:
                row = each.told(one or other)
                what = f"{row} is not in the copy as it is in the store"
                raise InputError([Fault("store-differs", what, "copy it again into an empty place", file=str(place))])


def rows_of(connection: Connection, of: Table) -> Iterable[tuple[Any, ...]]:
    """Whole rows of a table in the order of their keys, but for the words of the database itself."""
    rows: Iterator[tuple[Any, ...]] = map(tuple, connection.scan(of.select(f"ORDER BY {of.keys}")))
    if of is table("meta"):
        return (row for row in rows if row[0] not in OWN_WORDS)
    return rows
