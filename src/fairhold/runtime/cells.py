"""How much of a terminal's line a text takes."""

from __future__ import annotations


def width(text: str) -> int:
    """Cells that a text takes: some characters take two, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - most names do not need it

    return cell_len(text)


def padded(text: str, cells: int, right: bool = False) -> str:  # noqa: FBT001, FBT002 - it is mapped over columns
    """A text with blanks up to a number of cells, on its left where it is to stand right."""
    blanks = " " * (cells - width(text))
    return blanks + text if right else text + blanks
