"""Jobs whose pods cannot be let go, since the API server refuses it: they give back what they were granted for a while.

Another policy of the cluster may refuse a change that the gate's own policies allow. Each new try takes units, perhaps
from others who are told to go for it: so they come later and later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import JobReleased
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 3
"""Refusals of one grant, after which it is given back."""
FIRST, DOUBLED = 60 * SECOND, 6
"""How long the job is held then, and how many times that is doubled."""


class Refusals:
    """By job, until when it is held, and how often that has been."""

    def __init__(self) -> None:
        self._until: dict[str, int] = {}
        self._number: dict[str, int] = {}

    def add(self, job: str, now: int) -> int:
        """Its pods were refused; until when it is to be held."""
        number = self._number.get(job, 0)
        self._number[job] = min(number + 1, DOUBLED)
        self._until[job] = now + (FIRST << number)
        return self._until[job]

    def drop(self, job: str) -> None:
        """A job is over, or its pod was let go."""
        self._until.pop(job, None)
        self._number.pop(job, None)

    def over(self, now: int) -> Iterator[JobReleased]:
        """Jobs that may be tried again."""
        for job in [job for job, until in self._until.items() if until <= now]:
            del self._until[job]
            yield JobReleased(job)
