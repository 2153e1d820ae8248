"""Stores of a given size, made without HTTP: what a service that had accepted all of it would have written."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Self

from bench.live_service import plan_text
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import (
    Exit,
    GroupPaused,
    JobSubmitted,
    MachineReported,
    Outcome,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.opening import Rising
from fairhold.runtime.live.recovery import frozen
from fairhold.runtime.live.submitting import Submission
from fairhold.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.ports import Store

USERS = 40
LEAVES = ("/A", "/B", "/C")


class Writer:
    """A core without agents, and its store; of the plan of `plan_text`, or of another one with other leaves."""

    def __init__(self, state: Path, slots: int, plan: str = "", leaves: Sequence[str] = LEAVES) -> None:
        self._leaves = leaves
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store: Store = open_store(state, cluster="bench", node=socket.gethostname())
        self.core = Core(self.store, Rising(self.store.last_at))
        self.core.open(plan or plan_text(slots), "plan.json", "bench")
        self.core.feed(MachineReported("", "none", 0))

    def submit(self, jobs: int, *, count: int = 1) -> Self:
        """So many jobs, of several users."""
        environment = {"PATH": os.defpath, "HOME": "/nowhere"}
        for number in range(jobs):
            user, consumer = f"user{number % USERS}", self._leaves[number % len(self._leaves)]
            argv = ("true", "--input", f"file-{number}.dat")
            spec = Spec(consumer, argv, environment, "/", user=user, name=f"file-{number}")
            terms = JobSubmitted("", consumer, "compute", count, user=user)
            self.core.submit(Submission(user, f"key-{number}", terms, spec))
            if number % 1000 == 0:
                self.core.journal.commit()
        self.core.journal.commit()
        return self

    def run(self, entries: int) -> Self:
        """Let tasks start, run and end until the log is so many entries longer."""
        end = self.store.last + entries
        self.core.feed(Woken())
        while self.store.last < end:
            for attempt in list(self.core.cluster.attempts):
                self.core.feed(TaskRunning(attempt))
                self.core.feed(TaskEnded(attempt, Outcome.FINISHED, Exit("finished", 0)))
            self.core.feed(Woken())
            self.core.journal.commit()
        return self

    def pause(self) -> Self:
        """Nothing more starts, also when a service takes this up."""
        self.core.feed(GroupPaused("compute", grants=True, reclaims=False))
        self.core.journal.commit()
        return self

    def snapshot(self) -> Self:
        """Write a snapshot of what there is."""
        self.store.save_snapshot(self.store.last, self.store.last_at, frozen(self.core).encode())
        return self

    def close(self) -> None:
        """Leave the store to others."""
        self.store.close()
