"""Trees of consumers as plain text, and as what is drawn on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fairhold.cli.legend import legend
from fairhold.cli.live.tree import COLUMNS, MARKS, trees

if TYPE_CHECKING:
    from rich.text import Text

    from fairhold.cli.live.tree import Tree
    from fairhold.client.exchange import Document

_MEANINGS = {"owned": "guaranteed by the plan, scaled as the policy says"}
"""What columns mean here, where tables of files mean something else."""
_FOOT = 2
"""Lines of a screen below the trees."""


def plain(document: Document, room: int) -> str:
    """The trees as text.

    room : cells of a line
    """
    ascii_only = not _speaks_unicode()
    texts: list[str] = []
    shown: set[str] = set()
    for tree in trees(document, room):
        shown |= set(tree.head)
        lines = [tree.title, tree.heading()]
        for line in tree.lines:
            bar = "".join((mark.plain if ascii_only else mark.sign) * size for mark, size in line.bar)
            lines.append(f"{tree.text(line)}  {bar}")
        texts.append("\n".join(line.rstrip() for line in lines))
    signs = [f"{mark.plain if ascii_only else mark.sign} {mark.what}" for mark in MARKS]
    below = [_wrapped(signs, room), legend((column for column in COLUMNS if column in shown), room, _MEANINGS)]
    text = "\n\n".join([*texts, "\n".join(filter(None, below))])
    return text.replace("·", "-").replace("…", "~") if ascii_only else text


def _wrapped(words: list[str], room: int) -> str:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 2 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] += f"  {word}"
    return "\n".join(lines)


def _speaks_unicode() -> bool:
    try:
        "".join(mark.sign for mark in MARKS).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def in_colours(document: Document, room: int) -> Text:
    """The trees in colours, without what the marks mean."""
    from rich.text import Text  # noqa: PLC0415 - a third of the time of a start

    text = Text(no_wrap=True, overflow="ellipsis")
    for tree in trees(document, room):
        _draw(text, tree)
    return text


def screen(document: Document, trouble: str, room: int, height: int, first: int = 0) -> tuple[Text, int]:
    """What fills a terminal, and how far it can be scrolled.

    trouble : why there is nothing newer, empty = there is
    first   : line of the trees that is shown on top
    """
    from rich.text import Text  # noqa: PLC0415

    lines = in_colours(document, room).split("\n", allow_blank=False)
    shown = max(1, height - _FOOT)
    most = max(0, len(lines) - shown)
    first = min(first, most)
    kept = Text("\n", no_wrap=True, overflow="ellipsis").join(lines[first : first + shown])
    kept.append("\n\n" if len(lines) < shown else "\n")
    if trouble:
        kept.append(trouble, style="bold red")
        return kept, most
    kept.append(f"q leaves{_scrolling(most, first)}  ", style="dim")
    for mark in MARKS:
        kept.append(mark.sign * 2, style=mark.colour)
        kept.append(f" {mark.what}  ")
    return kept, most


def _scrolling(most: int, first: int) -> str:
    below = f" {most - first} more" if first < most else ""
    return f", ↑↓{below}" if most else ""


def _draw(text: Text, tree: Tree) -> None:
    text.append(f"{tree.title}\n", style="bold")
    text.append(f"{tree.heading()}\n", style="dim")
    for line in tree.lines:
        text.append(f"{tree.text(line)}  ")
        for mark, size in line.bar:
            text.append(mark.sign * size, style=mark.colour)
        text.append("\n")
