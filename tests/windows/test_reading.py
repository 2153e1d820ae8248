"""Windows and special days in a plan: what is read, what is refused and how it is mended."""

from __future__ import annotations

import json
import zoneinfo
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fairhold.errors import Fault, InputError
from fairhold.model.window import DAY, MINUTE, WEEKDAYS, Span
from fairhold.planio import zones
from fairhold.planio.plan import parse_plan
from fairhold.planio.schema import schema
from fairhold.planio.zones import UnknownZoneError, load_zone, zones_of
from fairhold.units import EPOCH

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

VALID = Draft202012Validator(json.loads(schema("plan")))
OFFICE = "Mon-Fri 08:00-18:00"


def document(*windows: str | None, special: Any = None, zone: str = "Europe/Zurich", **settings: Any) -> dict[str, Any]:
    entries = [
        {"resource_groups": ["c"], "policy": "hybrid", "settings": settings} | ({"window": each} if each else {})
        for each in windows
    ]
    plan = {"fairhold": 1, "time_zone": zone, "resource_groups": {"c": {"slots": 9}}, "consumers": {"A": {}}}
    return plan | {"policies": entries} | ({"special_days": special} if special is not None else {})


def read(*windows: str | None, **more: Any) -> Plan:
    plan = document(*windows, **more)
    assert VALID.is_valid(plan)
    return parse_plan(json.dumps(plan), "plan")[0]


def faults(*windows: str | None, **more: Any) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        parse_plan(json.dumps(document(*windows, **more), indent=1), "plan")
    return caught.value.faults


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Sat 10:00-14:00", [(5, 600, 840)]),
        ("Sat, Sun 10:00-14:00", [(5, 600, 840), (6, 600, 840)]),
        ("Fri-Mon 00:00-24:00", [(4, 0, 1440), (5, 0, 1440), (6, 0, 1440), (0, 0, 1440)]),
        ("Mon 22:00-06:00", [(0, 1320, 1800)]),
        ("Mon 22:00-00:00", [(0, 1320, 1440)]),
        ("  Mon 08:00-09:00 ,Wed-Wed 08:00-24:00", [(0, 480, 540), (2, 480, 1440)]),
    ],
)
def test_windows_that_are_read(text: str, spans: list[tuple[int, int, int]]) -> None:
    plan = read(text, None)
    assert plan.policies[0].spans == tuple(Span(*each) for each in spans)
    assert plan.policies[1].spans == ()


@pytest.mark.parametrize(
    ("window", "code", "what", "mend"),
    [
        ("", "window", "a part of the window is empty", "write `Mon-Fri 08:00-18:00, Sat 10:00-14:00`"),
        ("Mon", "window", "ends with days without times", "write `Mon-Fri"),
        ("08:00-18:00", "window", "has no days before it", "write `Mon-Sun 08:00-18:00` for every day"),
        ("Mon 8:00-18:00", "window", "is not a time range", "two digits each"),
        ("Mon 08:00-18:60", "window", "that does not exist", "from 00:00 to 24:00"),
        ("Mon 08:00-08:00", "window", "ends where it begins", "write `00:00-24:00` for a whole day"),
        ("Mon 24:00-08:00", "window", "goes beyond 24:00", "begin before 24:00"),
        ("Mon 08:00-24:30", "window", "goes beyond 24:00", "end at 24:00"),
        ("Mon 08:00-18:00,", "window", "a part of the window is empty", ""),
        ("Mon to Fri 08:00-18:00", "window", "not a part of a window", ""),
        ("mon 08:00-18:00", "unknown-day", "there is no day `mon`", "did you mean `Mon`?"),
        ("Mon-Fry 08:00-18:00", "unknown-day", "there is no day `Fry`", "did you mean `Fri`?"),
        ("holidy 08:00-18:00", "unknown-day", "there is no day `holidy`", "did you mean `holiday`?"),
        ("quarter-end 08:00-18:00", "unknown-day", "there is no day `quarter-end`", "did you mean `quarter_end`?"),
        ("closed 08:00-18:00", "unknown-day", "like Sun", "leave `like` out there"),
        (", ".join(["Mon 08:00-18:00"] * 101), "window", "more than 100 parts", ""),
        ("Mon 08:00-12:00, Mon 11:00-13:00", "window-overlap", "Mon 11:00-12:00 is in the window twice", ""),
    ],
)
def test_a_window_at_fault(window: str, code: str, what: str, mend: str) -> None:
    special: dict[str, Any] = {"holiday": {"dates": ["2026-12-25"]}, "quarter_end": {"dates": ["2026-12-31"]}}
    special["closed"] = {"dates": ["2026-12-26"], "like": "Sun"}
    plan = document(None, special=special)
    plan["policies"].insert(0, plan["policies"][0] | {"window": window})
    with pytest.raises(InputError) as caught:
        parse_plan(json.dumps(plan, indent=1), "plan")
    (fault,) = caught.value.faults
    assert (fault.code, fault.place) == (code, ("policies", 0, "window"))
    assert what in fault.what
    assert mend in fault.mend
    assert fault.line > 0


