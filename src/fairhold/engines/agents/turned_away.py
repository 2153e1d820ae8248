"""Tells of connections that were dropped before anybody knew whose they were: the first of a kind, the rest as sums.

Strangers may knock as often as they like: the log has a few lines in ten minutes, whatever they send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD = 600.0
"""Seconds for which further ones of a kind are one line."""
MOST_KINDS = 20
_SEVERAL = "for several reasons"


class TurnedAway:
    """Counts them. complain : is given the lines."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._more: dict[str, tuple[int, str]] = {}
        self.due = float("inf")
        """When `look` has something to tell, on the clock of who calls."""

    def note(self, peer: str, why: str, now: float) -> None:
        """A connection from this peer was dropped."""
        if self.due == float("inf"):
            self.due = now + PERIOD
        kind = why if why in self._more or len(self._more) < MOST_KINDS else _SEVERAL
        if kind in self._more:
            self._more[kind] = self._more[kind][0] + 1, peer
            return
        self._more[kind] = 0, peer
        self._complain(f"a connection from {peer} was dropped before it identified itself: {why}")

    def look(self, now: float) -> None:
        """Tell how many more there were, where it is time."""
        if now < self.due:
            return
        for why, (number, peer) in self._more.items():
            if number:
                connections = "1 more connection was" if number == 1 else f"{number} more connections were"
                told = f"in the last {PERIOD / 60:g} minutes {connections} dropped before they identified themselves"
                self._complain(f"{told}, the last from {peer}: {why}")
        self._more, self.due = {}, float("inf")
