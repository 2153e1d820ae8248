"""Which processes belong to an attempt, and signals to all of them (Linux).

A task is the leader of its own session. What it starts usually stays in there, in one or several process groups
(`timeout` and shells with job control make their own); what left the session is known by the variable in its
environment that names the attempt, or by being a child of what is known.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PROC = Path("/proc")
Identity = tuple[int, int]
"""Number of a process and when it started; numbers are given again."""
_TRIES = 20
"""How often to look again for processes that were started while others were killed."""


class Process(NamedTuple):
    """A process.

    started : ticks since the machine started
    is_over : it has ended and is not yet waited for
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int
    is_over: bool


def survey() -> Iterator[Process]:
    """All processes that can be seen and are not over; none where the machine has no /proc."""
    with suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - names alone are wanted, once for every process
            process = read(int(name)) if name.isdigit() else None
            if process and not process.is_over:
                yield process


def read(pid: int) -> Process | None:
    """One process; None where there is none."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name of the program stands in brackets and may hold anything, brackets and blanks included.
    fields = stat.rpartition(b")")[2].split()
    if len(fields) < 20 or fields[0] in b"X":
        return None
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), fields[0] == b"Z")


def terminate(leaders: Iterable[int]) -> None:
    """SIGTERM to every process group in the sessions of these leaders.

    A leader must not have been waited for yet: its number could belong to a stranger.
    """
    wanted = set(leaders)
    groups = wanted | {process.group for process in survey() if process.session in wanted}
    for group in groups:
        signal_group(group, signal.SIGTERM)


def kill(marks: Mapping[int, bytes]) -> None:
    """SIGKILL to everything that belongs to attempts, also to what left their sessions.

    marks : leader, not waited for yet → the variable in its environment that no other attempt has, as `NAME=value`
    """
    fresh = _family(marks)  # before anybody dies: orphans no longer name their parents
    for leader in marks:
        signal_group(leader, signal.SIGKILL)
    killed: set[Identity] = set()
    for _ in range(_TRIES):
        for pid, started in fresh:
            _kill_one(pid, started)
        killed |= fresh
        fresh = _family(marks) - killed if fresh else fresh
        if not fresh:
            return


def _kill_one(pid: int, started: int) -> None:
    """SIGKILL to a process that was seen; not to one that has got its number since."""
    with suppress(OSError):
        try:
            descriptor = os.pidfd_open(pid)
        except (OSError, AttributeError):  # it is gone; or there is no descriptor to be had
            if start_of(pid) == started:
                os.kill(pid, signal.SIGKILL)
            return
        try:
            if start_of(pid) == started:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group; nothing where it is gone or belongs to somebody else."""
    with suppress(OSError):
        os.killpg(group, number)


def _family(marks: Mapping[int, bytes]) -> set[Identity]:
    """Living processes of attempts: of their sessions, with their mark, and all below these."""
    processes = list(survey())
    family = {process.pid for process in processes if process.session in marks}
    # A leader that is over is still a row of the table until it is waited for, and nothing of its is older.
    first = min((start for start in map(start_of, marks) if start is not None), default=0)
    own = os.getsid(0)
    for process in processes:
        is_suspect = process.pid not in family and process.session != own and process.started >= first
        if is_suspect and not _environment(process.pid).isdisjoint(marks.values()):
            family.add(process.pid)
    below: dict[int, list[int]] = {}
    for process in processes:
        below.setdefault(process.parent, []).append(process.pid)
    waiting = [*family, *marks]
    while waiting:
        fresh = [pid for pid in below.get(waiting.pop(), ()) if pid not in family]
        family.update(fresh)
        waiting += fresh
    family.discard(os.getpid())
    return {(process.pid, process.started) for process in processes if process.pid in family}


def leaders_of(mark: bytes) -> set[int]:
    """Leaders of the sessions in which processes with this mark live."""
    own = os.getsid(0)
    found = {process.session for process in survey() if mark in _environment(process.pid)}
    return {leader for leader in found if leader > 1 and leader != own}


def start_of(pid: int) -> int | None:
    """When a process started, also where it is over and not yet waited for."""
    process = read(pid)
    return process.started if process else None


def _environment(pid: int) -> set[bytes]:
    """The variables of a process, empty where they are none of our business."""
    try:
        return set((_PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:
        return set()
