"""How often one person may ask: a bucket for each, which fills with time."""

from __future__ import annotations

MOST = 100_000
"""Buckets that are kept; full ones are let go first."""


class Rates:
    """Buckets of people; each holds what may be asked in a second."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, person: str, rate: int, now: float) -> bool:
        """Take one from a person's bucket; False where it is empty. rate: a second, 0 = any; now: seconds."""
        if not rate:
            return True
        left, then = self._left.get(person, (float(rate), now))
        left = min(float(rate), left + (now - then) * rate)
        if left < 1:
            self._left[person] = (left, now)
            return False
        if len(self._left) >= MOST and person not in self._left:
            self._left = {each: kept for each, kept in self._left.items() if now - kept[1] < 1}
        self._left[person] = (left - 1, now)
        return True
