"""Jobs and their tasks: which of them is started next, and how often it was."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class JobRecord:
    """A job as the orchestrator knows it; constant memory however many of its tasks still wait.

    request  : row of its request in the books of its resource group
    leaf     : row of its consumer there
    waiting  : tasks that wait, running : that run, finished, failed : that are over
    cancelled, dropped : tasks that a cancel stopped, and that waited when it came
    reclaimed : attempts that ended because of a reclaim and were not done
    attempts : numbers of its running attempts, in the order of their start
    """

    name: str
    resource_group: str
    leaf: int
    request: int
    waiting: int
    running: int = 0
    finished: int = 0
    failed: int = 0
    cancelled: int = 0
    dropped: int = 0
    reclaimed: int = 0
    is_cancelled: bool = False
    attempts: dict[int, None] = field(default_factory=dict)
    _next_index: int = 0
    _front: deque[int] = field(default_factory=deque)
    _attempts: dict[int, int] = field(default_factory=dict)

    def next_task(self) -> tuple[int, int]:
        """Index and attempt number of the task to start next: requeued ones first (S1.60)."""
        self.waiting -= 1
        self.running += 1
        if self._front:
            index = self._front.popleft()
            return index, self._attempts[index] + 1
        self._next_index += 1
        return self._next_index - 1, 1

    def requeue(self, index: int, number: int) -> None:
        """A task was stopped by a reclaim: it waits again, in front, with its attempt counted (S1.55, S1.60)."""
        self.running -= 1
        self.waiting += 1
        self.reclaimed += 1
        self._attempts[index] = number
        self._front.appendleft(index)


@dataclass(slots=True)
class Attempt:
    """One running attempt of a task.

    allocation : row of its unit in the books
    noticed    : it was told that its unit is reclaimed, now or before a withdrawal
    stopping   : it was told to stop
    """

    job: JobRecord
    index: int
    number: int
    allocation: int
    noticed: bool = False
    stopping: bool = False
