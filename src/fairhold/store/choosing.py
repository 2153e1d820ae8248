"""Which database a store is in: a file of the state directory, or a schema of PostgreSQL where an address is given."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.errors import UsageError
from fairhold.store import copies, directory, opening
from fairhold.store.lease import FileLease
from fairhold.store.postgresql.address import Address, is_address, parse_address
from fairhold.store.transfer import is_new, refuse_differences, transfer
from fairhold.store.troubles import refusal, refusing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.ports import Store
    from fairhold.ports.leading import StoreLease
    from fairhold.store.bodies import ContentsOf
    from fairhold.store.connections import Connection

    Place = Path | Address
    """A state directory, or the address of a schema."""


ADDRESS = "store.address"
"""File of the state directory of a service whose store is elsewhere: where, without a password."""


def place_of(option: str, variable: str, state: Path) -> Place:
    """Where a store is, by an option, an environment variable, else where it was.

    UsageError where the option has a password: all users of the machine see the arguments of a program.
    """
    if not option and not variable:
        return place_before(state)
    if not is_address(option or variable):
        raise UsageError("--store: write a connection string, postgresql://USER@HOST:PORT/DATABASE")
    address = parse_address(option or variable)
    if option and address.has_password:
        raise UsageError(
            "--store: the connection string has a password, which all users of this machine can see while the program"
            " runs; leave it out, and say it by PGPASSFILE, PGPASSWORD or FAIRHOLD_STORE"
        )
    return address


def place_before(state: Path) -> Place:
    """Where the store of a state directory was at its last start."""
    try:
        return parse_address((state / ADDRESS).read_text(encoding="utf-8").strip())
    except (FileNotFoundError, NotADirectoryError):  # what is at fault with the directory is told when it is opened
        return state


def _postgresql() -> Any:  # noqa: ANN401 - a module
    try:
        from fairhold.store.postgresql import opening as shared  # noqa: PLC0415 - an extra
    except ImportError as error:
        if (error.name or "psycopg").partition(".")[0] != "psycopg" and "libpq" not in str(error):
            raise
        raise UsageError("a store in PostgreSQL needs more than the base: pip install 'fairhold[postgres]'") from None
    return shared


def open_store(state: Path, place: Place, *, cluster: str, node: str, now: int) -> Store:
    """Open the store of a service, or make one, and hold it and the state directory until it is closed."""
    if isinstance(place, Address):
        words = {"cluster": cluster, "node": node, "created": str(now)}
        shared: Store = _postgresql().open_store(place, state, words)
        with refusing(state):
            (state / ADDRESS).write_text(f"{place.told}\n", encoding="utf-8")  # whoever starts next without saying it
        return shared
    return opening.open_store(state, cluster=cluster, node=node, now=now)


def follow_store(place: Place) -> Store:
    """The store of a service that runs, to be read until it is taken over. InputError where that cannot be."""
    if isinstance(place, Address):
        shared: Store = _postgresql().follow_store(place)
        return shared
    return opening.follow_store(place)


def lease_of(place: Place) -> StoreLease:
    """Who leads a store that is there."""
    if isinstance(place, Address):
        from fairhold.store.postgresql.lease import SharedLease  # noqa: PLC0415 - an extra

        return SharedLease(place)
    return FileLease(place)


def has_store(place: Place) -> bool:
    """Whether there is a store. InputError where that cannot be found out."""
    return bool(_postgresql().has_store(place)) if isinstance(place, Address) else directory.has_store(place)


def check_store(place: Place, contents: ContentsOf | None) -> tuple[Fault, ...]:
    """Everything that is wrong in a store."""
    if isinstance(place, Address):
        found: tuple[Fault, ...] = _postgresql().check_store(place, contents)
        return found
    return copies.check_store(place, contents)


def backup_store(place: Place, path: Path, contents: ContentsOf | None) -> None:
    """Copy a store to a new file, always of SQLite."""
    if isinstance(place, Address):
        _postgresql().backup_store(place, path, contents)
    else:
        copies.backup_store(place, path, contents)


def restore_store(path: Path, place: Place, *, replace: bool, contents: ContentsOf | None) -> None:
    """Make a store of a backup."""
    if isinstance(place, Address):
        _postgresql().restore_store(path, place, replace=replace, contents=contents)
    else:
        copies.restore_store(path, place, replace=replace, contents=contents)


def copy_store(source: Place, target: Place, contents: ContentsOf | None) -> int:
    """Copy a store that no service uses into a new one, checked before and compared after; returns rows.

    InputError where the first is damaged or in use, the other is there already, or the two differ.
    """
    if not has_store(source):
        raise refusal("store-missing", "there is no store", "name the store of a service", told(source))
    with _held(source) as first, _held(target) as second:
        if not is_new(second):
            raise refusal("store-exists", "there is a store already", "name another place", told(target))
        first.execute("BEGIN")
        copies.refuse_findings_of(first, told(source), contents)
        second.execute("BEGIN")
        copied = transfer(first, second)
        second.execute("COMMIT")
        second.execute("BEGIN")
        refuse_differences(first, second, told(target))
    if not isinstance(target, Address):
        (target / ADDRESS).unlink(missing_ok=True)
    return copied


def told(place: Place) -> str:
    """A place, for people."""
    return place.told if isinstance(place, Address) else str(place)


@contextmanager
def _held(place: Place) -> Iterator[Connection]:
    """A connection to a store that no service uses, and none may use meanwhile; where there is none, it is made."""
    if isinstance(place, Address):
        shared = _postgresql()
        with shared.refusing(place), closing(shared.held(place)) as connection:
            shared.bring_up(connection, place, {})
            yield connection
    else:
        with closing(opening.open_store(place)) as store, store.connection() as connection:
            yield connection
