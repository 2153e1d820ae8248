"""A few colours that people tell apart who see colours differently, and hatchings; nothing is told by colour alone."""

from __future__ import annotations

from typing import NamedTuple

from fairhold.drawing.letters import width
from fairhold.drawing.marks import INK, PAPER, WARNING, box, element, line, text


class Colour(NamedTuple):
    """A colour, and the same in light."""

    strong: str
    light: str


NOBODY = Colour("#9aa5b1", PAPER)
_PALETTE = (
    Colour("#0072b2", "#b9d9ec"),
    Colour("#e69f00", "#fbe5b5"),
    Colour("#009e73", "#b5e4d6"),
    Colour("#cc79a7", "#f1d8e6"),
    Colour("#d55e00", "#f7cfb2"),
    Colour("#c9b900", "#f8f4b4"),
    Colour("#56b4e9", "#d9effc"),
)
"""After Okabe and Ito."""
LENT, NOTICE, KEPT = "url(#fairhold-lent)", "url(#fairhold-notice)", "url(#fairhold-kept)"
_KEY = 9


def colour(key: int) -> Colour:
    """That of a key, from 1 on; 0 is nobody. Where there are more keys than colours, the number tells them apart."""
    return _PALETTE[(key - 1) % len(_PALETTE)] if key else NOBODY


def definitions() -> str:
    """The hatchings, as an SVG has to name them once."""
    stripes = element("path", d="M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6", stroke=PAPER, stroke_width=2)
    crosses = element("path", d="M0 6 L6 0 M0 0 L6 6", stroke=WARNING, stroke_width=1)
    dots = element("circle", cx=3, cy=3, r=1, fill=INK)
    tiles = (("lent", 8, [stripes]), ("notice", 6, [box(0, 0, 6, 6, fill=PAPER), crosses]), ("kept", 6, [dots]))
    patterns = (
        element("pattern", *marks, id=f"fairhold-{name}", width=size, height=size, patternUnits="userSpaceOnUse")
        for name, size, marks in tiles
    )
    return element("defs", *patterns)


def key_mark(key: int, x: int, y: int, height: int = 14) -> tuple[int, str]:
    """The key of a consumer as a small box with its number, and how wide it is."""
    room = max(height, width(str(key), _KEY, bold=True) + 6)
    shown = colour(key)
    marks = (
        box(x, y, room, height, rx=2, fill=shown.light, stroke=shown.strong),
        text(x + room // 2, y + height - 4, str(key), _KEY, text_anchor="middle", font_weight="bold"),
    )
    return room, "".join(marks)


def used(key: int, place: tuple[int, int, int, int], kind: str) -> list[str]:
    """What somebody uses, in its colour.

    place : x, y, width, height
    kind  : own, lent, notice or kept
    """
    shown = colour(key)
    marks = [box(*place, fill=shown.light if kind == "kept" else shown.strong)]
    hatching = {"lent": LENT, "notice": NOTICE, "kept": KEPT}.get(kind)
    if hatching:
        marks.append(box(*place, fill=hatching, stroke=WARNING if kind == "notice" else shown.strong))
    x, y, wide, high = place
    room = width(str(key), _KEY, bold=True) + 4
    if key and wide >= room + 4:
        middle = x + wide // 2
        marks += [
            box(middle - room // 2, y + 1, room, high - 2, rx=2, fill=PAPER),
            text(middle, y + high - 2, str(key), _KEY, text_anchor="middle", font_weight="bold"),
        ]
    return marks


def reserved(x: int, y: int, wide: int, high: int) -> str:
    """The mark of what is reserved: a thick line along its left and its foot."""
    return line("M", x + 1, y, "V", y + high - 1, "H", x + wide, stroke=INK, stroke_width=3)
