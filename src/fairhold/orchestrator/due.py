"""Timers of a live cluster, except those of cycles and notices."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.hosts import MachineRecord
    from fairhold.orchestrator.tasks import JobRecord

READY, DRAIN, TRY = "ready", "drain", "try"


class Due:
    """Retries of tasks, deadlines of attempts on draining hosts, and closed machines to be opened again.

    A heap of (instant, kind, job or machine, task or attempt). An entry is stale if the job was cancelled, the attempt
    has ended, or an operator has closed or opened the machine. Stale entries are dropped when they come up.
    """

    def __init__(
        self, jobs: Mapping[str, JobRecord], attempts: Mapping[int, Attempt], machines: Mapping[str, MachineRecord]
    ) -> None:
        self._jobs, self._attempts, self._machines = jobs, attempts, machines
        self._heap: list[tuple[int, str, str, int]] = []

    def ready(self, instant: int, job: str, task: int) -> None:
        """A task is tried again at an instant."""
        heappush(self._heap, (instant, READY, job, task))

    def drain(self, instant: int, attempt: int) -> None:
        """An attempt is to leave its host by an instant."""
        heappush(self._heap, (instant, DRAIN, "", attempt))

    def try_again(self, machine: str, instant: int) -> None:
        """A closed machine is opened at an instant; 0 = never."""
        if instant:
            heappush(self._heap, (instant, TRY, machine, 0))

    def next(self) -> int | None:
        """When the next comes that counts."""
        while self._heap and not self._counts(*self._heap[0]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: int) -> list[tuple[str, str, int]]:
        """What has come and counts: (kind, job or machine, task or attempt)."""
        found: list[tuple[str, str, int]] = []
        while self._heap and self._heap[0][0] <= now:
            entry = heappop(self._heap)
            if self._counts(*entry):
                found.append(entry[1:])
        return found

    def _counts(self, instant: int, kind: str, name: str, number: int) -> bool:
        if kind == DRAIN:
            attempt = self._attempts.get(number)
            return attempt is not None and attempt.leaving == instant and not attempt.stopping
        if kind == TRY:
            machine = self._machines.get(name)
            return machine is not None and machine.try_at == instant
        job = self._jobs.get(name)
        return job is not None and job.delays is not None and job.delays.get(number) == instant
