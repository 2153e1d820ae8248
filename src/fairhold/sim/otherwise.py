"""A recorded story under another plan: the same users and machines, and work that takes as long as it took.

What is decided is new, so that attempts begin and end at other instants than in the record: tasks go by their lengths
(`courses`), everything else comes at its recorded instant.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.workload import ENDLESS
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import (
    Dependency,
    Exit,
    Held,
    JobSubmitted,
    MachineReported,
    Outcome,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Notify, Start, Stop, WakeAt
from fairhold.sim.courses import Courses
from fairhold.sim.replaying import opened
from fairhold.sim.story import Began, Cycled, Replanned, ServiceClosing, ServiceStarted
from fairhold.sim.submitting import Refused
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.run import CycleResult
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.orchestrator.tasks import Attempt
    from fairhold.sim.play import Watch
    from fairhold.sim.scene import Scene

_OF_THE_RECORD = (Began, Cycled, Replanned, ServiceClosing, ServiceStarted, TaskRunning, TaskEnded, Woken)
"""What came of what was decided then, or was part of deciding it."""


class _Run:
    """An attempt that runs: its end that is scheduled (serial), and when it would end by itself."""

    __slots__ = ("end", "job", "serial", "started", "task")

    def __init__(self, attempt: Attempt, now: int) -> None:
        self.job, self.task, self.started = attempt.job.name, attempt.index, now
        self.serial, self.end = 0, UNLIMITED


class Otherwise:
    """One run of a recorded story under another plan; has what `Simulation` has.

    passed_over : wishes of users, and reports of machines, that mean nothing under this plan
    guessed     : tasks whose lengths the record does not have
    """

    def __init__(self, scene: Scene, watches: Sequence[Watch] = (), *, is_brief: bool = True) -> None:
        assert scene.story is not None
        self.scene, self.story, self.now = scene, scene.story, scene.start
        self.refused: dict[tuple[str, str], Refused] = {}
        self.passed_over = 0
        self.courses = Courses(self.story)
        self._given = [line for line in self.story.lines if not isinstance(line.what, _OF_THE_RECORD)]
        self.arrived, self.last = 0, sum(isinstance(line.what, JobSubmitted) for line in self._given)
        self._place, self._serial = 0, 0
        self._watches = watches
        self._end = scene.end or self.story.end
        self._runs: dict[int, _Run] = {}
        self._failed: dict[tuple[str, int], int] = {}
        self._saved: dict[tuple[str, int], int] = {}
        self._over: dict[str, str] = {}
        self._heap: list[tuple[int, int, int, Outcome, Exit | None]] = []
        self._wake: int | None = None
        cluster = opened(scene.plan, self.story, is_same=False)
        self.live = Orchestrator(
            cluster,
            cycle_min_gap=scene.min_gap,
            cycle_max_interval=scene.max_interval,
            on_cycle=self._cycled if watches else None,
            on_vectors=self._cycled_vectors if watches else None,
            is_brief=is_brief,
        )
        self.live.now = self.now
        self.live.changed_all()
        for attempt in cluster.attempts.values():
            self._begin(attempt, attempt.started)
            if attempt.stopping:
                self._stop(attempt.name)
        self._feed(Woken())

    @property
    def guessed(self) -> int:
        """Tasks whose lengths the record does not have."""
        return len(self.courses.guessed)

    def run(self) -> None:
        """To the end."""
        while self.step():
            pass

    def step(self) -> bool:
        """Let the next thing happen; False: the end of the record is there."""
        ends = self._heap[0][0] if self._heap else UNLIMITED
        given = self._given[self._place].at if self._place < len(self._given) else UNLIMITED
        wakes = UNLIMITED if self._wake is None else max(self._wake, self.now)
        instant = min(ends, given, wakes)
        if instant >= self._end:
            self.now = self._end
            return False
        self.now = max(self.now, instant)
        if ends <= instant:
            _, serial, number, outcome, exit_ = heappop(self._heap)
            if number in self._runs and self._runs[number].serial == serial:
                self._feed(TaskEnded(number, outcome, exit_))
        elif given <= instant:
            self._place += 1
            self._give(self._given[self._place - 1].what)
        else:
            self._wake = None
            self._feed(Woken())
        return True

    # What was given

    def _give(self, event: Event) -> None:
        if isinstance(event, JobSubmitted):
            self.arrived += 1
            self._submit(event)
            return
        if isinstance(event, MachineReported):
            on = self.live.cluster.on(event.machine)
            event = replace(event, last=0, held=tuple(Held(each.name, False, None) for each in on))  # noqa: FBT003
        try:
            self._feed(event)
        except InputError:
            self.passed_over += 1

    def _submit(self, event: JobSubmitted) -> None:
        after: list[Dependency] = []
        for each in event.after:
            state = self._over.get(each.job)
            if state is None or not (each.on == "any" or (each.on == "ok") == (state == said.DONE)):
                after.append(each)
        try:
            self._feed(replace(event, after=tuple(after), **self._place_of(event)))
        except InputError as error:
            fault = error.faults[0]
            key = fault.code, event.consumer
            before = self.refused.get(key)
            first, count = (event.job, 0) if before is None else (before.job, before.jobs)
            self.refused[key] = Refused(fault.code, fault.what, fault.mend, first, count + 1)

    def _place_of(self, event: JobSubmitted) -> dict[str, Any]:
        """Where the units come from under this plan, where that is not as it was."""
        books = self.live.books
        if event.resource_group in books:
            return {}
        groups = [name for name in books if name != POOLED and event.consumer in books[name].rows.by_path]
        if groups:
            return {"resource_group": groups[0], "unit": (), "min_count": 0, "preemptible": None}
        if POOLED in books:
            return {"resource_group": POOLED, "unit": event.unit or self.scene.slot, "units": 1}
        return {}

    # What is ordered

    def _feed(self, event: Event) -> None:
        instructions = self.live.handle(event, self.now)
        for change in self.live.changes:
            if isinstance(change, said.Ended):
                self._ended(change)
            elif isinstance(change, said.JobEnded):
                self._over[change.job] = change.state
        for watch in self._watches:
            watch.note(self.now, self.live.changes)
        for order in instructions:
            if isinstance(order, Start):
                attempt = self.live.attempts[order.attempt]
                self._begin(attempt, self.now, order.longest)
            elif isinstance(order, Notify):
                self._leave(order.attempt)
            elif isinstance(order, Stop):
                self._stop(order.attempt)
            elif isinstance(order, WakeAt):
                self._wake = order.instant
        if not instructions or not isinstance(instructions[-1], WakeAt):
            self._wake = None

    def _schedule(self, number: int, at: int, outcome: Outcome, exit_: Exit | None = None) -> None:
        """An attempt ends then, unless it does earlier."""
        run = self._runs[number]
        if at < run.end:
            self._serial += 1
            run.serial, run.end = self._serial, at
            heappush(self._heap, (max(at, self.now), self._serial, number, outcome, exit_))

    def _begin(self, attempt: Attempt, started: int, longest: int = 0) -> None:
        run = self._runs[attempt.name] = _Run(attempt, started)
        task = run.job, run.task
        failures, failed = self.courses.of(*task).failures, self._failed.get(task, 0)
        if failed < len(failures):
            failure = failures[failed]
            self._schedule(attempt.name, started + failure.after, failure.outcome, failure.exit)
        elif (length := self.courses.length(*task)) != ENDLESS:
            left = max(0, length - self._saved.get(task, 0))
            self._schedule(attempt.name, started + left, Outcome.FINISHED)
        if longest:
            self._schedule(attempt.name, started + longest, Outcome.FAILED, Exit("time_limit"))

    def _leave(self, number: int) -> None:
        run = self._runs[number]
        course = self.courses.of(run.job, run.task)
        if course.leaves is not None:
            outcome = Outcome.YIELDED if course.saves else Outcome.FAILED
            self._schedule(number, self.now + course.leaves, outcome, Exit("yielded" if course.saves else "failed"))

    def _stop(self, number: int) -> None:
        run = self._runs.get(number)
        if run is not None:
            delay = self.courses.of(run.job, run.task).stops
            self._schedule(number, self.now + delay, Outcome.STOPPED, Exit("reclaim"))

    def _ended(self, change: said.Ended) -> None:
        run = self._runs.pop(change.attempt, None)
        if run is None:
            return
        task, ran = (run.job, run.task), self.now - run.started
        if change.reason == "yielded":
            self._saved[task] = self._saved.get(task, 0) + ran
            return
        if change.then == said.AGAIN and ran:
            for watch in self._watches:
                watch.lost(self.now, change.attempt, ran)
        if change.reason not in {"reclaim", "host_lost"} and change.then != said.DONE:
            self._failed[task] = self._failed.get(task, 0) + 1

    def _cycled(self, result: CycleResult, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled(self.now, result)

    def _cycled_vectors(self, result: VectorCycle, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled_vectors(self.now, result)
