"""Whether the process that wrote something still lives, as far as that can be known for certain."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LOCKS = Path("/proc/locks")
_WORDS = 8
"""Of a line there that says who has a lock."""
_STARTED = 19
"""Field of `/proc/PID/stat` behind the name: when the process was started, in ticks since the system was."""
_ENDING = 2.0
"""Seconds until a process that is killed is gone."""


def this_process() -> str:
    """Names this process: the start of the system, who numbers processes, number, when it was started.

    Empty where the system does not say all of that.
    """
    with suppress(OSError):
        return f"{_here()}:{os.getpid()}:{_started(os.getpid())}"
    return ""


def is_gone(process: str) -> bool:
    """Whether a process has ended for certain. False also where it is of another machine or container."""
    here, pid, started = _parts(process)
    with suppress(OSError):
        return here == _here() and pid > 0 and _started(pid) != started
    return False


def pid_of(process: str) -> int:
    """Number of a process that runs here; 0 where it does not, or that is not certain."""
    here, pid, started = _parts(process)
    with suppress(OSError):
        return pid if here == _here() and pid > 0 and _started(pid) == started else 0
    return 0


def end_holder(process: str, path: Path, byte: int = 0) -> int:
    """Kill a process that keeps a byte of a file locked; its number, 0 where it does not, or that is not certain."""
    if not (pid := pid_of(process)):
        return 0
    with suppress(OSError):
        # what is held names this process and no later one with its number, so it is looked at again
        held = os.pidfd_open(pid)
        try:
            if pid_of(process) and pid in _lockers(path, byte):
                signal.pidfd_send_signal(held, signal.SIGKILL)
                select.select([held], [], [], _ENDING)
                return pid
        finally:
            os.close(held)
    return 0


def _lockers(path: Path, byte: int) -> set[int]:
    """Numbers of the processes that keep others from a byte of a file, as the system lists them. OSError."""
    found, node = set(), str(path.stat().st_ino)
    for line in _LOCKS.read_text(encoding="ascii", errors="replace").splitlines():
        words = line.split()  # `1: POSIX ADVISORY WRITE 4711 08:01:131 120 120`; who waits has one more, `->`
        if len(words) != _WORDS or words[3] != "WRITE" or words[5].rpartition(":")[2] != node:
            continue
        if int(words[6]) <= byte and (words[7] == "EOF" or byte <= int(words[7])):
            found.add(int(words[4]))
    return found


def _parts(process: str) -> tuple[str, int, str]:
    here, _, rest = process.rpartition(":")
    here, _, pid = here.rpartition(":")
    return here, int(pid) if pid.isdecimal() else 0, rest


def _here() -> str:
    """Which system this is, and who numbers processes. OSError."""
    return f"{_BOOT.read_text().strip()}:{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - not a path


def _started(pid: int) -> str:
    """When a process was started; empty = there is none, or only what its parent has yet to fetch. OSError."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[_STARTED]
