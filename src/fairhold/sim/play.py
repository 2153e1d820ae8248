"""The simulator's loop: the live orchestrator under an invented clock, with invented hosts and work.

What decides is the machine that the service runs (`orchestrator.handle`), so that what a simulation shows is what would
happen. Only the world around it is made up: when jobs come, how long tasks run, which hosts fail.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol

from fairhold.model.workload import ENDLESS
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import (
    Exit,
    HostJoined,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Notify, Start, Stop, WakeAt
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.sim.submitting import Submissions
from fairhold.sim.tasks import Attempt, Progress
from fairhold.units import LONGEST, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.cycle.run import CycleResult
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.scene import Scene
    from fairhold.sim.submitting import Refused

ENDS, WORLD = range(2)
"""Order of what happens at the same instant, before jobs come: tasks end, then hosts change."""


class Watch(Protocol):
    """Who is told what happens."""

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Something happened at an instant: what the service would have written down."""
        ...

    def lost(self, now: int, attempt: int, work: int) -> None:
        """An attempt was stopped, and so much of its work is lost, in microseconds; told before its end is."""
        ...

    def cycled(self, now: int, result: CycleResult) -> None:
        """A cycle of slots ran; nothing of it has been carried out."""
        ...

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """A cycle of vectors ran; nothing of it has been carried out."""
        ...


