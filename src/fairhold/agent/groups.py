"""Control groups, where the agent may make some: version 2, alone or beside version 1 ("hybrid").

Every attempt has a group of its own below the agent's base. Its supervisor is in it too, so that the command is in it
from its first instruction; it leaves the group only to kill all that is in there at once.
"""

from __future__ import annotations

import os
from contextlib import suppress

_BASE = "fairhold-"
_OUTSIDE = "supervisors"
_AGENT = "agent"
"""A unit of systemd with `DelegateSubgroup=agent` puts the agent into a group of this name below its own."""


def find_base(key: str) -> str:
    """Where groups of the agent with this key can be made; empty where that is nowhere. Makes the base itself."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:  # noqa: PTH123
            own = next((line[3:].strip() for line in file if line.startswith("0::")), "")
        with open("/proc/self/mountinfo", encoding="utf-8") as file:  # noqa: PTH123
            mounts = [line.split() for line in file]
    except OSError:
        return ""
    for words in mounts:
        if own and words[words.index("-") + 1] == "cgroup2":
            root, place = words[3], words[4]
            inner = own if root == "/" else own.removeprefix(root)
            above = f"{place}{inner.rstrip('/')}"
            if above.rpartition("/")[2] == _AGENT:  # the group above it is ours too
                above = above.rpartition("/")[0]
                _write(f"{above}/cgroup.subtree_control", "+memory")
            return _make_base(f"{above}/{_BASE}{key}")
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
    _write(f"{base}/cgroup.subtree_control", "+memory")
    return base


def remove_base(base: str) -> None:
    """Give the base back; nothing where something is still in there."""
    if base:
        with suppress(OSError):
            os.rmdir(f"{base}/{_OUTSIDE}")  # noqa: PTH106
        with suppress(OSError):
            os.rmdir(base)  # noqa: PTH106


def make(base: str, attempt: int, memory: int) -> str:
    """Make the group of an attempt, of so many bytes at most; its directory, empty where there is none to be had."""
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
    return group


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
    """Kill all that is in a group, what is being forked included; False where the kernel cannot (before 5.14)."""
    return _write(f"{group}/cgroup.kill", "1")


def members(group: str) -> list[int]:
    """Processes in a group, groups below it apart; none where there is no such group."""
    try:
        with open(f"{group}/cgroup.procs", "rb") as file:  # noqa: PTH123
            return [int(line) for line in file]
    except OSError:
        return []


def is_limited(group: str) -> bool:
    """Whether the kernel watches the memory of a group."""
    return bool(group) and os.path.exists(f"{group}/memory.max")  # noqa: PTH110


def was_short_of_memory(group: str) -> bool:
    """Whether the kernel has killed something in a group for its memory."""
    try:
        with open(f"{group}/memory.events", "rb") as file:  # noqa: PTH123
            return any(line.startswith(b"oom_kill ") and line.split()[1] != b"0" for line in file)
    except OSError:
        return False


def remove(group: str) -> None:
    """Delete the group of an attempt that is over."""
    if group:
        with suppress(OSError):
            os.rmdir(group)  # noqa: PTH106


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
