"""A recorded event trace under another plan: the same users and machines, and work that takes as long as it took.

What is decided is new, so that attempts begin and end at other instants than in the record: tasks go by their lengths
(`courses`), everything else comes at its recorded instant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.workload import ENDLESS
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import (
    Dependency,
    Exit,
    Held,
    JobHeld,
    JobReleased,
    JobSubmitted,
    MachineReported,
    Outcome,
    TaskAdopted,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.planio.nodes import take_nodes, with_nodes
from fairhold.ports.governor import AWAITED
from fairhold.sim.driver import Durations, Source
from fairhold.sim.event_trace import Began, Cycled, NodesChanged, Replanned, ServiceClosing, ServiceStarted
from fairhold.sim.replay import RecordDriver
from fairhold.sim.submitting import Refused
from fairhold.sim.task_durations import Courses
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.instructions import Start
    from fairhold.sim.driver import Driver, Watch
    from fairhold.sim.event_trace import EventTrace, Line
    from fairhold.sim.experiment import Experiment

_OF_THE_RECORD = (Began, Cycled, Replanned, ServiceClosing, ServiceStarted, TaskRunning, TaskEnded, Woken)
"""What came of what was decided then, or was part of deciding it."""


class Counterfactual(RecordDriver):
    """One run of a recorded event trace under another plan; has what `Simulation` has."""

    def __init__(self, experiment: Experiment, watches: Sequence[Watch] = (), *, reopens: bool = False) -> None:
        assert experiment.event_trace is not None
        self.given, self.recorded = Given(experiment, experiment.event_trace), Recorded(Courses(experiment.event_trace))
        super().__init__(experiment, self.given, self.recorded, watches, reopens=reopens)
        self.go_on(self.live.cluster)
        for attempt in self.live.attempts.values():
            self.recorded.begin(self, attempt, attempt.started)
            if attempt.stopping:
                self.recorded.stop(self, attempt.name)
        self.feed(Woken())

    def go_on(self, cluster: Cluster) -> None:
        """Another orchestrator decides about a cluster, as soon as may be."""
        super().go_on(cluster)
        self.live.now = self.wake = self.now
        self.live.changed_all()

    def change_nodes(self, changed: NodesChanged) -> None:
        """The cluster has other nodes; a plan whose hosts are none of them goes on."""
        take_nodes(self.nodes, changed.nodes)
        if with_nodes(self.plan, self.nodes.values()) != self.plan:
            self.put(self.plan)

    @property
    def passed_over(self) -> int:
        """Wishes of users, and reports of machines, that mean nothing under this plan."""
        return self.given.passed_over

    @property
    def guessed(self) -> int:
        """Tasks whose lengths the record does not have."""
        return len(self.recorded.courses.guessed)


class Given(Source):
    """What came from outside in an event trace.

    passed_over : wishes of users, and reports of machines, that mean nothing under this plan
    """

    def __init__(self, experiment: Experiment, event_trace: EventTrace) -> None:
        super().__init__()
        self._slot = experiment.slot
        self._lines = list(_from_outside(event_trace))
        self.last = sum(isinstance(line.what, JobSubmitted) for line in self._lines)
        self.passed_over = self._place = 0
        self._over: dict[str, str] = {}
        self._refused: dict[tuple[str, str], Refused] = {}
        self.refused = self._refused

    def next(self) -> int:
        """When the next line was."""
        return self._lines[self._place].at if self._place < len(self._lines) else UNLIMITED

    def job_ended(self, change: said.JobEnded) -> None:
        """Others may depend on it."""
        self._over[change.job] = change.state

    def happen(self, driver: Driver) -> None:
        """The next line; what means nothing under this plan is counted."""
        event = self._lines[self._place].what
        self._place += 1
        assert isinstance(driver, Counterfactual)
        if isinstance(event, JobSubmitted):
            self.arrived += 1
            self._submit(driver, event)
            return
        if isinstance(event, MachineReported):
            on = driver.live.cluster.on(event.machine)
            event = replace(event, last=0, held=tuple(Held(each.name, False, None) for each in on))  # noqa: FBT003
        elif isinstance(event, NodesChanged):
            driver.change_nodes(event)
            return
        first = driver.live.cluster.next_attempt
        try:
            driver.feed(event)
        except InputError:
            self.passed_over += 1
            return
        if isinstance(event, TaskAdopted):
            driver.recorded.begin(driver, driver.live.attempts[first], driver.now)

    def _submit(self, driver: Driver, event: JobSubmitted) -> None:
        after: list[Dependency] = []
        for each in event.after:
            state = self._over.get(each.job)
            if state is None or not (each.on == "any" or (each.on == "ok") == (state == said.DONE)):
                after.append(each)
        try:
            driver.feed(replace(event, after=tuple(after), **self._place_of(driver.live.books, event)))
        except InputError as error:
            fault = error.faults[0]
            key = fault.code, event.consumer
            before = self._refused.get(key)
            first, count = (event.job, 0) if before is None else (before.job, before.jobs)
            self._refused[key] = Refused(fault.code, fault.what, fault.mend, first, count + 1)

    def _place_of(self, books: Mapping[str, Books], event: JobSubmitted) -> dict[str, Any]:
        """Where the units come from under this plan, where that is not as it was."""
        if event.resource_group in books:
            return {}
        groups = [name for name in books if name != POOLED and event.consumer in books[name].rows.by_path]
        if groups:
            return {"resource_group": groups[0], "unit": (), "min_count": 0, "preemptible": None}
        if POOLED in books:
            return {"resource_group": POOLED, "unit": event.unit or self._slot, "units": 1}
        return {}


def _from_outside(event_trace: EventTrace) -> Iterator[Line]:
    """What did not come of what was decided then.

    Of a reclaim came that a pod was gone which nobody makes anew, and that a job was held until its controller had made
    another. What others started while they decided would be decided here.
    """
    lines, awaited = event_trace.lines, set[str]()
    for line, after in zip(lines, (*lines[1:], None), strict=True):
        what, end = line.what, None if after is None else after.what
        is_reclaimed = isinstance(end, TaskEnded) and end.exit is not None and end.exit.reason == "reclaim"
        if isinstance(what, JobHeld) and what.reason == AWAITED:
            awaited.add(what.job)
        elif isinstance(what, JobReleased) and what.job in awaited:
            awaited.remove(what.job)
        elif not (
            isinstance(what, _OF_THE_RECORD)
            or (isinstance(what, TaskCancelled) and is_reclaimed)
            or (isinstance(what, TaskAdopted) and event_trace.is_observing)
        ):
            yield line


class _Run(NamedTuple):
    """An attempt that runs: whose, and since when."""

    job: str
    task: int
    started: int


class Recorded(Durations):
    """Tasks run, fail and leave as they did in the record."""

    def __init__(self, courses: Courses) -> None:
        self.courses = courses
        self._runs: dict[int, _Run] = {}
        self._failed: dict[tuple[str, int], int] = {}
        self._saved: dict[tuple[str, int], int] = {}

    def start(self, driver: Driver, order: Start) -> None:
        """An attempt begins."""
        self.begin(driver, driver.live.attempts[order.attempt], driver.now, order.longest)

    def begin(self, driver: Driver, attempt: Attempt, started: int, longest: int = 0) -> None:
        """It fails as it did, or has done its work, or has come to its limit."""
        run = self._runs[attempt.name] = _Run(attempt.job.name, attempt.index, started)
        task = run.job, run.task
        failures, failed = self.courses.of(*task).failures, self._failed.get(task, 0)
        if failed < len(failures):
            failure = failures[failed]
            _ends(driver, attempt.name, started + failure.after, failure.outcome, failure.exit)
        elif (length := self.courses.length(*task)) != ENDLESS:
            left = max(0, length - self._saved.get(task, 0))
            _ends(driver, attempt.name, started + left, Outcome.FINISHED)
        if longest:
            _ends(driver, attempt.name, started + longest, Outcome.FAILED, Exit("time_limit"))

    def leave(self, driver: Driver, attempt: int) -> None:
        """It goes as it went then."""
        run = self._runs[attempt]
        course = self.courses.of(run.job, run.task)
        if course.leaves is not None:
            outcome = Outcome.YIELDED if course.saves else Outcome.FAILED
            exit_ = Exit("yielded" if course.saves else "failed")
            _ends(driver, attempt, driver.now + course.leaves, outcome, exit_)

    def stop(self, driver: Driver, attempt: int) -> None:
        """It takes as long as it did."""
        run = self._runs.get(attempt)
        if run is not None:
            delay = self.courses.of(run.job, run.task).stops
            _ends(driver, attempt, driver.now + delay, Outcome.STOPPED, Exit("reclaim"))

    def ended(self, driver: Driver, change: said.Ended) -> None:
        """What it has saved, or lost, and how often it has failed."""
        run = self._runs.pop(change.attempt, None)
        if run is None:
            return
        task, ran = (run.job, run.task), driver.now - run.started
        if change.reason == "yielded":
            self._saved[task] = self._saved.get(task, 0) + ran
            return
        if change.then == said.AGAIN:
            driver.lose(change.attempt, ran)
        if change.reason not in {"reclaim", "host_lost"} and change.then != said.DONE:
            self._failed[task] = self._failed.get(task, 0) + 1


def _ends(driver: Driver, attempt: int, at: int, outcome: Outcome, exit_: Exit | None = None) -> None:
    """An attempt ends then, unless it does earlier."""
    if at < driver.due(attempt):
        driver.ends(attempt, at, outcome, exit_)
