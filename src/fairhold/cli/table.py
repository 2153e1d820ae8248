"""Plain tables: columns aligned by spaces, the same on a terminal and in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their head; numbers to the right, all else to the left; None is shown as `-`."""
    texts = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
    numeric = [
        bool(rows) and all(cell is None or isinstance(cell, int) for cell in column)
        for column in (zip(*rows, strict=True) if rows else [()] * len(head))
    ]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(head), *map(line, texts)])
