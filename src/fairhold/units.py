"""Numbers of the field: slots, instants and durations, all whole numbers.

An instant is microseconds since 1970-01-01T00:00:00Z, a duration is microseconds. Slots and units are plain
integers. `UNLIMITED` is the one way to say "no limit"; it is larger than any number that a file may hold, so that
`min` and `<` need no special case.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

UNLIMITED = 2**53
"""No limit. A file may hold numbers up to `LARGEST`, so every real number is smaller."""
LARGEST = 10**12
"""The largest number of units that a plan or a state may hold."""
LONGEST = 366 * 86_400_000_000
"""The longest duration, 366 days, in microseconds."""
LAST_INSTANT = 221_845_392_000_000_000
"""9000-01-01T00:00:00Z: later instants could not be written back with a grace added."""

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_UNIT = {"ms": 1_000, "s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": 86_400 * SECOND}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+")
_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ms|s|m|h|d)")
_SIZE = re.compile(r"([0-9]+)(?:\.([0-9]+))?\s*([A-Za-z]*)")
_SIZE_UNIT = re.compile(r"([kKMGTP]?)(i?B|i)?")
_QUANTITY = re.compile(r"([+-]?)([0-9]{1,30})?(?:\.([0-9]{0,30}))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?")
_DECIMAL_SUFFIX = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def parse_duration(text: str) -> int | None:
    """Microseconds of `30s`, `1m30s`, `1.5h`, `250ms`; None where `text` is not a duration in whole microseconds."""
    if not _DURATION.fullmatch(text):
        return None
    total = 0
    for whole, fraction, unit in _PART.findall(text):
        scale = 10 ** len(fraction)
        amount, rest = divmod(int(whole + fraction) * _UNIT[unit], scale)
        if rest:
            return None
        total += amount
    return total


def format_duration(micros: int) -> str:
    """A duration as a file writes it, exact: `1m30s`, `0.25s`, `0s`."""
    text, left = "", micros
    for unit in ("d", "h", "m"):
        count, left = divmod(left, _UNIT[unit])
        text += f"{count}{unit}" if count else ""
    if left or not text:
        text += f"{left // SECOND}.{left % SECOND:06d}".rstrip("0").rstrip(".") + "s"
    return text


def size_unit(text: str) -> int | None:
    """Bytes of one unit of size, None where it is none. `M`, `Mi` and `MiB` count 1024s, `MB` counts 1000s."""
    match = _SIZE_UNIT.fullmatch(text)
    if not match or not text or (match[2] in {"i", "iB"} and not match[1]):
        return None
    scale: int = (1000 if match[2] == "B" else 1024) ** " KMGTP".index(match[1].upper() or " ")
    return scale


def parse_size(text: str) -> int | None:
    """Bytes of a size such as `512M`, `2GiB` or `1.5GB`; None where it is none. A bare number is none, but for 0."""
    match = _SIZE.fullmatch(text)
    scale = size_unit(match[3]) if match else None
    if not match or (scale is None and (match[3] or match[1].strip("0") or (match[2] or "").strip("0"))):
        return None
    digits = match[2] or ""
    size: int = int(match[1] + digits) * (scale or 0) // 10 ** len(digits)
    return size


def parse_quantity(text: str) -> Fraction | None:
    """The exact value of a quantity as Kubernetes writes it, `500m`, `1.5Gi`, `2e3`; None where it is none."""
    match = _QUANTITY.fullmatch(text)
    if not match or not (match[2] or match[3]):
        return None
    sign, whole, digits, suffix = match[1], match[2] or "", match[3] or "", match[4] or ""
    value = Fraction(int(f"{sign}{whole}{digits}"), 10 ** len(digits))
    if suffix.endswith("i"):
        return value * Fraction(1024 ** " KMGTPE".index(suffix[0]))
    power = _DECIMAL_SUFFIX[suffix] if suffix in _DECIMAL_SUFFIX else int(suffix[1:])
    return value * (Fraction(10**power) if power >= 0 else Fraction(1, 10**-power))


def parse_instant(text: str) -> int | None:
    """Microseconds since the epoch of an RFC 3339 instant with its offset; None where it is none."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return (moment - EPOCH) // timedelta(microseconds=1)


def format_instant(micros: int) -> str:
    """An instant as RFC 3339 text in UTC: `2026-01-05T09:00:00Z`; fractions only where there are any."""
    moment = EPOCH + timedelta(microseconds=micros)
    return moment.isoformat(timespec="microseconds" if micros % SECOND else "seconds").replace("+00:00", "Z")
