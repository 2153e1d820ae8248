"""Which event a change came of: one change after another, each with the cluster as it was before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE, siting_of
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import (
    Dependency,
    Exit,
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
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskAdopted,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.orchestrator.machines import HOST_LOST
from fairhold.sim.event_trace import Began, Cycled, Line, NodesChanged, Replanned, ServiceClosing, ServiceStarted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fairhold.orchestrator.cluster import Cluster

_LEASE = "its lease ran out"
_BY_ITSELF = "it failed on "
_GRANTS = (said.Started, said.Kept, said.LoansCounted, said.Rebooked, said.OwnershipAdjusted)
"""What is never written down while a service is closing."""


class Retracing:
    """Collects the lines of an event trace.

    governs    : whether the service governs a cluster, whose work may have begun before it is known
    has_cycles : whether any cycle was written down
    is_observing : whether all that began was told by others
    """

    def __init__(self, *, governs: bool = False) -> None:
        self.governs, self._adopted, self._decided = governs, 0, 0
        self.lines: list[Line] = []
        self.has_cycles = False
        self._at = -1
        self._is_caused = False  # whether something at this instant has been told that explains what follows
        self._last: said.Change | None = None  # the change before, at the same instant
        self._done: set[str] = set()  # jobs put back, and machines given up, at this instant
        self._noticed: dict[int, int] = {}
        self._stopping: dict[int, int] = {}
        self._switched = -1  # the last line that is a switch, whose cycles come after it
        self._granted = 0  # lines up to the last change that no closing service makes
        self._silent: dict[int, tuple[list[str], int]] = {}  # line → machines that there were, `_granted` by then
        self._group_of: dict[int, str] = {}  # line → group of what began there
        # What each kind of change is taken for; the others follow from those before them.
        self._of: dict[type, Callable[[Any, Cluster], None]] = {
            said.JobAdded: self._add,
            said.JobDropped: self._drop,
            said.HoldSet: self._hold,
            said.JobRanked: self._rank,
            said.JobMoved: self._move,
            said.JobResized: self._resize,
            said.TaskDropped: self._leave_out,
            said.Started: self._start,
            said.Running: self._run,
            said.Noticed: self._notice,
            said.Drained: self._drain,
            **dict.fromkeys((said.Withdrawn, said.Undrained), self._withdraw),
            said.Stopping: self._stop,
            said.Ended: self._end,
            said.Ready: self._by_time,
            said.HostSet: self._set_host,
            said.MachineSeen: self._see,
            said.AttemptNumbersTaken: self._take_numbers,
            said.MachineMissed: self._miss,
            said.MachineLapsed: self._lapse,
            said.MachineShut: self._shut,
            said.Paused: self._pause,
            **dict.fromkeys((said.WindowOpened, said.BudgetsSpent), self._switch),
            said.BudgetsWarned: self._by_time,
            said.CycleRan: self._cycle,
        }

    def tell(self, at: int, what: Any) -> None:  # noqa: ANN401 - an event or a happening
        """Something happened."""
        self._enter(at)
        self._tell(what)
        self.governs |= isinstance(what, NodesChanged)
        if isinstance(what, (Replanned, NodesChanged)):
            self._granted = len(self.lines)

    def take(self, at: int, change: said.Change, cluster: Cluster) -> None:
        """The next change; cluster: as it was before."""
        self._enter(at)
        handler = self._of.get(type(change))
        if handler is not None:
            handler(change, cluster)
        if isinstance(change, _GRANTS):
            self._granted = len(self.lines)
        self._last = change

    def close(self, *, is_running: bool) -> list[Line]:
        """All lines, with what is known of the ends and starts of the service.

        A log says neither. Where all machines fell silent at once the service began again, and it granted nothing since
        what was granted last: whether it could have does not matter.
        """
        marks: dict[int, list[Any]] = {}
        for first, (machines, granted) in self._silent.items():
            run = [line.what for line in self.lines[first : first + len(machines)]]
            if run == [MachineSilent(name) for name in machines] and not self._is_handed_on(first):
                marks.setdefault(granted, []).append(ServiceClosing())
                marks.setdefault(first, []).append(ServiceStarted())
        if not is_running and self.lines:
            marks.setdefault(self._granted, []).append(ServiceClosing())
        found: list[Line] = []
        for place, line in enumerate(self.lines):
            found += [Line(line.at, what) for what in marks.get(place, ())]
            if self.has_cycles or not isinstance(line.what, Woken):
                found.append(line)
        return found

    @property
    def is_observing(self) -> bool:  # noqa: D102 - see the class
        return 0 < self._adopted == self._decided

    def _is_handed_on(self, place: int) -> bool:
        """Whether units begin to be used from there on before a cycle ran in their group."""
        seen: set[str] = set()
        for at in range(place, len(self.lines)):
            what = self.lines[at].what
            if isinstance(what, Cycled):
                seen |= set(what.groups)
            elif isinstance(what, Began):
                return self._group_of[at] not in seen
        return False

    def _enter(self, at: int) -> None:
        if at != self._at:
            self._at, self._is_caused, self._last = at, False, None
            self._done.clear()

    def _tell(self, what: Any, after_notice: int | None = None, after_stop: int | None = None) -> None:  # noqa: ANN401
        self.lines.append(Line(self._at, what, after_notice, after_stop))
        self._is_caused = True

    def _by_time(self, _change: said.Change, _cluster: Cluster) -> None:
        """What comes with the time, where nothing else at the instant has brought it."""
        if not self._is_caused:
            self._tell(Woken())

    # What users ask for

    def _add(self, change: said.JobAdded, _cluster: Cluster) -> None:
        after = tuple(Dependency(*each) for each in change.after)
        siting = siting_of(change.siting) if change.siting else ANYWHERE
        terms = change._asdict() | {"count": change.tasks, "is_held": change.hold is not None}
        del terms["tasks"], terms["hold"]
        self._tell(JobSubmitted(**(terms | {"after": after, "siting": siting})))

    def _drop(self, change: said.JobDropped, _cluster: Cluster) -> None:
        if not change.needed:
            self._tell(JobCancelled(change.job))

    def _hold(self, change: said.HoldSet, _cluster: Cluster) -> None:
        if change.hold is None:
            self._tell(JobReleased(change.job))
        elif not (isinstance(self._last, said.Ended) and change.hold.startswith(_BY_ITSELF)):
            self._tell(JobHeld(change.job, change.hold))

    def _rank(self, change: said.JobRanked, _cluster: Cluster) -> None:
        self._tell(JobChanged(change.job, change.priority))

    def _move(self, change: said.JobMoved, _cluster: Cluster) -> None:
        self._tell(JobChanged(change.job, consumer=change.consumer))

    def _resize(self, change: said.JobResized, _cluster: Cluster) -> None:
        self._tell(JobChanged(change.job, tasks=change.tasks, min_count=change.min_count))

    def _leave_out(self, change: said.TaskDropped, _cluster: Cluster) -> None:
        self._tell(TaskCancelled(change.job, change.task))

    # Attempts

    def _start(self, change: said.Started, cluster: Cluster) -> None:
        if self.governs and self._last is None:  # no cycle, and no end whose units are handed on
            self._tell(TaskAdopted(change.job, change.places[0][0], is_running=False))
            self._adopted += 1
        self._decided += 1
        self._group_of[len(self.lines)] = cluster.jobs[change.job].resource_group
        is_caused = self._is_caused
        self._tell(Began(change.attempt, change.job, change.task, change.number))
        self._is_caused = is_caused

    def _run(self, change: said.Running, _cluster: Cluster) -> None:
        before = self.lines[-2] if isinstance(self._last, said.Started) and len(self.lines) > 1 else None
        if before is not None and before.at == self._at and isinstance(before.what, TaskAdopted):
            self.lines[-2] = before._replace(what=replace(before.what, is_running=True))
        else:
            self._tell(TaskRunning(change.attempt))

    def _notice(self, change: said.Noticed | said.Drained, _cluster: Cluster) -> None:
        self._decided += 1
        self._noticed.setdefault(change.attempt, self._at)

    def _withdraw(self, change: said.Withdrawn | said.Undrained, _cluster: Cluster) -> None:
        self._noticed.pop(change.attempt, None)

    def _drain(self, change: said.Drained, cluster: Cluster) -> None:
        self._notice(change, cluster)
        closed = next((at for at in range(len(self.lines) - 1, -1, -1) if self.lines[at].at != self._at), -1) + 1
        for place in range(len(self.lines) - 1, closed - 1, -1):
            what = self.lines[place].what
            if isinstance(what, MachineClosed):
                by = max(what.by, change.deadline)
                self.lines[place] = self.lines[place]._replace(what=replace(what, by=by))
                return

    def _stop(self, change: said.Stopping, cluster: Cluster) -> None:
        self._stopping.setdefault(change.attempt, self._at)
        attempt = cluster.attempts[change.attempt]
        if change.reason == "requeue":
            if attempt.job.name not in self._done:
                self._done.add(attempt.job.name)
                self._tell(JobRequeued(attempt.job.name))
        elif change.reason == HOST_LOST and not self._is_caused:
            silent = [name for name in attempt.machines[1:] if cluster.machine(name).is_silent]
            self._lose(silent[0] if silent else attempt.machine)
        else:
            self._by_time(change, cluster)

    def _end(self, change: said.Ended, cluster: Cluster) -> None:
        noticed, stopping = self._noticed.pop(change.attempt, None), self._stopping.pop(change.attempt, None)
        if change.reason == HOST_LOST and change.detail == _LEASE:
            self._lose(cluster.attempts[change.attempt].machine)
            return
        exit_ = Exit(*change[3:])
        outcome = OUTCOMES.get(change.reason) or _OUTCOMES.get(change.reason, Outcome.FAILED)
        self._tell(
            TaskEnded(change.attempt, outcome, exit_),
            None if noticed is None else self._at - noticed,
            None if stopping is None else self._at - stopping,
        )

    # Machines

    def _set_host(self, change: said.HostSet, _cluster: Cluster) -> None:
        where = change.resource_group, change.host
        self._tell(HostJoined(*where, change.slots) if change.is_up else HostLost(*where))

    def _see(self, change: said.MachineSeen, _cluster: Cluster) -> None:
        self._tell(MachineReported(change.machine, change.boot, 0, (), change.spool, change.labels))

    def _take_numbers(self, change: said.AttemptNumbersTaken, _cluster: Cluster) -> None:
        line = self.lines[-1]
        self.lines[-1] = line._replace(what=replace(line.what, last=change.last))

    def _miss(self, change: said.MachineMissed, cluster: Cluster) -> None:
        machines = sorted({cluster.machine_of(host) for _, host in cluster.hosts})
        if machines[:1] == [change.machine]:
            self._silent[len(self.lines)] = machines, self._granted
        self._tell(MachineSilent(change.machine))

    def _lapse(self, change: said.MachineLapsed, _cluster: Cluster) -> None:
        self._lose(change.machine)

    def _lose(self, machine: str) -> None:
        if f"lost {machine}" not in self._done:
            self._done.add(f"lost {machine}")
            self._tell(MachineGone(machine))

    def _shut(self, change: said.MachineShut, cluster: Cluster) -> None:
        if change.reason is not None:
            if not isinstance(self._last, said.MachineRefused):
                self._tell(MachineClosed(change.machine, change.reason, change.drains))
        elif change.pauses:
            self._by_time(change, cluster)
        else:
            self._tell(MachineOpened(change.machine))

    def _pause(self, change: said.Paused, _cluster: Cluster) -> None:
        self._tell(GroupPaused(*change))

    # Time

    def _switch(self, _change: said.WindowOpened | said.BudgetsSpent, _cluster: Cluster) -> None:
        if not isinstance(self._last, (said.WindowOpened, said.BudgetsSpent)):
            self._switched = len(self.lines)
            self._tell(Woken())

    def _cycle(self, change: said.CycleRan, _cluster: Cluster) -> None:
        self.has_cycles = True
        group, place = change.resource_group, len(self.lines) - 1
        while place >= 0 and isinstance(self.lines[place].what, Began) and self.lines[place].at == self._at:
            place -= 1
        line = self.lines[place] if place >= 0 else None
        what = line.what if line is not None and line.at == self._at else None
        if isinstance(what, Woken) and place != self._switched:  # what came with the time came with this cycle
            self.lines[place] = Line(self._at, Cycled((group,)))
        elif isinstance(what, Cycled) and group not in what.groups:
            self.lines[place] = Line(self._at, Cycled((*what.groups, group)))
        else:
            self._tell(Cycled((group,)))


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
"""Reasons of ends of which no machine has a record."""