class Simulation:
    """One run of a scene.

    watches  : told everything, in order; is_brief: cycles while there is plenty are passed over, with the same answers

    now     : its instant
    live    : the orchestrator
    arrived : jobs of the workload that have been looked at so far, those before its start among them
    last    : where `arrived` ends: jobs from there on come after the end
    """

    def __init__(self, scene: Scene, watches: Sequence[Watch] = (), *, is_brief: bool = True) -> None:
        self.scene, self.now = scene, scene.start
        self._watches = watches
        cluster = Cluster(open_cluster_books(scene.plan, scene.start), forgets=True)
        self.live = Orchestrator(
            cluster,
            cycle_min_gap=scene.min_gap,
            cycle_max_interval=scene.max_interval,
            on_cycle=self._cycled if watches else None,
            on_vectors=self._cycled_vectors if watches else None,
            is_brief=is_brief,
        )
        self._submissions = Submissions(scene, self.live)
        self._progress = Progress(scene.work)
        self._attempts: dict[int, Attempt] = {}
        self._row_of: dict[str, int] = {}
        self._heap: list[tuple[int, int, int, Event | None, int]] = []
        self._serial = 0
        self._wake: int | None = None
        self._latest = scene.start
        self.arrived = self._first()
        self.last = self._end_of_jobs()
        self._arrange()

    @property
    def refused(self) -> Mapping[tuple[str, str], Refused]:
        """Jobs that can never run under the plan, by code of the fault and consumer."""
        return self._submissions.refused

    def run(self) -> None:
        """To the end."""
        while self.step():
            pass

    def step(self) -> bool:
        """Let the next thing happen; False: nothing is left, or the end of the scene is there."""
        submit = self.scene.workload.submit
        arrival = submit[self.arrived] if self.arrived < self.last else UNLIMITED
        happens = self._heap[0][0] if self._heap else UNLIMITED
        wakes = UNLIMITED if self._wake is None else self._wake
        instant, end = min(arrival, happens, wakes), self.scene.end
        if self._is_over(arrival, happens) or (end is not None and instant >= end):
            self.now = self.now if end is None else end
            return False
        self.now = instant
        if happens <= self.now:
            _, _, serial, event, number = heappop(self._heap)
            self._happen(event, number, serial)
        elif arrival <= self.now:
            self._submit(self.arrived)
            self.arrived += 1
        else:
            self._wake = None
            self._feed(Woken())
        return True

    def _is_over(self, arrival: int, happens: int) -> bool:
        """Nothing is left that could happen, but for windows and periods, which begin for ever.

        What waits for one of them has a year; services that run on wait for nothing.
        """
        if min(arrival, happens) != UNLIMITED:
            self._latest = self.now
            return False
        if self._wake is None or self._wake - self._latest > LONGEST:
            return True
        return not any(job.waiting for job in self.live.jobs.values())

    # What is ahead

    def _first(self) -> int:
        submit, start = self.scene.workload.submit, self.scene.start
        return next((row for row in range(len(submit)) if submit[row] >= start), len(submit))

    def _end_of_jobs(self) -> int:
        submit, end = self.scene.workload.submit, self.scene.end
        return len(submit) if end is None else next((row for row, at in enumerate(submit) if at >= end), len(submit))

    def _arrange(self) -> None:
        """Outages and other sizes, and the first cycle."""
        for number, outage in enumerate(self.scene.outages):
            host = outage.host
            if outage.lead:
                self._push(
                    max(self.now, outage.down - outage.lead), MachineClosed(host, "planned", drain=True, by=outage.down)
                )
            else:
                self._push(outage.down, MachineSilent(host))
                self._push(outage.down, MachineGone(host))
            if outage.up < UNLIMITED:
                comes = MachineOpened(host) if outage.lead else MachineReported(host, f"start {number + 2}", 0)
                self._push(outage.up, comes)
        for resizing in self.scene.resizings:
            self._push(resizing.at, HostJoined(resizing.resource_group, "", resizing.slots))
        self._feed(Woken())

    def _push(self, instant: int, event: Event) -> None:
        self._serial += 1
        heappush(self._heap, (instant, WORLD, self._serial, event, 0))

    def _schedule(self, number: int, instant: int, outcome: Outcome) -> None:
        """An attempt ends at an instant; what was scheduled for it before does not happen."""
        self._serial += 1
        self._attempts[number].event = self._serial
        heappush(self._heap, (instant, ENDS, self._serial, TaskEnded(number, outcome, _EXITS.get(outcome)), number))

    # What happens

    def _submit(self, row: int) -> None:
        event = self._submissions.event(row)
        if event is not None:
            self._row_of[event.job] = row
            self._feed(event)

    def _happen(self, event: Event | None, number: int, serial: int) -> None:
        if event is None:
            return
        if number:
            attempt = self._attempts.get(number)
            if attempt is None or attempt.event != serial:
                return
        self._feed(event)

    def _feed(self, event: Event) -> None:
        now, live = self.now, self.live
        instructions = live.handle(event, now)
        for change in live.changes:
            kind = type(change)
            if kind is said.Ended:
                self._ended(change)  # type: ignore[arg-type]  # its kind was asked
            elif kind is said.JobEnded:
                del self._row_of[change.job]  # type: ignore[union-attr]
        for watch in self._watches:
            watch.note(now, live.changes)
        for instruction in instructions:
            asked = type(instruction)
            if asked is Start:
                self._start(instruction)  # type: ignore[arg-type]  # its kind was asked
            elif asked is WakeAt:
                self._wake = instruction.instant  # type: ignore[union-attr]
            elif asked is Notify:
                self._leave(instruction.attempt)  # type: ignore[union-attr]
            elif asked is Stop:
                self._stop(instruction)  # type: ignore[arg-type]
        if not instructions or type(instructions[-1]) is not WakeAt:
            self._wake = None

    def _start(self, order: Start) -> None:
        row = self._row_of[order.job]
        attempt = self._attempts[order.attempt] = Attempt(row, order.index, order.units, self.now)
        duration = self.scene.workload.duration[row]
        self._progress.begin(attempt, duration, is_first=order.number == 1)
        if duration != ENDLESS:
            self._schedule(order.attempt, attempt.begins + attempt.left, Outcome.FINISHED)
        if order.longest and (duration == ENDLESS or self.now + order.longest < attempt.begins + attempt.left):
            self._schedule(order.attempt, self.now + order.longest, Outcome.FAILED)

    def _leave(self, number: int) -> None:
        """A task that saves its state leaves, also where the notice is withdrawn meanwhile; another works on."""
        attempt = self._attempts[number]
        if self.scene.work.yields and not attempt.is_leaving:
            attempt.is_leaving = True
            self._lose(number, self._progress.stop(attempt, self.now, saves=True))
            self._schedule(number, self.now + self.scene.work.stop_delay, Outcome.YIELDED)

    def _stop(self, order: Stop) -> None:
        attempt = self._attempts.get(order.attempt)
        if attempt is None or attempt.is_leaving:
            return
        attempt.is_leaving = True
        self._lose(order.attempt, self._progress.stop(attempt, self.now, saves=False))
        self._schedule(order.attempt, self.now + self.scene.work.stop_delay, Outcome.STOPPED)

    def _ended(self, change: said.Ended) -> None:
        """An attempt is over, by itself, stopped, or with its host."""
        attempt = self._attempts.pop(change.attempt, None)
        if attempt is None:
            return
        if change.then in {said.DONE, said.FAILED, said.CANCELLED}:
            self._progress.finish(attempt)
        elif not attempt.is_leaving:
            self._lose(change.attempt, self._progress.stop(attempt, self.now, saves=False))

    def _lose(self, number: int, work: int) -> None:
        for watch in self._watches if work else ():
            watch.lost(self.now, number, work)

    def _cycled(self, result: CycleResult, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled(self.now, result)

    def _cycled_vectors(self, result: VectorCycle, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled_vectors(self.now, result)


_EXITS = {
    Outcome.YIELDED: Exit("yielded"),
    Outcome.STOPPED: Exit("reclaim"),
    Outcome.FAILED: Exit("time_limit"),
}
"""How attempts end that do not do so by themselves."""
