"""An experiment is played: jobs of a workload come, hosts fail as it says, and tasks run as long as it says."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import (
    HostJoined,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.sim.driver import Driver, Source
from fairhold.sim.submitting import Submissions
from fairhold.sim.tasks import InventedWork
from fairhold.units import LONGEST, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.orchestrator.changes import JobEnded
    from fairhold.orchestrator.events import Event
    from fairhold.sim.driver import Watch
    from fairhold.sim.experiment import Experiment


class Simulation(Driver):
    """One run of an experiment.

    watches  : told everything, in order; reopens: every cycle is made whole, with the same answers
    """

    def __init__(self, experiment: Experiment, watches: Sequence[Watch] = (), *, reopens: bool = False) -> None:
        self.experiment, self._reopens = experiment, reopens
        cluster = Cluster(open_cluster_books(experiment.plan, experiment.start), forgets=True)
        source = Arrivals(experiment)
        end = UNLIMITED if experiment.end is None else experiment.end
        durations = InventedWork(experiment, source.row_of)
        super().__init__(cluster, experiment.start, source, durations, end=end, watches=watches)
        source.open(self.live)
        self.feed(Woken())

    def orchestrator(self, cluster: Cluster) -> Orchestrator:
        """In the rhythm of the experiment."""
        return rhythm_of(self, self.experiment, cluster, reopens=self._reopens)


def rhythm_of(driver: Driver, experiment: Experiment, cluster: Cluster, *, reopens: bool) -> Orchestrator:
    """An orchestrator in the rhythm of an experiment, which tells the watches of a driver of its cycles."""
    return Orchestrator(
        cluster,
        cycle_min_gap=experiment.min_gap,
        cycle_max_interval=experiment.max_interval,
        on_cycle=driver.cycled if driver.watches else None,
        on_vectors=driver.cycled_vectors if driver.watches else None,
        reopens=reopens,
    )


class Arrivals(Source):
    """What happens to hosts, and the jobs of a workload.

    row_of : name of a job that has come and is not over → its row in the workload
    """

    def __init__(self, experiment: Experiment) -> None:
        super().__init__()
        self._submit, start = experiment.workload.submit, experiment.start
        self._scene = experiment
        self.row_of: dict[str, int] = {}
        rows = range(len(self._submit))
        self.arrived = next((row for row in rows if self._submit[row] >= start), len(rows))
        self.last = len(rows)
        if experiment.end is not None:
            self.last = next((row for row in rows if self._submit[row] >= experiment.end), len(rows))
        self._world: list[tuple[int, int, Event]] = []
        for serial, (instant, event) in enumerate(_of_hosts(experiment)):
            heappush(self._world, (instant, serial, event))

    def open(self, live: Orchestrator) -> None:
        """Jobs are looked at as this orchestrator would."""
        self._submissions = Submissions(self._scene, live)
        self.refused = self._submissions.refused

    def next(self) -> int:
        """The next job, or what happens to a host."""
        comes = self._submit[self.arrived] if self.arrived < self.last else UNLIMITED
        return min(comes, self._world[0][0]) if self._world else comes

    def happen(self, driver: Driver) -> None:
        """Hosts first."""
        if self._world and self._world[0][0] <= driver.now:
            driver.feed(heappop(self._world)[2])
            return
        row, self.arrived = self.arrived, self.arrived + 1
        event = self._submissions.event(row)
        if event is not None:
            self.row_of[event.job] = row
            driver.feed(event)

    def job_ended(self, change: JobEnded) -> None:
        """Its name is not needed any more."""
        del self.row_of[change.job]

    def is_over(self, driver: Driver) -> bool:
        """Nothing is left that could happen, but for windows and periods, which begin for ever.

        What waits for one of them has a year; services that run on wait for nothing.
        """
        if driver.wake is None or driver.wake - driver.busy_at > LONGEST:
            return True
        return not any(job.waiting for job in driver.live.jobs.values())


def _of_hosts(experiment: Experiment) -> Iterator[tuple[int, Event]]:
    """What happens to hosts and groups, and when."""
    for number, outage in enumerate(experiment.outages):
        host = outage.host
        if outage.lead:
            closed = MachineClosed(host, "planned", drain=True, by=outage.down)
            yield max(experiment.start, outage.down - outage.lead), closed
        else:
            yield outage.down, MachineSilent(host)
            yield outage.down, MachineGone(host)
        if outage.up < UNLIMITED:
            comes = MachineOpened(host) if outage.lead else MachineReported(host, f"start {number + 2}", 0)
            yield outage.up, comes
    for resizing in experiment.resizings:
        yield resizing.at, HostJoined(resizing.resource_group, "", resizing.slots)
