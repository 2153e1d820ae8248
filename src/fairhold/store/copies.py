"""Backup and restore: full copies, checked before they get their name."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.ports import AHEAD, StoreFull
from fairhold.store import queries
from fairhold.store.checking import findings
from fairhold.store.connections import connect, reader
from fairhold.store.directory import FILE, REPLACED, RESTORING, Lock, changing_hands, settle
from fairhold.store.schema import migrate, refuse_what_is_no_store
from fairhold.store.tables import seal_all, table
from fairhold.store.troubles import RESTORE, refusal, refusing, translated
from fairhold.store.turns import raise_epoch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.store.bodies import ContentsOf
    from fairhold.store.connections import Connection

_PAGES = 1_024
"""Pages that are copied at once, 4 MiB."""
_AHEAD = 1_000_000
"""Numbers between which jobs go on after a restore: those since the backup may have directories, on any machine."""


def check_store(directory: Path, contents: ContentsOf | None = None) -> tuple[Fault, ...]:
    """Everything that is wrong in a store, whether a service uses it or not.

    contents : here and below, reads what the store itself does not look into
    """
    path = _there(directory)
    with refusing(path), closing(reader(path)) as connection:
        refuse_what_is_no_store(connection, path)
        connection.hide_lack_of_seals()
        connection.execute("BEGIN")
        return findings(connection, path, contents)


def backup_store(directory: Path, path: Path, contents: ContentsOf | None = None) -> None:
    """Copy a store to a new file, whether a service uses it or not. InputError `backup-exists`, or where it fails."""
    source = _there(directory)

    def write(part: Path) -> None:
        with refusing(source), closing(reader(source)) as connection:
            refuse_what_is_no_store(connection, source)
            # held until the end: what is committed meanwhile does not make the copy begin anew
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM meta").fetchone()
            _copy(connection, part)

    make_file(path, write, contents)


def make_file(path: Path, write: Callable[[Path], None], contents: ContentsOf | None) -> None:
    """A new file of a store that `write` makes: it is checked before it gets its name."""
    if path.exists():
        raise refusal("backup-exists", "the file exists already", "name another file", path)
    part = path.with_name(f"{path.name}.part")
    try:
        write(part)
        _refuse_findings(part, contents)
        with refusing(path):
            part.replace(path)
            settle(path)
    finally:
        with suppress(OSError):  # where none could be made either
            part.unlink()


def restore_store(path: Path, directory: Path, *, replace: bool = False, contents: ContentsOf | None = None) -> None:
    """Make a store of a backup. What was there is set aside as `store.sqlite.replaced`, where `replace` allows it.

    Its meta says `restored`, the number of the last entry, and `ahead`. InputError where the backup is damaged, a store
    is in the directory, or a service uses it.
    """
    refuse_damaged_backup(path, contents)
    with refusing(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(directory)
    try:
        if not replace and any(directory.glob(f"{FILE}*")):
            what = "the directory has a store already"
            raise refusal("store-exists", what, "use --replace to set it aside, or name another directory", directory)
        copy = directory / RESTORING
        with refusing(directory):
            migrated_copy(path, copy)
            with changing_hands(directory):
                lock.check(directory)
                _exchange(copy, directory)
    finally:
        lock.release()


def migrated_copy(path: Path, copy: Path) -> None:
    """A copy of a backup in the format of now, that says what it is, and that jobs go on at higher numbers."""
    with closing(connect(path, "ro")) as source:
        _copy(source, copy)
    with closing(connect(copy)) as target:
        target.execute("PRAGMA synchronous=FULL")
        migrate(target, path, seal_all)
        meta = table("meta")
        words = [("restored", str(queries.end_of_log(target).seq)), (AHEAD, str(_AHEAD))]
        target.insert(meta, meta.sealed(words), replaces=True)
        raise_epoch(target)


def _exchange(copy: Path, directory: Path) -> None:
    """Put a copy in the place of a store. Cut short anywhere, the directory has a whole store or is refused."""
    for ending in ("", "-wal", "-shm"):
        (directory / f"{REPLACED}{ending}").unlink(missing_ok=True)
    # The file goes first: a log without its file is refused, while a file without its log would have lost the end.
    for ending in ("", "-wal"):
        if (directory / f"{FILE}{ending}").exists():
            (directory / f"{FILE}{ending}").replace(directory / f"{REPLACED}{ending}")
            settle(copy)
    (directory / f"{FILE}-shm").unlink(missing_ok=True)
    copy.replace(directory / FILE)
    settle(copy)


def _there(directory: Path) -> Path:
    path = directory / FILE
    if not path.is_file():
        raise refusal("store-missing", "there is no store", "name the directory of a service", directory)
    return path


def new_file(path: Path) -> int:
    """An open file of its own for a store, without what was there. InputError `cannot-write`."""
    try:
        path.unlink(missing_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:  # of this directory, not of the store
        what = f"cannot create a file in this directory: {error.strerror}"
        raise refusal("cannot-write", what, "name another, or make it", path.parent) from error


def _copy(source: sqlite3.Connection, path: Path) -> None:
    """Copy all into a file of its own, in one piece and durable."""
    file = new_file(path)
    try:
        with closing(connect(path)) as target:
            source.backup(target, pages=_PAGES, sleep=0.01)
            target.execute("PRAGMA journal_mode=DELETE")
        os.fsync(file)
    except sqlite3.Error as error:  # where both are on one disk, only what was to be written lacks room
        if isinstance(translated(error), StoreFull):
            raise StoreFull(f"{path.parent}: the disk is full: no copy was made") from error
        raise
    finally:
        os.close(file)


def refuse_damaged_backup(path: Path, contents: ContentsOf | None) -> None:
    """As `_refuse_findings`, for who is restoring: there is no use in being told to."""
    if not path.is_file():
        raise refusal("store-missing", "the backup does not exist", "", path)
    try:
        _refuse_findings(path, contents)
    except InputError as error:
        mend = "name another backup, made with `fairhold store backup`"
        raise InputError(
            [replaced(fault, mend=mend) if fault.mend == RESTORE else fault for fault in error.faults]
        ) from None


def _refuse_findings(path: Path, contents: ContentsOf | None) -> None:
    with refusing(path), closing(connect(path, "ro")) as connection:
        refuse_what_is_no_store(connection, path)
        connection.hide_lack_of_seals()
        refuse_findings_of(connection, path, contents)


def refuse_findings_of(connection: Connection, place: object, contents: ContentsOf | None) -> None:
    """InputError with everything that is wrong in a store."""
    if found := findings(connection, place, contents):
        raise InputError(found)
