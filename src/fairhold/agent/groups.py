"""Control groups of attempts, on hosts where the agent may make control groups.

Every attempt has its own group below the agent's base. Its supervisor is in the group too, so that the command is in it
from its first instruction. The supervisor leaves the group only to kill all processes in it at once.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from fairhold.agent.hierarchies import own_groups

_BASE = "fairhold-"
_OUTSIDE = "supervisors"
_AGENT = "/agent"
"""A unit of systemd with `DelegateSubgroup=agent` puts the agent into a group of this name below its own."""
_ROUNDS = 20
"""So often a group is gone through before who asks has other things to do."""
_FIRST_VERSION = {"memory": "memory.limit_in_bytes", "cpu": "cpu.cfs_quota_us"}
"""Limits, and the file by which a hierarchy of version 1 keeps each."""
_PERIOD = 100_000
"""Microseconds in which a group may use its part of the processors, the kernel's own; and the least of such a part."""
_LEAST = 1000


def find_base(key: str, only: str = "") -> str:
    """Where groups of the agent with this key can be made; empty where that is nowhere. Makes the base itself.

    only : one hierarchy and no other, see `own_groups`
    """
    for own in own_groups(only):
        above = own
        if own.endswith(_AGENT):  # the group above it is ours too
            above = own.removesuffix(_AGENT)
            _hand_on(above)
        base = _make_base(f"{above}/{_BASE}{key}")
        if base:
            return base
    return ""


def _make_base(base: str) -> str:
    try:
        with suppress(FileExistsError):
            os.mkdir(base)  # noqa: PTH102
        with suppress(FileExistsError):
            os.mkdir(f"{base}/{_OUTSIDE}")  # noqa: PTH102
        if not os.access(f"{base}/{_OUTSIDE}/cgroup.procs", os.W_OK):
            return ""
    except OSError:
        return ""
    _hand_on(base)
    return base


def _hand_on(group: str) -> None:
    """Let groups below this one have controllers (version 2), each by itself: it may have one and not the other."""
    for name in _FIRST_VERSION:
        _write(f"{group}/cgroup.subtree_control", f"+{name}")


def limits_kept(base: str) -> list[str]:
    """What the kernel limits in groups of this base: `memory`, `cpu`, both or nothing."""
    if not base:
        return []
    handed_on = _read(f"{base}/cgroup.subtree_control").decode().split()
    return [
        name
        for name, file in _FIRST_VERSION.items()
        if name in handed_on or os.path.exists(f"{base}/{file}")  # noqa: PTH110
    ]


def remove_base(base: str) -> None:
    """Give the base back; nothing where something is still in there."""
    if base:
        with suppress(OSError):
            os.rmdir(f"{base}/{_OUTSIDE}")  # noqa: PTH106
        with suppress(OSError):
            os.rmdir(base)  # noqa: PTH106


def make(base: str, attempt: int, memory: int, cpu: int = 0) -> str:
    """Make the group of an attempt; its directory, empty where there is none to be had.

    memory : bytes at most, 0 = any; cpu : thousandths of a core at most, 0 = any
    """
    if not base:
        return ""
    group = group_of(base, attempt)
    try:
        with suppress(FileExistsError):
            os.mkdir(group)  # noqa: PTH102
    except OSError:
        return ""
    if memory:
        _write(f"{group}/memory.max", str(memory))
        _write(f"{group}/memory.swap.max", "0")
        _write(f"{group}/memory.limit_in_bytes", str(memory))  # version 1; swap included in the next one
        _write(f"{group}/memory.memsw.limit_in_bytes", str(memory))
    if cpu:
        quota = max(_LEAST, cpu * _PERIOD // 1000)
        _write(f"{group}/cpu.max", f"{quota} {_PERIOD}")
        _write(f"{group}/cpu.cfs_period_us", str(_PERIOD))  # version 1
        _write(f"{group}/cpu.cfs_quota_us", str(quota))
    return group


def is_born_in(base: str) -> bool:
    """Whether a process can be forked into groups of this base: those of version 2 alone."""
    return bool(base) and os.path.exists(f"{base}/cgroup.controllers")  # noqa: PTH110


def enter(group: str) -> bool:
    """Put this process into a group; whether it is there now."""
    return bool(group) and _write(f"{group}/cgroup.procs", "0")


def group_of(base: str, attempt: int) -> str:
    """The directory of an attempt's group, whether it is there or not."""
    return f"{base}/{attempt}" if base else ""


def leave(base: str, group: str) -> None:
    """Leave the group of an attempt that is over and delete it."""
    if group and _write(f"{base}/{_OUTSIDE}/cgroup.procs", "0"):
        remove(group)


def kill_others(base: str, group: str) -> bool:
    """Leave a group and kill all that is in it; False where that is not possible."""
    return bool(group) and _write(f"{base}/{_OUTSIDE}/cgroup.procs", "0") and kill(group)


def kill(group: str) -> bool:
    """Kill all that is in a group, what is being forked included; False where there is no such group.

    Where the kernel does not do it (version 1, and version 2 before Linux 5.14), something may be left that forks
    faster than it is seen, unless the hierarchy can stop that: to be called again while something lives.
    """
    return _write(f"{group}/cgroup.kill", "1") or _kill_one_by_one(group)


def _kill_one_by_one(group: str) -> bool:
    _write(f"{group}/pids.max", "0")  # nothing more is forked
    freezer = f"{group}/freezer.state"
    _write(freezer, "FROZEN")
    for _ in range(_ROUNDS):
        is_frozen = _read(freezer) == b"FROZEN\n"
        if not _kill_members(group) or is_frozen:
            break
    _write(freezer, "THAWED")  # else they would not die
    return os.path.exists(f"{group}/cgroup.procs")  # noqa: PTH110


def _kill_members(group: str) -> bool:
    """Kill those that are seen in a group; whether there were any. Only who is still there is meant by its number."""
    found: dict[int, int] = {}
    for pid in members(group):
        with suppress(OSError):
            found[pid] = os.pidfd_open(pid)
    inside = set(members(group))
    for pid, descriptor in found.items():
        with suppress(OSError):
            if pid in inside:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)
    return bool(found)


def members(group: str) -> list[int]:
    """Processes in a group, groups below it apart; none where there is no such group."""
    return [int(line) for line in _read(f"{group}/cgroup.procs").split()]


def is_limited(group: str) -> bool:
    """Whether the kernel watches the memory of a group."""
    names = ("memory.max", "memory.limit_in_bytes")
    return bool(group) and any(os.path.exists(f"{group}/{name}") for name in names)  # noqa: PTH110


def was_short_of_memory(group: str) -> bool:
    """Whether the kernel has killed something in a group for its memory."""
    lines = _read(f"{group}/memory.events") or _read(f"{group}/memory.oom_control")
    return any(line.startswith(b"oom_kill ") and line.split()[1] != b"0" for line in lines.splitlines())


def remove(group: str) -> None:
    """Delete the group of an attempt that is over."""
    if group:
        with suppress(OSError):
            os.rmdir(group)  # noqa: PTH106


def _read(path: str) -> bytes:
    """A file of a group, empty where there is none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def _write(path: str, text: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, text.encode())
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
