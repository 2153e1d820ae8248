"""What an attempt is told that is to give its units back."""

from __future__ import annotations

from typing import NamedTuple


class Notice(NamedTuple):
    """An attempt is to give its units back; fields as in `Notify`."""

    deadline: int
    reason: str
    taker: str
    cycle: int = 0
    job: str = ""


def leave_by(deadline: int) -> Notice:
    """The notice of a host that is being drained."""
    return Notice(deadline, "host", "")