def test_every_part_of_a_window_that_is_at_fault_is_told() -> None:
    found = faults("Mon-Fri 25:00-26:00, Foo 10:00-11:00, Mon 8-9, Tue 24:00-24:00, Wed 08:00-18:00", None)
    assert [fault.what.split("`")[1] for fault in found] == ["25:00-26:00", "Foo", "8-9", "24:00-24:00"]


@pytest.mark.parametrize(
    ("windows", "special", "place"),
    [
        (("Mon-Sun 00:00-24:00", None), None, ("policies", 1)),
        (("Mon-Sat 00:00-24:00, Sun 00:00-12:00", "Sun 12:00-24:00", None), None, ("policies", 2)),
        (("audit 08:00-18:00", None), {"audit": {"dates": []}}, ("policies", 0, "window")),
        (("Mon-Sun 00:00-24:00", None), {"audit": {"dates": ["2026-12-24"]}}, None),
        ((OFFICE, None), None, None),
    ],
)
def test_an_entry_that_is_never_in_force_is_warned_of(windows: Any, special: Any, place: Any) -> None:
    """R-WINDOW-1: not where a special day is left to it."""
    plan = document(*windows, special=special)
    assert VALID.is_valid(plan)
    warnings = parse_plan(json.dumps(plan, indent=1), "plan")[1]
    assert [(each.code, each.place) for each in warnings] == ([("never-in-force", place)] if place else [])
    assert all(each.line > 0 for each in warnings)


@pytest.mark.parametrize(
    ("window", "lead", "said"),
    [
        ("Mon-Sun 08:00-08:10", "10m", "Mon, Tue, Wed, Thu, Fri, Sat, Sun 08:00-08:10"),
        ("Mon-Fri 08:00-18:00, Sun 23:00-24:00", "60m", "Sun 23:00-24:00"),
        ("Sat 23:50-00:05", "15m", "Sat 23:50-00:05"),
        ("Mon-Sun 08:00-08:10", "599s", ""),
        ("Mon-Sun 08:05-08:00", "5m", ""),  # by day the entry with the lead has all but five minutes
    ],
)
def test_a_lead_that_leaves_nothing_of_the_window_before_is_warned_of(window: str, lead: str, said: str) -> None:
    """R-WINDOW-3."""
    plan = document(window, None)
    plan["policies"][1]["settings"] = {"lead": lead}
    warnings = parse_plan(json.dumps(plan, indent=1), "plan")[1]
    place = ("policies", 1, "settings", "lead")
    assert [(each.code, each.place) for each in warnings] == ([("never-in-force", place)] if said else [])
    assert all(f"covers all of {said} of `policies[0]` in `c`" in each.what for each in warnings)


