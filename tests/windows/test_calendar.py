"""Which entry is in force (R-WINDOW-1): against a clock that is read minute by minute with `zoneinfo`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairhold.model.plan import PolicyEntry
from fairhold.model.tree import ConsumerTree
from fairhold.model.window import DAY, MINUTE, WEEKDAYS, Span, SpecialDays, Zone
from fairhold.planio.calendars import make_calendar
from fairhold.planio.document import parse_document
from fairhold.planio.report import Report
from fairhold.planio.zones import load_zone
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.units import EPOCH, format_instant, parse_instant

if TYPE_CHECKING:
    from fairhold.model.calendar import Calendar

ZONES = ("UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
CHANGES = {
    "UTC": ("2026-03-29",),
    "Europe/Zurich": ("2026-03-29", "2026-10-25", "2095-10-30"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),
    "Pacific/Apia": ("2011-12-30", "2012-04-01"),
}
GROUP = "g"


def calendar(zone: str, windows: list[tuple[Span, ...]], special: tuple[SpecialDays, ...] = ()) -> Calendar:
    """The first entry has what no window has."""
    report = Report(parse_document("a: 1", "plan"))
    entries = [PolicyEntry((GROUP,), HYBRID, window="x" if spans else "", spans=spans) for spans in ((), *windows)]
    made = make_calendar(report, zone, special, entries, ConsumerTree([""], [-1], [None], [None]))
    assert made is not None
    return made


def at(text: str) -> int:
    instant = parse_instant(text)
    assert instant is not None
    return instant


def says(spans: tuple[Span, ...], kind_before: int, kind: int, minute: int) -> bool:
    return any(
        (day == kind and start <= minute < end) or (day == kind_before and start <= minute + DAY < end)
        for day, start, end in spans
    )


class Oracle:
    """A clock on the wall, looked at every minute; put back, nothing happens before it shows a new time."""

    def __init__(
        self, zone: str, windows: list[tuple[Span, ...]], special: tuple[SpecialDays, ...], begin: int
    ) -> None:
        self.zone, self.windows, self.special = ZoneInfo(zone), windows, special
        self.instant = begin
        self.seen = datetime(1, 1, 1)  # noqa: DTZ001 - local time
        self.entry = -1

    def kind(self, day: datetime) -> int:
        number = (day.date() - EPOCH.date()).days
        own = 7
        for each in self.special:
            if number in each.dates:
                return own if each.like is None else each.like
            own += each.like is None
        return day.weekday()

    def tick(self) -> int:
        wall = (EPOCH + timedelta(microseconds=self.instant)).astimezone(self.zone).replace(tzinfo=None)
        if wall > self.seen:
            self.seen = wall
            kinds = self.kind(wall - timedelta(1)), self.kind(wall)
            minute = wall.hour * 60 + wall.minute
            found = [at + 1 for at, spans in enumerate(self.windows) if says(spans, *kinds, minute)]
            self.entry = found[0] if found else 0
        self.instant += MINUTE
        return self.entry


MINUTES = st.integers(0, DAY - 1) | st.integers(0, 16).map(lambda step: 15 * step) | st.just(DAY - 1)


@st.composite
def split_weeks(draw: st.DrawFn, kinds: int = 7) -> list[tuple[Span, ...]]:
    """Windows of two entries that never overlap: parts of days that do not reach into each other."""
    windows: tuple[list[Span], list[Span]] = ([], [])
    for day in range(kinds):
        cuts = sorted(draw(st.sets(MINUTES, max_size=6)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            windows[draw(st.integers(0, 1))].append(Span(day, start, end))
        if not cuts and draw(st.booleans()):
            windows[0].append(Span(day, 1200, DAY))
    return [tuple(spans) for spans in windows if spans]


@given(st.sampled_from(ZONES), st.data())
@settings(max_examples=60, deadline=None)
def test_entries_and_switches_are_those_of_a_clock_on_the_wall(zone: str, data: st.DataObject) -> None:
    day = data.draw(st.sampled_from(CHANGES[zone]))
    begin = at(f"{day}T00:00:00Z") - data.draw(st.integers(600, 2000)) * MINUTE
    number = (datetime.fromisoformat(day).date() - EPOCH.date()).days
    special = data.draw(
        st.sampled_from(
            (
                (),
                (SpecialDays("own", (number,)),),
                (SpecialDays("off", (number, number + 1), 6), SpecialDays("own", (number - 1,))),
            )
        )
    )
    windows = data.draw(split_weeks(8 if any(each.like is None for each in special) else 7))
    if not windows:
        return
    made = calendar(zone, windows, special)
    oracle = Oracle(zone, windows, special, begin - 180 * MINUTE)
    before = [oracle.tick() for _ in range(180)][-1]  # so that it knows what the clock has shown before
    switches = []
    for step in range(3500):
        instant = begin + step * MINUTE
        entry = oracle.tick()
        assert made.in_force(GROUP, instant) == (entry,), format_instant(instant)
        if entry != before:
            switches.append((instant, (before,), (entry,)))
        before = entry
    found = made.switches(begin, begin + 3500 * MINUTE)
    assert [(each.instant, each.before, each.after) for each in found] == switches


def switches_of(zone: str, spans: list[Span], day: str) -> list[str]:
    """Switches of a window within a day before and two after the midnight in UTC with which a day begins."""
    begin = at(f"{day}T00:00:00Z") - DAY * MINUTE
    return [
        format_instant(each.instant)
        for each in calendar(zone, [tuple(spans)]).switches(begin, begin + 3 * DAY * MINUTE)
    ]


SUNDAY = WEEKDAYS.index("Sun")
SATURDAY = WEEKDAYS.index("Sat")


@pytest.mark.parametrize(
    ("zone", "day", "spans", "expected"),
    [
        # 02:00 to 03:00 is left out: a window inside does not come, one that begins inside begins at 03:00
        ("Europe/Zurich", "2026-03-29", [Span(SUNDAY, 130, 170)], []),
        ("Europe/Zurich", "2026-03-29", [Span(SUNDAY, 150, 240)], ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]),
        # 02:00 to 03:00 comes twice: each end of a window once, the first time that the clock shows it
        ("Europe/Zurich", "2026-10-25", [Span(SUNDAY, 120, 180)], ["2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"]),
        ("Europe/Zurich", "2026-10-25", [Span(SUNDAY, 60, 150)], ["2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z"]),
        ("Europe/Zurich", "2026-10-25", [Span(SUNDAY, 150, 240)], ["2026-10-25T00:30:00Z", "2026-10-25T03:00:00Z"]),
        ("America/New_York", "2026-11-01", [Span(SUNDAY, 60, 90)], ["2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z"]),
        # half an hour: 02:00 becomes 01:30, and 02:00 to 02:30 is left out half a year later
        (
            "Australia/Lord_Howe",
            "2026-04-05",
            [Span(SUNDAY, 90, 120)],
            ["2026-04-04T14:30:00Z", "2026-04-04T15:30:00Z"],
        ),
        ("Australia/Lord_Howe", "2026-10-04", [Span(SUNDAY, 125, 145)], []),
        # a whole day is left out, a Friday: what begins on it begins with the Saturday
        ("Pacific/Apia", "2011-12-30", [Span(4, 480, 1080)], []),
        ("Pacific/Apia", "2011-12-30", [Span(4, 1320, 1800)], ["2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z"]),
        ("UTC", "2026-03-29", [Span(SATURDAY, 1320, 1560)], ["2026-03-28T22:00:00Z", "2026-03-29T02:00:00Z"]),
    ],
)
def test_clocks_that_are_put_forward_and_back(zone: str, day: str, spans: list[Span], expected: list[str]) -> None:
    assert switches_of(zone, spans, day) == expected


def test_a_special_day_years_ahead_is_found_at_once() -> None:
    day = (datetime(8000, 7, 1, tzinfo=UTC) - EPOCH).days
    made = calendar("Europe/Zurich", [(Span(7, 480, 1080),)], (SpecialDays("audit", (day,)),))
    first = made.next_switch(GROUP, at("1999-01-01T00:00:00Z"))
    assert first is not None
    assert format_instant(first.instant) == "8000-07-01T06:00:00Z"
    last = made.next_switch(GROUP, first.instant)
    assert last is not None
    assert (format_instant(last.instant), last.after) == ("8000-07-01T16:00:00Z", (0,))
    assert made.next_switch(GROUP, last.instant) is None


def test_a_window_belongs_to_its_first_day() -> None:
    friday = (datetime(2026, 12, 25, tzinfo=UTC) - EPOCH).days
    nights = tuple(Span(day, 1320, 1800) for day in range(5))
    made = calendar("UTC", [nights], (SpecialDays("holiday", (friday,), SUNDAY),))
    found = made.switches(at("2026-12-24T00:00:00Z"), at("2026-12-27T00:00:00Z"))
    assert [format_instant(each.instant) for each in found] == [
        *("2026-12-24T06:00:00Z", "2026-12-24T22:00:00Z", "2026-12-25T06:00:00Z"),
    ]


@given(st.sampled_from(ZONES[1:]), st.integers(0, at("8990-01-01T00:00:00Z")))
@example("Europe/Zurich", at("2500-01-01T00:00:00Z"))
@example("Australia/Lord_Howe", at("2499-12-31T23:59:59Z"))
@settings(max_examples=300)
def test_a_zone_shows_what_zoneinfo_shows(name: str, instant: int) -> None:
    zone = load_zone(name)
    moment = (EPOCH + timedelta(microseconds=instant)).astimezone(ZoneInfo(name))
    earlier = (EPOCH + timedelta(microseconds=max(0, instant - 90 * MINUTE))).astimezone(ZoneInfo(name))
    local = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    if moment.utcoffset() == earlier.utcoffset():
        assert zone.local(instant) == local
    else:
        assert zone.local(instant) >= local


@given(st.sampled_from(ZONES), st.integers(at("1975-01-01T00:00:00Z"), at("8990-01-01T00:00:00Z")))
@settings(max_examples=200)
def test_the_first_instant_of_a_local_time(name: str, local: int) -> None:
    zone: Zone = load_zone(name)
    instant = zone.instant(local)
    assert zone.local(instant) >= local > zone.local(instant - 1)
