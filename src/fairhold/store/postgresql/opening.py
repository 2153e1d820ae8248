"""Opens the store of a schema, checks and copies it; creates it, or migrates it; raises an error with the cause."""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

import psycopg

from fairhold.ports import StoreError, StoreGone
from fairhold.store.checking import findings
from fairhold.store.connections import connect as connect_file
from fairhold.store.connections import reader
from fairhold.store.copies import make_file, migrated_copy, new_file, refuse_damaged_backup
from fairhold.store.directory import Lock
from fairhold.store.opening import refuse_another_format
from fairhold.store.postgresql.layout import FIRST, make, take_step
from fairhold.store.postgresql.session import FORMAT, PostgresConnection
from fairhold.store.postgresql.store import ONE_INSTANT, PostgresStore
from fairhold.store.postgresql.troubles import refusing, translated
from fairhold.store.schema import APPLICATION, MIGRATIONS, migrate, steps
from fairhold.store.tables import seal_all
from fairhold.store.transfer import refuse_differences, transfer
from fairhold.store.troubles import DAMAGED, FOREIGN, refusal
from fairhold.store.troubles import refusing as refusing_files
from fairhold.store.turns import Turn, check_turn, put_word, taken_over, turn_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Fault, InputError
    from fairhold.store.bodies import ContentsOf
    from fairhold.store.connections import Connection, SqliteConnection
    from fairhold.store.postgresql.address import Address


_RELEASING = 2.0
"""Seconds that the server is given to notice that a service has ended, which had the lock."""


def connect(address: Address) -> PostgresConnection:
    """A connection. Raises psycopg.Error."""
    return PostgresConnection(address, f"fairhold {socket.gethostname()}")


