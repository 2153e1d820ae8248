"""What of a live cluster is due at an instant, beside cycles and the graces of notices."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.orchestrator.tasks import Attempt, JobRecord

READY, DRAIN = "ready", "drain"


class Due:
    """Tasks whose next try comes, and attempts that must have left their host.

    A heap of (instant, kind, job, task or attempt). What does not count any more, because the job was cancelled or the
    attempt has ended, is dropped when it comes up.
    """

    def __init__(self, jobs: Mapping[str, JobRecord], attempts: Mapping[int, Attempt]) -> None:
        self._jobs, self._attempts = jobs, attempts
        self._heap: list[tuple[int, str, str, int]] = []

    def ready(self, instant: int, job: str, task: int) -> None:
        """A task is tried again at an instant."""
        heappush(self._heap, (instant, READY, job, task))

    def drain(self, instant: int, attempt: int) -> None:
        """An attempt is to leave its host by an instant."""
        heappush(self._heap, (instant, DRAIN, "", attempt))

    def next(self) -> int | None:
        """When the next comes that counts."""
        while self._heap and not self._counts(*self._heap[0]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: int) -> list[tuple[str, str, int]]:
        """What has come and counts: (kind, job, task or attempt)."""
        found = []
        while (instant := self.next()) is not None and instant <= now:
            found.append(heappop(self._heap)[1:])
        return found

    def _counts(self, instant: int, kind: str, name: str, number: int) -> bool:
        if kind == DRAIN:
            attempt = self._attempts.get(number)
            return attempt is not None and attempt.leaving == instant and not attempt.stopping
        job = self._jobs.get(name)
        return job is not None and job.delays is not None and job.delays.get(number) == instant
