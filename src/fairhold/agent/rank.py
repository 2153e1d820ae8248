"""By which term a service leads, and how far its log goes: who knows of a later one takes no orders of an earlier."""

from __future__ import annotations

from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fairhold.agent.spool import Spool

EPOCH = 1_000_000
"""Terms between which a service goes on whose store was restored, with a log that may be shorter."""


class Rank:
    """The highest that was seen, kept in the spool.

    term : of the service whose orders were taken last, 0 = none has said one
    tail : number of the last entry of its log, as far as it has said so
    proof : that it has said both, to be shown to other services
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self.term, self.tail, self.proof = spool.rank()

    def accepts(self, message: Mapping[str, Any]) -> bool:
        """Whether a message comes from the service that leads, as far as is known here; notes what it says."""
        term, tail = message.get("term"), message.get("tail")
        if not isinstance(term, int) or not isinstance(tail, int):
            return True  # of a service that says nothing of the kind
        if term < self.term:
            return False
        if term // EPOCH > self.term // EPOCH:
            self.tail = 0
        if (term, tail) > (self.term, self.tail):
            self.term, self.tail, self.proof = term, max(tail, self.tail), str(message.get("proof", ""))
            with suppress(OSError):  # a full disk: it is known as long as this process lives
                self._spool.write_rank(self.term, self.tail, self.proof)
        return True
