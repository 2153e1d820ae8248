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
    """The addresses of a service, and which of them is asked; several requests at once share it.

    targets : all of them
    at      : place of the one that is asked first
    """

    def __init__(self, target: Target) -> None:
        self.targets = target.each
        self.at = 0

    def move(self, begun: int) -> None:
        """Ask the next one; nothing where another request has found out already that the one of `begun` is no good."""
        if self.at == begun:
            self.at = (begun + 1) % len(self.targets)


class Tries:
    """Those of one request.

    at : place of the one that is asked
    """

    def __init__(self, rotation: Rotation) -> None:
        self._rotation, self.at = rotation, rotation.at
        self._number, self._stands_by = 0, ""

    @property
    def name(self) -> str:
        """Of the one that is asked."""
        return self._rotation.targets[self.at].name

    def broke(self) -> None:
        """The connection broke: the next request asks another one."""
        self._rotation.move(self.at)

    def judge(self, outcome: Response | ServiceMissing) -> Response | None:
        """The answer that counts; None: ask the next one. Raises ServiceMissing where none leads."""
        services = len(self._rotation.targets)
        if not isinstance(outcome, ServiceMissing):
            leader = outcome.headers.get(LEADER)
            if leader is None or (leader and services == 1):
                self._rotation.at = self.at
                return outcome
            self._stands_by = self.name
        self._rotation.move(self.at)
        self.at = (self.at + 1) % services
        self._number += 1
        if self._number < services:
            return None
        if self._stands_by:
            raise NobodyLeads(f"no service leads at present; {self._stands_by} stands by")
        assert isinstance(outcome, ServiceMissing)
        raise outcome
