"""`top`: the live tree, drawn about once a second, until `q`."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import Connection, connect
from fairhold.cli.live.printing import say, say_json
from fairhold.cli.live.tree import MARKS, Tree, trees
from fairhold.cli.table import terminal_width
from fairhold.client import steps
from fairhold.client.errors import ServiceError
from fairhold.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from fairhold.client.exchange import Document

_PACE = 1.0
_QUIT = (b"q", b"Q", b"\x1b", b"\x04")
_WIDE = 100
"""Cells of a line where the output is no terminal."""
_LEAST_WIDTH = 30


def show_top(service: str, *, once: bool, as_json: bool) -> None:
    """Show the tree; once, where it is asked for or the output is no terminal that can be drawn on."""
    connection = connect(service)
    document = connection.run(steps.consumers())
    if as_json:
        say_json(document)
        return
    room = terminal_width()
    is_drawable = room >= _LEAST_WIDTH and os.environ.get("TERM", "dumb") != "dumb"
    if once or not is_drawable:
        say(plain(document, room or _WIDE))
        return
    _live(connection, document)


def plain(document: Document, room: int) -> str:
    """The trees as text."""
    ascii_only = not _speaks_unicode()
    texts = []
    for tree in trees(document, room):
        lines = [tree.title, tree.heading()]
        for line in tree.lines:
            bar = "".join((mark.plain if ascii_only else mark.sign) * size for mark, size in line.bar)
            lines.append(f"{tree.text(line)}  {bar}")
        texts.append("\n".join(line.rstrip() for line in lines))
    signs = [f"{mark.plain if ascii_only else mark.sign} {mark.what}" for mark in MARKS]
    text = "\n\n".join([*texts, _wrapped(signs, room)])
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


def _live(connection: Connection, document: Document) -> None:
    """Draw until a key or Ctrl-C ends it. A service that goes away is waited for."""
    from rich.console import Console  # noqa: PLC0415 - a third of the time of a start
    from rich.live import Live  # noqa: PLC0415

    console = Console()
    trouble = ""
    with suppress(KeyboardInterrupt), _keys(), Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            began = time.monotonic()
            live.update(_screen(document, trouble, console.width, console.height), refresh=True)
            if _is_quit(_PACE - (time.monotonic() - began)):
                return
            try:
                document, trouble = connection.run(steps.consumers()), ""
            except ServiceError as error:
                trouble = printable(error.faults[0].what)


def _screen(document: Document, trouble: str, room: int, height: int) -> RenderableType:
    from rich.text import Text  # noqa: PLC0415

    text = Text(no_wrap=True, overflow="ellipsis")
    for tree in trees(document, room):
        _draw(text, tree)
    lines = text.split("\n", allow_blank=False)
    shown = max(1, height - 3)
    kept = Text("\n", no_wrap=True, overflow="ellipsis").join(lines[:shown])
    if len(lines) > shown:
        kept.append(f"\n… {len(lines) - shown} more lines", style="dim")
    kept.append("\n\n")
    if trouble:
        kept.append(trouble, style="bold red")
    else:
        for mark in MARKS:
            kept.append(mark.sign * 2, style=mark.colour)
            kept.append(f" {mark.what}  ")
        kept.append("q leaves", style="dim")
    return kept


def _draw(text: object, tree: Tree) -> None:
    from rich.text import Text  # noqa: PLC0415

    assert isinstance(text, Text)
    text.append(f"{tree.title}\n", style="bold")
    text.append(f"{tree.heading()}\n", style="dim")
    for line in tree.lines:
        text.append(f"{tree.text(line)}  ")
        for mark, size in line.bar:
            text.append(mark.sign * size, style=mark.colour)
        text.append("\n")


@contextmanager
def _keys() -> Iterator[None]:
    """Let single keys be read, where there is a keyboard."""
    try:
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
    except (termios.error, OSError, ValueError):
        yield
        return
    try:
        tty.setcbreak(number)
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _is_quit(seconds: float) -> bool:
    """Wait until the time is over, or a key that leaves."""
    end = time.monotonic() + max(0.0, seconds)
    while True:
        left = max(0.0, end - time.monotonic())
        if not sys.stdin.isatty():
            time.sleep(left)
            return False
        ready = select.select([sys.stdin.fileno()], [], [], left)[0]
        if not ready:
            return False
        key = os.read(sys.stdin.fileno(), 1)
        if key in _QUIT or not key:
            return True
