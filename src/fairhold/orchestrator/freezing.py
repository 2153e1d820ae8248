"""A snapshot of a cluster at one instant, taken in slices while the cluster goes on changing.

Only jobs are many. Everything else is copied at the beginning. A job is copied when its turn comes, or right before its
first change, whichever is earlier.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from fairhold.orchestrator import changes as say
from fairhold.orchestrator.freeze import Columns, changed_of, freeze_rest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.orchestrator.changes import Change, JobAdded
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


class Freezing:
    """Makes the document that `freeze` would have made at the start; it is told of every change before this is applied.

    There may be several of one cluster at a time. One that is dropped before its end costs nothing more.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rest = freeze_rest(cluster)
        self._columns = Columns()
        self._jobs = iter(list(cluster.jobs.values()))
        self._early: dict[JobRecord, tuple[JobAdded, dict[str, Any]]] = {}
        self._consumers: dict[JobRecord, str] = {}
        cluster.watches.add(self)

    def before(self, change: Change) -> None:
        """A change is about to be applied: first copy the jobs that it changes, unless they are copied already."""
        self.copy(jobs_of(self._cluster, change))

    def copy(self, jobs: Iterable[JobRecord]) -> None:
        """Copy jobs now, unless they are copied already: they are about to change."""
        for job in jobs:
            if job not in self._early:
                self._early[job] = job.terms, self._changed_of(job)

    def rename(self, jobs: Iterable[JobRecord]) -> None:
        """The consumers of jobs are about to be called otherwise, and nothing else of them changes."""
        for job in jobs:
            self._consumers.setdefault(job, job.consumer)

    def _changed_of(self, job: JobRecord) -> dict[str, Any]:
        return changed_of(self._cluster, job, self._consumers.get(job, job.consumer))

    def step(self, jobs: int) -> bool:
        """Copy the next jobs, up to this number; False when all are copied."""
        job = None
        for job in islice(self._jobs, jobs):
            early = self._early.pop(job, None)
            self._columns.add(job, *(early or (job.terms, self._changed_of(job))))
        if job is None:
            self._cluster.watches.discard(self)
        return job is not None

    def document(self) -> dict[str, Any]:
        """The whole document, as `freeze` makes it; after the last step any thread may call this."""
        while self.step(1_000):
            pass
        return self._columns.document() | self._rest


def jobs_of(cluster: Cluster, change: Change) -> Iterator[JobRecord]:
    """The jobs whose record a change may alter, before it is applied."""
    if isinstance(change, say.HostSet):  # more gangs may stand in the books where there are more slots
        yield from cluster.with_gangs(change.resource_group)
    elif isinstance(change, say.JobFreed):
        yield cluster.jobs[change.dependent]
    elif isinstance(change, _OF_JOBS):
        yield cluster.jobs[change.job]
    elif isinstance(change, say.Ended):
        yield cluster.attempts[change.attempt].job


_OF_JOBS = (
    say.JobDropped,
    say.HoldSet,
    say.JobRanked,
    say.JobMoved,
    say.JobResized,
    say.TaskDropped,
    say.Started,
    say.Ready,
)
