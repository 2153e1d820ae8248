"""Finds and kills the processes of an attempt whose supervisor is gone.

They are found by its control group, its session, the mark in their environment, and as descendants of these. The agent
also adopts orphans: a child of it that is no supervisor was left by a dead one. This repeats until none is found.
"""

from __future__ import annotations

import os
import signal

from fairhold.agent import groups, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


def sweep(token: str, life: dict[str, Any], group: str, supervisors: Collection[int]) -> dict[int, int]:
    """Kill all that belongs to an attempt without a supervisor; what was seen of it: number → start of a process.

    life        : what its supervisor has written of itself and its command, may be empty
    group       : the directory of its group, whether it is there or not
    supervisors : children of this process that are left alone, with all below them
    """
    groups.kill(group)
    family = _family(token, life, group, supervisors)
    processes.send_all(family, signal.SIGKILL)
    return family


def _family(token: str, life: dict[str, Any], group: str, supervisors: Collection[int]) -> dict[int, int]:
    rows = {process.pid: process for process in processes.survey()}
    me = os.getpid()
    mark = f"FAIRHOLD_MARK={token}".encode(errors="surrogateescape")
    session = _session(life, rows)
    members = set(groups.members(group))
    roots = [
        process.pid
        for process in rows.values()
        if process.pid in members
        or (session and process.session == session)
        or (process.parent == me and process.pid not in supervisors)
        or (token and processes.has_variable(process.pid, mark))
    ]
    children: dict[int, list[int]] = {}
    for process in rows.values():
        children.setdefault(process.parent, []).append(process.pid)
    family: dict[int, int] = {}
    while roots:
        pid = roots.pop()
        if pid not in family and pid not in supervisors and pid != me:
            family[pid] = rows[pid].started
            roots += children.get(pid, ())
    return family


def _session(life: dict[str, Any], rows: dict[int, processes.Process]) -> int:
    """The session of its command; 0 where none was started or its number belongs to a stranger by now."""
    leader = life.get("command", 0)
    if leader in rows and rows[leader].started != life.get("command_start"):
        return 0
    return leader if isinstance(leader, int) else 0
