"""What is counted of the jobs of a run, and what happened to the tasks of a leaf."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.orchestrator import changes as said
    from fairhold.orchestrator.cluster import Cluster


class MeasuredJob(NamedTuple):
    """A job that has not ended.

    leaf   : its path
    since  : (number of a task, instant) from that task on, they were submitted then; the latest last
    tasks  : how many it has had; amount: of one
    counts : whether it came after the warm-up
    """

    leaf: str
    since: tuple[tuple[int, int], ...]
    tasks: int
    amount: int
    counts: bool

    def submitted(self, task: int) -> int:
        """When a task was."""
        return next(at for first, at in reversed(self.since) if first <= task)


class MeasuredRun(NamedTuple):
    """An attempt that runs: of which task, and since when."""

    job: str
    task: int
    started: int


class Tallies:
    """What happened to the tasks of one leaf that came after the warm-up.

    submitted, finished, failed : tasks
    waits, slowdowns : (tasks,) microseconds to the first start; thousandths
    job_waits : (jobs,) microseconds to the first start of a task
    told, withdrawn, stopped : attempts that were told to leave, that could stay after all, that were stopped
    lost : work that was lost, in unit-microseconds; released: microseconds from each notice to the end
    """

    __slots__ = (
        "failed",
        "finished",
        "job_waits",
        "lost",
        "notified",
        "released",
        "slowdowns",
        "stopped",
        "submitted",
        "waits",
        "withdrawn",
    )

    def __init__(self) -> None:
        self.submitted = self.finished = self.failed = self.notified = self.withdrawn = self.stopped = self.lost = 0
        self.waits, self.job_waits = array("q"), array("q")
        self.slowdowns, self.released = array("q"), array("q")


def was_waiting(cluster: Cluster, change: said.TaskDropped) -> bool:
    """Whether a task that was dropped waited; cluster: after that. Where it was the last, its job is over."""
    job = cluster.jobs.get(change.job)
    return (
        job is not None
        and not job.is_over
        and all(cluster.attempts[each].index != change.task for each in job.attempts)
    )
