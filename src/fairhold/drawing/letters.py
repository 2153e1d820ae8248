"""How wide text is, in whole pixels and without any font: about as wide as in the widest of the common ones."""

from __future__ import annotations

import unicodedata

_SHARE = {
    **dict.fromkeys("ijl|!.,:;'`", 35),
    **dict.fromkeys(' -/\\()[]{}"frtIJ*', 42),
    **dict.fromkeys("ckszvxy?", 58),
    **dict.fromkeys("mMwW@%", 98),
    **dict.fromkeys("+<=>~^#", 84),
    **dict.fromkeys("NOQGHUD", 78),
    **dict.fromkeys("…", 100),
}
"""Hundredths of the size of the text."""
_USUAL, _WIDE, _OTHER = 65, 105, 90
_BOLD = 112
"""Per cent of the same text that is not bold."""
MARK = "…"
"""Stands for what was cut out."""


def width(text: str, size: int, *, bold: bool = False) -> int:
    """Pixels that a line takes."""
    hundredths = sum(map(_of, text)) * size * (_BOLD if bold else 100)
    return -(-hundredths // 10_000)


def _of(letter: str) -> int:
    if letter in _SHARE:
        return _SHARE[letter]
    if letter.isascii():
        return _USUAL
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def cut(text: str, room: int, size: int, *, bold: bool = False) -> str:
    """A line that fits: what is too long is cut in its middle."""
    if width(text, size, bold=bold) <= room:
        return text
    left, right = (len(text) + 1) // 2, len(text) - len(text) // 2
    left, right = min(left, 400), max(right, len(text) - 400)
    while left > 1 and width(text[:left] + MARK + text[right:], size, bold=bold) > room:
        left, right = left - 1, right + 1
    return text[:left].rstrip() + MARK + text[right:].lstrip()


def wrap(text: str, room: int, size: int) -> list[str]:
    """A text in lines that fit, broken between words."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [cut(line, room, size) for line in lines]
