"""Where a run's words go. A reader that has gone away, or a full disk, must not end the run."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable


def prepare(stream: TextIO) -> None:
    """Let a stream show in escapes what its encoding has no character for."""
    reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """A line of the run, to stdout."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """A line about what is wrong, to stderr."""
    _write(sys.stderr, f"fairhold: {text}")


def warn(text: str) -> None:
    """A warning about what can be used as it is, to stderr; in the words of all commands."""
    _write(sys.stderr, f"warning: {text}")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):  # nobody reads any more; ValueError: the stream was closed
        silence(stream)


def silence(stream: TextIO) -> None:
    """Send what is still to be written to nowhere, also what the interpreter flushes at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
