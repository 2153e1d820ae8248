"""Limits the starts per second on a machine."""

from __future__ import annotations


class Pace:
    """Lets `rate` starts pass every second, and a tenth of a second's worth at once after a rest.

    rate : a second, more than 0; instants are seconds of any clock that does not go back
    """

    def __init__(self, rate: float) -> None:
        self._step = 1 / rate
        self._ahead = max(0.0, 0.1 - self._step)
        self._next = float("-inf")
        """When the next start would pass if they came evenly."""

    def next_at(self) -> float:
        """When the next start may pass."""
        return self._next - self._ahead

    def take(self, now: float) -> bool:
        """Let one pass; False where it is too early."""
        if now < self.next_at():
            return False
        self._next = max(self._next, now) + self._step
        return True
