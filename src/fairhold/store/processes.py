"""Whether the process that wrote something still lives, as far as that can be known for certain."""

from __future__ import annotations

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_STARTED = 19
"""Field of `/proc/PID/stat` behind the name: when the process was started, in ticks since the system was."""


def this_process() -> str:
    """Names this process: the start of the system, who numbers processes, number, when it was started."""
    return f"{_here()}:{os.getpid()}:{_started(os.getpid())}"


def is_gone(process: str) -> bool:
    """Whether a process has ended for certain. False also where it is of another machine or container."""
    here, pid, started = _parts(process)
    return here == _here() and pid > 0 and _started(pid) != started


def pid_of(process: str) -> int:
    """Number of a process that runs here; 0 where it does not, or that is not certain."""
    here, pid, started = _parts(process)
    return pid if here == _here() and pid > 0 and _started(pid) == started else 0


def _parts(process: str) -> tuple[str, int, str]:
    here, _, rest = process.rpartition(":")
    here, _, pid = here.rpartition(":")
    return here, int(pid) if pid.isdecimal() else 0, rest


def _here() -> str:
    try:
        return f"{_BOOT.read_text().strip()}:{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - not a path
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process was started; empty = there is none, or only what its parent has yet to fetch."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[_STARTED]
