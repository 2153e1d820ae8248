"""The record of what was done, as it grows; in the desk's thread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.access.chain import Record, sealed
from fairhold.ports.people import RecordFilter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ports import Store
    from fairhold.runtime.live.journal import Journal

DONE = "done"


class Deed(NamedTuple):
    """What somebody asks for; see `access.chain.Record`."""

    user: str
    via: str
    origin: str
    action: str
    target: str = ""
    detail: Mapping[str, Any] = {}


class Audit:
    """Writes records, each behind the one before; they are durable with the change that they tell."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self._last: tuple[int, str] | None = None

    def note(self, deed: Deed, at: int, outcome: str = DONE) -> None:
        """Add a record."""
        seq, before = self._last or self._head()
        detail = json.dumps(deed.detail, separators=(",", ":"))
        told = (deed.user, deed.via, deed.origin, deed.action, deed.target, outcome, detail)
        record = sealed(Record(seq + 1, at, *told, before, ""))
        self._last = record.seq, record.hash
        self._journal.write(lambda batch: batch.put_record(record))

    def _head(self) -> tuple[int, str]:
        """Number and hash of the last record."""
        for record in self._store.last_records(RecordFilter(), 1):
            return record.seq, record.hash
        return self._store.chain_begin()
