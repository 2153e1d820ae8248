"""The jobs of a workload as the orchestrator knows them, and those that can never run under the plan."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobSubmitted
from fairhold.orchestrator.jobs import check

if TYPE_CHECKING:
    from fairhold.model.vector import Told
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.sim.experiment import Experiment


class Refused(NamedTuple):
    """Jobs of one kind that were left out; a sample: the first of them.

    code, what, mend : as in the fault that the live service gives
    """

    code: str
    what: str
    mend: str
    job: str
    jobs: int


class Submissions:
    """Makes the event of every job.

    refused : code and consumer → jobs that can never run; they are reported, and nobody waits for them
    """

    def __init__(self, experiment: Experiment, live: Orchestrator) -> None:
        self._scene, self._live = experiment, live
        self._workload = experiment.workload
        self._group_of: dict[str, str] = {}
        self._place: dict[tuple[int, int], tuple[str, Told, int] | InputError] = {}
        self._fits: dict[tuple[int, int, int, int, bool | None], InputError | None] = {}
        self.refused: dict[tuple[str, str], Refused] = {}

    def event(self, row: int) -> JobSubmitted | None:
        """The submission of a job, None where it can never run."""
        work = self._workload
        consumer, unit = work.consumer[row], work.unit[row] if work.unit else 0
        place = self._place.get((consumer, unit))
        if place is None:
            place = self._place[consumer, unit] = self._find(work.consumers[consumer], unit)
        if isinstance(place, InputError):
            self._refuse(row, place)
            return None
        group, vector, slots = place
        tasks, least = work.tasks[row], work.min_count[row] if work.min_count else 0
        units = slots
        if group != POOLED and least > 1:
            # Slots know gangs of one size alone: a job begins as it would with all of its tasks.
            tasks, units, least = 1, slots * tasks, 0
        event = JobSubmitted(
            work.name[row],
            work.consumers[consumer],
            group,
            tasks,
            priority=work.priority[row] if work.priority else 0,
            user=work.users[work.user[row]] if work.user and work.users else "",
            units=1 if group == POOLED else units,
            unit=vector,
            min_count=least if least > 1 else 0,
            preemptible=False if group == POOLED and work.preemptible and not work.preemptible[row] else None,
        )
        key = (consumer, unit, tasks, event.units if group != POOLED else least, event.preemptible)
        if key not in self._fits:
            self._fits[key] = self._fault(event)
        fault = self._fits[key]
        if fault is None:
            return event
        self._refuse(row, fault)
        return None

    def _fault(self, event: JobSubmitted) -> InputError | None:
        try:
            check(self._live, event)
        except InputError as error:
            return error
        return None

    def _refuse(self, row: int, error: InputError) -> None:
        fault = error.faults[0]
        consumer = self._workload.consumers[self._workload.consumer[row]]
        before = self.refused.get((fault.code, consumer))
        name, count = (self._workload.name[row], 0) if before is None else (before.job, before.jobs)
        self.refused[fault.code, consumer] = Refused(fault.code, fault.what, fault.mend, name, count + 1)

    def _find(self, consumer: str, unit: int) -> tuple[str, Told, int] | InputError:
        """Where units of a consumer come from, what each is there, and how many slots it takes."""
        asked, named = self._workload.units[unit], self._workload.groups[unit] if self._workload.groups else ""
        books, slot = self._live.books, self._scene.slot
        shared = [name for name in books if name != POOLED and named in {"", name}]
        groups = [name for name in shared if consumer in books[name].rows.by_path]
        if POOLED in books and (asked or not groups):
            return POOLED, asked or slot, 1
        if groups:
            return groups[0], (), slots_of(asked, slot)
        fault = self._fault(JobSubmitted("", consumer, named or next(iter(books)), 1))
        assert fault is not None, "no group has the consumer"
        return fault


def slots_of(unit: Told, slot: Told) -> int:
    """How many slots have all that a unit needs; resources that a slot does not name are not counted."""
    amounts = dict(slot)
    parts = [-(-Fraction(amount) // Fraction(amounts[name])) for name, amount in unit if name in amounts]
    return max(1, *parts) if parts else 1
