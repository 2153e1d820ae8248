"""YAML 1.2 core schema: what a plain scalar means.

`no`, `yes`, `on`, `1:30`, `1_000` and dates are strings, unlike in YAML 1.1.
"""

from __future__ import annotations

import re
from typing import Self, TypeGuard

FIRST = frozenset("-+.0123456789~nNtTfF")
"""Characters that a plain scalar other than a string can start with."""
LONGEST_NUMBER = 400
"""Digits beyond which a number is not read as one (Python refuses much longer ones)."""

_NAMED: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class Written(float):
    """A number with a point or an exponent that remembers how it was written: `1e3` is told as `1e3`.

    text : as it stands in the file
    """

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Self:
        """Read it."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


class WrittenWhole(int):
    """A whole number that is written in another way than numbers are shown, and remembers how: `010`, `+5`, `0x1F`.

    text : as it stands in the file
    """

    text: str


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def resolve(text: str) -> str | float | bool | None:
    """Return the value of a plain scalar: None, bool, int, float or the text itself.

    Raises ValueError where it is a number without a finite value or with more digits than `LONGEST_NUMBER`.
    """
    if text in _NAMED:
        return _NAMED[text]
    if text[0] not in FIRST:
        return text
    if _DECIMAL.fullmatch(text):
        return _whole(text, 10)
    if _BASED.fullmatch(text):
        return _whole(text, 0)
    if _FLOAT.fullmatch(text):
        return Written(_short(text))
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"`{text}` is not a finite number")
    return text


def _whole(text: str, base: int) -> int:
    number = int(_short(text), base)
    if str(number) == text:
        return number
    written = WrittenWhole(number)
    written.text = text
    return written


def _short(text: str) -> str:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number with {len(text)} digits is too long")
    return text
