"""`submit`: a job of the command line; `--wait` until it is over."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import Connection, connect
from fairhold.cli.live.endings import bad_endings, is_own_exit
from fairhold.cli.live.names import better
from fairhold.cli.live.notifying import events_of
from fairhold.cli.live.options import by_name
from fairhold.cli.live.printing import say, say_json
from fairhold.client import steps
from fairhold.client.errors import ConnectionLost, Refused
from fairhold.client.terms import after_rows, job_terms, new_key, own_environment
from fairhold.errors import Fault, InputError, UsageError, printable
from fairhold.runtime.outlet import complain, warn

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.exchange import Document

READABLE = "name an existing file that you may read"
"""How to mend an input of tasks that cannot be read."""
_INTERRUPTED = 128 + 2
_LARGEST_CODE = 255
GPU = "gpu"
"""The resource of which whole ones are handed out by number (R-LIVE-3)."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a job is to be like, as the options say it.

    count : `COUNT` or `COUNT%THROTTLE`
    """

    count: str = "1"
    units: int = 1
    unit: str = ""
    min_count: int = 0
    preemptible: bool | None = None
    resource_group: str = ""
    priority: int = 0
    name: str = ""
    labels: list[str] = field(default_factory=list)
    time_limit: str | None = None
    memory: int | None = None
    after: list[str] = field(default_factory=list)
    retries: int = 0
    backoff: str | None = None
    hold: bool = False
    stdin: Path | None = None
    env: list[str] = field(default_factory=list)
    clean_env: bool = False
    directory: Path | None = None
    signal: str = ""
    lead: str | None = None
    need: list[str] = field(default_factory=list)
    prefer: list[str] = field(default_factory=list)
    avoid: list[str] = field(default_factory=list)
    place: str = ""
    user: str = ""
    notify: str | None = None


def submit_job(
    service: str, consumer: str, argv: list[str], wishes: Wishes, key: str, *, wait: bool, as_json: bool
) -> int:
    """Submit one job and print its number; returns the exit code, with `wait` that of the job."""
    if not consumer or not argv:
        missing = "ARGV" if consumer else "CONSUMER"
        raise UsageError(f"{missing} is missing; write `fairhold submit CONSUMER -- COMMAND`, or `submit --file JOBS`")
    terms = _terms(consumer, argv, wishes)
    connection = connect(service)
    if connection.target.directory and wishes.directory and not wishes.directory.is_dir():
        here = printable(str(wishes.directory.absolute()))
        warn(f"there is no directory {here} on this machine: a task that starts here, where the service runs, fails")
    sent: list[Document] = []
    try:
        try:
            sent.append(_submit(connection, terms, key or new_key()))
        except Refused as error:
            raise better(connection, error, consumer) from None
        if as_json and not wait:
            say_json(sent[0])
        elif not as_json:
            say(sent[0]["job"])
        return wait_for(connection, sent, as_json=as_json) if wait else 0
    except KeyboardInterrupt:
        return left(sent)


def _terms(consumer: str, argv: list[str], wishes: Wishes) -> Document:
    count, throttle = _count(wishes.count)
    return job_terms(
        consumer,
        argv,
        environment=({} if wishes.clean_env else own_environment()) | by_name(wishes.env),
        directory=wishes.directory,
        stdin=read_stdin(wishes.stdin),
        count=count,
        throttle=throttle,
        units=wishes.units,
        unit=_unit(wishes.unit),
        min_count=wishes.min_count,
        preemptible=wishes.preemptible,
        resource_group=wishes.resource_group or None,
        priority=wishes.priority,
        name=wishes.name,
        labels=by_name(wishes.labels),
        time_limit=wishes.time_limit,
        memory=wishes.memory,
        after=after_rows(wishes.after),
        retries=wishes.retries,
        backoff=wishes.backoff,
        hold=wishes.hold,
        signal=wishes.signal.upper().removeprefix("SIG") or None,
        lead=wishes.lead,
        need=wishes.need,
        prefer=wishes.prefer,
        avoid=wishes.avoid,
        place=wishes.place or None,
        user=wishes.user or None,
        notify=events_of("--notify", wishes.notify),
    )


def _count(text: str) -> tuple[int, int]:
    """Tasks, and how many may run at once, 0 = any number."""
    count, percent, throttle = text.partition("%")
    if not count.isdecimal() or not int(count) or (percent and not (throttle.isdecimal() and int(throttle))):
        raise UsageError(f"-n {printable(text)}: write how many tasks there are, and after % how many may run at once")
    return int(count), int(throttle or 0)


def _unit(text: str) -> dict[str, str] | None:
    """Amounts by resource, as they are written."""
    if not text:
        return None
    pairs = [each.strip().partition("=") for each in text.split(",")]
    names = [name for name, _, _ in pairs]
    if any(not (name and equals and amount) for name, equals, amount in pairs) or len(set(names)) < len(names):
        raise UsageError(f"--unit {printable(text)}: write each resource once with its amount, as cpu=4,memory=16")
    found = {name: amount for name, _, amount in pairs}
    if GPU in found and _is_part(found[GPU]):
        warn(f"gpu={found[GPU]}: who asks for a part of a GPU is given none by number, and may see all of its host")
    return found


def _is_part(amount: str) -> bool:
    """Whether an amount is no whole number; what is no number is for the service to refuse."""
    try:
        return Fraction(amount).denominator > 1
    except (ValueError, ZeroDivisionError):
        return False


def read_stdin(path: Path | None) -> bytes:
    """What tasks are to read; raises InputError."""
    if path is None:
        return b""
    if str(path) == "-" and sys.stdin is None:  # closed by who called
        raise InputError([Fault("cannot-read", "standard input is closed", READABLE, file=str(path))])
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([Fault("cannot-read", f"the file cannot be read: {why}", READABLE, file=str(path))]) from None


def _submit(connection: Connection, terms: Document, key: str) -> Document:
    """Submit; where it stays open whether that has happened, say how to find out."""
    try:
        return connection.run(steps.submit(terms, key))
    except ConnectionLost as error:
        what = error.faults[0].what
        raise ConnectionLost(
            what, f"the job may be there: submit it again with `--key {key}`, it stays one job"
        ) from None
    except KeyboardInterrupt:
        complain(f"interrupted; the job may be there: submit it again with `--key {key}`, it stays one job")
        raise


def wait_for(connection: Connection, jobs: list[Document], *, as_json: bool) -> int:
    """Wait until jobs are over; the exit code of the first that did not end well, else 0."""
    over = [connection.run(steps.wait(job["job"], look=WhyWaiting())) for job in jobs]
    if as_json:
        say_json(over if len(over) > 1 else over[0])
    for job in over:
        if job["state"] == "cancelled" or (len(over) > 1 and _code(job)):
            complain(f"job {job['job']} is {job['state']}" + (f": {job['text']}" if job.get("text") else ""))
        if job["state"] == "failed" and not is_own_exit(connection, job):
            for line in bad_endings(connection, job["job"]):
                complain(f"job {job['job']}: {line}")
    return next((_code(job) for job in over if _code(job)), 0)


class WhyWaiting:
    """Says of a job that is waited for why nothing of it runs, once for each reason: it may be for ever."""

    def __init__(self) -> None:
        self._told: tuple[object, ...] = ()

    def __call__(self, job: Document) -> None:
        """Look at a job that has not ended."""
        reason, hold = job.get("reason"), job.get("hold")
        if job["state"] == "running" or not reason or (reason, hold) == self._told:
            return
        self._told = (reason, hold)
        complain(f"job {job['job']} waits ({reason}): {job['text']}")


def left(jobs: list[Document]) -> int:
    """Say after Ctrl-C that jobs go on; the exit code."""
    names = " ".join(job["job"] for job in jobs)
    if jobs:
        told = f"job {names} goes" if len(jobs) == 1 else f"jobs {names} go"
        complain(f"{told} on; to stop: `fairhold cancel {names}`")
    return _INTERRUPTED


def _code(job: Document) -> int:
    """The exit code of a job that is over, as a command of a shell would have it."""
    code = job.get("exit_code")
    if not isinstance(code, int):
        return 0 if job["state"] == "done" else 1
    return code if 0 <= code <= _LARGEST_CODE else 1
