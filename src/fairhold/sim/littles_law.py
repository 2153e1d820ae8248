"""Little's law over a run: what waits, summed over time, is the sum of how long everything waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import BrokenRuleError
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.owned import amount_of
from fairhold.sim.measured_jobs import was_waiting
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.measures import Measures

_GOES_ON = frozenset({said.AGAIN, said.LATER})


class Little:
    """Counts the waits of all tasks one by one, where the measures of a run sum up what waits over time.

    A task waits from its submission, or from the end of an attempt after which it runs again, to its next start, or to
    the end of its job. Only time that is measured counts.
    """

    def __init__(self, measures: Measures, cluster: Cluster) -> None:
        self._measures, self._cluster = measures, cluster
        self._amount: dict[str, int] = {}
        self._since: dict[str, list[int]] = {}  # job → since when each of its tasks that wait does
        self._tasks: dict[str, int] = {}  # job → tasks that it has had
        self._job: dict[int, str] = {}  # attempt → job
        self._waited = 0

    def take_over(self, cluster: Cluster, now: int) -> None:
        """What waits and runs at the begin."""
        for job in cluster.jobs.values():
            if job.resource_group == self._measures.group and not job.is_over:
                self._add(job.name, job.terms.unit, job.units, [now] * (job.waiting + len(job.delays or ())))
                self._tasks[job.name] = job.terms.tasks
        for attempt in cluster.attempts.values():
            if attempt.job.name in self._since:
                self._job[attempt.name] = attempt.job.name

    def replan(self, cluster: Cluster) -> None:
        """Another plan is in force, with another cluster."""
        self._cluster = cluster

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in, in the order in which they happened."""
        for change in changes:
            if isinstance(change, said.JobAdded):
                if change.resource_group == self._measures.group:
                    self._add(change.job, change.unit, change.units, [now] * change.tasks)
                    self._tasks[change.job] = change.tasks
            elif isinstance(change, said.Started):
                if change.job in self._since:
                    self._job[change.attempt] = change.job
                    self._count(change.job, [self._since[change.job].pop()], now)
            elif isinstance(change, said.Ended):
                job = self._job.pop(change.attempt, "")
                if change.then in _GOES_ON and job:
                    self._since[job].append(now)
            elif isinstance(change, said.JobResized):
                if change.job in self._since:
                    self._since[change.job] += [now] * (change.tasks - self._tasks[change.job])
                    self._tasks[change.job] = change.tasks
            elif isinstance(change, said.TaskDropped):
                if change.job in self._since and was_waiting(self._cluster, change):
                    self._count(change.job, [self._since[change.job].pop()], now)
            elif isinstance(change, said.JobEnded):
                self._count(change.job, self._since.pop(change.job, []), now)

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing: only waits are looked at."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing, likewise."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""

    def close(self, now: int) -> None:
        """The run is over, and the measures are closed; raises BrokenRuleError where the two sums are not the same."""
        for job, since in self._since.items():
            self._count(job, since, now)
        account = self._measures.accounts["/"]
        if account.demand - account.use != self._waited:
            what = f"what waits of {self._measures.resource} over time is {account.demand - account.use}"
            line = f"{format_instant(now)}: {what}, and the sum of all waits {self._waited} (Little's law)"
            raise BrokenRuleError(f"{line} [{BrokenRuleError.code}]")

    def _add(self, job: str, unit: tuple[tuple[str, str], ...], units: int, since: list[int]) -> None:
        books = self._cluster.books[self._measures.group]
        self._amount[job] = amount_of(books, unit, units, self._measures.resource)
        self._since[job] = since

    def _count(self, job: str, since: list[int], now: int) -> None:
        begin = self._measures.spans.begin
        self._waited += sum(max(0, now - max(each, begin)) for each in since) * self._amount.get(job, 0)
