"""The format of a store: numbered migrations in `migrations/`, each applied in one transaction."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fairhold.ports import StoreFull
from fairhold.store.troubles import DAMAGED, ERRORS, FOREIGN, RESTORE, is_damage, refusal, translated

if TYPE_CHECKING:
    from collections.abc import Callable

Session = TypeVar("Session", bound=sqlite3.Connection)
WITH_SEALS = 8
"""The first format whose rows have checksums; see `tables`."""
APPLICATION = 0x46484C44
"""`FHLD`: says in a file's header that it is a store of Fairhold."""
MIGRATIONS = Path(__file__).parent / "migrations"
_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


def steps(folder: Path = MIGRATIONS) -> list[Path]:
    """The files of all steps; the first is at position 0 and makes format 1."""
    found = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    assert [int(path.name[:4]) for path in found] == list(range(1, len(found) + 1))
    return found


def format_of(connection: sqlite3.Connection) -> int:
    """The number of a store's format, 0 = empty."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def refuse_what_is_no_store(connection: sqlite3.Connection, path: Path, folder: Path = MIGRATIONS) -> None:
    """InputError where a file is not a store of Fairhold, cannot be read, or comes from a later Fairhold."""
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        number = format_of(connection)
    except ERRORS as error:
        if not is_damage(error):
            raise
        raise refusal(DAMAGED, f"this is not a store, or its beginning is damaged: {error}", RESTORE, path) from error
    if application == 0 and number == 0:
        raise refusal(DAMAGED, "the store is empty", RESTORE, path)
    if application != APPLICATION:
        raise refusal(FOREIGN, "this is the database of another program", "name another directory", path)
    if number > len(steps(folder)):
        what = f"the store has format {number}, and this version of Fairhold reads formats up to {len(steps(folder))}"
        raise refusal("store-newer", what, "use the version of Fairhold that wrote it, or a later one", path)


def migrate(
    connection: Session, path: Path, finish: Callable[[Session, int], object], folder: Path = MIGRATIONS
) -> int:
    """Bring a store to the latest format; returns how many steps that took. InputError where a step fails.

    finish : called within each step since rows have seals, with its number
    """
    begun = format_of(connection)
    todo = steps(folder)[begun:]
    for number, step in enumerate(todo, start=begun + 1):
        try:
            connection.executescript(f"BEGIN IMMEDIATE;\n{step.read_text(encoding='utf-8')}\n;")
            if number >= WITH_SEALS:
                finish(connection, number)
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={number}")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(translated(error), StoreFull):
                raise
            what = f"the store stays at format {number - 1}: {step.name} failed: {error}"
            raise refusal(
                "store-not-migrated", what, "use the version of Fairhold that wrote it, and report this", path
            ) from error
    return len(todo)
