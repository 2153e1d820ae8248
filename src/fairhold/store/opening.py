"""Opens the store of a directory: creates it, or migrates it to the latest format; raises an error with the cause."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from fairhold.ports import StoreFull
from fairhold.store.connections import connect, reader, writer
from fairhold.store.directory import CREATING, FILE, Lock, has_store, settle
from fairhold.store.schema import MIGRATIONS, migrate, refuse_what_is_no_store, steps
from fairhold.store.sqlite import SqliteStore
from fairhold.store.tables import seal_all, table
from fairhold.store.troubles import DAMAGED, RESTORE, refusal, refusing, translated

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.store.connections import Connection, SqliteConnection


def open_store(
    directory: Path, *, cluster: str = "", node: str = "", now: int = 0, migrations: Path = MIGRATIONS
) -> SqliteStore:
    """Open the store of a directory, or make one, and hold the directory until it is closed.

    cluster, node, now : kept as `cluster`, `node` and `created` in a store that is made here
    migrations         : where the steps of the format are

    InputError: store-in-use, store-newer, store-foreign, store-damaged, store-incomplete, store-not-migrated,
    store-failed. StoreFull where there is no room.
    """
    with refusing(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(directory)
    path = directory / FILE
    connection: SqliteConnection | None = None
    try:
        with refusing(path):
            if not has_store(directory):
                _create(directory, {"cluster": cluster, "node": node, "created": str(now)}, migrations)
            with closing(connect(path)) as looking:
                refuse_what_is_no_store(looking, path, migrations)
            connection = writer(path)
            _refuse_what_is_cut_off(connection, path)
            migrate(connection, path, seal_all, migrations)
            _refuse_strange_layouts(connection, path)
            store = SqliteStore(path)
            store.begin(lock, connection)
            return store
    except BaseException:
        if connection:
            connection.close()
        lock.release()
        raise


def follow_store(directory: Path) -> SqliteStore:
    """The store of a directory, to be read while another service writes it. InputError where that cannot be."""
    path = directory / FILE
    with refusing(path), closing(reader(path)) as looking:
        refuse_what_is_no_store(looking, path)
        refuse_another_format(looking, path)
    store = SqliteStore(path)
    with refusing(path):
        store.refresh()
    return store


def refuse_another_format(connection: Connection, place: object) -> None:
    """InputError `store-older` where a store is of an earlier format, which only who has it alone may change."""
    if (number := connection.format()) < len(steps()):
        what = f"the store has format {number}, and this version of Fairhold follows format {len(steps())}"
        raise refusal("store-older", what, "whoever has the store alone brings it to that", place)


def _create(directory: Path, meta: dict[str, str], migrations: Path) -> None:
    """Make a store beside its place and move it there: it is there whole or not at all."""
    path = directory / CREATING
    for old in directory.glob(f"{CREATING}*"):
        old.unlink()
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            migrate(connection, path, seal_all, migrations)
            words = table("meta")
            connection.insert(words, words.sealed(meta.items()))
        os.fsync(file)
    finally:
        os.close(file)
    path.replace(directory / FILE)
    settle(path)


def _refuse_strange_layouts(connection: SqliteConnection, path: Path) -> None:
    """InputError where a table or an index is not as the steps of the format make it."""
    if strange := connection.strange_layouts():
        what = f"the layout of {', '.join(strange)} is not that of the format"
        raise refusal(DAMAGED, what, RESTORE, path)


def _refuse_what_is_cut_off(connection: SqliteConnection, path: Path) -> None:
    """InputError where the file is shorter than it says, its log being carried over."""
    try:
        (is_held_up, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        if not isinstance(translated(error), StoreFull):
            raise
        is_held_up = True  # on a full disk a store can still be read, and goes on when there is room
    if is_held_up:
        return
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    there = path.stat().st_size
    if there < pages * size:
        what = f"the store is truncated: {there} bytes of {pages * size} are there"
        raise refusal(DAMAGED, what, RESTORE, path)
