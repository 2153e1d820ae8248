"""`logs`: what tasks have written, as bytes, to the end or as long as they run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import Connection, connect
from fairhold.client import steps
from fairhold.client.errors import Refused
from fairhold.client.exchange import Pause, Steps
from fairhold.errors import Fault, InputError, UsageError, count, printable
from fairhold.runtime.outlet import OutputError, complain, tell

if TYPE_CHECKING:
    from fairhold.client.exchange import Document
    from fairhold.client.steps import Piece

_MISSING = 404
_NOT_THERE = ("unknown-job", "unknown-task", "unknown-attempt", "no-output", "host-away")
_POLL = 20.0
_LOOK = 0.5
"""Seconds between two looks at whether a task has been started again."""


def print_output(service: str, name: str, attempt: int, *, follow: bool) -> int:
    """Print the output of a task, `JOB.TASK`, or of all tasks of a job one after another; returns the exit code.

    attempt : its number, 0 = the latest

    What cannot be shown, whatever the reason, is a line with its code and the exit code 1; the rest is printed.
    """
    job, task = task_of(name)
    connection = connect(service)
    try:
        number = connection.run(steps.job(job))["tasks"]["tasks"]
        if "." in name or number == 1:
            _Reader(connection, job, task, attempt).read(follow=follow)
            return 0
        if follow:
            raise UsageError(f"job {job} has {count(number, 'task')}; name the one to follow, as {job}.0")
        begun = [int(each["task"]) for each in connection.run(steps.tasks(job))["tasks"] if each.get("attempts")]
    except InputError as error:
        return _not_shown(error)
    if not begun:
        return _not_shown(_not_begun(f"no task of job {job} has begun"))
    return max(_print_one(_Reader(connection, job, each, attempt), f"{job}.{each}") for each in begun)


def task_of(name: str) -> tuple[str, int]:
    """Job and number of a task, `JOB.TASK` or `JOB` for its task 0. Raises UsageError."""
    job, dot, task = name.partition(".")
    if dot and not (task.isascii() and task.isdecimal()):
        raise UsageError(f"`{printable(name)}` is not a task; write JOB.TASK, as 17.0")
    return job, int(task or 0)


def _print_one(reader: _Reader, name: str) -> int:
    """Print a task's output below a line with its name; the exit code."""
    write_bytes(f"==> {name} <==\n".encode())
    try:
        reader.read(follow=False)
    except InputError as error:
        return _not_shown(error)
    return 0


def _not_shown(error: InputError) -> int:
    """Say why there is nothing to print; the exit code. Errors that are none of the output are raised again."""
    if error.faults[0].code not in _NOT_THERE:
        raise error
    tell(str(error))
    return 1


def _not_begun(what: str) -> Refused:
    return Refused([Fault("no-output", what, "wait for it, or see why it waits: `fairhold explain JOB`")], _MISSING)


class _Reader:
    """Reads one task's output.

    attempt : its number, 0 = the latest
    """

    def __init__(self, connection: Connection, job: str, task: int, attempt: int) -> None:
        self._connection = connection
        self._job = job
        self._task = task
        self._attempt = attempt
        self._is_pinned = bool(attempt)
        self._offset = 0

    def read(self, *, follow: bool) -> None:
        """Print what there is; follow: until nothing more comes, over all attempts that follow."""
        while True:
            piece = self._heard(_POLL) if follow else self._piece(0)
            write_bytes(piece.data)
            self._attempt = piece.attempt or self._attempt
            self._offset = piece.next
            if not self._attempt and (piece.is_ended or not follow):
                raise _not_begun(f"task {self._task} of job {self._job} has not begun")
            if not follow and not piece.data:
                return
            if follow and piece.is_ended and not (self._attempt and not self._is_pinned and self._goes_on()):
                return

    def _heard(self, wait: float) -> Piece:
        """The next piece; a host that is away is waited for."""
        is_told = False
        while True:
            try:
                return self._piece(wait)
            except Refused as error:
                if error.faults[0].code != "host-away":
                    raise
                if not is_told:
                    is_told = True
                    complain(f"{error.faults[0].what}; waiting for it")
            self._connection.run(_pause())

    def _piece(self, wait: float) -> Piece:
        asked = steps.output(self._job, self._task, self._attempt, self._offset, wait=wait, is_known=wait > 0)
        return self._connection.run(asked)

    def _goes_on(self) -> bool:
        """Wait for the next attempt of the task, whose last one is over; whether one comes."""
        is_told = False
        while True:
            try:
                self._connection.run(steps.output(self._job, self._task, self._attempt + 1, is_known=True))
            except Refused as error:
                if error.status != 404:
                    raise
            else:
                self._attempt, self._offset = self._attempt + 1, 0
                complain(f"attempt {self._attempt} of {self._job}.{self._task}:")
                return True
            job = self._connection.run(steps.job(self._job))
            if self._is_over(job):
                return False
            if not is_told:
                is_told = True
                complain(f"attempt {self._attempt} of {self._job}.{self._task} has ended; waiting for the next")
            self._connection.run(_pause())

    def _is_over(self, job: Document) -> bool:
        tasks = job["tasks"]
        left = sum(tasks.get(name, 0) for name in ("waiting", "delayed", "running"))
        if job["state"] in steps.OVER or not left:
            return True
        if tasks["tasks"] == 1:
            return False
        rows = self._connection.run(steps.tasks(self._job))["tasks"]
        spans = ((int(row["task"]), int(row.get("through", row["task"])), row["state"]) for row in rows)
        state = next((state for first, last, state in spans if first <= self._task <= last), "done")
        return state in steps.OVER


def _pause() -> Steps[None]:
    yield Pause(_LOOK)


def write_bytes(data: bytes) -> None:
    """Bytes to standard output as they are, at once."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise error if isinstance(error, OutputError) else OutputError(error) from error
