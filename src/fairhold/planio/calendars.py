"""The calendar of a plan from the windows of its entries, and whether they cover all time once (SPEC §9)."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.calendar import Calendar, stretches
from fairhold.model.plan import AUTO
from fairhold.model.window import DAY, MINUTE, NEVER, WEEKDAYS, Track, Windows
from fairhold.planio.report import listed, shown
from fairhold.planio.sides import is_divided, of_groups, sides
from fairhold.planio.windows import day_names
from fairhold.planio.zones import find_zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.model.plan import PolicyEntry
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.window import SpecialDays
    from fairhold.planio.report import Report

MOST_FAULTS = 20
"""Gaps and overlaps of one resource group that are told."""
_EPOCH = date(1970, 1, 1)


def make_calendar(
    report: Report, zone: str, special: Sequence[SpecialDays], entries: Sequence[PolicyEntry], tree: ConsumerTree
) -> Calendar | None:
    """Return the calendar of a plan; None where no entry has a window, or the time zone is not there."""
    numbers = find_zone(report, zone) if any(entry.spans for entry in entries) else None
    if numbers is None:
        return None
    kinds = day_names(special)
    kind = {
        day: each.like if each.like is not None else kinds.index(each.name) for each in special for day in each.dates
    }
    tracks = {group: _tracks(found, tree) for group, found in of_groups(entries).items()}
    lead = {
        at: _longest_grace(entry, tree) if entry.settings.lead == AUTO else entry.settings.lead
        for at, entry in enumerate(entries)
        if entry.settings.lead
    }
    return Calendar(Windows(numbers, tuple(special), kind, tracks, lead))


def _longest_grace(entry: PolicyEntry, tree: ConsumerTree) -> int:
    """The longest grace that an entry gives anybody, up to a day."""
    stated = (each.grace for each in entry.consumers.values())
    return min(max((grace for grace in (*stated, *tree.grace) if grace is not None), default=0), DAY * MINUTE)


def _tracks(entries: Sequence[tuple[int, PolicyEntry]], tree: ConsumerTree) -> tuple[Track, ...]:
    """Make the one track of a group, or those of a divided one: of each side its own."""
    if not is_divided(entries, tree):
        return (_track((), entries),)
    return tuple(_track(consumers, mine) for consumers, mine in sides(entries, tree) if mine)


def _track(consumers: tuple[int, ...], entries: Iterable[tuple[int, PolicyEntry]]) -> Track:
    """Make the track of entries of which one at a time is in force."""
    rest = NEVER
    windows = []
    for at, entry in entries:
        if entry.spans:
            windows.append((at, entry.spans))
        elif rest == NEVER:  # a second one is refused elsewhere
            rest = at
    return Track(consumers, tuple(windows), rest)


def check_coverage(report: Report, calendar: Calendar, tree: ConsumerTree) -> None:
    """Report every time that no entry has, or more than one; where there is none, every entry that has no time."""
    names = day_names(calendar.windows.special_days)
    for group, tracks in calendar.windows.tracks.items():
        for track in tracks:
            for wrong, days in list(_wrong(calendar, track, names).items())[:MOST_FAULTS]:
                who = [tree.paths[row] for row in track.consumers]
                _report(
                    report, f"{listed(who)} in `{shown(group)}`" if who else f"`{shown(group)}`", track, wrong, days
                )

    for group in () if report.faults else calendar.windows.tracks:
        _check_all_have_time(report, calendar, group)
        _check_leads(report, calendar, group)


def _check_all_have_time(report: Report, calendar: Calendar, group: str) -> None:
    """Warn of every entry that is never in force in a resource group in which every time has one."""
    seen = {entry for entries in calendar.combinations(group) for entry in entries}
    for track in calendar.windows.tracks[group]:
        for entry in sorted({track.rest, *(at for at, _ in track.windows)} - seen - {NEVER}):
            if entry == track.rest:
                why, mend = (
                    "the windows of other entries cover all of the time",
                    "leave the entry out, or shorten one of them",
                )
            else:
                why, mend = "its window names only special days without a date", "give them `dates`, or name other days"
            place = ("policies", entry) if entry == track.rest else ("policies", entry, "window")
            report.warn("never-in-force", f"the entry never applies to `{shown(group)}`: {why}", mend, place)


def _check_leads(report: Report, calendar: Calendar, group: str) -> None:
    """Warn of times of the week that an entry has, and of which the lead of the next one leaves nothing."""
    lead, week = calendar.windows.lead, calendar.week(group)
    lost: dict[tuple[int, int, str], list[str]] = {}
    for (start, entries), (end, after) in pairwise((*week, (week[0][0] + 7 * DAY, week[0][1]))):
        moved = [(old, new) for old, new in zip(entries, after, strict=True) if old != new]
        longest = max((new for _, new in moved), key=lambda entry: lead.get(entry, 0), default=NEVER)
        if lead.get(longest, 0) >= (end - start) * MINUTE:
            clock = f"{_clock(start % DAY)}-{_clock((end - 1) % DAY + 1)}"
            for entry in sorted({old for old, _ in moved}):
                lost.setdefault((longest, entry, clock), []).append(WEEKDAYS[start // DAY % 7])
    for (longest, entry, clock), days in lost.items():
        when = f"{', '.join(days)} {clock}"
        what = f"the lead covers all of {when} of `policies[{entry}]` in `{shown(group)}`"
        place = ("policies", longest, "settings", "lead")
        report.warn("never-in-force", what, "use a shorter `lead`, or a longer window there", place)


class _Wrong(NamedTuple):
    """A time of day that not exactly one entry has."""

    start: int
    end: int
    entries: tuple[int, ...]


def _wrong(calendar: Calendar, track: Track, names: Sequence[str]) -> Mapping[_Wrong, list[str]]:
    """Times that not exactly one entry has → the days on which it is so."""
    found: dict[_Wrong, list[str]] = {}
    for name, yesterday, today in _days(calendar, names):
        parts = stretches(track, yesterday, today)
        for at, part in enumerate(parts):
            if len(part.entries) != 1:
                end = parts[at + 1].start if at + 1 < len(parts) else DAY
                found.setdefault(_Wrong(part.start, end, part.entries), []).append(name)
    return found


def _days(calendar: Calendar, names: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Every kind of day after every kind that comes before it: a name, and the two kinds."""
    seen = {((today - 1) % 7, today) for today in range(7)}
    for yesterday, today in sorted(seen, key=lambda pair: pair[1]):
        yield names[today], yesterday, today
    special = calendar.windows.special
    for day in sorted({near for each in special for near in (each, each + 1)}):
        pair = (calendar.kind(day - 1), calendar.kind(day))
        if pair not in seen:
            seen.add(pair)
            yield f"{_EPOCH + timedelta(day)}", *pair


def _report(report: Report, whose: str, track: Track, wrong: _Wrong, days: Sequence[str]) -> None:
    when = f"{', '.join(days)} {_clock(wrong.start)}-{_clock(wrong.end)}"
    if not wrong.entries:
        what = f"no policy entry for {whose} has {when}"
        mend = "lengthen a window, or leave `window` out in one entry: it then applies for the rest of the time"
        report.fault("window-gap", what, mend, ("policies", track.windows[0][0], "window"))
        return
    last = max(wrong.entries)
    others = dict.fromkeys(entry for entry in wrong.entries if entry != last)
    if others:
        who = " and ".join(f"`policies[{entry}]`" for entry in (*others, last))
        what = f"{when} for {whose} is in the windows of {who}"
    else:
        what = f"{when} is in the window twice"
    mend = "let one end where the other begins; write the part after midnight under the next day"
    report.fault("window-overlap", what, mend, ("policies", last, "window"))


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
