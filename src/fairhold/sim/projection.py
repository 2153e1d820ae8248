"""A copy of a live cluster, played on under an invented clock: nobody submits anything, and the machines stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import Exit, Outcome, Woken
from fairhold.rules.holding import run_limit
from fairhold.sim.driver import Driver, Durations, Source
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.instructions import Start

    EndOf = Callable[[Cluster, Attempt], int | None]
    """When an attempt ends by itself, which is asked once, as it starts; None = it does not."""
    OnChanges = Callable[[int, Sequence[Change]], None]

MOST_EVENTS = 200_000
"""Events that are played at most, so that no plan can make it endless."""


def at_limit(cluster: Cluster, attempt: Attempt) -> int | None:
    """An attempt runs as long as its job or its plan lets it; where neither says anything, for ever."""
    limit = run_limit(cluster.books[attempt.job.resource_group], attempt.request)
    return attempt.started + limit if limit else None


class Projection(Driver):
    """What the live service would do from an instant on, if it had this cluster.

    cluster : one of its own, from `thaw`: it is changed
    end_of  : when attempts end by themselves, those that run and those that will
    on_changes : told what happens, as the service would have written it down; `live.cluster.ended` has the attempts
                 that are over by it
    """

    def __init__(
        self, cluster: Cluster, now: int, end_of: EndOf = at_limit, on_changes: OnChanges | None = None
    ) -> None:
        assumed = Assumed(end_of)
        self._on_changes = on_changes
        super().__init__(cluster, now, Source(), assumed, end=UNLIMITED)
        self.most_events = MOST_EVENTS
        for attempt in cluster.attempts.values():
            if attempt.stopping:
                assumed.stop(self, attempt.name)
            else:
                assumed.let_end(self, attempt)
        self.live.now = now
        self.live.changed_all()
        self.feed(Woken())

    def feed(self, event: Event) -> None:
        """As every driver, and somebody is told."""
        super().feed(event)
        if self._on_changes is not None:
            self._on_changes(self.now, self.live.changes)


class Assumed(Durations):
    """Attempts run as long as somebody says, and stop at once; they hear no notice."""

    def __init__(self, end_of: EndOf) -> None:
        self._end_of = end_of

    def start(self, driver: Driver, order: Start) -> None:
        """It ends by itself, where that is known."""
        self.let_end(driver, driver.live.attempts[order.attempt])

    def let_end(self, driver: Driver, attempt: Attempt) -> None:
        """The same, of an attempt."""
        end = self._end_of(driver.live.cluster, attempt)
        if end is not None:
            driver.ends(attempt.name, max(end, driver.now), Outcome.FINISHED)

    def stop(self, driver: Driver, attempt: int) -> None:
        """Who ends by itself at this instant has ended."""
        if driver.due(attempt) > driver.now:
            driver.ends(attempt, driver.now, Outcome.STOPPED, Exit("reclaim"))
