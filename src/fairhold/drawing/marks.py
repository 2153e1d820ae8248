"""Marks of SVG as text, and blocks of them that are put side by side; all coordinates are whole pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from fairhold.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

INK, FAINT, RULE, PAPER, STRIPE = "#1f2933", "#52606d", "#9aa5b1", "#ffffff", "#f5f7fa"
"""Text, what is told beside it, lines, the ground, and every second row on it."""
WARNING = "#b42318"
BODY, SMALL = 12, 11
"""Sizes of text."""


class Block(NamedTuple):
    """Something drawn from its own upper left corner on."""

    width: int
    height: int
    parts: tuple[str, ...]


EMPTY = Block(0, 0, ())


def element(tag: str, *inside: str, **attributes: object) -> str:
    """One element; `_` stands for `-` in names of attributes, and at their end for nothing; None is left out."""
    stated = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(printable(str(value)))}"
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{stated}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{stated}/>"


def words(text: str) -> str:
    """Text of people, as the inside of an element."""
    return escape(printable(text))


def text(x: int, y: int, line: str, size: int = BODY, **attributes: object) -> str:
    """A line of text, `y` its foot."""
    shown = {"fill": INK} | attributes
    return element("text", words(line), x=x, y=y, font_size=size, **shown)


def box(x: int, y: int, width: int, height: int, **attributes: object) -> str:
    """A rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def line(*steps: object, **attributes: object) -> str:
    """A path of straight lines: `M`, `H`, `V` and `L` with their numbers."""
    shown = {"fill": "none", "stroke": RULE} | attributes
    return element("path", d=" ".join(map(str, steps)), **shown)


def titled(title: str, parts: Iterable[str], **attributes: object) -> str:
    """Marks that belong together, with what is told of them to who points at them or cannot see them."""
    return element("g", element("title", words(title)), *parts, **attributes)


def put(block: Block, x: int, y: int) -> str:
    """A block at a place."""
    return element("g", *block.parts, transform=f"translate({x} {y})") if block.parts else ""


def below(blocks: Iterable[Block], gap: int) -> Block:
    """Blocks one below the other; empty ones take no room."""
    y, width, parts = 0, 0, []
    for block in blocks:
        if block.height:
            parts.append(put(block, 0, y))
            width, y = max(width, block.width), y + block.height + gap
    return Block(width, max(0, y - gap), tuple(parts))
