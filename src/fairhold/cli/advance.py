"""A line on a terminal that says how far a long run is, and about how long it will take yet."""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

from fairhold.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 128 + signal.SIGINT
"""Exit code of a search that Ctrl-C ended, and that printed what it had."""
_EVERY = 0.2
"""Seconds between two lines at least."""
_FIRST = 1.0
"""Seconds after which what has passed says something of what is left."""


class Advance:
    """Rewrites the line while a run goes on; nothing where standard error is not a terminal.

    clock : seconds, as `time.monotonic`
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begin = clock, clock()
        self._next = 0.0
        self._is_shown = sys.stderr.isatty()
        self._has_line = False

    def show(self, words: str, done: int, whole: int) -> None:
        """So much of the whole is done, in equal pieces of work; words: of what, and how far."""
        now = self._clock()
        if not self._is_shown or now < self._next:
            return
        self._next, self._has_line = now + _EVERY, True
        left = time_left(now - self._begin, done, whole)
        told = "" if left is None else f", about {format_duration(left * 1_000_000)} left"
        sys.stderr.write(f"\r{words} ({100 * done // max(1, whole)} %{told})\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        """The run is over, or was stopped: what comes now begins below the line."""
        if self._has_line:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._has_line = False


def time_left(passed: float, done: int, whole: int) -> int | None:
    """Seconds that are left if it goes on as it went so far, rounded up; None while that cannot be said."""
    if passed < _FIRST or done <= 0:
        return None
    return -int(-passed * max(0, whole - done) // done)