def test_what_a_lead_is_warned_of_is_never_in_force_while_its_window_is_open() -> None:
    plan = document("Mon-Sun 08:00-08:10", None, zone="UTC")
    plan["policies"][1]["settings"] = {"lead": "10m"}
    calendar = parse_plan(json.dumps(plan), "plan")[0].calendar
    assert calendar is not None
    assert {calendar.in_force("c", minute * MINUTE) for minute in range(7 * DAY)} == {(1,)}


@pytest.mark.parametrize("zone", ["localtime", "posixrules", "posix/Europe/Zurich", "right/Europe/Zurich"])
def test_a_zone_that_is_another_one_elsewhere_is_refused(zone: str) -> None:
    (fault,) = faults(None, zone=zone)
    assert (fault.code, fault.place) == ("time-zone", ("time_zone",))
    assert "not the same zone on every machine" in fault.what


def test_gaps_and_overlaps_are_told_with_their_local_times() -> None:
    gaps = faults("Mon-Fri 08:00-18:00", "Mon-Fri 17:00-08:00, Sun 10:00-24:00")
    assert [(fault.code, fault.what) for fault in gaps] == [
        ("window-gap", "no policy entry for `c` has Mon 00:00-08:00"),
        ("window-gap", "no policy entry for `c` has Sat 08:00-24:00"),
        ("window-gap", "no policy entry for `c` has Sun 00:00-10:00"),
        (
            "window-overlap",
            "Mon, Tue, Wed, Thu, Fri 17:00-18:00 for `c` is in the windows of `policies[0]` and `policies[1]`",
        ),
    ]
    twice = faults(OFFICE, OFFICE, None)
    assert [fault.code for fault in twice] == ["window-overlap"]
    assert [fault.code for fault in faults(OFFICE, None, None)] == ["group-shared-twice"]


def test_a_special_day_can_make_a_gap() -> None:
    nights = "Mon-Sun 22:00-06:00"
    days = "Mon-Sun 06:00-22:00"
    read(days, nights, special={"closed": {"dates": ["2026-12-25"], "like": "Sun"}})
    found = faults(days, nights, special={"audit": {"dates": ["2026-12-24"]}})
    assert [fault.what for fault in found] == [
        "no policy entry for `c` has 2026-12-24 06:00-24:00",
        "no policy entry for `c` has 2026-12-25 00:00-06:00",
    ]


@pytest.mark.parametrize(
    ("special", "code", "what"),
    [
        ({"x": {"dates": ["2026-02-30"]}}, "date", "`2026-02-30` is not a date"),
        ({"x": {"dates": ["25.12.2026"]}}, "date", "`25.12.2026` is not a date"),
        ({"x": {"dates": [2026]}}, "date", "a date is expected"),
        ({"x": {"dates": ["2027-01-02..2026-12-24"]}}, "date", "ends before it begins"),
        ({"x": {"dates": ["1969-12-31"]}}, "date", "is not between"),
        ({"x": {"dates": ["9999-12-31"]}}, "date", "is not between"),
        ({"x": {"dates": ["2026-01-01..2100-01-01"]}}, "out-of-range", "more than 10000 dates"),
        (
            {"x": {"dates": ["2026-12-25"]}, "y": {"dates": ["2026-12-24..2026-12-26"]}},
            "date-twice",
            "already in `x`",
        ),
        ({"x": {"dates": ["2026-12-25"], "like": "Sunday"}}, "unknown-day", "there is no day `Sunday`"),
        ({"x": {}}, "missing-key", "needs `dates`"),
        ({"Mon": {"dates": []}}, "name", "cannot be the name of special days"),
        ({"a b": {"dates": []}}, "name", "cannot be the name of special days"),
        ({"x": {"dates": [], "hours": 1}}, "unknown-key", "`hours` is not a key here"),
        ({f"x{number}": {"dates": []} for number in range(51)}, "out-of-range", "51 kinds of special days"),
    ],
)
def test_special_days_at_fault(special: dict[str, Any], code: str, what: str) -> None:
    (fault,) = faults(OFFICE, None, special=special)
    assert (fault.code, fault.line > 0) == (code, True)
    assert what in fault.what


