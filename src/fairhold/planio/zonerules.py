"""The rule at the end of a TZif file (POSIX.1, `TZ`): `CET-1CEST,M3.5.0,M10.5.0/3` → changes of the offset."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r"(?:<[^>]*>|[A-Za-z]+)"
_TIME = r"[-+]?[0-9]+(?::[0-9]+){0,2}"
_RULE = re.compile(rf"{_NAME}({_TIME})(?:{_NAME}({_TIME})?,([^,/]+)(?:/({_TIME}))?,([^,/]+)(?:/({_TIME}))?)?")
_EPOCH = date(1970, 1, 1)


def rule_changes(rule: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Changes in the years from `first` up to and without `last`: (instant, offset from then on), both in seconds."""
    match = _RULE.fullmatch(rule)
    if not match:
        return
    standard = -_seconds(match[1])
    if match[3] is None:
        yield int((date(first, 1, 1) - _EPOCH).total_seconds()), standard
        return
    summer = standard + 3600 if match[2] is None else -_seconds(match[2])
    for year in range(first, last):
        begin = _day(match[3], year) * 86_400 + _seconds(match[4] or "2") - standard
        end = _day(match[5], year) * 86_400 + _seconds(match[6] or "2") - summer
        yield from sorted(((begin, summer), (end, standard)))


def _seconds(text: str) -> int:
    """`-3:30` and the like; hours alone, with minutes, with seconds."""
    hours, minutes, seconds = ([int(part) for part in text.lstrip("+-").split(":")] + [0, 0])[:3]
    total = hours * 3600 + minutes * 60 + seconds
    return -total if text.startswith("-") else total


def _day(text: str, year: int) -> int:
    """Days since 1970 of `M3.5.0` (the last Sunday of March), `J60` (day 60, 29 February not counted) or `59`."""
    if text.startswith("M"):
        month, week, weekday = map(int, text[1:].split("."))
        first = date(year, month, 1)
        day = first + timedelta((weekday - first.isoweekday()) % 7 + 7 * (week - 1))
        return (day - timedelta(7) if day.month != month else day).toordinal() - _EPOCH.toordinal()
    start = date(year, 1, 1).toordinal() - _EPOCH.toordinal()
    if text.startswith("J"):
        number = int(text[1:])
        is_leap = date(year + 1, 1, 1).toordinal() - date(year, 1, 1).toordinal() == 366
        return start + number - 1 + int(is_leap and number >= 60)
    return start + int(text)
