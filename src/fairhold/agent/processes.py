"""Processes as /proc shows them (Linux): alive or not, start, parent; signals that cannot hit another process.

The kernel reuses a process id after its end. Together with the start in ticks it identifies one process until the host
restarts.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Process:
    """A living process; `started` in ticks since the host's start."""

    __slots__ = ("group", "parent", "pid", "session", "started")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.parent, self.group, self.session = int(fields[1]), int(fields[2]), int(fields[3])
        self.started = int(fields[19])


def boot_id() -> str:
    """Identity of the host's start."""
    return _read("/proc/sys/kernel/random/boot_id").strip().decode()


def started_at(pid: int | str) -> int:
    """When a process started, also where it is over and not yet waited for; 0 = there is none."""
    fields = _fields(pid)
    return int(fields[19]) if fields else 0


def lives(pid: int, started: int) -> bool:
    """Whether this very process lives; one that only has not been waited for does not."""
    fields = _fields(pid)
    return bool(fields) and fields[0] not in b"ZX" and int(fields[19]) == started


def survey() -> Iterator[Process]:
    """All processes that can be seen and are not over."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - names alone are wanted, once for every process
        if name.isdigit():
            fields = _fields(name)
            if fields and fields[0] not in b"ZX":
                yield Process(int(name), fields)


def has_variable(pid: int, variable: bytes) -> bool:
    """Whether `NAME=value` is in the environment of a process; False where that is none of our business."""
    return variable in _read(f"/proc/{pid}/environ").split(b"\0")


def below(root: int) -> dict[int, int]:
    """Living processes that descend from one, at this moment: number → start. What forks meanwhile may be missed."""
    family: dict[int, int] = {}
    waiting = [root]
    while waiting:
        for child in _children(waiting.pop()):
            fields = _fields(child)
            if fields and child not in family:
                family[child] = int(fields[19])
                waiting.append(child)
    return family


def stopped(family: dict[int, int]) -> dict[int, int]:
    """Those of a family that a signal has stopped."""
    return {pid: started for pid, started in family.items() if _fields(pid)[:1] == [b"T"]}


def send(pid: int, started: int, number: int) -> None:
    """A signal to this very process; nothing where it is gone."""
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if started_at(pid) == started:  # asked after it was opened: the number has not changed hands since
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def send_all(family: dict[int, int], number: int) -> None:
    """A signal to each of these processes."""
    for pid, started in family.items():
        send(pid, started, number)


def _children(pid: int) -> Iterable[int]:
    """Numbers of its children, of all its threads."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):  # noqa: PTH110 - a kernel without these lists
                return [process.pid for process in survey() if process.parent == pid]
        except OSError:
            continue
    return found


def _fields(pid: int | str) -> list[bytes]:
    # The name of the program stands in brackets and may hold anything, brackets and blanks included.
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    """A file of /proc, empty where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = b""
        while part := os.read(descriptor, 65536):
            content += part
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return content
