"""Read-only access to a store, whether a service uses it or not: its log, snapshots and plans."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.ports import SavedState, StoreError
from fairhold.store import queries
from fairhold.store.connections import reader
from fairhold.store.directory import FILE, LOCK
from fairhold.store.schema import refuse_what_is_no_store
from fairhold.store.tables import table
from fairhold.store.troubles import DAMAGED, RESTORE, refusal, refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ports import Entry
    from fairhold.store.connections import Connection

_LOCKS = Path("/proc/locks")


class StoreReader:
    """What a store says; everything that is read is of one instant. Raises InputError, as `open_store` does."""

    def __init__(self, directory: Path, connection: Connection) -> None:
        self.directory, self._connection = directory, connection

    def entries(self, after: int) -> Iterator[Entry]:
        """Entries with numbers above `after`, in order; InputError `store-gap` where some are missing in between."""
        connection = self._connection
        first = queries.first(connection)
        after = max(after, first - 1)
        while True:
            with refusing(self.directory / FILE):
                found = queries.entries(connection, after, 0, queries.CHUNK)
            if not found:
                return
            if found[-1].seq != after + len(found):
                what = f"entries of the log after {after} are missing"
                raise refusal("store-gap", what, RESTORE, self.directory / FILE)
            yield from found
            after = found[-1].seq

    def snapshot(self, until: int) -> SavedState | None:
        """The latest snapshot up to an instant, else the earliest; of those that can be unpacked."""
        snapshots = table("snapshots")
        query = snapshots.select("ORDER BY at > ?, abs(at - ?)")
        with refusing(self.directory / FILE):
            rows = self._connection.execute(query, (until, until)).fetchall()
        for row in rows:
            try:
                ((seq, at, body),) = snapshots.read([row])
                return SavedState(seq, at, zlib.decompress(body))
            except (zlib.error, TypeError, StoreError):
                continue  # the one before will do
        return None

    def plan(self, version: int) -> str:
        """Text of a version of the plan."""
        with refusing(self.directory / FILE):
            found = queries.plan(self._connection, version)
        if found is None:
            raise refusal(DAMAGED, f"plan {version} is not there", RESTORE, self.directory / FILE)
        return found.text

    def is_in_use(self) -> bool:
        """Whether a service holds the directory, as far as can be seen without asking for it."""
        try:
            inode = (self.directory / LOCK).stat().st_ino
            return any(line.split()[-3].endswith(f":{inode}") for line in _LOCKS.read_text().splitlines())
        except (OSError, IndexError):
            return False


@contextmanager
def read_store(directory: Path) -> Iterator[StoreReader]:
    """The store of a directory, to be read; InputError where there is none, or it is none for this Fairhold."""
    path = directory / FILE
    if not path.is_file():
        raise refusal("store-missing", "there is no store", "name the directory of a service", directory)
    with refusing(path):
        connection = reader(path)
    try:
        with refusing(path):
            refuse_what_is_no_store(connection, path)
            connection.hide_lack_of_seals()
            connection.execute("BEGIN")
        yield StoreReader(directory, connection)
    finally:
        connection.close()
