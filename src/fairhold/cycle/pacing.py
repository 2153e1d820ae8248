"""When the next cycle is due: at once after a change, but no two closer than a gap; and now and then anyway."""

from __future__ import annotations

MIN_GAP = 50_000
MAX_INTERVAL = 1_000_000


class Pacing:
    """The rhythm of the cycles of one resource group, in microseconds; the live and the simulated loop share it.

    min_gap      : between two cycles
    max_interval : after a hand-over without a cycle (R-HAND-1), how long the quotas may be out of date
    """

    __slots__ = ("due", "last", "max_interval", "min_gap")

    def __init__(self, min_gap: int = MIN_GAP, max_interval: int = MAX_INTERVAL) -> None:
        self.min_gap = min_gap
        self.max_interval = max_interval
        self.last: int | None = None
        self.due: int | None = None

    def changed(self, now: int) -> None:
        """Something changed that the next cycle has to see."""
        self._ask(now if self.last is None else max(now, self.last + self.min_gap))

    def at_once(self, now: int) -> None:
        """Everything may be different: the next cycle waits for no gap."""
        self.due = now

    def handed_over(self, now: int) -> None:
        """A unit went to its leaf's next task; the quotas can wait a while."""
        self._ask(now if self.last is None else max(now, self.last + self.max_interval))

    def not_after(self, instant: int) -> None:
        """The cycle that ran has left something for one at an instant."""
        self._ask(instant if self.last is None else max(instant, self.last + self.min_gap))

    def ran(self, now: int) -> None:
        """A cycle ran."""
        self.last = now
        self.due = None

    def is_due(self, now: int) -> bool:
        """Whether a cycle is to run now."""
        return self.due is not None and self.due <= now

    def _ask(self, instant: int) -> None:
        self.due = instant if self.due is None else min(self.due, instant)
