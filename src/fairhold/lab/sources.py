"""Where a record comes from: the store of a service, or what a service has read of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.lab.rebuilding import UNREADABLE, Saved, damaged
from fairhold.ports import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.store import StoreReader


class StoreSource:
    """The log in a state directory, whether its service runs or not."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self.name = str(reader.directory)

    def snapshot(self, until: int) -> Saved | None:
        """The latest up to an instant, else the earliest; none where the log reaches back to its begin anyway."""
        first = next(iter(self._reader.entries(0)), None)
        if first is not None and first.seq == 1 and not until:
            return None
        found = self._reader.snapshot(until)
        if found is None or (found.at > until and first is not None and first.seq == 1):
            return None
        try:
            return Saved(found.seq, found.at, json.loads(found.body))
        except UNREADABLE as error:
            raise damaged(self.name, f"the snapshot of entry {found.seq} cannot be read: {error}") from error

    def entries(self, after: int) -> Iterable[Entry]:
        """All above a number."""
        return self._reader.entries(after)

    def plan(self, version: int) -> str:
        """Text of a version."""
        return self._reader.plan(version)

    def is_running(self) -> bool:
        """Whether a service uses it."""
        return self._reader.is_in_use()


class GivenSource:
    """The log of a service that runs, as it was handed over.

    given : `name`; `entries`, each with number, instant and body; `plans`, version → text; `snapshot`, null or number,
            instant and state
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.name = str(given["name"])

    def snapshot(self, until: int) -> Saved | None:
        """The one that was handed over: it was chosen for the begin of the record."""
        del until
        return None if self._given["snapshot"] is None else Saved(*self._given["snapshot"])

    def entries(self, after: int) -> Iterable[Entry]:
        """All above a number."""
        return [Entry(*each) for each in self._given["entries"] if each[0] > after]

    def plan(self, version: int) -> str:
        """Text of a version."""
        return str(self._given["plans"][str(version)])

    def is_running(self) -> bool:
        """It has handed this over."""
        return True
