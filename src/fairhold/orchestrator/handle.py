"""Event in, instructions out: everything that changes the books of a live cluster is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP, Pacing
from fairhold.cycle.run import CycleResult, run
from fairhold.errors import Fault, InputError
from fairhold.ledger import transitions
from fairhold.ledger.decision import Grant, book_notices, book_withdrawals
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.orchestrator.events import (
    Event,
    HostJoined,
    HostLost,
    JobCancelled,
    JobSubmitted,
    Outcome,
    TaskEnded,
    Woken,
)
from fairhold.orchestrator.instructions import Instruction, Notify, Start, Stop, WakeAt, Withdraw
from fairhold.orchestrator.tasks import Attempt, JobRecord
from fairhold.rules.handing import hand_over

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Mapping

    from fairhold.ledger.books import Books

    OnCycle = Callable[[CycleResult, str], None]


class Orchestrator:
    """A live cluster without its I/O.

    books : resource group → its books
    jobs  : name → record of every job ever submitted
    attempts : number → every running attempt
    on_cycle : called with each cycle's result and cause, the first event since the cycle before, before its decision is
        applied
    """

    def __init__(
        self,
        books: Mapping[str, Books],
        *,
        cycle_min_gap: int = MIN_GAP,
        cycle_max_interval: int = MAX_INTERVAL,
        on_cycle: OnCycle | None = None,
    ) -> None:
        self.books = dict(books)
        self.jobs: dict[str, JobRecord] = {}
        self.attempts: dict[int, Attempt] = {}
        self.on_cycle = on_cycle
        self._pacing = {group: Pacing(cycle_min_gap, cycle_max_interval) for group in books}
        self._quota: dict[str, array[int]] = {}
        self._cause: dict[str, str] = {}
        self._job_of: dict[tuple[str, int], JobRecord] = {}
        self._attempt_of: dict[tuple[str, int], int] = {}
        self._next_attempt = 1
        self._out: list[Instruction] = []

    def handle(self, event: Event, now: int) -> tuple[Instruction, ...]:
        """Take an event in and say what to do.

        Cycles run when the driver sends `Woken`, as `WakeAt` asks it to: a driver that hands on everything that
        happened at one instant before it sends `Woken` gets one cycle for all of it.

        now : instant, never earlier than at the call before
        Raises InputError, with nothing changed, where a job's name is taken, it has no tasks, its consumer is no leaf
        or its resource group is not shared, and where a host is unknown or has less than no slots.
        """
        self._out = []
        match event:
            case JobSubmitted():
                self._submit(event, now)
            case JobCancelled():
                self._cancel(event, now)
            case TaskEnded():
                self._end(event, now)
            case HostJoined():
                self._join(event, now)
            case HostLost():
                self._lose(event, now)
            case Woken():
                pass
        for group, pacing in self._pacing.items():
            self._stop_expired(group, now)
            if isinstance(event, Woken) and pacing.is_due(now):
                self._cycle(group, now)
                pacing.ran(now)
                self._stop_expired(group, now)
            elif pacing.due is not None:
                self._cause.setdefault(group, type(event).__name__)
        wake = self._next_instant()
        if wake is not None:
            self._out.append(WakeAt(wake))
        return tuple(self._out)

    def _submit(self, event: JobSubmitted, now: int) -> None:
        books = self.books.get(event.resource_group)
        if books is None:
            raise _refused(
                event,
                "unknown-resource-group",
                f"no policy shares the resource group `{event.resource_group}`",
                f"shared are {', '.join(self.books)}",
            )
        leaf = books.rows.by_path.get(event.consumer)
        if leaf is None or not books.rows.is_leaf(leaf):
            raise _refused(
                event,
                "not-a-leaf",
                f"`{event.consumer}` is no leaf of the plan",
                "name a consumer without consumers below it",
            )
        if event.job in self.jobs:
            raise _refused(
                event, "duplicate-job", f"there is a job named `{event.job}` already", "give it another name"
            )
        if event.count < 1:
            raise _refused(event, "out-of-range", f"it has {event.count} tasks", "give it one or more")
        request = transitions.submit(books, leaf, event.count, name=event.job, priority=event.priority, submitted=now)
        job = JobRecord(event.job, event.resource_group, leaf, request, waiting=event.count)
        self.jobs[event.job] = job
        self._job_of[event.resource_group, request] = job
        self._pacing[event.resource_group].changed(now)

    def _cancel(self, event: JobCancelled, now: int) -> None:
        job = self.jobs.get(event.job)
        if job is None or job.is_cancelled:
            return
        job.is_cancelled = True
        books = self.books[job.resource_group]
        transitions.want(books, job.request, books.requests.held[job.request])
        job.dropped += job.waiting
        job.waiting = 0
        for number in job.attempts:
            if not self.attempts[number].stopping:
                self.attempts[number].stopping = True
                self._out.append(Stop(number))
        self._forget_if_over(job)
        self._pacing[job.resource_group].changed(now)

    def _end(self, event: TaskEnded, now: int) -> None:
        attempt = self.attempts.pop(event.attempt, None)
        if attempt is None:  # said twice
            return
        job = attempt.job
        del job.attempts[event.attempt]
        books = self.books[job.resource_group]
        host = books.allocations.host[attempt.allocation]
        was_noticed = books.allocations.noticed[attempt.allocation] > 0
        del self._attempt_of[job.resource_group, attempt.allocation]
        transitions.release(books, attempt.allocation, 1)
        waits_again = (
            event.outcome is not Outcome.FINISHED
            and (attempt.noticed or event.outcome is Outcome.STOPPED)
            and not job.is_cancelled
        )
        if waits_again:
            job.requeue(attempt.index, attempt.number)
        else:
            transitions.want(books, job.request, books.requests.count[job.request] - 1)
            job.running -= 1
            job.finished += event.outcome is Outcome.FINISHED
            job.cancelled += event.outcome is Outcome.STOPPED
            job.failed += event.outcome is Outcome.FAILED
        quota = self._quota.get(job.resource_group)
        grant = None if was_noticed or quota is None else hand_over(books, job.leaf, host, quota)
        if grant is None:
            self._pacing[job.resource_group].changed(now)
        else:
            self._start(job.resource_group, grant, now)
            self._pacing[job.resource_group].handed_over(now)
        self._forget_if_over(job)

    def _join(self, event: HostJoined, now: int) -> None:
        books = self._group_of(event)
        host = books.hosts.row_of.get(event.host)
        if event.slots < 0:
            what = f"host `{event.host}` has {event.slots} slots"
            raise InputError([Fault("out-of-range", what, "report 0 or more")])
        if host is None:
            transitions.add_host(books, event.host, event.slots)
        else:
            transitions.set_host(books, host, slots=event.slots, up=True)
        self._pacing[event.resource_group].changed(now)

    def _lose(self, event: HostLost, now: int) -> None:
        books = self._group_of(event)
        host = books.hosts.row_of.get(event.host)
        if host is None:
            what = f"resource group `{event.resource_group}` has no host `{event.host}`"
            raise InputError([Fault("unknown-host", what, "report hosts that have joined")])
        transitions.set_host(books, host, up=False)
        self._pacing[event.resource_group].changed(now)

    def _group_of(self, event: HostJoined | HostLost) -> Books:
        if event.resource_group not in self.books:
            what = f"no policy shares the resource group `{event.resource_group}`"
            raise InputError([Fault("unknown-resource-group", what, f"shared are {', '.join(self.books)}")])
        return self.books[event.resource_group]

    def _cycle(self, group: str, now: int) -> None:
        books = self.books[group]
        result = run(books, now)
        cause = self._cause.pop(group, Woken.__name__)
        if self.on_cycle is not None:
            self.on_cycle(result, cause)
        self._quota[group] = result.draft.quota
        for withdrawal in book_withdrawals(books, result.decision):
            attempt = self._attempt_of[group, withdrawal]
            if not self.attempts[attempt].stopping:
                self._out.append(Withdraw(attempt))
        book_notices(books, result.decision)
        for notice in result.decision.notices:
            number = self._attempt_of[group, notice.allocation]
            self.attempts[number].noticed = True
            taker = "" if notice.taker == NOBODY else books.rows.path(notice.taker)
            self._out.append(Notify(number, notice.deadline, REASONS[notice.reason], taker))
        for grant in result.decision.grants:
            for _ in range(grant.units):
                self._start(group, grant, now)

    def _start(self, group: str, grant: Grant, now: int) -> None:
        """Start the next task of a granted request on one unit: one allocation an attempt."""
        books = self.books[group]
        job = self._job_of[group, grant.request]
        allocation = transitions.grant(books, grant.request, grant.host, 1, now)
        index, number = job.next_task()
        name = self._next_attempt
        self._next_attempt += 1
        self.attempts[name] = Attempt(job, index, number, allocation)
        job.attempts[name] = None
        self._attempt_of[group, allocation] = name
        self._out.append(Start(name, job.name, index, number, group, books.hosts.name[grant.host]))

    def _stop_expired(self, group: str, now: int) -> None:
        """Stop what did not let go within its grace (S1.60); its unit stays booked until the engine says it is free."""
        books = self.books[group]
        for notice in transitions.take_expired(books, now):
            name = self._attempt_of[group, books.notices.allocation[notice]]
            if not self.attempts[name].stopping:
                self.attempts[name].stopping = True
                self._out.append(Stop(name))

    def _next_instant(self) -> int | None:
        """When something is due next: a cycle, or the end of a grace."""
        cycles = [pacing.due for pacing in self._pacing.values()]
        graces = [transitions.next_deadline(books) for books in self.books.values()]
        return min((instant for instant in (*cycles, *graces) if instant is not None), default=None)

    def _forget_if_over(self, job: JobRecord) -> None:
        books = self.books[job.resource_group]
        key = (job.resource_group, job.request)
        is_over = job.waiting == 0 and job.running == 0
        if is_over and self._job_of.get(key) is job:
            transitions.forget(books, job.request)
            del self._job_of[key]


def _refused(event: JobSubmitted, code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, f"job `{event.job}`: {what}", mend)])
