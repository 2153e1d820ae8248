"""A recorded story as it was: what came from outside is given to the orchestrator again, at the recorded instants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Held, JobSubmitted, MachineReported, TaskEnded, Woken
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import WakeAt
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.sim.story import Began, Cycled, Replanned, ServiceClosing, ServiceStarted
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.cycle.run import CycleResult
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.play import Watch
    from fairhold.sim.scene import Scene
    from fairhold.sim.story import Line, Story
    from fairhold.sim.submitting import Refused

    OnPlan = Callable[[Plan, Cluster], None]


NEVER = 2**50
"""Gap between cycles where it is known when they ran: no other runs."""


def opened(plan: Plan, story: Story, *, is_same: bool) -> Cluster:
    """The cluster at the begin of a story, under a plan; raises InputError where the plan has no place for its jobs.

    is_same : it is the plan of that time
    """
    document = story.state
    if document is None:
        return Cluster(open_cluster_books(plan, story.begin), forgets=True, own=story.own)
    windows = document.get("windows", {}) if is_same else {}
    books = open_cluster_books(plan, story.begin, {group: tuple(entries) for group, (entries, _) in windows.items()})
    for group, (_, before) in windows.items():
        books[group].before = tuple(before)
    return thaw(dict(document), books, forgets=True, own=story.own)


class Replay:
    """One run of a recorded story under the plan that was in force; has what `Simulation` has.

    refused : nothing: what was accepted is accepted again
    on_plan : told when another plan has come into force, with its cluster
    """

    def __init__(self, scene: Scene, watches: Sequence[Watch] = (), *, is_brief: bool = True) -> None:
        assert scene.story is not None
        self.scene, self.story = scene, scene.story
        self.now = scene.start
        self.on_plan: OnPlan | None = None
        self.refused: Mapping[tuple[str, str], Refused] = {}
        self.arrived, self.last = 0, sum(isinstance(line.what, JobSubmitted) for line in self.story.lines)
        self._watches, self._is_brief = watches, is_brief
        self._end = scene.end or self.story.end
        self._place = 0
        self._wake: int | None = None
        self.live = self._orchestrator(opened(scene.plan, self.story, is_same=True))
        self.live.hand_by(self.story.quotas)
        if not self.story.has_cycles:
            self._feed(Woken())

    def run(self) -> None:
        """To the end."""
        while self.step():
            pass

    def run_until(self, instant: int) -> None:
        """Let everything happen that does before an instant."""
        while self._next() < instant and self.step():
            pass
        self.now = max(self.now, instant)

    def _next(self) -> int:
        """When the next thing happens."""
        lines = self.story.lines
        happens = lines[self._place].at if self._place < len(lines) else UNLIMITED
        return min(happens, UNLIMITED if self.story.has_cycles or self._wake is None else self._wake)

    def step(self) -> bool:
        """Let the next thing happen; False: nothing is left, or the end is there."""
        lines = self.story.lines
        line = lines[self._place] if self._place < len(lines) else None
        happens = line.at if line is not None else UNLIMITED
        wakes = UNLIMITED if self.story.has_cycles or self._wake is None else self._wake
        if min(happens, wakes) >= self._end:
            self.now = self._end
            return False
        if line is None or wakes < happens or (wakes == happens and self._is_ahead(line)):
            self.now, self._wake = wakes, None
            self._feed(Woken())
            return True
        self._place += 1
        self.now = max(self.now, line.at)
        self._happen(line.what)
        return True

    def _is_ahead(self, line: Line) -> bool:
        """Whether it follows from what was decided at its instant, and that is not decided yet."""
        what, attempts = line.what, self.live.attempts
        if isinstance(what, Began):
            return what.attempt not in attempts
        if not isinstance(what, TaskEnded) or what.attempt not in attempts:
            return False
        attempt = attempts[what.attempt]
        return (line.after_stop == 0 and not attempt.stopping) or (line.after_notice == 0 and not attempt.noticed)

    def _happen(self, what: object) -> None:
        if isinstance(what, Began):
            return
        if isinstance(what, Cycled):
            self.live.now = self.now
            for group in what.groups:
                if group in self.live.books:
                    self.live.changed(group, at_once=True)
            self._feed(Woken())
        elif isinstance(what, Replanned):
            self._replan(what)
        elif isinstance(what, ServiceClosing):
            self.live.is_closing = True
        elif isinstance(what, ServiceStarted):
            self.live = self._orchestrator(self.live.cluster)
        elif isinstance(what, MachineReported):
            on = self.live.cluster.on(what.machine)
            held = tuple(Held(attempt.name, False, None) for attempt in on)  # noqa: FBT003 - a tuple's field
            self._feed(MachineReported(what.machine, what.boot, what.last, held, what.spool, what.labels))
        else:
            self.arrived += isinstance(what, JobSubmitted)
            self._feed(what)  # type: ignore[arg-type]  # what is no happening is an event

    def _replan(self, put: Replanned) -> None:
        books = open_cluster_books(put.plan, self.now, put.windows)
        cluster = thaw(freeze(self.live.cluster), books, forgets=True, own=self.story.own, moved=dict(put.moved))
        is_closing = self.live.is_closing
        self.live = self._orchestrator(cluster)
        self.live.is_closing = is_closing
        if self.on_plan is not None:
            self.on_plan(put.plan, cluster)

    def _orchestrator(self, cluster: Cluster) -> Orchestrator:
        live = Orchestrator(
            cluster,
            cycle_min_gap=NEVER if self.story.has_cycles else self.scene.min_gap,
            cycle_max_interval=NEVER if self.story.has_cycles else self.scene.max_interval,
            on_cycle=self._cycled if self._watches else None,
            on_vectors=self._cycled_vectors if self._watches else None,
            is_brief=self._is_brief,
        )
        live.now = self.now
        if self.story.has_cycles:
            live.cycled_all()
        elif self.story.state is not None:
            live.changed_all()
        return live

    def _feed(self, event: Event) -> None:
        live = self.live
        try:
            instructions = live.handle(event, self.now)
        except InputError:  # the first difference has been told; what follows from it need not fit any more
            live.changes = []
            instructions = ()
        for watch in self._watches:
            watch.note(self.now, live.changes)
        wakes = instructions[-1] if instructions else None
        self._wake = wakes.instant if isinstance(wakes, WakeAt) else None

    def _cycled(self, result: CycleResult, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled(self.now, result)

    def _cycled_vectors(self, result: VectorCycle, _cause: str) -> None:
        for watch in self._watches:
            watch.cycled_vectors(self.now, result)
