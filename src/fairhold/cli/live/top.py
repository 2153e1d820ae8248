"""`top`: the live tree, drawn about once a second, until `q`."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import time
import tty
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import Connection, connect
from fairhold.cli.live.drawing import plain, screen
from fairhold.cli.live.printing import say, say_json
from fairhold.cli.table import terminal_width
from fairhold.client import steps
from fairhold.client.errors import ServiceError
from fairhold.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cli.live.connection import Asked
    from fairhold.client.exchange import Document

_PACE = 1.0
_QUIT = (b"q", b"Q", b"\x1b", b"\x04")
_UP, _DOWN = (b"\x1b[A", b"\x1bOA", b"k"), (b"\x1b[B", b"\x1bOB", b"j")
_PAGE_UP, _PAGE_DOWN = (b"\x1b[5~", b"b"), (b"\x1b[6~", b" ")
_KEY = re.compile(rb"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|.", re.DOTALL)
"""A key as a terminal sends it; an arrow is several bytes."""
_WIDE = 100
"""Cells of a line where the output is not a terminal."""
_LEAST_WIDTH = 30


def show_top(service: Asked, *, once: bool, as_json: bool) -> None:
    """Show the tree; once, where it is asked for or the output is not a terminal that can be drawn on."""
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


def _live(connection: Connection, document: Document) -> None:
    """Draw until a key or Ctrl-C ends it. A service that goes away is waited for."""
    from rich.console import Console  # noqa: PLC0415 - a third of the time of a start
    from rich.live import Live  # noqa: PLC0415

    console = Console()
    trouble, first = "", 0
    with (
        suppress(KeyboardInterrupt),
        _as_interrupt(),
        _keys(),
        Live(console=console, screen=True, auto_refresh=False) as live,
    ):
        while True:
            end = time.monotonic() + _PACE
            while True:
                height = console.height
                shown, most = screen(document, trouble, console.width, height, first)
                live.update(shown, refresh=True)
                keys = _typed(end - time.monotonic())
                if keys is None:
                    break
                if not keys or any(key in _QUIT for key in keys):
                    return
                first = max(0, min(most, first + sum(_lines(key, height) for key in keys)))
            try:
                document, trouble = connection.run(steps.consumers()), ""
            except ServiceError as error:
                trouble = printable(error.faults[0].what)


@contextmanager
def _as_interrupt() -> Iterator[None]:
    """What ends this from outside leaves the terminal as it was, as Ctrl-C does."""

    def stop(number: int, _frame: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)  # once is enough, and the terminal is still to be put right
        raise SystemExit(128 + number)

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def _lines(key: bytes, height: int) -> int:
    """Lines that a key scrolls by."""
    page = max(1, height // 2)
    moves = ((_UP, -1), (_DOWN, 1), (_PAGE_UP, -page), (_PAGE_DOWN, page))
    return next((lines for keys, lines in moves if key in keys), 0)


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


def _typed(seconds: float) -> list[bytes] | None:
    """The next keys within a time; None where none comes, empty where none can come any more."""
    left = max(0.0, seconds)
    if not sys.stdin.isatty():
        time.sleep(left)
        return None
    if not select.select([sys.stdin.fileno()], [], [], left)[0]:
        return None
    try:
        return _KEY.findall(os.read(sys.stdin.fileno(), 100))
    except OSError:  # the terminal has gone
        return []
