"""How many tasks may start, kept up to date: of a hundred thousand jobs a change touches few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator import changes as say
from fairhold.orchestrator.freezing import jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


class WaitingJobs:
    """Counts those of a cluster, which tells it of every change before this is applied, as long as it is kept.

    tasks : that may start as soon as there is room; right after `count`
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.tasks = cluster, 0
        self._of: dict[str, int] = {}
        self._touched = dict.fromkeys(cluster.jobs)
        cluster.watches.add(self)

    def before(self, change: Change) -> None:
        """A change is about to be applied."""
        if isinstance(change, say.JobAdded | say.JobEnded):
            self._touched[change.job] = None
        else:
            self.copy(jobs_of(self.cluster, change))

    def copy(self, jobs: Iterable[JobRecord]) -> None:
        """Jobs are about to change."""
        self._touched |= dict.fromkeys(job.name for job in jobs)

    def rename(self, jobs: Iterable[JobRecord]) -> None:
        """Their consumers are called otherwise: nothing waits that did not."""

    def count(self) -> int:
        """Count those again that have changed; how many jobs wait."""
        jobs = self.cluster.jobs
        for name in self._touched:
            tasks = jobs[name].startable if name in jobs else 0
            self.tasks += tasks - self._of.pop(name, 0)
            if tasks:
                self._of[name] = tasks
        self._touched.clear()
        return len(self._of)

    def oldest(self) -> JobRecord | None:
        """The job that was submitted first of those that wait; right after `count`."""
        jobs = self.cluster.jobs.values()  # they stand in the order in which they were submitted
        return next((job for job in jobs if job.name in self._of), None) if self._of else None
