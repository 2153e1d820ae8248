"""Jobs and their tasks: the next task to start, and the number of its attempts."""

from __future__ import annotations

from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fairhold.orchestrator.changes import AGAIN, CANCELLED, DONE, FAILED, LATER
from fairhold.orchestrator.events import SUPERVISOR_LOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.state import Request
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.changes import Ended, JobAdded


_NOT_TAKEN = frozenset({"requeue", "refused", "host_lost", SUPERVISOR_LOST})
"""Reasons of ends after which a task waits again though nobody took its units."""
_NO_ATTEMPTS: Mapping[int, None] = MappingProxyType({})


class JobRecord:
    """A job as the orchestrator knows it; constant memory however many of its tasks still wait.

    name     : unique
    terms    : what was asked for, without its name: jobs with the same terms share them
    consumer : path of its leaf, as it is now; priority : as it is now
    request  : row of its request there, NONE for gangs: each of their tasks has a request of its own
    gangs    : (id, row) of requests of gang tasks that wait, by id; they are equal, and the first is started first
    gangs_made : how many requests of gang tasks there ever were: the next one's id
    submitted : instant; serial: of vectors, which job of its cluster it is
    hold     : why it is held, None = it is not
    needs    : how many jobs it still waits for
    waiting  : tasks that wait
    delays   : tasks that wait for the time of their next try: index → instant
    finished, failed : tasks that are over
    cancelled, dropped : tasks that a cancel stopped, and that waited when it came
    reclaimed : attempts that ended because of a reclaim or a drain and were not done
    failed_on : machines on which it failed before any task of it was done
    left_out : indices of tasks that were dropped one by one
    noun     : of vectors, the request as a cycle was told it last, None = no cycle was
    """

    __slots__ = (
        "_attempts",
        "_begun",
        "_front",
        "_next_index",
        "_supervisors_lost",
        "cancelled",
        "consumer",
        "delays",
        "dropped",
        "failed",
        "failed_on",
        "failures",
        "finished",
        "gangs",
        "gangs_made",
        "hold",
        "is_cancelled",
        "left_out",
        "name",
        "needs",
        "noun",
        "priority",
        "reclaimed",
        "request",
        "serial",
        "submitted",
        "terms",
        "waiting",
    )
    NONE = -1

    def __init__(self, name: str, terms: JobAdded, submitted: int) -> None:
        self.name = name
        self.terms = terms
        self.consumer = terms.consumer
        self.request = self.NONE
        self.serial = 0
        self.priority = terms.priority
        self.submitted = submitted
        self.hold = terms.hold
        self.noun: Request | None = None
        self.needs = len(terms.after)
        self.waiting = terms.tasks
        self.finished = self.failed = 0
        self.delays: dict[int, int] | None = None
        self.cancelled = self.dropped = self.reclaimed = 0
        self.is_cancelled = False
        self.gangs: list[tuple[str, int]] | None = None
        self.gangs_made = 0
        self._begun: dict[int, None] | None = None
        self.failed_on: set[str] | None = None
        self.left_out: set[int] | None = None
        self.failures: dict[int, int] | None = None
        self._supervisors_lost: dict[int, int] | None = None
        self._next_index = 0
        self._front: deque[int] | None = None
        self._attempts: dict[int, int] | None = None

    @property
    def resource_group(self) -> str:
        """Name of the group that it runs on."""
        return self.terms.resource_group

    @property
    def units(self) -> int:
        """Slots that each task needs."""
        return self.terms.units

    @property
    def running(self) -> int:
        """Tasks that run."""
        return len(self._begun) if self._begun else 0

    @property
    def startable(self) -> int:
        """Tasks that may start as soon as there are slots."""
        if self.is_cancelled or self.hold is not None or self.needs:
            return 0
        throttle = self.terms.throttle
        return max(0, min(self.waiting, throttle - self.running)) if throttle else self.waiting

    @property
    def least(self) -> int:
        """Tasks that begin together or not at all, of those that run or may start; 0 = each by itself."""
        return min(self.terms.min_count, self.running + self.startable)

    @property
    def minimum(self) -> int:
        """The same, of its request in the tables; a job of vectors has it in its noun."""
        return 0 if self.terms.unit else self.least

    @property
    def is_over(self) -> bool:
        """Nothing waits or runs any more."""
        return self.waiting == 0 and self.running == 0 and not self.delays

    @property
    def attempts(self) -> Mapping[int, None]:
        """Numbers of its running attempts, in the order of their start."""
        return self._begun or _NO_ATTEMPTS

    def supervisors_lost(self, index: int) -> int:
        """Attempts of a task, not over yet, that have lost their supervisors."""
        return (self._supervisors_lost or {}).get(index, 0)

    def begin(self, attempt: int) -> None:
        """An attempt of it holds units."""
        self._begun = self._begun if self._begun is not None else {}
        self._begun[attempt] = None

    def finish(self, attempt: int) -> None:
        """An attempt of it is over."""
        assert self._begun is not None
        del self._begun[attempt]
        self._begun = self._begun or None

    def peek(self) -> tuple[int, int]:
        """Index and attempt number of the task to start next: requeued ones first (S1.60)."""
        if self._front:
            index = self._front[0]
            return index, self._tried(index) + 1
        index = self._next_index
        while index in (self.left_out or ()):
            index += 1
        return index, 1

    def is_waiting(self, index: int) -> bool:
        """Whether a task waits to be started."""
        is_new = index >= self._next_index and index not in (self.left_out or ())
        return is_new or index in (self._front or ()) or index in (self.delays or ())

    def take(self, index: int, number: int) -> None:
        """A task starts."""
        self.waiting -= 1
        if self._front and self._front[0] == index:
            self._front.popleft()
        else:
            assert index == self.peek()[0]
            self._next_index = index + 1
        if number > 1 and self._attempts is not None:
            del self._attempts[index]

    def wait_again(self, index: int, number: int) -> None:
        """A task that ran is queued again at the front, with its attempt counted (S1.55, S1.60)."""
        self.waiting += 1
        self._put_back(index, number)

    def delay(self, index: int, number: int, instant: int) -> None:
        """A task that failed waits for the time of its next try."""
        self.delays = self.delays if self.delays is not None else {}
        self.delays[index] = instant
        self._attempts = self._attempts if self._attempts is not None else {}
        self._attempts[index] = number

    def resume(self, index: int) -> None:
        """The time of a next try has come."""
        assert self.delays is not None
        del self.delays[index]
        self.waiting += 1
        self._put_back(index, self._tried(index))

    def settle(self, attempt: Attempt, change: Ended) -> None:
        """Count the end of an attempt of it for its task."""
        if change.then == AGAIN:
            self.wait_again(attempt.index, attempt.number)
            self.reclaimed += attempt.noticed and change.reason not in _NOT_TAKEN
            if change.reason == SUPERVISOR_LOST:
                lost = self._supervisors_lost = self._supervisors_lost or {}
                lost[attempt.index] = lost.get(attempt.index, 0) + 1
        elif change.then == LATER:
            self.delay(attempt.index, attempt.number, change.instant)
            self.failures = self.failures if self.failures is not None else {}
            self.failures[attempt.index] = self.failures.get(attempt.index, 0) + 1
        else:
            self.finished += change.then == DONE
            self.failed += change.then == FAILED
            self.cancelled += change.then == CANCELLED
            for counts in (self.failures, self._supervisors_lost):
                if counts is not None:
                    counts.pop(attempt.index, None)
        if self.finished:
            self.failed_on = None
        elif change.then in {FAILED, LATER}:
            self.failed_on = self.failed_on if self.failed_on is not None else set()
            self.failed_on.add(attempt.machine)

    def drop(self) -> None:
        """A cancel: nothing waits any more."""
        self.is_cancelled = True
        self.dropped += self.waiting + len(self.delays or ())
        self.waiting = 0
        self.delays = self._front = self._attempts = None

    def resize(self, terms: JobAdded) -> None:
        """It has more tasks, which wait."""
        self.waiting += terms.tasks - self.terms.tasks
        self.terms = terms

    def leave_out(self, index: int) -> None:
        """A task is dropped: it waits no more, or will not again."""
        if self.is_waiting(index):
            self.dropped += 1
            if index in (self.delays or ()):
                assert self.delays is not None
                del self.delays[index]
            else:
                self.waiting -= 1
            if index in (self._front or ()):
                assert self._front is not None
                self._front.remove(index)
            (self._attempts or {}).pop(index, None)
        self.left_out = (self.left_out or set()) | {index}

    def tried(self) -> dict[int, int]:
        """Tasks that have run before and wait, in front first: index → attempts so far; then those with a time."""
        front = {index: self._tried(index) for index in self._front or ()}
        return front | {index: number for index, number in (self._attempts or {}).items() if index not in front}

    def progress(self) -> dict[str, Any]:
        """How far its tasks are, where they have begun: lists for JSON; `restore` takes them back."""
        found: dict[str, Any] = {}
        if self._next_index:
            found["next"] = self._next_index
        if self._front:
            found["front"] = [[index, self._tried(index)] for index in self._front]
        if self.delays:
            found["delays"] = [[index, instant, self._tried(index)] for index, instant in sorted(self.delays.items())]
        if self.failures:
            found["failures"] = [list(each) for each in sorted(self.failures.items())]
        if self._supervisors_lost:
            found["supervisors_lost"] = [list(each) for each in sorted(self._supervisors_lost.items())]
        if self.failed_on:
            found["failed_on"] = sorted(self.failed_on)
        if self.left_out:
            found["left_out"] = sorted(self.left_out)
        return found

    def restore(self, found: Mapping[str, Any]) -> None:
        """The reverse of `progress`, on a new record."""
        self._next_index = found.get("next", 0)
        if "front" in found:
            self._front = deque(index for index, _ in found["front"])
            self._attempts = dict(found["front"])
        if "delays" in found:
            self.delays = {index: instant for index, instant, _ in found["delays"]}
            self._attempts = (self._attempts or {}) | {index: number for index, _, number in found["delays"]}
        if "failures" in found:
            self.failures = dict(found["failures"])
        if "supervisors_lost" in found:
            self._supervisors_lost = dict(found["supervisors_lost"])
        if "failed_on" in found:
            self.failed_on = set(found["failed_on"])
        if "left_out" in found:
            self.left_out = set(found["left_out"])

    def _tried(self, index: int) -> int:
        return (self._attempts or {}).get(index, 0)

    def _put_back(self, index: int, number: int) -> None:
        self._attempts = self._attempts if self._attempts is not None else {}
        self._attempts[index] = number
        self._front = self._front if self._front is not None else deque()
        self._front.appendleft(index)
