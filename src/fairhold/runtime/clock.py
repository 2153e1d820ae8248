"""The only clock."""

from __future__ import annotations

import time


class WallClock:
    """The time of day as it was at the start, carried on by a clock that nobody sets (see `ports.Clock`)."""

    def __init__(self) -> None:
        self._ahead = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        """Microseconds since the epoch; never goes back."""
        return (time.monotonic_ns() + self._ahead) // 1000