def test_leads_are_read() -> None:
    plan = read(OFFICE, None, lead="90s")
    assert plan.calendar is not None
    assert plan.calendar.windows.lead == {0: 90_000_000, 1: 90_000_000}
    assert {fault.code for fault in faults(OFFICE, None, lead="2d")} == {"duration"}
    assert {fault.code for fault in faults(OFFICE, None, lead="soon")} == {"duration"}


def test_a_time_zone_has_to_be_known_for_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    (fault,) = faults(OFFICE, None, zone="Europe/Zurch")
    assert (fault.code, fault.mend) == ("time-zone", "did you mean `Europe/Zurich`?")

    def unknown(_: str) -> None:
        raise UnknownZoneError

    monkeypatch.setattr(zones, "load_zone", unknown)
    (fault,) = faults(OFFICE, None)
    assert (fault.code, fault.place) == ("time-zone", ("time_zone",))
    assert "tzdata" in fault.mend
    assert read(None).calendar is None


def test_a_system_without_time_zones_has_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    zones_here = load_zone("Australia/Lord_Howe")
    load_zone.cache_clear()
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    assert load_zone("Australia/Lord_Howe").offset[-2:] == zones_here.offset[-2:]
    load_zone.cache_clear()


@pytest.mark.parametrize(
    "name",
    ["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/Nuuk", "Africa/Casablanca"],
)
def test_a_file_that_leaves_all_years_to_its_rule_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-WINDOW-1: as those of the package do, from the year on in which the rule begins (1996 for Europe)."""
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    load_zone.cache_clear()
    here = load_zone(name)
    load_zone.cache_clear()
    with files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        known = zoneinfo.ZoneInfo.from_file(file)
    for month in range(12 * 70):
        moment = datetime(1975 + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        shown = moment.astimezone(known).replace(tzinfo=UTC) - moment
        assert here.ahead((moment - EPOCH) // timedelta(microseconds=1)) == shown // timedelta(microseconds=1), moment


WORDS = st.sampled_from([*WEEKDAYS, "Mon-Fri", "Sat-Tue", "08:00-18:00", "22:00-06:00", ",", " ", "24:00-", "x", "-"])


@given(st.lists(WORDS, max_size=12).map("".join) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """And what is read, the schema takes too."""
    plan = document(text or "x", None)
    try:
        spans = parse_plan(json.dumps(plan), "plan")[0].policies[0].spans
    except InputError as error:
        assert {fault.code for fault in error.faults} <= {"window", "unknown-day", "window-overlap"}  # noqa: PT017
        return
    assert VALID.is_valid(plan) or any(each.isspace() and each != " " for each in text)
    assert all(0 <= span.day < 7 and 0 <= span.start < span.end <= span.start + DAY for span in spans)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 7), st.integers(0, 8)), max_size=12))
def test_coverage_is_that_of_a_count_of_all_minutes(parts: list[tuple[int, int, int, int]]) -> None:
    windows: dict[int, list[str]] = {}
    count = [0] * (7 * DAY)
    for entry, day, start, end in parts:
        if start == end:
            continue
        windows.setdefault(entry, []).append(f"{WEEKDAYS[day]} {3 * start:02d}:00-{3 * end:02d}:00")
        begin = day * DAY + 180 * start
        for minute in range(begin, begin + (180 * (end - start) % DAY or DAY)):
            count[minute % (7 * DAY)] += 1
    if not windows:
        return
    found: set[str] = set()
    try:
        parse_plan(json.dumps(document(*(", ".join(each) for each in windows.values()))), "plan")
    except InputError as error:
        found = {fault.code for fault in error.faults}
    assert ("window-gap" in found) == (0 in count)
    assert ("window-overlap" in found) == (max(count) > 1)


@pytest.mark.parametrize(("name", "zone"), [("CEST", "`Europe/Berlin`"), ("PDT", "`America/Los_Angeles`")])
def test_an_abbreviation_is_answered_with_zones_that_use_it(name: str, zone: str) -> None:
    assert zone in zones_of(name)
    assert zones_of(name.lower()) == ""
