"""What a store keeps of who leads, and how those that want to lead share it."""

from __future__ import annotations

import json
from typing import NamedTuple, Protocol

_LONGEST = 4_000
"""Characters of a note: all that is known of one place in a file."""


class LeaderNote(NamedTuple):
    """Who leads, as it said when it last did.

    term      : counts services that have led; every one has a higher term than all before
    holder    : who it is, differs from that of all others; empty = nobody: it was given back
    process   : by which others on the same machine see whether it lives; see `store.processes`
    addresses : for clients, and where more is known, for agents
    duration  : seconds of silence after which others may take its place
    beat      : rises with every renewal
    """

    term: int
    holder: str = ""
    process: str = ""
    addresses: tuple[str, ...] = ()
    duration: float = 0.0
    beat: int = 0

    @property
    def text(self) -> str:
        """As it is kept."""
        return json.dumps(self)

    @property
    def following(self) -> LeaderNote:
        """The same, renewed."""
        return self._replace(beat=self.beat + 1)


def note_of(text: str) -> LeaderNote | None:
    """What a kept text says; None where it is none."""
    try:
        term, holder, process, addresses, duration, beat = json.loads(text[:_LONGEST])
        return LeaderNote(int(term), str(holder), str(process), tuple(addresses), float(duration), int(beat))
    except (ValueError, TypeError):
        return None


class StoreLease(Protocol):
    """The note of a store. Raises StoreError, StoreWaits among them."""

    def look(self) -> LeaderNote | None:
        """Who leads; None = nobody has ever said so."""
        ...

    def begin(self, note: LeaderNote) -> None:
        """Write the note of who has opened the store for itself alone, with the term of that store."""
        ...

    def renew(self, seen: LeaderNote, note: LeaderNote) -> bool:
        """Write another note in the place of one's own; False where somebody else has taken the store over."""
        ...

    def take(self, seen: LeaderNote, note: LeaderNote) -> LeaderNote | None:
        """Take the store over with a new term, that of the note returned; None where the note has changed since."""
        ...

    def close(self) -> None:
        """Let go of what was needed to ask."""
        ...
