"""What tasks have written, out of the files that their agents fill; never anything else."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from fairhold.runtime.live.finished_overlay import attempts_over
from fairhold.service.problems import refused, unknown_job

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.runtime.live.core import Core

MOST = 8 * 1024 * 1024
"""Bytes of one answer."""
_LOOK = 0.05
_LONGEST_LOOK = 0.4
"""Seconds between two looks at a file that somebody waits for; longer the longer it takes."""
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_PAGE = 1_000


class Tried(NamedTuple):
    """An attempt of a task.

    number  : from 1; 0 = the task was never started
    is_over : nothing more will be written, unless another attempt comes
    is_here : it ran on this machine
    """

    number: int
    is_over: bool
    is_here: bool = False


def attempt_of(core: Core, job: str, task: int, number: int) -> Tried:
    """The attempt of this number of a task, 0 = the latest; in the desk's thread. InputError: no such job or task."""
    record = core.orchestrator.jobs.get(job)
    done = None if record else core.finished(job)
    if record is None and done is None:
        raise unknown_job(job)
    tasks = record.terms.tasks if record else int(json.loads(done.summary)["tasks"]) if done else 0
    if task >= tasks:
        raise refused("unknown-task", f"job `{job}` has no task {task}", "tasks count from 0")
    running = 0
    for name in record.attempts if record is not None else ():
        attempt = core.orchestrator.attempts[name]
        if attempt.index == task:
            running = attempt.number
    if number and number == running:
        return Tried(number, is_over=False)
    over, host = _last_over(core, job, task, number)
    if number and not over:
        raise refused("unknown-attempt", f"task {task} of job `{job}` has no attempt {number}", "leave it out")
    if number or not running:
        is_here = bool(over) and not core.cluster.machine_of(host)
        return Tried(over, is_over=bool(over) or record is None or record.is_over, is_here=is_here)
    return Tried(running, is_over=False)


def _last_over(core: Core, job: str, task: int, number: int) -> tuple[int, str]:
    """Number of the latest attempt of a task that is over, or the one asked for, and its host; 0 = there is none."""
    after, found = (task, number - 1 if number else 0), (0, "")
    while True:
        rows = attempts_over(core, job, after, 1 if number else _PAGE)
        mine = [(row.number, row.host) for row in rows if row.task == task]
        if number:
            return mine[0] if mine and mine[0][0] == number else (0, "")
        if not mine:
            return found
        found = mine[-1]
        if len(mine) < len(rows) or len(rows) < _PAGE:
            return found
        after = (task, found[0])


class Piece(NamedTuple):
    """Some of an output. next : offset behind it; is_end : there is no more at present."""

    content: bytes
    next: int
    is_end: bool


def read(jobs: Path, name: tuple[str, int, int], offset: int, limit: int, *, is_here: bool = False) -> Piece | None:
    """Bytes of the output of (job, task, number of its attempt); None where there is no such file.

    is_here : the attempt has ended on this machine: one that has written nothing leaves no file in its job's folder

    A task may put anything into the place of its files: links are not followed, and only a plain file is read.
    """
    job, task, number = name
    folder = -1
    is_folder = False
    try:
        folder = os.open(jobs, _FLAGS | os.O_DIRECTORY)
        inner = os.open(job, _FLAGS | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder, is_folder = inner, True
        file = os.open(f"{task}.{number}.out", _FLAGS | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return Piece(b"", offset, is_end=True) if is_here and is_folder else None
    except OSError:
        return None
    finally:
        if folder >= 0:
            with suppress(OSError):
                os.close(folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return _piece(file, offset, min(limit, MOST))
    except OSError:
        return None
    finally:
        os.close(file)


def _piece(file: int, offset: int, limit: int) -> Piece:
    """What is there; a line in the place of what was left out, because it was more than an attempt may keep."""
    content = os.pread(file, limit, offset)
    size = os.fstat(file).st_size
    if offset >= size:
        return Piece(b"", offset, is_end=True)
    # Looked at after it was read: what is no hole by now was none then.
    begin = _seek(file, offset, os.SEEK_DATA, size)
    if begin > offset:
        return Piece(f"\nfairhold: {begin - offset} bytes were left out here\n".encode(), begin, is_end=False)
    hole = _seek(file, offset, os.SEEK_HOLE, size)
    content = content[: hole - offset]
    return Piece(content, offset + len(content), is_end=len(content) < limit and offset + len(content) >= size)


def _seek(file: int, offset: int, what: int, otherwise: int) -> int:
    try:
        return os.lseek(file, offset, what)
    except OSError:  # there is none behind this place
        return otherwise


async def pause(spent: float) -> None:
    """Wait until a file is looked at again that has been waited for since so many seconds."""
    await asyncio.sleep(min(max(_LOOK, spent / 10), _LONGEST_LOOK))
