"""Cells of a table → whole numbers: amounts, instants and lengths of time, each distinct text read once."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.traces.findings import ABSURD, DURATION, FLAG, INSTANT, MISSING, NEGATIVE, NUMBER
from fairhold.units import EPOCH, LAST_INSTANT, LONGEST, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.traces.tables import Table

Read = int | str
"""A number, or the code of what is wrong."""
WORDS = {
    MISSING: "is empty",
    NUMBER: "is not a number",
    INSTANT: "is not an instant",
    DURATION: "is not a duration",
    NEGATIVE: "is below 0",
    ABSURD: "is not plausible",
    FLAG: "is neither true nor false",
}
_CLOCK = re.compile(r"(?:([0-9]+)-)?(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
"""As Slurm writes it: `1-02:03:04`, `02:03:04`, `03:04.5`."""
_PLAIN = re.compile(r"[-+]?[0-9]{1,17}")
_USUAL = re.compile(r"([-+]?[0-9]{1,17})(?:\.([0-9]{1,9}))?")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][-+]?[0-9]{1,2})?")
_MICRO = timedelta(microseconds=1)
_DAY_1 = datetime(1970, 1, 1)  # noqa: DTZ001 - of instants that are known to be in UTC
_TRUE, _FALSE = frozenset(("true", "yes", "1")), frozenset(("false", "no", "0"))


def column(table: Table, cells: Sequence[str], what: str, read: Callable[[str], Read]) -> list[int | None]:
    """Read a column; what cannot be read is None, and counted as a finding about `what`."""
    known = {text: read(text) if text else MISSING for text in set(cells)}
    if all(isinstance(each, int) for each in known.values()):
        return [known[text] for text in cells]  # type: ignore[misc] # all are numbers
    found: list[int | None] = []
    for row, text in enumerate(cells):
        value = known[text]
        if isinstance(value, int):
            found.append(value)
        else:
            found.append(None)
            table.findings.add(value, f"{what} {WORDS[value]}", table.lines[row], text)
    return found


def exact(text: str) -> Fraction | None:
    """The number that a text is, exactly."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return Fraction(int(text))
    if not _DECIMAL.fullmatch(text):
        return None
    try:
        return Fraction(Decimal(text))
    except (InvalidOperation, OverflowError):  # pragma: no cover - the pattern bounds the digits
        return None


def whole(least: int, most: int) -> Callable[[str], Read]:
    """A reader of whole numbers, `4.0` included."""

    def read(text: str) -> Read:
        number = int(text) if _PLAIN.fullmatch(text) else exact(text)
        if number is None or number != int(number):
            return NUMBER
        return (NEGATIVE if number < 0 <= least else ABSURD) if not least <= number <= most else int(number)

    return read


def _number_of(scale: Fraction) -> Callable[[str], int | None]:
    """A reader of numbers times a scale, to the nearest whole number, of two the even one; None for what is none.

    It is asked for every row of large files, so that usual texts go without fractions.
    """
    times = int(scale) if scale.denominator == 1 else None

    def read(text: str) -> int | None:
        match = _USUAL.fullmatch(text)
        if match is None or times is None:
            number = exact(text)
            return None if number is None else round(number * scale)
        if match[2] is None:
            return int(text) * times
        below: int = 10 ** len(match[2])
        count, rest = divmod(int(match[1] + match[2]) * times, below)
        return count + 1 if 2 * rest > below or (2 * rest == below and count % 2) else count

    return read


def micros(scale: Fraction) -> Callable[[str], Read]:
    """A reader of lengths of time: numbers in so many microseconds, `1h30m`, or clocks; to the nearest microsecond."""
    number = _number_of(scale)

    def read(text: str) -> Read:
        found = number(text)
        if found is None:
            found = _length(text.strip())
        if found is None:
            return DURATION
        return (NEGATIVE if found < 0 else ABSURD) if not 0 <= found <= LONGEST else found

    return read


def _length(text: str) -> int | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return parse_duration(text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    whole_seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return whole_seconds * 1_000_000 + int((match[5] or "").ljust(6, "0"))


def instants(scale: Fraction, origin: int, zone: tzinfo) -> Callable[[str], Read]:
    """A reader of instants: numbers of so many microseconds after `origin`, or dates with times of the day.

    zone : of those that say none
    """
    is_utc = zone is UTC
    number = _number_of(scale)

    def read(text: str) -> Read:
        count = number(text)
        if count is not None:
            found = origin + count
            if found < 0:
                return NEGATIVE
            return found if found <= LAST_INSTANT else ABSURD
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return INSTANT
        if moment.tzinfo is None and is_utc:
            found = (moment - _DAY_1) // _MICRO
        else:
            found = ((moment if moment.tzinfo else moment.replace(tzinfo=zone)) - EPOCH) // _MICRO
        return found if 0 <= found <= LAST_INSTANT else ABSURD

    return read


def flag(text: str) -> Read:
    """1 for true, 0 for false."""
    word = text.strip().lower()
    if word in _TRUE:
        return 1
    return 0 if word in _FALSE else FLAG
