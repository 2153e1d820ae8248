"""By which term a service leads, and how far its log goes, as agents are told with every order."""

from __future__ import annotations

from typing import Any, NamedTuple

from fairhold.agent.rank import EPOCH


class Rank(NamedTuple):
    """Of this service.

    term : of the store, 0 = nobody else can lead; tail: number of the last entry of the log that is durable
    """

    term: int = 0
    tail: int = 0

    def stamped(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message to an agent, with both."""
        return {**message, "term": self.term, "tail": self.tail} if self.term else message

    def outdone(self, term: int, tail: int) -> str:
        """What an agent knows that this service does not, by the term and the tail that it knows; empty = nothing."""
        if not self.term:
            return ""
        if term > self.term:
            return f"has taken orders of a service of term {term}, and this one is of term {self.term}"
        if term // EPOCH == self.term // EPOCH and tail > self.tail:
            return f"knows of entry {tail} of the log, and the store ends with {self.tail}"
        return ""
