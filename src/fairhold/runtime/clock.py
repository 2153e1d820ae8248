"""The only clock."""

from __future__ import annotations

import time

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Nobody sets it, and where there is such a one, it goes on while the machine sleeps, as the time of day does."""


def time_of_day() -> int:
    """Microseconds since the epoch, as the machine's clock is set now."""
    return time.time_ns() // 1000


class WallClock:
    """The time of day as it was at the start, carried on by a clock that nobody sets (see `ports.Clock`)."""

    def __init__(self) -> None:
        self._ahead = time.time_ns() - time.clock_gettime_ns(_STEADY)

    def now(self) -> int:
        """Microseconds since the epoch; never goes back."""
        return (time.clock_gettime_ns(_STEADY) + self._ahead) // 1000
