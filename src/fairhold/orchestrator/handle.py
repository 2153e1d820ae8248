"""Handles events and returns instructions; all changes to the books of a live cluster are made here."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP, Pacing
from fairhold.cycle.run import run
from fairhold.cycle.slot_ledger import SlotCycle, SlotLedger
from fairhold.ledger import transitions
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import adopting, ending, inventory, jobs, machines, slots
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.budgets import spent, warned
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.devices import bounds_of
from fairhold.orchestrator.due import READY, TRY
from fairhold.orchestrator.events import (
    Event,
    GroupPaused,
    HostJoined,
    HostLost,
    JobCancelled,
    JobChanged,
    JobHeld,
    JobReleased,
    JobRequeued,
    JobSubmitted,
    MachineClosed,
    MachineGone,
    MachineLabelled,
    MachineOpened,
    MachineReported,
    MachineSilent,
    TaskAdopted,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.orchestrator.histories import Borders
from fairhold.orchestrator.instructions import Instruction, Start, Stop, WakeAt
from fairhold.orchestrator.pooling import VectorCycle, VectorLedger, carry_out, run_vectors
from fairhold.orchestrator.waking import Waking
from fairhold.orchestrator.windows import Openings, VectorSwitches
from fairhold.rules.handing import hand_over

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.vectors import PartsTold
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.tasks import JobRecord

    OnCycle = Callable[[SlotCycle, str], None]
    OnVectors = Callable[[VectorCycle, str], None]
    OnStage = Callable[[str], None]


USAGE_COUNTED = "UsageCounted"
"""Cause of a cycle: history may have changed a share."""


class Orchestrator:
    """A live cluster without its I/O.

    cluster  : its state
    books    : resource group → its books
    jobs     : name → record of every job that is not forgotten
    attempts : number → every running attempt
    changes  : what the last `handle` changed, to be written down before its instructions are carried out
    is_closing : nothing more is started, though everything else goes on; set by a driver that is about to stop
    is_observing : cycles run, and nothing that they decide is done: others decide, and tell what has happened
    on_cycle : called with each cycle's result and cause, the first event since the cycle before, before its decision is
        applied
    on_vectors : the same of a cycle of vectors
    on_stage : called with the name of each stage of a cycle as it begins, at last with an empty one: the cycle is over
    reopens  : every cycle is made whole, and books of vectors are opened again for it. Else cycles of slots may look at
        marks alone (`cycle.slot_ledger`), and books of vectors are kept from cycle to cycle: the result of a cycle of
        vectors must not be read any more when the next one runs. Both decide the same
    """

    def __init__(
        self,
        books: Mapping[str, Books] | Cluster,
        *,
        cycle_min_gap: int = MIN_GAP,
        cycle_max_interval: int = MAX_INTERVAL,
        on_cycle: OnCycle | None = None,
        on_vectors: OnVectors | None = None,
        on_stage: OnStage = lambda _: None,
        reopens: bool = False,
    ) -> None:
        self.cluster = books if isinstance(books, Cluster) else Cluster(books)
        self.books = self.cluster.books
        self.jobs, self.attempts = self.cluster.jobs, self.cluster.attempts
        self.changes: list[say.Change] = []
        self.on_cycle, self.on_vectors = on_cycle, on_vectors
        self.on_stage = on_stage
        self.now, self.is_closing, self.is_observing = 0, False, False
        self._pacing = {group: Pacing(cycle_min_gap, cycle_max_interval) for group in self.books}
        self._vectors = None if reopens else VectorLedger(self.cluster)
        self._quota: dict[str, array[int]] = {}
        self._slots = {} if reopens else {group: SlotLedger() for group in self.books}
        self._cause: dict[str, str] = {}
        self._openings = Openings(self.books)
        self._switches = VectorSwitches(self.books.get(POOLED))
        self._borders = Borders(self.books.get(POOLED))
        self._out: list[Instruction] = []
        self._waking = Waking(self.cluster, self._pacing, (self._openings, self._switches, self._borders))

    def handle(self, event: Event, now: int) -> tuple[Instruction, ...]:
        """Handle an event; returns the instructions that follow.

        Cycles run when the driver sends `Woken`, as `WakeAt` asks it to: a driver that hands on everything that
        happened at one instant before it sends `Woken` gets one cycle for all of it.

        now : instant, never earlier than at the call before
        Raises InputError, with nothing changed, where an event names what is not there, a name that is taken, or a
        number out of range.
        """
        self._out, self.changes, self.now = [], [], now
        self.cluster.ended.clear()
        self.cluster.ended_jobs.clear()
        _HANDLERS[type(event)](self, event)
        for kind, name, number in self.cluster.due.take(now):
            if kind == READY:
                self.do(say.Ready(name, number))
                self.changed(self.jobs[name].resource_group)
            elif kind == TRY:
                self.do(say.MachineShut(name, None, 0, self.cluster.machine(name).pauses))
                self.changed_all()
            else:
                self.stop(self.attempts[number], "reclaim")
        is_woken = type(event) is Woken
        is_switch = is_woken and self._waking.is_timed and (self._open_windows() | self._count_budgets())
        for group, pacing in self._pacing.items():
            self._stop_expired(group)
            if is_woken and pacing.is_due(now) and not is_switch:
                due = self._cycle(group)
                pacing.ran(now)
                if due is not None:
                    pacing.not_after(due)
                self._stop_expired(group)
            elif pacing.due is not None:
                self._cause.setdefault(group, type(event).__name__)
        wake = self._waking.next(now)
        if wake is not None:
            self._out.append(WakeAt(wake))
        return tuple(self._out)

    def cycled_all(self) -> None:
        """Restart the cycle interval of all groups, as if a cycle had run in each now."""
        for pacing in self._pacing.values():
            pacing.ran(self.now)

    def hand_by(self, quotas: Mapping[str, Sequence[int]]) -> None:
        """Use these quotas for hand-overs until the next cycle; resource group → (rows,) quotas."""
        self._quota |= {group: array("q", quota) for group, quota in quotas.items() if group in self.books}

    def quotas_of(self, group: str) -> Sequence[int] | None:
        """(rows,) quotas of the leaves of a group by its last cycle; None = none ran under what is in force."""
        return self._quota.get(group)

    def replay(self, change: say.Change, now: int) -> None:
        """Replay a change of the log."""
        self.cluster.apply(change, now)
        self.cluster.ended.clear()
        self.cluster.ended_jobs.clear()

    # What the handlers of events use

    def do(self, change: say.Change) -> None:
        """Decide a change: apply it and write it down."""
        self.cluster.apply(change, self.now)
        self.changes.append(change)

    def order(self, instruction: Instruction) -> None:
        """Add an instruction."""
        self._out.append(instruction)

    def changed(self, group: str, *, at_once: bool = False) -> None:
        """A group needs a cycle; at_once: without waiting for its cycle interval."""
        pacing = self._pacing[group]
        (pacing.at_once if at_once else pacing.changed)(self.now)

    def changed_all(self) -> None:
        """Every group needs a cycle: after a start, or a change of hosts."""
        for group in self._pacing:
            self.changed(group)

    def stop(self, attempt: Attempt, reason: str) -> None:
        """Tell an attempt to stop; only once."""
        if not attempt.stopping:
            self.do(say.Stopping(attempt.name, reason))
            self.order(Stop(attempt.name, reason))

    def hand_over(self, job: JobRecord, host: str) -> bool:
        """Give a slot that has just become idle to the next task of its leaf; False: a cycle has to see it."""
        group, quota = job.resource_group, self._quota.get(job.resource_group)
        if quota is None or self._grants_are_paused(group) or not self.cluster.accepts(host):
            return False
        grant = hand_over(
            self.books[group], self.cluster.leaf_of(job), self.cluster.hosts[group, host].row, quota, self.now
        )
        if grant is None:
            return False
        self.start(group, grant.request, ((host, 1),))
        self._pacing[group].handed_over(self.now)
        return True

    def start(
        self,
        group: str,
        request: int,
        places: tuple[tuple[str, int], ...],
        unit: tuple[str, tuple[str, ...], tuple[int, ...], PartsTold] = ("", (), (), ()),
    ) -> None:
        """Start the next task of a request; unit: of a vector, its pool, lenders, GPUs and parts."""
        job = self.cluster.job_of[group][request]
        assert job is not None, "only requests of jobs are granted anything"
        index, number = job.peek()
        name = self.cluster.next_attempt
        self.do(say.Started(name, job.name, index, number, places, *unit))
        self.order(self.start_order(self.attempts[name]))

    def start_order(self, attempt: Attempt) -> Start:
        """The instruction that starts an attempt."""
        places = attempt.places if len(attempt.places) > 1 else ()
        books = self.books[attempt.job.resource_group]
        return Start(
            attempt.name,
            attempt.job.name,
            attempt.index,
            attempt.number,
            attempt.job.resource_group,
            attempt.places[0][0],
            attempt.units,
            places,
            books.rows.controls.max_run_time[self.cluster.leaf_of(attempt.job)],
            *bounds_of(books, attempt),
        )

    # Cycles

    def _open_windows(self) -> bool:
        """Apply the switches that are due. Their cycles run at the driver's next `Woken`, which it sends at once."""
        if not self._waking.switches:
            return False
        opened = self._openings.take(self.now)
        for group, force in opened:
            self.do(say.WindowOpened(group, force))
            self._quota.pop(group, None)
            self._pacing[group].at_once(self.now)
            self._cause[group] = say.WindowOpened.__name__
        if self._switches.take(self.now):
            self._pacing[POOLED].at_once(self.now)
            self._cause[POOLED] = say.WindowOpened.__name__
        if self._borders.take(self.now):
            self._pacing[POOLED].at_once(self.now)
            self._cause.setdefault(POOLED, USAGE_COUNTED)
        return bool(opened)

    def _count_budgets(self) -> bool:
        """Mark budgets that are used up, or whose period begins again, by now; cycles follow as after a switch."""
        is_any = False
        for group, books in self.books.items() if self._waking.with_budgets else ():
            consumers = spent(books, self.now)
            if consumers is not None:
                self.do(say.BudgetsSpent(group, consumers))
                self._quota.pop(group, None)
                self._pacing[group].at_once(self.now)
                self._cause[group] = say.BudgetsSpent.__name__
                is_any = True
            if (told := warned(books)) is not None:
                self.do(say.BudgetsWarned(group, told))
        return is_any

    def _cycle(self, group: str) -> int | None:
        """Run a cycle; returns when the next one is due, also if it may not reclaim: it may hold units."""
        books = self.books[group]
        if books.vectors is not None:
            return self._cycle_of_vectors()
        ledger = self._slots.get(group)
        result = run(books, self.now, self.on_stage) if ledger is None else ledger.run(books, self.now, self.on_stage)
        cause = self._cause.pop(group, Woken.__name__)
        if self.on_cycle is not None:
            self.on_cycle(result, cause)
        self.on_stage("apply")
        self._quota[group] = result.quota
        self.do(say.CycleRan(self.cluster.cycles + 1, group, cause))
        if not result.decision.changes_nothing:
            grants, reclaims = not self._grants_are_paused(group), not self._reclaims_are_paused(group)
            slots.carry_out(self, group, result.decision, grants=grants, reclaims=reclaims)
        if ledger is not None:
            ledger.carried_out(result)
        self.on_stage("")
        return result.decision.due

    def _cycle_of_vectors(self) -> int | None:
        """As `_cycle`, of all that is shared in vectors."""
        cause = self._cause.pop(POOLED, Woken.__name__)
        self.on_stage("snapshot")
        cycle = run_vectors(self.cluster, self.now) if self._vectors is None else self._vectors.run(self.now)
        if self.on_vectors is not None:
            self.on_vectors(cycle, cause)
        self.on_stage("apply")
        self.do(say.CycleRan(self.cluster.cycles + 1, POOLED, cause))
        grants, reclaims = not self._grants_are_paused(POOLED), not self._reclaims_are_paused(POOLED)
        carry_out(self, cycle, grants=grants, reclaims=reclaims)
        self.on_stage("")
        return cycle.due

    def _grants_are_paused(self, group: str) -> bool:
        return self.is_closing or self.is_observing or self.cluster.paused.get(group, (False, False))[0]

    def _reclaims_are_paused(self, group: str) -> bool:
        return self.is_observing or self.cluster.paused.get(group, (False, False))[1]

    def _stop_expired(self, group: str) -> None:
        """Stop attempts whose grace has run out (S1.60); their units stay booked until the engine reports the end."""
        books = self.books[group]
        due = books.notices.due
        for notice in transitions.take_expired(books, self.now) if due and due[0][0] <= self.now else ():
            self.stop(self.cluster.attempt_of[group][books.notices.allocation[notice]], "reclaim")

    def _wake(self, event: Woken) -> None:
        pass


_HANDLERS: dict[type, Callable[[Orchestrator, Any], None]] = {
    HostJoined: inventory.join,
    HostLost: inventory.lose,
    MachineReported: machines.report,
    MachineLabelled: adopting.label,
    MachineSilent: machines.miss,
    MachineGone: machines.give_up,
    MachineClosed: machines.close,
    MachineOpened: machines.open_again,
    JobSubmitted: jobs.submit,
    JobCancelled: jobs.cancel,
    JobHeld: jobs.hold,
    JobReleased: jobs.release,
    JobRequeued: jobs.requeue,
    JobChanged: jobs.change,
    TaskCancelled: jobs.cancel_task,
    TaskAdopted: adopting.adopt,
    TaskRunning: ending.run,
    TaskEnded: ending.end,
    GroupPaused: inventory.pause,
    Woken: Orchestrator._wake,
}
