"""Plain tables, columns aligned by blanks; a terminal may get long paths cut, nothing else differs from a pipe."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from fairhold.errors import printable
from fairhold.runtime.cells import padded, width

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORTEST = 16
"""Cells to which a first column is cut at most."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]], room: int | None = None) -> str:
    """Rows under their head; numbers to the right, all else to the left; None is shown as `-`.

    room : cells of a line that the first column is cut in its middle for; 0 = any, None = as the terminal has them
    """
    texts = [["-" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    _fit(texts, head, terminal_width() if room is None else room)
    widths = [max(map(width, column)) for column in zip(head, *texts, strict=True)]
    numeric = [
        bool(rows) and all(cell is None or isinstance(cell, int) for cell in column)
        for column in (zip(*rows, strict=True) if rows else [()] * len(head))
    ]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(map(padded, cells, widths, numeric)).rstrip()

    return "\n".join([line(head), *map(line, texts)])


def terminal_width() -> int:
    """Cells of a line of the terminal that output goes to, 0 where it goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0


def _fit(texts: list[list[str]], head: Sequence[str], room: int) -> None:
    """Cut the first column in its middle where lines would be longer than there is room."""
    if not room or not texts:
        return
    others = sum(max(map(width, column)) + 2 for column in list(zip(head, *texts, strict=True))[1:])
    most = max(room - others, _SHORTEST, width(head[0]))
    for row in texts:
        if width(row[0]) > most:
            row[0] = cut(row[0], most)


def cut(text: str, most: int) -> str:
    """The start and the end of a text, `…` between them; what tells siblings apart is the end."""
    start, end = "", ""
    for each in text:
        if width(start + each) > (most - 1) // 3:
            break
        start += each
    for each in reversed(text):
        if width(each + end) > most - 1 - width(start):
            break
        end = each + end
    return f"{start}…{end}"
