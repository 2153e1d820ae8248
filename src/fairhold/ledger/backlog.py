"""Requests that a cycle does not look at one by one, only their demand is counted (`cycle.pooled.request_lines`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.pools import PendingRequest


class Backlog:
    """Requests behind the first ones of their kind; the cycle does not look at them one by one.

    of       : the last request of a kind that is looked at → number of requests of this kind behind it
    is_short : whether one of those behind might have got something, had it been looked at
    """

    __slots__ = ("is_short", "of")

    def __init__(self, of: dict[PendingRequest, int] | None = None) -> None:
        self.of = of or {}
        self.is_short = False

    def serves(self, asked: PendingRequest) -> None:
        """A request got units. If it is the last that is looked at, those behind it might have got some as well."""
        if self.of and asked in self.of:
            self.is_short = True

    def serves_line(self, leaf: int) -> None:
        """A request of a leaf got units, so all behind it in its line have to be looked at."""
        if self.of and any(asked.leaf == leaf for asked in self.of):
            self.is_short = True
