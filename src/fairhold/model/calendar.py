"""The calendar of a plan: which policy entries are in force at an instant, and when that changes.

Time is an argument. A day is looked up by its kind and the kind of the day before, whose windows may reach into it; so
an instant costs a few look-ups, however far ahead it is, and a switch is found in the days that follow (R-WINDOW-1,
R-WINDOW-3).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.window import DAY, MINUTE, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.window import Track, Windows

InForce = tuple[int, ...]
"""Position under `policies:` of the entry in force in every track of a resource group."""
LAST_DAY = 2_567_000
"""A day of the year 8998, after which no switch is looked for."""
MOST_SWITCHES = 10_000
"""After so many openings of windows none of which has come into force, no switch is looked for."""
_EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday."""
_DAY_LENGTH = DAY * MINUTE


class Switch(NamedTuple):
    """Other entries are in force from an instant on.

    before, after : entries, track by track
    opens         : when their windows open; later than `instant` by their lead
    """

    instant: int
    resource_group: str
    before: InForce
    after: InForce
    opens: int


class Stretch(NamedTuple):
    """A part of a day on which the same entries are in force; it lasts until the next begins.

    start   : minute of the day
    entries : every entry whose window covers it, the rest where none does: one each if the plan is right
    """

    start: int
    entries: InForce


def stretches(track: Track, yesterday: int, today: int) -> tuple[Stretch, ...]:
    """A day of one kind after a day of another, from minute 0 on; neighbours differ."""
    covers = []
    for entry, spans in track.windows:
        for span in spans:
            if span.day == today:
                covers.append((span.start, span.end, entry))
            if span.day == yesterday and span.end > DAY:
                covers.append((0, span.end - DAY, entry))
    starts = sorted({0, *(at for start, end, _ in covers for at in (start, end) if at < DAY)})
    found: list[Stretch] = []
    for at in starts:
        entries = tuple(entry for start, end, entry in covers if start <= at < end)
        if not entries and track.rest != NEVER:
            entries = (track.rest,)
        if not found or found[-1].entries != entries:
            found.append(Stretch(at, entries))
    return tuple(found)


