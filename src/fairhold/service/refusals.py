"""Refused requests on the record: the first of each kind at once, all further ones of some time as one number.

So a stranger who knocks all day writes a few lines, whatever he sends and wherever from.
"""

from __future__ import annotations

from typing import NamedTuple

from fairhold.runtime.live.auditing import Deed

PERIOD = 600.0
"""Seconds for which refusals of one kind are one record."""
SEVERAL = "refused"
"""Outcome of refusals of several kinds."""
MOST_KINDS = 100
"""Kinds that are told apart at a time; the rest are one."""


class Refusal(NamedTuple):
    """Refusals of one kind: by whom, from where, of what, and why; number: how many."""

    deed: Deed
    outcome: str
    number: int


class Refusals:
    """Counts refusals, and says what is to be written."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], Refusal] = {}
        self._rest = 0
        self._since = 0.0

    def add(self, deed: Deed, outcome: str, now: float) -> list[Refusal]:
        """A request was refused; what is to be written now. now: seconds of a clock that nobody sets."""
        due = self.due(now)
        if not self._counts and not self._rest:
            self._since = now
        kind = (*deed[:-1], outcome)
        if kind in self._counts:
            known = self._counts[kind]
            self._counts[kind] = known._replace(number=known.number + 1)
        elif len(self._counts) < MOST_KINDS:
            self._counts[kind] = Refusal(deed, outcome, 0)
            due.append(Refusal(deed, outcome, 1))
        else:
            self._rest += 1
        return due

    def due(self, now: float) -> list[Refusal]:
        """What is to be written where the time is over: how many there were after the first of each kind."""
        return self.take() if now - self._since >= PERIOD else []

    def take(self) -> list[Refusal]:
        """All that is counted and not written yet."""
        found = [each for each in self._counts.values() if each.number]
        if self._rest:
            found.append(Refusal(Deed("", "", "several", ""), SEVERAL, self._rest))
        self._counts, self._rest = {}, 0
        return found
