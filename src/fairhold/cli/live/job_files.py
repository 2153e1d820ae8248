"""`files` and `fetch`: what tasks have left in their job directories, on whatever host."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.output import task_of, write_bytes
from fairhold.cli.live.printing import clock, say, say_json
from fairhold.cli.table import table
from fairhold.client import steps
from fairhold.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cli.live.connection import Connection

_HEAD = ("file", "bytes", "modified")


def list_files(service: str, name: str, folder: str, attempt: int, *, as_json: bool) -> None:
    """Print what lies in the job directory of a task, or in a folder of it; attempt: its number, 0 = the latest."""
    job, task = task_of(name)
    found = connect(service).run(steps.files(job, task, attempt, folder))
    if as_json:
        say_json(found)
        return
    if not found["files"]:
        say(f"nothing lies there, on host {found['host']}" if found["host"] else "nothing lies there")
        return
    marks = {"folder": "/", "file": "", "other": "?"}
    rows = [
        (
            f"{each['name']}{marks[each['kind']]}",
            each["size"] if each["kind"] == "file" else None,
            clock(each["modified"]),
        )
        for each in found["files"]
    ]
    say(table(_HEAD, rows))


def fetch_file(service: str, name: str, path: str, target: str, attempt: int) -> None:
    """Copy a file of a task; target: `-` = standard output, empty = the last part of the path.

    A file that is there already is left alone. What was copied when the connection breaks is removed again.
    """
    job, task = task_of(name)
    connection = connect(service)
    if target == "-":
        _copy(connection, (job, path, task, attempt), write_bytes)
        return
    written = Path(target or PurePosixPath(path).name)
    if not written.name:
        raise UsageError(f"`{path}` does not name a file")
    try:
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        mend = "name another file with `--output`"
        raise InputError(
            [Fault("cannot-write", f"cannot write it: {error.strerror}", mend, file=str(written))]
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy(connection, (job, path, task, attempt), file.write)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    say(f"{written}: {written.stat().st_size} bytes")


def _copy(connection: Connection, what: tuple[str, str, int, int], write: Callable[[bytes], object]) -> None:
    """All of a file, piece by piece; what: job, path, task, attempt."""
    offset = 0
    while True:
        piece = connection.run(steps.file(*what, offset))
        write(piece.data)
        if not piece.data or piece.is_ended:
            return
        offset = piece.next
