"""Decay of usage history: time is divided into steps, and each step has a weight (R-HISTORY-1, R-HISTORY-2).

A step is at most an eighth of the half-life and a 128th of the window, and longer than half a second. Where a window
restarts, a step ends.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from fairhold.model.budget import period_of
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.model.queue import FairShareSettings
    from fairhold.model.window import Zone

_STEPS_OF_WINDOW, _STEPS_OF_HALF_LIFE = 128, 8
MOST_STEPS = 256
"""Steps that are kept; with a half-life what is older than 32 of them may be left out."""
_PLACES = 64
_ONE = 1 << _PLACES
_LENGTH = {"day": 24 * 3600 * SECOND, "week": 7 * 24 * 3600 * SECOND, "month": 31 * 24 * 3600 * SECOND}


class Steps:
    """The steps of one policy entry.

    step : microseconds of one
    most : how many whole ones count at most
    """

    def __init__(self, settings: FairShareSettings, zone: Zone | None) -> None:
        self.window, self._zone = settings.usage_window, zone
        length = _LENGTH.get(self.window.period, self.window.length)
        fine = max(SECOND, length // _STEPS_OF_WINDOW)
        self.step, parts = fine, 0
        if settings.half_life is not None:
            life, parts = max(SECOND, settings.half_life), 1
            fine = max(SECOND, min(fine, life // _STEPS_OF_HALF_LIFE))
            while life // parts > fine:
                parts *= 2
            self.step = life // parts
        self.most = min(MOST_STEPS, -(-length // self.step))
        self._weights = _weights(parts, self.most) if parts else [_ONE] * self.most
        self._known = (0, 0)
        self._latest = (0, 0)

    def begin(self, instant: int) -> int:
        """When the window of an instant began; of one that slides: any border of a step."""
        window = self.window
        if window.kind == "sliding":
            return 0
        if window.kind == "tumbling":
            return window.start + (instant - window.start) // window.length * window.length
        if not self._known[0] <= instant < self._known[1]:
            assert self._zone is not None
            self._known = period_of(self._zone, window.period, instant)
        return self._known[0]

    def of(self, instant: int) -> tuple[int, int]:
        """Begin and end of the step of an instant."""
        if self._latest[0] <= instant < self._latest[1]:
            return self._latest
        begin, window = self.begin(instant), self.window
        start = begin + (instant - begin) // self.step * self.step
        end = start + self.step
        if window.kind == "tumbling":
            end = min(end, begin + window.length)
        elif window.kind == "calendar":
            end = min(end, self._known[1])
        self._latest = start, end
        return start, end

    def first(self, instant: int) -> int:
        """The begin of the oldest step that counts at an instant, or would."""
        if self.window.kind == "sliding":
            return self.of(instant)[0] - self.most * self.step
        return max(self.begin(instant), self.of(instant)[0] - self.most * self.step)

    def weight(self, start: int, border: int) -> int:
        """What the step that began at `start` counts for at the begin of a later one; 2^64 is the newest's."""
        age = (border - start) // self.step - 1
        return self._weights[age] if age < self.most else 0


def _weights(parts: int, most: int) -> list[int]:
    """By age in steps, parts of 2^64 that it counts for; it halves after `parts` steps, a power of two.

    2^(-1/2), 2^(-1/4), … are whole roots, rounded down; a weight is the product of those of the bits of its age.
    """
    roots, root, left = [], _ONE // 2, parts
    while left > 1:
        root = isqrt(root << _PLACES)
        roots.append(root)
        left //= 2
    found = []
    for age in range(most):
        halvings, rest = divmod(age, parts)
        weight = _ONE
        for at, each in enumerate(roots):
            if rest & (parts >> (at + 1)):
                weight = weight * each >> _PLACES
        found.append(weight >> halvings)
    return found
