"""By which term a service leads, and how far its log goes, as agents are told with every order."""

from __future__ import annotations

import hmac
from typing import Any, NamedTuple

from fairhold.agent.rank import EPOCH

_PROOF = 16
"""Bytes."""


class Rank(NamedTuple):
    """Of this service.

    term : of the store, 0 = nobody else can lead; tail: number of the last entry of the log that is durable
    key  : of the services of this store, by which they know what one of them has said
    """

    term: int = 0
    tail: int = 0
    key: bytes = b""

    @property
    def proof(self) -> str:
        """Shows to services that have the key that one of them has said both."""
        return hmac.digest(self.key, b"rank %d %d" % (self.term, self.tail), "sha256")[:_PROOF].hex()

    def stamped(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message to an agent, with all that it keeps."""
        if not self.term:
            return message
        return {**message, "term": self.term, "tail": self.tail, "proof": self.proof}

    def is_proved(self, term: int, tail: int, proof: str) -> bool:
        """Whether a service of this store has said both. A damaged spool, or a host that lies, proves nothing."""
        return hmac.compare_digest(Rank(term, tail, self.key).proof.encode(), proof.encode())

    def outdone(self, term: int, tail: int) -> str:
        """What an agent knows that this service does not, by the term and the tail that it knows; empty = nothing."""
        if not self.term:
            return ""
        if term > self.term:
            return f"has taken orders of a service of term {term}, and this one is of term {self.term}"
        if term // EPOCH == self.term // EPOCH and tail > self.tail:
            return f"knows of entry {tail} of the log, and the store ends with {self.tail}"
        return ""
