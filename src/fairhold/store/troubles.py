"""Translates errors of SQLite.

InputError   what was found at opening, restoring or backing up, as faults with the file's name
StoreFull    no room: nothing was applied, it may go on later
StoreError   anything else that happens to an open store
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError, printable
from fairhold.ports import StoreError, StoreFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAMAGED = "store-damaged"
FOREIGN = "store-foreign"
FULL_DISK = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
"""No room on the disk; a write that a quota or the limit on a file's size refused; no room for the index of the log."""
UNSURE = frozenset({sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC})
"""After these nobody knows what is on the disk."""


def code_of(error: Exception) -> int:
    """Extended result code of SQLite; 0 where Python's own module complains."""
    return int(getattr(error, "sqlite_errorcode", 0))


ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; where it quotes damaged content, its own words may be no UTF-8."""


def is_damage(error: Exception) -> bool:
    """Whether the file is no store, or no longer one that can be read."""
    if isinstance(error, UnicodeDecodeError):
        return True
    if not code_of(error) and "UTF-8" in str(error):  # a text that Python's own module cannot make out
        return True
    return code_of(error) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def translated(error: Exception) -> StoreError:
    """The error of an open store for one of SQLite."""
    code = code_of(error)
    if code in FULL_DISK or code & 0xFF == sqlite3.SQLITE_FULL:
        return StoreFull("the disk is full, so the store cannot grow; nothing of this was applied")
    if is_damage(error):
        return StoreError(f"the store is damaged: {error}", DAMAGED)
    if code & 0xFF == sqlite3.SQLITE_BUSY:
        return StoreError("another program has locked the store", "store-busy")
    return StoreError(f"the store failed: {error}")


@contextmanager
def speaking() -> Iterator[None]:
    """Tell what goes wrong in an open store as StoreError; two rows with the same name are a ValueError."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError(str(error)) from error
    except ERRORS as error:
        raise translated(error) from error


def refusal(code: str, what: str, mend: str, path: object) -> InputError:
    """One fault about a file, directory or database."""
    return InputError([Fault(code, what, mend, file=str(path))])


_LOOK = "check that you may read and write it and that its disk works; or name another directory"
RESTORE = "restore a backup: fairhold store restore FILE --state DIRECTORY --replace"


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Tell what goes wrong with a file that is opened, copied or checked as faults."""
    try:
        yield
    except StoreError as error:
        if error.code != DAMAGED:
            raise
        raise refusal(DAMAGED, error.what, RESTORE, path) from error
    except ERRORS as error:
        if is_damage(error):
            raise refusal(DAMAGED, f"the store is damaged: {error}", RESTORE, path) from error
        failed = translated(error)
        if isinstance(failed, StoreFull):
            raise _no_room(path) from error
        raise refusal("store-failed", f"the store cannot be used: {error}", _LOOK, path) from error
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise _no_room(path) from error
        what = f"the store cannot be used: {error.strerror or error}"
        raise refusal("store-failed", what, _LOOK, path) from error


def _no_room(path: Path) -> StoreFull:
    return StoreFull(f"{printable(str(path))}: the disk is full, so the store cannot be written; free some space")
