"""Where words for people go. A reader that has gone away, or a full disk, must not end what is being done.

Every line is escaped on its way (`errors.printable`): names come from files and may hold what steers a terminal.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from fairhold.errors import printable

_NOBODY_READS = (errno.EPIPE, errno.EIO)
"""What a write says when the reader of a pipe, or the other side of a terminal, has gone."""


class OutputError(OSError):
    """Standard output cannot be written. It has no `errno`: libraries in between take a closed pipe as theirs to judge.

    is_closed : nobody reads any more
    why       : what the system said
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        self.is_closed = cause.errno in _NOBODY_READS
        self.why = cause.strerror or str(cause)


class StandardOutput(TextIOWrapper):
    """Standard output that says of a failed write that it was this one."""

    def write(self, text: str) -> int:
        """Write; raises OutputError."""
        try:
            return super().write(text)
        except OSError as error:
            raise OutputError(error) from error

    def flush(self) -> None:
        """Write what is held back; raises OutputError."""
        try:
            super().flush()
        except OSError as error:
            raise OutputError(error) from error


def open_streams() -> None:
    """Make standard output and error fit to be written to, however the command was called.

    What their encoding has no character for is shown in escapes. Of the streams that the caller closed, output fails
    when it is written to, and error takes words that nobody reads; no file that is opened later gets their numbers.
    """
    stdout: TextIO | None = sys.stdout
    stderr: TextIO | None = sys.stderr
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # what can only be read fails as an output, like one that is closed
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    if stdout is None or isinstance(stdout, TextIOWrapper):
        binary = stdout.buffer if stdout else open(1, "wb", closefd=False)  # noqa: SIM115 - a number, for good
        encoding = stdout.encoding if stdout else "utf-8"
        is_live = bool(stdout and stdout.line_buffering)
        sys.stdout = StandardOutput(binary, encoding, "backslashreplace", line_buffering=is_live)
    if stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    elif isinstance(stderr, TextIOWrapper):
        stderr.reconfigure(errors="backslashreplace")


class Outlet:
    """Standard output of a run, which goes on where nobody can be told of it.

    lost : why standard output could not be written to; empty where it could, or where its reader has gone away
    """

    def __init__(self) -> None:
        self.lost = ""

    def say(self, text: str) -> None:
        """A line of the run, to stdout."""
        error = _write(sys.stdout, text)
        if error and not _is_nobody_there(error):
            self.lost = error.why if isinstance(error, OutputError) else error.strerror or str(error)
            complain(f"standard output cannot be written: {self.lost}; the run goes on")


def complain(text: str) -> None:
    """A line about what is wrong, to stderr."""
    tell(f"fairhold: {text}")


def warn(text: str) -> None:
    """A warning about what can be used as it is, to stderr; in the words of all commands."""
    tell(f"warning: {text}")


def tell(text: str) -> None:
    """Lines to stderr; where they cannot be written, nobody is told."""
    _write(sys.stderr, text)


def _write(stream: TextIO, text: str) -> OSError | None:
    """Write lines; returns why that failed, after which the stream takes everything and tells nobody."""
    try:
        stream.write("\n".join(map(printable, text.split("\n"))) + "\n")
        stream.flush()
    except OSError as error:
        silence(stream)
        return error
    except ValueError:  # the stream was closed
        silence(stream)
    return None


def _is_nobody_there(error: OSError) -> bool:
    return error.is_closed if isinstance(error, OutputError) else error.errno in _NOBODY_READS


def silence(stream: TextIO) -> None:
    """Send what is still to be written to nowhere, also what the interpreter flushes at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
