"""Which of several services is asked, of which one leads; no connection is opened here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.client.errors import NobodyLeads, ServiceMissing

if TYPE_CHECKING:
    from fairhold.client.exchange import Response
    from fairhold.client.finding import Target

LEADER = "fairhold-leader"
"""Header of who does not lead: the address of the one that does, empty where there is none."""
PATIENCE = 20.0
"""Seconds until a request is answered where another service may have taken over."""


class Rotation:
    """The addresses of a service, and which of them is asked.

    targets : all of them
    """

    def __init__(self, target: Target) -> None:
        self.targets = target.each
        self._at = self._tries = 0
        self._stands_by = ""

    @property
    def at(self) -> int:
        """Place of the one that is asked."""
        return self._at % len(self.targets)

    def move(self) -> None:
        """Ask the next one: a connection broke."""
        self._at += 1

    def judge(self, outcome: Response | ServiceMissing) -> Response | None:
        """The answer that counts; None: ask the next one. Raises ServiceMissing where none leads."""
        if not isinstance(outcome, ServiceMissing):
            leader = outcome.headers.get(LEADER)
            if leader is None or (leader and len(self.targets) == 1):
                self._tries, self._stands_by = 0, ""
                return outcome
            self._stands_by = self.targets[self.at].name
        self._at += 1
        self._tries += 1
        if self._tries < len(self.targets):
            return None
        stands_by, self._tries, self._stands_by = self._stands_by, 0, ""
        if stands_by:
            raise NobodyLeads(f"no service leads at present; {stands_by} stands by")
        assert isinstance(outcome, ServiceMissing)
        raise outcome
