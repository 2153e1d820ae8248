"""How long the tasks of a recorded run ran, failed, and took to stop; also for runs under another plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.workload import ENDLESS
from fairhold.orchestrator.events import Exit, JobSubmitted, Outcome, TaskEnded
from fairhold.orchestrator.frozen_terms import thaw_terms
from fairhold.sim.event_trace import Began

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.sim.event_trace import EventTrace, Line

    Task = tuple[str, int]
    """Name of the job, number of the task."""

HOST_LOST = "host_lost"


class Failure(NamedTuple):
    """An end by itself without the work being done: after how long, and how."""

    after: int
    outcome: Outcome
    exit: Exit


class Course:
    """What is known of a task.

    length   : of its work in microseconds, over all attempts that saved theirs; None = it was not done in the record
    seen     : how long an attempt ran at least
    failures : in order
    leaves   : microseconds from a notice to its end, where it goes by itself; None = it works on until it is stopped
    saves    : it saves its state then
    stops    : microseconds from the order to stop to the end
    """

    __slots__ = ("failures", "leaves", "length", "saves", "seen", "stops")

    def __init__(self) -> None:
        self.length: int | None = None
        self.seen = self.stops = 0
        self.failures: list[Failure] = []
        self.leaves: int | None = None
        self.saves = False


class Courses:
    """Those of all tasks of an event trace.

    guessed : tasks whose work was not done in the record, and was asked for: it is taken to be as long as is usual
    """

    def __init__(self, event_trace: EventTrace) -> None:
        self._of: dict[Task, Course] = {}
        self._consumer_of = dict(_consumers(event_trace))
        self._usual: dict[str, int] = {}
        self.guessed: set[Task] = set()
        self._read(event_trace)
        self._find_usual()

    def of(self, job: str, task: int) -> Course:
        """What is known of a task."""
        return self._of.setdefault((job, task), Course())

    def length(self, job: str, task: int) -> int:
        """Length of its work: as recorded, else as usual for its job, else for its consumer; `ENDLESS` = not known."""
        course = self.of(job, task)
        if course.length is not None:
            return course.length
        self.guessed.add((job, task))
        usual = self._usual.get(job, self._usual.get(self._consumer_of.get(job, ""), ENDLESS))
        return max(usual, course.seen)

    def known(self) -> Mapping[Task, Course]:
        """All that anything is known of."""
        return self._of

    def _read(self, event_trace: EventTrace) -> None:
        began: dict[int, tuple[int, Task]] = {}
        saved: dict[Task, int] = {}
        for name, job, task, _, started, *_ in event_trace.state["attempts"] if event_trace.state else ():
            began[name] = started, (job, task)
        for line in event_trace.lines:
            what = line.what
            if isinstance(what, Began):
                began[what.attempt] = line.at, (what.job, what.task)
            elif isinstance(what, TaskEnded) and what.attempt in began:
                at, task = began.pop(what.attempt)
                self._end(line, what, (at, task), saved)
        for at, task in began.values():
            course = self.of(*task)
            course.seen = max(course.seen, event_trace.end - at)

    def _end(self, line: Line, end: TaskEnded, began: tuple[int, Task], saved: dict[Task, int]) -> None:
        task, ran = began[1], line.at - began[0]
        course = self.of(*task)
        exit_ = end.exit or Exit(end.outcome.value)
        course.seen = max(course.seen, ran)
        if end.outcome is Outcome.FINISHED:
            course.length = saved.get(task, 0) + ran
        elif end.outcome is Outcome.YIELDED:
            course.leaves, course.saves = line.after_notice or 0, True
            saved[task] = saved.get(task, 0) + ran
        elif line.after_stop is not None or end.outcome is Outcome.STOPPED:
            course.stops = line.after_stop or 0
        elif line.after_notice is not None:
            course.leaves = line.after_notice
        elif exit_.reason != HOST_LOST:
            course.failures.append(Failure(ran, end.outcome, exit_))

    def _find_usual(self) -> None:
        lengths: dict[str, list[int]] = {}
        for (job, _), course in self._of.items():
            if course.length is not None:
                lengths.setdefault(job, []).append(course.length)
                lengths.setdefault(self._consumer_of.get(job, ""), []).append(course.length)
        self._usual = {name: _middle(found) for name, found in lengths.items()}


def _middle(lengths: Sequence[int]) -> int:
    return sorted(lengths)[len(lengths) // 2]


def _consumers(event_trace: EventTrace) -> Iterable[tuple[str, str]]:
    """Job → consumer."""
    if event_trace.state is not None:
        names, places, _ = event_trace.state["jobs"]
        terms = event_trace.state["terms"]
        for name, place in zip(names, places, strict=True):
            yield name, thaw_terms(terms[place]).consumer
    for line in event_trace.lines:
        if isinstance(line.what, JobSubmitted):
            yield line.what.job, line.what.consumer
