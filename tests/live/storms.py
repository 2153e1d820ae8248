"""What is to be killed in a storm, and what it must have left: store and tasks (`task.sh`) tell the same."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.agent.spool import LIFE, Spool
from fairhold.orchestrator.ending import MOST_SUPERVISORS
from fairhold.orchestrator.events import SUPERVISOR_LOST
from fairhold.ports import Filter
from fairhold.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from fairhold.ports import FinishedTask

CUT_OFF = {"refused", "host_lost", "reclaim", SUPERVISOR_LOST}
"""Reasons of attempts after which a task waits again; such an attempt may have ended before its first line."""
Recorded = dict[str, list[list["FinishedTask"]]]


def supervisors(state: Path) -> list[int]:
    """Those that run a task of the service's own machine."""
    spool = Spool(str(state / "spool"))
    found = []
    for attempt, stage in spool.attempts().items():
        pid = spool.read(attempt, stage, LIFE).get("pid", 0) if stage == "alive" else 0
        if pid and _is_ours(pid, state):
            found.append(pid)
    return found


def agents(state: Path) -> list[int]:
    """The agent of the service's own machine, where it has come up."""
    lock = state / "agent.lock"
    locked = lock.read_text().strip() if lock.exists() else ""
    return [int(locked)] if locked.isdigit() and _is_ours(int(locked), state) else []


def kill_one(pids: list[int], dice: Random) -> None:
    """kill -9 of one of these, if there is any."""
    if pids:
        with suppress(ProcessLookupError):
            os.kill(dice.choice(pids), signal.SIGKILL)


def _is_ours(pid: int, state: Path) -> bool:
    try:
        return str(state).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def judge(work: Path, state: Path, jobs: Mapping[str, tuple[str, int]]) -> Recorded:
    """Compare both, of a service that has ended; the attempts on record by job and task.

    jobs : by key, number and tasks of all that was accepted
    """
    twice = work / "twice"
    assert not twice.exists(), twice.read_text()
    recorded: Recorded = {}
    store = open_store(state)
    try:
        assert store.check() == ()
        for key, (job, count) in jobs.items():
            assert store.job(job) is not None, f"{key} was accepted and is lost"
            found = store.tasks(Filter(job=job), limit=10_000).rows
            by_task = [sorted((each for each in found if each.task == task), key=_number) for task in range(count)]
            assert sum(map(len, by_task)) == len(found), f"{key}: attempts of tasks that it does not have"
            for task, attempts in enumerate(by_task):
                _judge_task(work / f"{key}.{task}", attempts)
            recorded[job] = by_task
    finally:
        store.close()
    seen = {path.name.rpartition(".")[0] for path in work.glob("*.starts")}
    assert seen <= {f"{key}.{task}" for key, (_, count) in jobs.items() for task in range(count)}
    return recorded


def _judge_task(name: Path, attempts: list[FinishedTask]) -> None:
    starts, ends = _lines(name, "starts"), _lines(name, "done")
    told = f"{name.name}: {[(each.number, each.reason) for each in attempts]}, started {starts}, done {ends}"
    assert [each.number for each in attempts] == list(range(1, len(attempts) + 1)), told
    assert len(starts) == len(set(starts)), f"one attempt ran twice: {told}"
    assert set(starts) <= {each.number for each in attempts}, f"a start that nobody recorded: {told}"
    assert set(ends) <= set(starts), told
    *before, last = attempts
    assert {each.reason for each in before} <= CUT_OFF, told
    assert {each.number for each in attempts if each.reason not in CUT_OFF} <= set(starts), f"it never ran: {told}"
    if last.state == "failed":
        assert [each.reason for each in attempts].count(SUPERVISOR_LOST) >= MOST_SUPERVISORS, told
    else:
        assert (last.state, last.reason) == ("done", "finished"), told
        assert last.number in ends, f"it is done and never came to its end: {told}"


def _lines(name: Path, kind: str) -> list[int]:
    path = name.with_name(f"{name.name}.{kind}")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def _number(attempt: FinishedTask) -> int:
    return attempt.number
