"""The loop of every simulation: the live orchestrator under an invented clock.

What decides is the machine that the service runs (`orchestrator.handle`), so that what a simulation shows is what would
happen. Only the world around it is made up: a *source* says what comes from outside, and *durations* when attempts end.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol

from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import Exit, Outcome, TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Notify, Start, Stop, WakeAt
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.submitting import Refused


class Watch(Protocol):
    """Who is told what happens."""

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Something happened at an instant: what the service would have written down."""
        ...

    def lost(self, now: int, attempt: int, work: int) -> None:
        """An attempt was stopped, and so much of its work is lost, in microseconds; told before its end is."""
        ...

    def cycled(self, now: int, result: SlotCycle) -> None:
        """A cycle of slots ran; nothing of it has been carried out."""
        ...

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """A cycle of vectors ran; nothing of it has been carried out."""
        ...


class Source:
    """What comes from outside; this one has nothing.

    arrived : jobs that have been looked at so far; last: where `arrived` ends
    refused : jobs that can never run under the plan, by code of the fault and consumer
    """

    def __init__(self) -> None:
        self.arrived = self.last = 0
        self.refused: Mapping[tuple[str, str], Refused] = {}

    def next(self) -> int:
        """When the next thing comes; UNLIMITED = nothing does."""
        return UNLIMITED

    def happen(self, driver: Driver) -> None:
        """Let the next thing come."""

    def follows(self, driver: Driver) -> bool:  # noqa: ARG002 - of what is asked
        """Whether the next thing follows from a cycle that is due at the same instant."""
        return False

    def job_ended(self, change: said.JobEnded) -> None:
        """A job is over."""

    def is_over(self, driver: Driver) -> bool:  # noqa: ARG002 - of what is asked
        """Whether nothing is left to wait for though the clock goes on, where neither this nor an end is to come."""
        return False


class Durations:
    """When attempts end; this one lets them run for ever."""

    def start(self, driver: Driver, order: Start) -> None:
        """An attempt starts now."""

    def leave(self, driver: Driver, attempt: int) -> None:
        """It is told that it has to go."""

    def stop(self, driver: Driver, attempt: int) -> None:
        """It is to stop now."""

    def ended(self, driver: Driver, change: said.Ended) -> None:
        """It is over, by itself, stopped, or with its host."""


