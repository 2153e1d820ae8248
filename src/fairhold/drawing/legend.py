"""Headings, and what the marks of a picture mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.drawing.letters import width
from fairhold.drawing.marks import BODY, FAINT, INK, SMALL, Block, put, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE, _GAP, _SIGN = 20, 18, 26


def heading(line: str, *, is_small: bool = False) -> Block:
    """A title above a part of a picture."""
    size = BODY if is_small else 14
    mark = text(0, size + 1, line, size, font_weight="bold", fill=FAINT if is_small else INK)
    return Block(width(line, size, bold=True), size + 6, (mark,))


def legend(signs: Sequence[tuple[str, str]], room: int) -> Block:
    """Marks of 22 by 14 pixels with what they mean, in lines that fit into the room."""
    x, y, widest, parts = 0, 0, 0, []
    for sign, meaning in signs:
        wide = _SIGN + width(meaning, SMALL)
        if x and x + wide > room:
            x, y = 0, y + _LINE
        words = text(_SIGN, 12, meaning, SMALL, fill=FAINT)
        parts.append(put(Block(wide, _LINE, (sign, words)), x, y))
        x += wide + _GAP
        widest = max(widest, x - _GAP)
    return Block(widest, y + _LINE if parts else 0, tuple(parts))
