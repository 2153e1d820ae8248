"""Jobs and their tasks: which of them is started next, and how often it was."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.orchestrator.changes import JobAdded


class JobRecord:
    """A job as the orchestrator knows it; constant memory however many of its tasks still wait.

    terms    : what was asked for
    leaf     : row of its consumer in the books of its resource group; priority : as it is now
    request  : row of its request there, NONE for gangs: each of their tasks has a request of its own
    gangs    : (id, row) of requests of gang tasks that wait, by id; they are equal, and the first is started first
    gangs_made : how many requests of gang tasks there ever were: the next one's id
    submitted : instant
    hold     : why it is held, None = it is not
    needs    : how many jobs it still waits for
    waiting  : tasks that wait, running : that run
    delays   : tasks that wait for the time of their next try: index → instant
    finished, failed : tasks that are over
    cancelled, dropped : tasks that a cancel stopped, and that waited when it came
    reclaimed : attempts that ended because of a reclaim and were not done
    attempts : numbers of its running attempts, in the order of their start
    failed_on : machines on which it failed
    """

    __slots__ = (
        "_attempts",
        "_front",
        "_next_index",
        "attempts",
        "cancelled",
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
        "leaf",
        "needs",
        "priority",
        "reclaimed",
        "request",
        "running",
        "submitted",
        "terms",
        "waiting",
    )
    NONE = -1

    def __init__(self, terms: JobAdded, leaf: int, submitted: int) -> None:
        self.terms = terms
        self.leaf = leaf
        self.request = self.NONE
        self.priority = terms.priority
        self.submitted = submitted
        self.hold = terms.hold
        self.needs = len(terms.after)
        self.waiting = terms.tasks
        self.running = self.finished = self.failed = 0
        self.delays: dict[int, int] | None = None
        self.cancelled = self.dropped = self.reclaimed = 0
        self.is_cancelled = False
        self.gangs: list[tuple[str, int]] | None = None
        self.gangs_made = 0
        self.attempts: dict[int, None] = {}
        self.failed_on: set[str] | None = None
        self.failures: dict[int, int] | None = None
        self._next_index = 0
        self._front: deque[int] | None = None
        self._attempts: dict[int, int] | None = None

    @property
    def name(self) -> str:
        """Unique name."""
        return self.terms.job

    @property
    def resource_group(self) -> str:
        """Name of the group that it runs on."""
        return self.terms.resource_group

    @property
    def units(self) -> int:
        """Slots that each task needs."""
        return self.terms.units

    @property
    def startable(self) -> int:
        """Tasks that may start as soon as there are slots."""
        if self.is_cancelled or self.hold is not None or self.needs:
            return 0
        throttle = self.terms.throttle
        return max(0, min(self.waiting, throttle - self.running)) if throttle else self.waiting

    @property
    def is_over(self) -> bool:
        """Nothing waits or runs any more."""
        return self.waiting == 0 and self.running == 0 and not self.delays

    def peek(self) -> tuple[int, int]:
        """Index and attempt number of the task to start next: requeued ones first (S1.60)."""
        if self._front:
            index = self._front[0]
            return index, self._tried(index) + 1
        return self._next_index, 1

    def take(self, index: int, number: int) -> None:
        """A task starts."""
        self.waiting -= 1
        self.running += 1
        if self._front and self._front[0] == index:
            self._front.popleft()
        else:
            assert index == self._next_index
            self._next_index += 1
        if number > 1 and self._attempts is not None:
            del self._attempts[index]

    def wait_again(self, index: int, number: int) -> None:
        """A task that ran waits again, in front, with its attempt counted (S1.55, S1.60)."""
        self.running -= 1
        self.waiting += 1
        self._put_back(index, number)

    def delay(self, index: int, number: int, instant: int) -> None:
        """A task that failed waits for the time of its next try."""
        self.running -= 1
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

    def drop(self) -> None:
        """A cancel: nothing waits any more."""
        self.is_cancelled = True
        self.dropped += self.waiting + len(self.delays or ())
        self.waiting = 0
        self.delays = self._front = self._attempts = None

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
        if self.failed_on:
            found["failed_on"] = sorted(self.failed_on)
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
        if "failed_on" in found:
            self.failed_on = set(found["failed_on"])

    def _tried(self, index: int) -> int:
        return (self._attempts or {}).get(index, 0)

    def _put_back(self, index: int, number: int) -> None:
        self._attempts = self._attempts if self._attempts is not None else {}
        self._attempts[index] = number
        self._front = self._front if self._front is not None else deque()
        self._front.appendleft(index)


class Attempt:
    """One attempt of a task that holds units.

    name        : its number in the whole cluster's life
    number      : which attempt of its task it is, from 1
    allocations : rows of its units in the books
    places      : (host, units) of them; machine : where it runs
    started     : instant
    is_running  : its command is known to run
    is_unknown  : its machine is silent
    noticed     : it was told that its units are reclaimed, now or before a withdrawal
    notice      : (deadline, reason, taker) in force, None = none
    leaving     : deadline by which it is to leave its host, which is being drained; None = it may stay
    stopping    : why it was told to stop, empty = it was not
    """

    __slots__ = (
        "allocations",
        "index",
        "is_running",
        "is_unknown",
        "job",
        "leaving",
        "machine",
        "name",
        "notice",
        "noticed",
        "number",
        "places",
        "request",
        "started",
        "stopping",
    )

    def __init__(  # noqa: PLR0917 - the fields of a start, in its order
        self,
        name: int,
        job: JobRecord,
        index: int,
        number: int,
        request: int,
        places: tuple[tuple[str, int], ...],
        started: int,
    ) -> None:
        self.name = name
        self.job = job
        self.index = index
        self.number = number
        self.request = request
        self.places = places
        self.machine = places[0][0]
        self.started = started
        self.allocations: tuple[int, ...] = ()
        self.is_running = self.is_unknown = self.noticed = False
        self.notice: tuple[int, str, str] | None = None
        self.leaving: int | None = None
        self.stopping = ""

    @property
    def units(self) -> int:
        """Slots that it holds."""
        return sum(units for _, units in self.places)
