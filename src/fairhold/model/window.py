"""Windows: recurring spans of time in which a policy entry is in force, in the local time of the plan."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY = 1440
"""Minutes of a day on a clock that is never put forward or back."""
MINUTE = 60_000_000
"""In microseconds."""
_FARTHEST = 2 * DAY * MINUTE
"""Farther no clock has ever been from UTC."""
NEVER = -1
"""The entry in force where none is."""


class Span(NamedTuple):
    """A part of every day of one kind.

    day   : 0 to 6 for Monday to Sunday; from 7 on the kinds of special days
    start : minute of the day
    end   : minute, exclusive; from 1441 on it lies on the following day, whatever kind that is
    """

    day: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpecialDays:
    """Dates that are unlike their weekday.

    dates : days since 1970-01-01
    like  : the weekday that they are treated as, None = windows name these days themselves
    """

    name: str
    dates: tuple[int, ...]
    like: int | None = None


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone as numbers: what its clocks show.

    since  : instants, rising, from which on an offset holds; the first holds for all that is before, too
    offset : microseconds that the clocks are ahead of UTC
    repeat : (instant, period): from the instant on everything is as it was a period earlier; the period is whole weeks
    """

    name: str
    since: tuple[int, ...] = (0,)
    offset: tuple[int, ...] = (0,)
    repeat: tuple[int, int] | None = None

    def ahead(self, instant: int) -> int:
        """Microseconds that clocks are ahead of UTC at an instant."""
        instant, _ = self._folded(instant)
        return self.offset[max(0, bisect_right(self.since, instant) - 1)]

    def local(self, instant: int) -> int:
        """The time on a clock that is put forward and never back, in microseconds since 1970-01-01T00:00 there.

        Where clocks are put back this one stands still just before the hour that comes twice is over, until they have
        caught up with it: what has begun at a time of day has begun once.
        """
        instant, shift = self._folded(instant)
        at = max(0, bisect_right(self.since, instant) - 1)
        local = instant + self.offset[at]
        if at and self.offset[at] < self.offset[at - 1]:
            local = max(local, self.since[at] + self.offset[at - 1] - 1)
        return local + shift

    def instant(self, local: int) -> int:
        """The first instant at which the clock of `local` shows this time or a later one.

        Of a time that comes twice the first, of one that is left out the instant at which the clock is put forward.
        """
        low, high = local - _FARTHEST, local + _FARTHEST
        while low < high:
            middle = (low + high) // 2
            if self.local(middle) < local:
                low = middle + 1
            else:
                high = middle
        return low

    def _folded(self, instant: int) -> tuple[int, int]:
        """The same instant in the years for which offsets are written down, and how far it was moved."""
        if self.repeat is None or instant < self.repeat[0]:
            return instant, 0
        start, period = self.repeat
        shift = ((instant - start) // period + 1) * period
        return instant - shift, shift


@dataclass(frozen=True, slots=True)
class Track:
    """Entries of one resource group of which exactly one is in force at any time.

    consumers : first-level rows that they are for; empty = all of the group
    windows   : (entry, its spans); the entry is a position under `policies:`
    rest      : the entry without a window, which has the rest of the time; NEVER = there is none
    """

    consumers: tuple[int, ...]
    windows: tuple[tuple[int, tuple[Span, ...]], ...]
    rest: int = NEVER


@dataclass(frozen=True, slots=True)
class Windows:
    """All about the time of a plan that has windows.

    special : day since 1970-01-01 → kind of day, where it is not that of its weekday
    tracks  : resource group → its tracks
    lead    : entry → microseconds before its window opens from which it is in force; absent = 0
    """

    zone: Zone
    special_days: tuple[SpecialDays, ...]
    special: Mapping[int, int]
    tracks: Mapping[str, tuple[Track, ...]]
    lead: Mapping[int, int] = field(default_factory=dict)
