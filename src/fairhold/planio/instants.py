"""What is wrong with an instant that cannot be used, for people."""

from __future__ import annotations

import re
from calendar import monthrange

from fairhold.units import parse_instant

_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_OFFSET = "add `Z` for UTC, or an offset such as `+01:00`"
_DIGITS = "write at most six digits after the point: whole microseconds"
_DAY = "write a day and a time that exist"
_RANGE = "write an instant from the years 1970 to 8999"


def instant_trouble(text: str) -> tuple[str, str]:
    """What is wrong with a text that should be a usable instant, and how to mend it; both empty where it is none."""
    match = _FORM.fullmatch(text)
    if not match:
        return "", ""
    year, month, day, *clock = (int(part or 0) for part in match.groups()[:6])
    fraction, offset = match[7] or "", match[8]
    what, mend = _no_day(year, month, day) or _no_time(clock), _DAY
    if not what and not offset:
        what, mend = "it has no offset from UTC", _OFFSET
    elif not what and len(fraction) > 6:
        what, mend = f"it has {len(fraction)} digits after the point", _DIGITS
    elif not what and parse_instant(text) is None:
        what, mend = f"there is no offset `{offset}`", _OFFSET
    elif not what:
        what, mend = "before 1970" if year < 1971 else "after the year 8999", _RANGE
        what = f"it is {what}"
    return f"`{text}` cannot be used: {what}", mend


def _no_day(year: int, month: int, day: int) -> str:
    """What of a date the calendar does not have; empty where it has all."""
    if year == 0:
        return "there is no year 0"
    if not 1 <= month <= 12:
        return f"there is no month {month}"
    if not 1 <= day <= monthrange(year, month)[1]:
        return f"the month has no day {day}"
    return ""


def _no_time(clock: list[int]) -> str:
    """What of hour, minute and second the clock does not have; empty where it has all."""
    for name, value, most in zip(("hour", "minute", "second"), clock, (23, 59, 59), strict=True):
        if value > most:
            return f"there is no {name} {value}"
    return ""