def open_store(
    address: Address, directory: Path, words: Mapping[str, str], migrations: Path = MIGRATIONS
) -> PostgresStore:
    """Open a store, or make one, and hold it and the state directory until it is closed.

    words : kept in a store that is made here

    InputError: store-unreachable, store-rights, store-in-use, store-newer, store-foreign, store-damaged,
    store-not-migrated, store-failed. StoreFull where there is no room.
    """
    with refusing_files(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(directory)
    try:
        with refusing(address):
            connection = held(address)
            try:
                bring_up(connection, address, words, migrations)
                store = _store(address)
                store.begin(lock, connection)
            except BaseException:
                connection.close()
                raise
    except BaseException:
        lock.release()
        raise
    return store


def _store(address: Address) -> PostgresStore:
    return PostgresStore(address, lambda turn: _again(address, turn))


def follow_store(address: Address) -> PostgresStore:
    """A store, to be read while another service writes it. InputError where that cannot be."""
    with refusing(address), closing(connect(address)) as connection:
        refuse_what_is_no_store(connection, address)
        refuse_another_format(connection, address.told)
        store = _store(address)
    with refusing(address):
        store.refresh()
    return store


def lead(store: PostgresStore, address: Address, directory: Path, term: int) -> None:
    """Let a store that follows write, once its lease was taken. psycopg.Error, StoreError, InputError."""
    connection = held(address)
    try:
        check_turn(connection, Turn(term))
        with refusing_files(directory):
            lock = Lock(directory, replaces=True)
        store.begin(lock, connection, term)
    except BaseException:
        connection.close()
        raise


def held(address: Address) -> PostgresConnection:
    """A connection that has the lock of its schema. InputError `store-in-use`, and where the database will not do."""
    connection = connect(address)
    try:
        _refuse_what_will_not_do(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


def has_store(address: Address) -> bool:
    """Whether there is a store. InputError where that cannot be found out."""
    with refusing(address), closing(connect(address)) as connection:
        return connection.format() > 0


def check_store(address: Address, contents: ContentsOf | None = None) -> tuple[Fault, ...]:
    """Everything that is wrong in a store, whether a service uses it or not; contents as in `copies.check_store`."""
    with refusing(address), closing(connect(address)) as connection:
        refuse_what_is_no_store(connection, address)
        connection.execute(ONE_INSTANT)
        try:
            return findings(connection, address.told, contents)
        except psycopg.Error as error:
            if translated(error).code != DAMAGED:
                raise
            return tuple(_damage(address, translated(error).what).faults)


def _damage(address: Address, what: str) -> InputError:
    return refusal(DAMAGED, what, f"restore a backup: fairhold store restore FILE --store {address.told}", address.told)


def backup_store(address: Address, path: Path, contents: ContentsOf | None = None) -> None:
    """Copy a store to a new SQLite file, whether a service uses it or not."""
    with refusing(address), closing(connect(address)) as connection:
        refuse_what_is_no_store(connection, address)
        connection.execute(ONE_INSTANT)

        def write(part: Path) -> None:
            with refusing_files(part.parent), closing(_new_file(part)) as target:
                target.execute("BEGIN")
                transfer(connection, target)
                target.execute("COMMIT")
                refuse_differences(connection, target, path)

        make_file(path, write, contents)


def _new_file(path: Path) -> SqliteConnection:
    """A new and empty store in a file."""
    os.close(new_file(path))
    target = connect_file(path)
    target.execute("PRAGMA synchronous=FULL")
    target.execute("PRAGMA auto_vacuum=INCREMENTAL")
    migrate(target, path, seal_all)
    return target


def restore_store(path: Path, address: Address, *, replace: bool = False, contents: ContentsOf | None = None) -> None:
    """Make a store of a backup. A schema that was there is set aside as `NAME_replaced`, where `replace` allows it."""
    refuse_damaged_backup(path, contents)
    with TemporaryDirectory() as place, refusing(address), closing(held(address)) as connection:
        is_there = connection.format() > 0
        if is_there and not replace:
            mend = "use --replace to set it aside, or name another schema: ?schema=NAME"
            raise refusal("store-exists", "the schema has a store already", mend, address.told)
        copy = Path(place) / path.name
        with refusing_files(copy):
            migrated_copy(path, copy)
        if is_there:
            with connection.raw.transaction():
                connection.execute(f'DROP SCHEMA IF EXISTS "{address.schema}_replaced" CASCADE')
                connection.execute(f'ALTER SCHEMA "{address.schema}" RENAME TO "{address.schema}_replaced"')
        bring_up(connection, address, {})
        with closing(reader(copy)) as source:
            put_all(source, connection, address)


def put_all(source: Connection, target: PostgresConnection, address: Address) -> None:
    """Copy all of a store into one that is new, and compare."""
    with target.raw.transaction():
        transfer(source, target)
        refuse_differences(source, target, address.told)


def _again(address: Address, turn: Turn) -> PostgresConnection:
    """A connection in the place of one that is gone, with the lock. StoreGone where the lock is not free yet.

    The server may not have noticed yet that the connection before is no more. StoreError where another has the turn.
    """
    connection = connect(address)
    why = "the database is a replica, which nobody can write to"
    try:
        if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
            if not (holder := _held_by(connection)):
                return connection
            if turn_of(connection).term > turn.term:
                raise taken_over()  # noqa: TRY301 - as the database would say
            why = f"the database is there again, but the store is still held by {holder}"
    except BaseException:
        connection.close()
        raise
    connection.close()
    raise StoreGone(why)


_HOLDERS = (
    "FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND classid = ?::bigint::oid AND objid = ?::bigint::oid "
    "AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""Connections that have the lock of a schema."""


def _lock_of(connection: PostgresConnection) -> tuple[int, int]:
    """The two numbers of the lock of a schema."""
    return APPLICATION, crc32(connection.schema.encode()) - 2**31


def _held_by(connection: PostgresConnection) -> str:
    """Take the lock of the schema, which goes with the connection; who has it, empty = this connection now."""
    space, key = _lock_of(connection)
    if connection.execute("SELECT pg_try_advisory_lock(?::int, ?::int)", (space, key)).fetchone() == (True,):
        return ""
    query = f"SELECT application_name, client_addr::text {_HOLDERS}"
    row = connection.execute(query, (space, key % 2**32)).fetchone() or ("another service", None)
    return f"{row[0] or 'another service'}{f' at {row[1]}' if row[1] else ''}"


def end_holder(connection: PostgresConnection) -> None:
    """End the connection that has the lock of the schema: its service leads no more."""
    space, key = _lock_of(connection)
    query = f"SELECT pg_terminate_backend(pid) {_HOLDERS} AND pg_locks.pid <> pg_backend_pid()"
    connection.execute(query, (space, key % 2**32)).fetchall()


def _refuse_what_will_not_do(connection: PostgresConnection, address: Address) -> None:
    """Take the lock too, where nothing else is in the way."""
    if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
        mend = "make another: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        raise refusal("store-encoding", "the database does not keep texts in UTF-8", mend, address.told)
    if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
        mend = "name the server that it follows"
        raise refusal("store-unreachable", "this server is a replica, which nobody can write to", mend, address.told)
    patience = time.monotonic() + _RELEASING
    while (holder := _held_by(connection)) and time.monotonic() < patience:
        time.sleep(0.1)
    if holder:
        what = f"the store is in use by {holder}"
        raise refusal("store-in-use", what, "stop that service, or name another schema", address.told)


def refuse_what_is_no_store(connection: PostgresConnection, address: Address, folder: Path = MIGRATIONS) -> None:
    """InputError where a schema has no store, or one of a later Fairhold."""
    number = connection.format()
    if not number:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = ? LIMIT 1"
        if connection.execute(query, (address.schema,)).fetchone():
            what = f"the schema {address.schema} has tables of another program"
            raise refusal(FOREIGN, what, "name another schema: ?schema=NAME", address.told)
        raise refusal("store-missing", "there is no store", "name the database of a service", address.told)
    if number > len(steps(folder)):
        what = f"the store has format {number}, and this version of Fairhold reads formats up to {len(steps(folder))}"
        raise refusal("store-newer", what, "use the version of Fairhold that wrote it, or a later one", address.told)


def bring_up(
    connection: PostgresConnection, address: Address, words: Mapping[str, str], folder: Path = MIGRATIONS
) -> None:
    """Make a store where there is none, and bring it to the latest format."""
    exists = "SELECT 1 FROM information_schema.schemata WHERE schema_name = ?"
    if not connection.execute(exists, (address.schema,)).fetchone():
        connection.execute(f'CREATE SCHEMA "{address.schema}"')
    if is_new := _is_empty(connection, address.schema):
        with connection.raw.transaction():
            make(connection)
            put_word(connection, FORMAT, str(FIRST))
            for name, value in words.items():
                put_word(connection, name, value)
    refuse_what_is_no_store(connection, address, folder)
    begun = FIRST if is_new else connection.format()
    for number in range(begun + 1, len(steps(folder)) + 1):
        try:
            with connection.raw.transaction():
                take_step(connection, number, folder)
                put_word(connection, FORMAT, str(number))
        except (psycopg.Error, StoreError) as error:
            what = f"the store stays at format {number - 1}: {steps(folder)[number - 1].name} failed: {error}"
            mend = "use the version of Fairhold that wrote it, and report this"
            raise refusal("store-not-migrated", what, mend, address.told) from error


def _is_empty(connection: PostgresConnection, schema: str) -> bool:
    query = "SELECT 1 FROM information_schema.tables WHERE table_schema = ? LIMIT 1"
    return connection.execute(query, (schema,)).fetchone() is None
