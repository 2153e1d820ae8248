"""A copy of a live cluster, played on under an invented clock: nobody submits anything, and the machines stay."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from fairhold.orchestrator.events import Exit, Outcome, TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Start, Stop, WakeAt
from fairhold.rules.holding import run_limit
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.tasks import Attempt

    EndOf = Callable[[Cluster, Attempt], int | None]
    """When an attempt ends by itself, which is asked once, as it starts; None = it does not."""
    OnChanges = Callable[[int, Sequence[Change]], None]

MOST_EVENTS = 200_000
"""Events that are played at most, so that no plan can make it endless."""


def at_limit(cluster: Cluster, attempt: Attempt) -> int | None:
    """An attempt runs as long as its job or its plan lets it; where neither says anything, for ever."""
    limit = run_limit(cluster.books[attempt.job.resource_group], attempt.request)
    return attempt.started + limit if limit else None


class Onward:
    """What the live service would do from an instant on, if it had this cluster.

    cluster    : one of its own, from `thaw`: it is changed
    end_of     : when attempts end by themselves, those that run and those that will
    on_changes : told what happens, as the service would have written it down; `live.cluster.ended` has the attempts
                 that are over by it

    now    : its instant; live: the orchestrator
    events, wakes : how many were played, and how many of them only the clock called for
    """

    def __init__(
        self, cluster: Cluster, now: int, end_of: EndOf = at_limit, on_changes: OnChanges | None = None
    ) -> None:
        self.now, self.live = now, Orchestrator(cluster, is_brief=True)
        self.events = self.wakes = 0
        self._end_of, self._on_changes = end_of, on_changes
        self._heap: list[tuple[int, int, bool]] = []  # (instant, attempt, whether it is stopped)
        self._wake: int | None = None
        for number, attempt in cluster.attempts.items():
            if attempt.stopping:
                heappush(self._heap, (now, number, True))
            else:
                self._let_end(attempt)
        self.live.now = now
        self.live.changed_all()
        self._feed(Woken())

    def run(self, until: int, most_wakes: int = UNLIMITED) -> bool:
        """Let everything happen that does before an instant; False: as many as may be did, and there are more.

        most_wakes : of the events of all calls, those that only the clock calls for: short steps of history call for
                     one each while anybody waits

        May be called again with a later instant.
        """
        while self.events < MOST_EVENTS and self.wakes < most_wakes:
            ends = self._heap[0][0] if self._heap else UNLIMITED
            wakes = UNLIMITED if self._wake is None else max(self._wake, self.now)
            instant = min(ends, wakes)
            if instant >= until:
                self.now = max(self.now, until)
                return True
            self.now = max(instant, self.now)
            if ends <= wakes:
                _, number, is_stopped = heappop(self._heap)
                if number in self.live.attempts:
                    self._feed(_end_of(number, is_stopped=is_stopped))
            else:
                self._wake = None
                self.wakes += 1
                self._feed(Woken())
        return False

    def _feed(self, event: Event) -> None:
        self.events += 1
        instructions = self.live.handle(event, self.now)
        if self._on_changes is not None:
            self._on_changes(self.now, self.live.changes)
        for order in instructions:
            if isinstance(order, Start):
                self._let_end(self.live.attempts[order.attempt])
            elif isinstance(order, Stop):
                heappush(self._heap, (self.now, order.attempt, True))
            elif isinstance(order, WakeAt):
                self._wake = order.instant
        if not instructions or not isinstance(instructions[-1], WakeAt):
            self._wake = None

    def _let_end(self, attempt: Attempt) -> None:
        end = self._end_of(self.live.cluster, attempt)
        if end is not None:
            heappush(self._heap, (max(end, self.now), attempt.name, False))


def _end_of(attempt: int, *, is_stopped: bool) -> TaskEnded:
    if is_stopped:
        return TaskEnded(attempt, Outcome.STOPPED, Exit("reclaim"))
    return TaskEnded(attempt, Outcome.FINISHED)
