"""`window:` of a policy entry and `special_days:` of a plan (SPEC §9): text → spans of days."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from fairhold.model.plan import AUTO
from fairhold.model.window import DAY, MINUTE, WEEKDAYS, Span, SpecialDays
from fairhold.planio.report import LONGEST_NAME, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

SPECIAL_KEYS = ("dates", "like")
MOST_SPANS = 100
"""Parts of a window."""
MOST_KINDS = 50
"""Kinds of special days."""
MOST_DATES = 10_000
"""Dates of one kind."""
_FORM = "write `Mon-Fri 08:00-18:00, Sat 10:00-14:00`"
_TIMES = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_DATES = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:\.\.([0-9]{4}-[0-9]{2}-[0-9]{2}))?")
_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = date(1970, 1, 2), date(8998, 12, 31)


def read_special_days(report: Report, value: Value) -> tuple[SpecialDays, ...]:
    """Read the dates that differ from their weekday; no date may appear twice."""
    nodes = report.mapping(value, ("special_days",), what="the kinds of special days")
    if len(nodes) > MOST_KINDS:
        what = f"there are {len(nodes)} kinds of special days, more than {MOST_KINDS}"
        report.fault("out-of-range", what, "give dates that are treated alike one name", ("special_days",))
        return ()
    taken: dict[int, str] = {}
    return tuple(_read_kind(report, name, node, taken) for name, node in nodes.items())


def _read_kind(report: Report, name: str, value: Value, taken: dict[int, str]) -> SpecialDays:
    place = ("special_days", name)
    if not _NAME.fullmatch(name) or name in WEEKDAYS:
        what = f"`{shown(name)}` cannot be the name of special days"
        report.fault("name", what, "use letters, digits and `_`, and no name of a weekday", place)
    node = report.mapping(value, place, what="a mapping with `dates`")
    report.keys(node, SPECIAL_KEYS, place, {})
    report.missing(node, ("dates",), place, "a kind of special days")
    like = None
    if node.get("like") is not None:
        word = report.text(node["like"], (*place, "like"), what="a weekday")
        if word in WEEKDAYS:
            like = WEEKDAYS.index(word)
        elif isinstance(node["like"], str):
            unknown_day(report, word, WEEKDAYS, (*place, "like"))
    dates: list[int] = []
    for at, item in enumerate(report.sequence(node.get("dates", []), (*place, "dates"), what="dates")):
        here = (*place, "dates", at)
        for day in _read_dates(report, item, here):
            if day in taken:
                what = f"{_EPOCH + timedelta(day)} is already in `{taken[day]}`"
                report.fault("date-twice", what, "name each date once", here)
                break
            taken[day] = shown(name)
            dates.append(day)
        if len(dates) > MOST_DATES:
            what = f"there are more than {MOST_DATES} dates"
            report.fault("out-of-range", what, "name those of the coming years", (*place, "dates"))
            break
    return SpecialDays(name, tuple(dates), like)


def _read_dates(report: Report, value: Value, place: Place) -> range:
    """Read `2026-12-25` or `2026-12-24..2027-01-02` as days since 1970; empty where it is at fault."""
    text = value if isinstance(value, str) and len(value) <= LONGEST_NAME else ""
    match = _DATES.fullmatch(text)
    try:
        first, last = (date.fromisoformat(part or match[1]) for part in match.groups()) if match else (_LAST, _FIRST)
    except ValueError:
        match = None
        first, last = _LAST, _FIRST
    if match is None:
        what = f"`{shown(value)}` is not a date" if isinstance(value, str) else "a date is expected"
        report.fault("date", what, "write a date such as 2026-12-25, or 2026-12-24..2027-01-02", place)
    elif first > last:
        report.fault("date", f"`{text}` ends before it begins", f"write `{last}..{first}`", place)
    elif not _FIRST <= first <= last <= _LAST:
        report.fault("date", f"`{text}` is not between {_FIRST} and {_LAST}", "write a date of these years", place)
    else:
        return range((first - _EPOCH).days, (last - _EPOCH).days + 1)
    return range(0)


def day_names(special: Sequence[SpecialDays]) -> tuple[str, ...]:
    """Name of every kind of day that a window can name, in the order of their numbers."""
    return (*WEEKDAYS, *(each.name for each in special if each.like is None))


def unknown_day(report: Report, word: str, known: Sequence[str], place: Place) -> None:
    """Refuse the name of a day."""
    mend = report.suggest(word.title(), known) or report.suggest(word, known, f"write one of {listed(known)}")
    report.fault("unknown-day", f"there is no day `{shown(word)}`", mend, place)


def read_window(report: Report, value: Value, place: Place, special: Sequence[SpecialDays]) -> tuple[Span, ...]:
    """Read `DAYS HH:MM-HH:MM`, several with commas between; days without times have those that come next."""
    text = report.text(value, place, what="a window", mend=_FORM)
    if not isinstance(value, str):
        return ()
    spans: list[Span] = []
    waiting: list[int] = []
    before = len(report.faults)
    for part in text.split(",", MOST_SPANS)[:MOST_SPANS]:
        words = part.split()
        if not 1 <= len(words) <= 2:
            what = f"`{shown(part.strip())}` is not a part of a window" if words else "a part of the window is empty"
            report.fault("window", what, _FORM, place)
            continue
        waiting.extend(_read_days(report, words[0], place, special))
        if len(words) == 2:
            times = _read_times(report, words[1], place)
            spans.extend(Span(day, *times) for day in waiting if times is not None)
            waiting = []
    if waiting or text.count(",") >= MOST_SPANS:
        what = "the window ends with days without times" if waiting else f"the window has more than {MOST_SPANS} parts"
        report.fault("window", what, _FORM, place)
    return () if len(report.faults) > before else tuple(spans)


def read_lead(report: Report, value: Value, place: Place) -> int:
    """Read how long before its window an entry reclaims: a duration up to a day, or `auto`."""
    if value == "auto":
        return AUTO
    lead = report.duration(value, place)
    if lead > DAY * MINUTE:
        report.fault("duration", f"`{shown(value)}` is longer than a day", "write a shorter lead, or `auto`", place)
        return 0
    return lead


def _read_days(report: Report, word: str, place: Place, special: Sequence[SpecialDays]) -> list[int]:
    """Read `Mon`, `Mon-Fri`, `Fri-Mon` or the name of special days; none where they are at fault."""
    known = day_names(special)
    first, dash, last = word.partition("-")
    for name, names in ((first, WEEKDAYS if dash else known), (last, WEEKDAYS)):
        if name in names or (name is last and not dash):
            continue
        alike = next((each for each in special if each.name == name and each.like is not None), None)
        if alike is not None and alike.like is not None:
            what = f"`{name}` are treated like {WEEKDAYS[alike.like]}, so no window can name them"
            report.fault("unknown-day", what, "leave `like` out there, or the name here", place)
        elif _TIMES.fullmatch(word):
            report.fault("window", f"`{word}` has no days before it", f"write `Mon-Sun {word}` for every day", place)
        elif meant := report.suggest(word, known[len(WEEKDAYS) :]) if dash else "":
            report.fault("unknown-day", f"there is no day `{shown(word)}`", meant, place)
        else:
            unknown_day(report, name, names, place)
        return []
    begin = known.index(first)
    if not dash:
        return [begin]
    return [(begin + step) % 7 for step in range((WEEKDAYS.index(last) - begin) % 7 + 1)]


def _read_times(report: Report, word: str, place: Place) -> tuple[int, int] | None:
    """Read `08:00-18:00` as minutes; an end that is not later lies on the following day. None at fault."""
    match = _TIMES.fullmatch(word)
    numbers = [int(part) for part in match.groups()] if match else []
    if not match:
        what, mend = f"`{shown(word)}` is not a time range", "write `08:00-18:00`, two digits each"
    elif numbers[1] > 59 or numbers[3] > 59 or max(numbers[0], numbers[2]) > 24:
        what, mend = f"`{word}` has a time that does not exist", "write times from 00:00 to 24:00"
    else:
        start, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
        if start < DAY and end <= DAY and start != end:
            return start, end if end > start else end + DAY
        if start == end:
            what, mend = f"`{word}` ends where it begins", "write `00:00-24:00` for a whole day"
        else:
            what, mend = f"`{word}` goes beyond 24:00", "begin before 24:00 and end at 24:00 at the latest"
    report.fault("window", what, mend, place)
    return None
