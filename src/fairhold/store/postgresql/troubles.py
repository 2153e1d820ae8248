"""Translates errors of PostgreSQL.

InputError   what is found at opening, as a fault with the address
StoreGone    the server is not to be had at present
StoreFull    it has no room
StoreError   anything else that happens to an open store
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from fairhold.ports import StoreError, StoreFull, StoreGone
from fairhold.store.troubles import DAMAGED, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.errors import InputError
    from fairhold.store.postgresql.address import Address

_FULL = ("53100", "53200")
"""Disk full, out of memory."""
_RIGHTS = "42501"
_DAMAGE = ("XX001", "XX002")
_GONE = ("08", "57P", "53300", "25006")
"""The connection, a server that goes down or comes up, too many connections, a server that only reads."""
MENDED_BY = "look whether the server runs there, has this database, and lets this user in, as `psql` does"
PASSWORDS = "; a password comes from PGPASSFILE, PGPASSWORD or FAIRHOLD_STORE"


def words_of(error: psycopg.Error) -> str:
    """What the server or the library says, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0].removeprefix("connection failed: ")


def is_gone(error: psycopg.Error, connection: psycopg.Connection | None) -> bool:
    """Whether the server is not to be had, while nothing is wrong with what was asked."""
    if error.sqlstate is not None:
        return error.sqlstate.startswith(_GONE)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) or (
        connection is not None and connection.broken
    )


def translated(error: psycopg.Error, connection: psycopg.Connection | None = None) -> StoreError:
    """The error of an open store for one of psycopg."""
    state = error.sqlstate or ""
    if is_gone(error, connection):
        return StoreGone(f"the database is not to be had: {words_of(error)}")
    if state in _FULL:
        return StoreFull("the database has no room, so the store cannot grow; nothing of this was applied")
    if state in _DAMAGE:
        return StoreError(f"the store is damaged: {words_of(error)}", DAMAGED)
    return StoreError(f"the store failed: {words_of(error)}")


@contextmanager
def speaking() -> Iterator[None]:
    """Tell what goes wrong in an open store as StoreError; two rows with the same name are a ValueError."""
    try:
        yield
    except psycopg.IntegrityError as error:
        raise ValueError(str(error)) from error
    except psycopg.Error as error:
        raise translated(error) from error


def refused(error: psycopg.Error, address: Address) -> InputError:
    """What is told where a store cannot be opened."""
    if error.sqlstate == _RIGHTS:
        what = f"this user may not do what a store needs: {words_of(error)}"
        mend = f"give the right, as GRANT ALL ON SCHEMA {address.schema} does, or CREATE on the database"
        return refusal("store-rights", what, mend, address.told)
    if is_gone(error, None):
        what = f"the database cannot be used: {words_of(error)}"
        return refusal("store-unreachable", what, MENDED_BY + PASSWORDS, address.told)
    return refusal("store-failed", f"the store cannot be used: {words_of(error)}", MENDED_BY, address.told)


@contextmanager
def refusing(address: Address) -> Iterator[None]:
    """Tell what goes wrong with a database that is opened, copied or checked as faults."""
    try:
        yield
    except StoreError as error:
        if error.code != DAMAGED:
            raise
        raise refusal(
            DAMAGED, error.what, "restore a backup: fairhold store restore FILE --store", address.told
        ) from error
    except psycopg.Error as error:
        if isinstance(full := translated(error), StoreFull):
            raise full from error
        raise refused(error, address) from error