class Driver:
    """One run.

    cluster : one of its own, which is changed
    end     : instant at which the run stops, UNLIMITED = when nothing is left that could happen
    watches : told everything, in order

    now  : its instant
    live : the orchestrator
    most_events : how many `run_until` plays at most
    events, wakes : how many were played, and how many of them only the clock called for
    wake    : when the orchestrator wants to be called, None = when something happens
    busy_at : the last instant after which more than the clock was to come
    """

    def __init__(
        self,
        cluster: Cluster,
        now: int,
        source: Source,
        durations: Durations,
        *,
        end: int,
        watches: Sequence[Watch] = (),
    ) -> None:
        self.now = self.busy_at = now
        self.end, self.source, self.durations = end, source, durations
        self.events, self.wakes, self.most_events = 0, 0, UNLIMITED
        self.watches = watches
        self._ends: list[tuple[int, int, TaskEnded]] = []
        self._due: dict[int, tuple[int, int]] = {}  # attempt → instant of its end, number of that
        self._serial = 0
        self.wake: int | None = None
        self.live = self.orchestrator(cluster)

    def orchestrator(self, cluster: Cluster) -> Orchestrator:
        """What decides about a cluster; overridden where it has another rhythm than the usual one."""
        return Orchestrator(cluster)

    @property
    def arrived(self) -> int:
        """Jobs of the source that have been looked at so far."""
        return self.source.arrived

    @property
    def last(self) -> int:
        """Where `arrived` ends: jobs from there on come after the end."""
        return self.source.last

    @property
    def refused(self) -> Mapping[tuple[str, str], Refused]:
        """Jobs that can never run under the plan, by code of the fault and consumer."""
        return self.source.refused

    # The clock

    def run(self) -> None:
        """To the end."""
        while self.step():
            pass

    def run_until(self, instant: int, most_wakes: int = UNLIMITED) -> bool:
        """Let everything happen that does before an instant; False: as many as may be did, and there are more.

        most_wakes : of the events of all calls, those that only the clock calls for: short steps of history call for
                     one each while anybody waits

        May be called again with a later instant.
        """
        while self.events < self.most_events and self.wakes < most_wakes:
            if not self._step(instant):
                self.now = max(self.now, min(instant, self.end))
                return True
        return False

    def step(self) -> bool:
        """Let the next thing happen; False: nothing is left, or the end is there."""
        if self._step(self.end):
            return True
        self.now = self.now if self.end == UNLIMITED else self.end
        return False

    def _step(self, before: int) -> bool:
        """Let the next thing happen if it does before an instant: ends first, then what comes, then the clock."""
        ends = self._ends[0][0] if self._ends else UNLIMITED
        comes, wakes = self.source.next(), UNLIMITED
        if self.wake is not None:
            wakes = max(self.wake, self.now)
        instant = min(ends, comes, wakes)
        if min(ends, comes) != UNLIMITED:
            self.busy_at = self.now
        elif self.source.is_over(self):
            return False
        if instant >= before:
            return False
        self.now = max(self.now, instant)
        if ends <= instant:
            _, serial, event = heappop(self._ends)
            if self._due.get(event.attempt, (0, 0))[1] == serial:
                self.feed(event)
        elif comes <= instant and not (wakes == comes and self.source.follows(self)):
            self.source.happen(self)
        else:
            self.wakes += 1
            self.feed(Woken())
        return True

    # What happens

    def feed(self, event: Event) -> None:
        """Give the orchestrator an event, tell the watches, carry out what it orders; InputError where it refuses."""
        now, live = self.now, self.live
        self.events += 1
        orders = live.handle(event, now)
        self.wake = None
        for change in live.changes:
            kind = type(change)
            if kind is said.Ended:
                self._due.pop(change.attempt, None)  # type: ignore[union-attr]  # its kind was asked
                self.durations.ended(self, change)  # type: ignore[arg-type]
            elif kind is said.JobEnded:
                self.source.job_ended(change)  # type: ignore[arg-type]
        for watch in self.watches:
            watch.note(now, live.changes)
        for order in orders:
            asked = type(order)
            if asked is Start:
                self.durations.start(self, order)  # type: ignore[arg-type]  # its kind was asked
            elif asked is WakeAt:
                self.wake = order.instant  # type: ignore[union-attr]
            elif asked is Notify:
                self.durations.leave(self, order.attempt)  # type: ignore[union-attr]
            elif asked is Stop:
                self.durations.stop(self, order.attempt)  # type: ignore[union-attr]

    def ends(self, attempt: int, instant: int, outcome: Outcome, exit_: Exit | None = None) -> None:
        """An attempt ends at an instant; what was said of its end before does not happen."""
        self._serial += 1
        self._due[attempt] = instant, self._serial
        heappush(self._ends, (max(instant, self.now), self._serial, TaskEnded(attempt, outcome, exit_)))

    def due(self, attempt: int) -> int:
        """When an attempt ends, as far as is known; UNLIMITED = not."""
        return self._due.get(attempt, (UNLIMITED, 0))[0]

    def lose(self, attempt: int, work: int) -> None:
        """An attempt is over, or will be, and so much of its work is lost."""
        for watch in self.watches if work else ():
            watch.lost(self.now, attempt, work)

    def cycled(self, result: SlotCycle, _cause: str) -> None:
        """Tell the watches of a cycle of slots."""
        for watch in self.watches:
            watch.cycled(self.now, result)

    def cycled_vectors(self, result: VectorCycle, _cause: str) -> None:
        """Tell the watches of a cycle of vectors."""
        for watch in self.watches:
            watch.cycled_vectors(self.now, result)
