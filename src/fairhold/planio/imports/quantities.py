"""Numbers of Kubernetes: quantities such as `500m` and `16Gi`, and durations of Go such as `1h30m`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.planio.scalars import Written, WrittenWhole

if TYPE_CHECKING:
    from fairhold.planio.values import Value

_QUANTITY = re.compile(r"([+-]?)([0-9]{0,40})(?:\.([0-9]{0,40}))?([KMGTPE]i|[munkMGTPE]|[eE][+-]?[0-9]{1,2})?")
_SUFFIXES = {
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)},
    **{letter: Fraction(1000**power) for power, letter in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{letter: Fraction(1, 1000**power) for power, letter in enumerate("mun", 1)},
}
_GO = re.compile(r"0|(?:[0-9]{1,15}(?:\.[0-9]{1,15})?(?:ns|us|µs|μs|ms|s|m|h)){1,8}")
_GO_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ns|us|µs|μs|ms|s|m|h)")
_NANOS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def quantity_text(value: Value) -> str | None:
    """The text of a quantity, which is written as text or as a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, (Written, WrittenWhole)):
        return value.text
    return repr(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def parse_quantity(text: str) -> Fraction | None:
    """The number of a quantity, exactly; None where it is none."""
    match = _QUANTITY.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    digits = match[3] or ""
    number = Fraction(int(f"{match[2]}{digits}"), 10 ** len(digits)) * _scale(match[4] or "")
    return -number if match[1] == "-" else number


def _scale(suffix: str) -> Fraction:
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    power = int(suffix[1:])
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)


def parse_go_duration(text: str) -> Fraction | None:
    """Microseconds of a duration as Go writes it, from 0 on; None where it is none."""
    if not _GO.fullmatch(text):
        return None
    nanos = Fraction(0)
    for whole, fraction, unit in _GO_PART.findall(text):
        nanos += Fraction(int(whole + fraction), 10 ** len(fraction)) * _NANOS[unit]
    return nanos / 1000
