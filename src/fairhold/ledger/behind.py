"""Requests of which only the demand counts, as they stand behind others that are like them (`cycle.pooled.front`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.pools import PendingRequest


class Behind:
    """Who stands behind whom.

    of       : the last request in front of its like → how many there are behind it
    is_short : whether one of those might have got something, had it been looked at
    """

    __slots__ = ("is_short", "of")

    def __init__(self, of: dict[PendingRequest, int] | None = None) -> None:
        self.of = of or {}
        self.is_short = False

    def serves(self, asked: PendingRequest) -> None:
        """A request got something; of the last in front, those behind it might have as well."""
        if self.of and asked in self.of:
            self.is_short = True

    def serves_line(self, leaf: int) -> None:
        """A request of a leaf got something, and all behind it in its line are asked once more."""
        if self.of and any(asked.leaf == leaf for asked in self.of):
            self.is_short = True
