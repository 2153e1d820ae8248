"""The loop of a run: jobs and engine → orchestrator → engine, and everybody who listens is told."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from fairhold.orchestrator.events import JobCancelled, JobSubmitted, Outcome, TaskEnded, Woken
from fairhold.orchestrator.instructions import Notify, Start, Stop, WakeAt, Withdraw
from fairhold.ports import Clock, Engine
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.model.job import Job
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.runtime.record import Record
    from fairhold.runtime.tally import News, Tally

_IDLE = 3600.0
"""Seconds to wait for an event where no instant is due."""


class RunEngine(Engine, Protocol):
    """An engine whose wait can be ended and that knows how attempts failed."""

    def wake(self) -> None:
        """End the wait of `events`, now or the next time; from any thread or signal handler."""
        ...

    def how(self, attempt: int) -> str:
        """How a failed attempt ended, in words."""
        ...


class View(Protocol):
    """Who shows the run to people.

    pace : seconds between two calls of `refresh`, 0 = none are wanted
    """

    @property
    def pace(self) -> float: ...  # noqa: D102 - see the class

    def tell(self, news: Sequence[News]) -> None:
        """Something happened."""
        ...

    def refresh(self) -> None:
        """Account for the time that has passed."""
        ...


class Ending(Enum):
    """Why a run ended."""

    DONE = "every task has ended"
    STUCK = "the waiting tasks can never run"
    INTERRUPTED = "it was interrupted"


class Loop:
    """One run of a job file.

    say   : gets messages that are not events of the run
    start : instant of the start, 0 before
    """

    def __init__(
        self,
        orchestrator: Orchestrator,
        engine: RunEngine,
        clock: Clock,
        *,
        tally: Tally,
        record: Record,
        view: View,
        say: Callable[[str], None],
    ) -> None:
        self._orchestrator = orchestrator
        self._engine = engine
        self._clock = clock
        self._tally = tally
        self._record = record
        self._view = view
        self._say = say
        self._wake: int | None = None
        self._is_interrupted = False
        self.start = 0

    def interrupt(self) -> None:
        """Let `run` stop everything and return soon; may be called from a signal handler."""
        self._is_interrupted = True
        self._engine.wake()

    def run(self, jobs: Sequence[Job], paths: Sequence[str]) -> Ending:
        """Run until every task has ended, nothing can run any more, or `interrupt`; then nothing runs any more.

        jobs  : in the order of the file, which is kept among those submitted at the same instant
        paths : (rows,) full path of every row of the plan's tree
        """
        self.start = self._clock.now()
        pending = deque(sorted(jobs, key=lambda job: job.submit))
        try:
            while not self._is_interrupted:
                self._submit(pending, paths)
                # Only now: a cycle has to see everything that happened by its instant, or it takes back too much.
                if self._wake is not None and self._wake <= self._clock.now():
                    self._wake = None
                    self._feed(Woken())
                self._view.refresh()
                ending = None if pending else self._ending()
                if ending:
                    return ending
                for event in self._engine.events(self._timeout(pending[0].submit if pending else None)):
                    self._feed(event)
            self._cancel()
        finally:
            self._engine.close()
        return Ending.INTERRUPTED

    def _submit(self, pending: deque[Job], paths: Sequence[str]) -> None:
        """Feed the jobs whose instant has come."""
        while pending and self.start + pending[0].submit <= self._clock.now():
            self._feed(submission(pending.popleft(), paths))

    def _ending(self) -> Ending | None:
        """Why the run is over, None where it is not; called when everything has been submitted."""
        if self._orchestrator.attempts:
            return None
        if not any(job.waiting for job in self._orchestrator.jobs.values()):
            return Ending.DONE
        # Nothing runs, so nothing will end; no cycle is due, so none will grant what the last one did not.
        return Ending.STUCK if self._wake is None else None

    def _timeout(self, submit: int | None) -> float:
        """Seconds until something is due."""
        due = [instant for instant in (self._wake, None if submit is None else self.start + submit) if instant]
        wait = max(0, min(due) - self._clock.now()) / SECOND if due else _IDLE
        return min(wait, self._view.pace) if self._view.pace else wait

    def _feed(self, event: Event) -> None:
        now = self._clock.now()
        instructions = self._orchestrator.handle(event, now)
        orders: list[Start | Notify | Withdraw | Stop] = []
        for instruction in instructions:
            if isinstance(instruction, WakeAt):
                self._wake = instruction.instant
            elif isinstance(instruction, Start | Notify | Withdraw | Stop) and not self._is_interrupted:
                orders.append(instruction)
        self._engine.execute(orders)
        is_failure = isinstance(event, TaskEnded) and event.outcome is Outcome.FAILED
        how = self._engine.how(event.attempt) if is_failure and isinstance(event, TaskEnded) else ""
        self._record.note(event, orders, now)
        self._view.tell(self._tally.note(event, orders, now, how))

    def _cancel(self) -> None:
        """Stop what runs in the engine's own way, a SIGTERM first; only then let the orchestrator drop everything.

        What it still instructs is not carried out: nothing runs that could be stopped, nothing is to be started.
        """
        self._say("stopping running tasks; press Ctrl-C again to kill them at once")
        self._engine.close()
        for job in tuple(self._orchestrator.jobs):
            self._feed(JobCancelled(job))
        for event in self._engine.events(0.0):
            self._feed(event)


def submission(job: Job, paths: Sequence[str]) -> JobSubmitted:
    """The event that a job of the file is; paths: (rows,) of the plan's tree."""
    return JobSubmitted(
        job.name,
        paths[job.consumer],
        job.resource_group,
        job.count,
        job.priority,
        throttle=job.throttle,
        unit=job.unit,
        min_count=job.min_count,
        preemptible=job.preemptible,
    )
