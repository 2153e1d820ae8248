"""The canonical event log: the same scenario gives the same bytes on every machine."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from fairhold.orchestrator import changes as said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.pooling import VectorCycle

_QUIET = (said.CycleRan,)
"""Changes that are left out: how often it was looked changes nothing of what happened."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def line_of(now: int, change: said.Change) -> str:
    """The line of a change, with its end."""
    return f"{_encode((now, type(change).__name__, *change))}\n"


class Log:
    """Writes a line for every change: a JSON array of the instant, the word, and the fields as the service logs them.

    write : is given every line, with its end; count: lines so far
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write
        self._hash = sha256()
        self.count = 0

    @property
    def digest(self) -> str:
        """SHA-256 of all lines so far, in hexadecimal digits."""
        return self._hash.hexdigest()

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Write changes down."""
        for change in changes:
            if isinstance(change, _QUIET):
                continue
            line = line_of(now, change)
            self.count += 1
            self._hash.update(line.encode())
            if self._write is not None:
                self._write(line)

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing: it follows from what is written down."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing, likewise."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""