@dataclass(frozen=True)
class Calendar:
    """Answers questions about windows; made once a plan."""

    windows: Windows

    def in_force(self, group: str, instant: int) -> InForce:
        """The entries of a resource group that are in force at an instant, one for each of its tracks."""
        ahead = self._led(group, instant)
        return self._open(group, instant) if ahead is None else ahead.after

    def opening(self, group: str, instant: int) -> int:
        """The earliest deadline of a notice: when the windows in force open, where they are in force before that."""
        ahead = self._led(group, instant)
        return instant if ahead is None else ahead.instant

    def next_switch(self, group: str, instant: int) -> Switch | None:
        """The first switch after an instant; None where there is none."""
        before, at = self.in_force(group, instant), instant
        for _ in range(MOST_SWITCHES):
            opens = self._next_opening(group, at)
            if opens is None:
                return None
            begin = max(at, opens.instant - self._lead(opens))
            after = self.in_force(group, begin)
            if begin > instant and after != before:
                return Switch(begin, group, before, after, self.opening(group, begin))
            at = opens.instant
        return None

    def _led(self, group: str, instant: int) -> Switch | None:
        """The next opening of windows, where its lead has begun."""
        if self._most_lead(group) == 0:
            return None
        opens = self._next_opening(group, instant)
        return opens if opens is not None and opens.instant - self._lead(opens) <= instant else None

    def _lead(self, opens: Switch) -> int:
        """The longest lead of the entries that come into force in some track; elsewhere they may have been before."""
        return max(
            self.windows.lead.get(new, 0) for old, new in zip(opens.before, opens.after, strict=True) if old != new
        )

    def _most_lead(self, group: str) -> int:
        lead = self.windows.lead
        entries = (
            entry for track in self.windows.tracks[group] for entry in (track.rest, *(at for at, _ in track.windows))
        )
        return max(lead.get(entry, 0) for entry in entries) if lead else 0

    def _open(self, group: str, instant: int) -> InForce:
        """The entries whose windows are open."""
        day, rest = divmod(self.windows.zone.local(instant), _DAY_LENGTH)
        return self._at(group, day, rest // MINUTE)

    def _next_opening(self, group: str, instant: int) -> Switch | None:
        """The first instant after one at which other windows open."""
        before = self._open(group, instant)
        zone = self.windows.zone
        shown = zone.local(instant)
        for at in self._days(group, shown // _DAY_LENGTH):
            for start, after in self._day(group, at):
                if after == before or (local := at * _DAY_LENGTH + start * MINUTE) <= shown:
                    continue
                moment = zone.instant(local)
                # What begins while the clock is put forward begins when it has been: the last of it counts.
                after = self._open(group, moment)  # noqa: PLW2901 - see above
                if after != before:
                    return Switch(moment, group, before, after, moment)
        return None

    def switches(self, begin: int, end: int) -> list[Switch]:
        """All switches from one instant on and before another, in the order of time; groups in plan order."""
        found = []
        for group in self.windows.tracks:
            switch = self.next_switch(group, begin - 1)
            while switch is not None and switch.instant < end:
                found.append(switch)
                switch = self.next_switch(group, switch.instant)
        return sorted(found, key=lambda switch: switch.instant)

    def combinations(self, group: str) -> set[InForce]:
        """Every combination of entries that is in force at some time."""
        days = {((today - 1) % 7, today) for today in range(7)}
        days |= {(self.kind(near - 1), self.kind(near)) for day in self._special for near in (day, day + 1)}
        return {entries for pair in days for _, entries in self._pair(group, *pair)}

    def week(self, group: str) -> list[tuple[int, InForce]]:
        """(minute from Monday 00:00 on, entries) of a week without special days, each where other windows open."""
        found: list[tuple[int, InForce]] = []
        for today in range(7):
            for start, entries in self._pair(group, (today - 1) % 7, today):
                if not found or found[-1][1] != entries:
                    found.append((today * DAY + start, entries))
        return found[1:] if len(found) > 1 and found[0][1] == found[-1][1] else found

    def kind(self, day: int) -> int:
        """The kind of a day, given in days since 1970-01-01."""
        return self.windows.special.get(day, (day + _EPOCH_WEEKDAY) % 7)

    def _days(self, group: str, day: int) -> Iterator[int]:
        """The days on which something may change, from a day on: of a week that is all the same only special ones."""
        special = self._special
        changes = self._changes_in_a_week(group)
        while day <= LAST_DAY:
            yield day
            day += 1
            if changes or ((at := bisect_left(special, day - 1)) < len(special) and special[at] <= day):
                continue
            at = bisect_right(special, day)
            if at == len(special):
                return
            day = special[at]

    @cached_property
    def _special(self) -> list[int]:
        return sorted(self.windows.special)

    @cached_property
    def _known(self) -> dict[tuple[str, int, int], tuple[tuple[int, InForce], ...]]:
        return {}

    def _changes_in_a_week(self, group: str) -> bool:
        week = [self._pair(group, (today - 1) % 7, today) for today in range(7)]
        return len({entries for day in week for _, entries in day}) > 1

    def _at(self, group: str, day: int, minute: int) -> InForce:
        parts = self._day(group, day)
        return parts[bisect_right(parts, minute, key=lambda part: part[0]) - 1][1]

    def _day(self, group: str, day: int) -> tuple[tuple[int, InForce], ...]:
        return self._pair(group, self.kind(day - 1), self.kind(day))

    def _pair(self, group: str, yesterday: int, today: int) -> tuple[tuple[int, InForce], ...]:
        """All tracks of a group together: (minute, entries) for a day of one kind after one of another."""
        key = (group, yesterday, today)
        if key not in self._known:
            tracks = [stretches(track, yesterday, today) for track in self.windows.tracks[group]]
            starts = sorted({part.start for parts in tracks for part in parts})
            self._known[key] = tuple(
                (
                    at,
                    tuple(
                        parts[bisect_right(parts, at, key=lambda part: part.start) - 1].entries[0] for parts in tracks
                    ),
                )
                for at in starts
            )
        return self._known[key]
