"""A recorded event trace as it was: what came from outside is given to the orchestrator again, at its instants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Held, JobSubmitted, MachineReported, TaskEnded, Woken
from fairhold.orchestrator.freeze import thaw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import put_in_force
from fairhold.planio.nodes import take_nodes, with_nodes
from fairhold.sim.driver import Driver, Durations, Source
from fairhold.sim.event_trace import Began, Cycled, NodesChanged, Replanned, ServiceClosing, ServiceStarted
from fairhold.sim.play import rhythm_of
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.sim.driver import Watch
    from fairhold.sim.event_trace import EventTrace
    from fairhold.sim.experiment import Experiment

    OnPlan = Callable[[Plan, Cluster], None]


NEVER = 2**50
"""Gap between cycles where it is known when they ran: no other runs."""


def opened(plan: Plan, event_trace: EventTrace, *, is_same: bool) -> Cluster:
    """The cluster at the begin of an event trace, under a plan; InputError where the plan has no place for its jobs.

    is_same : it is the plan of that time
    """
    document = event_trace.state
    if document is None:
        return Cluster(open_cluster_books(plan, event_trace.begin), forgets=True, own=event_trace.own)
    windows = document.get("windows", {}) if is_same else {}
    books = open_cluster_books(
        plan, event_trace.begin, {group: tuple(entries) for group, (entries, _) in windows.items()}
    )
    for group, (_, before) in windows.items():
        books[group].before = tuple(before)
    return thaw(dict(document), books, forgets=True, own=event_trace.own)


class RecordDriver(Driver):
    """One run of a recorded event trace; has what `Simulation` has.

    plan    : in force, with the nodes that there are as its hosts where it says so; nodes: by name
    on_plan : told when another plan, or other hosts, have come into force, with the cluster
    """

    def __init__(
        self,
        experiment: Experiment,
        source: Source,
        durations: Durations,
        watches: Sequence[Watch] = (),
        *,
        reopens: bool = False,
    ) -> None:
        assert experiment.event_trace is not None
        self.experiment, self.event_trace, self._reopens = experiment, experiment.event_trace, reopens
        self.plan, self.nodes = experiment.plan, dict(self.event_trace.nodes)
        self.on_plan: OnPlan | None = None
        cluster = opened(experiment.plan, self.event_trace, is_same=experiment.is_replay)
        end = experiment.end or self.event_trace.end
        super().__init__(cluster, experiment.start, source, durations, end=end, watches=watches)

    def orchestrator(self, cluster: Cluster) -> Orchestrator:
        """In the rhythm of the experiment."""
        return rhythm_of(self, self.experiment, cluster, reopens=self._reopens)

    def go_on(self, cluster: Cluster) -> None:
        """Another orchestrator decides about a cluster."""
        self.live = self.orchestrator(cluster)

    def put(
        self, plan: Plan, windows: Mapping[str, tuple[int, ...]] | None = None, moved: Mapping[str, str] | None = None
    ) -> None:
        """Another plan comes into force, or the same one with other nodes; windows, moved: as in `Replanned`."""
        cluster, is_closing = self.live.cluster, self.live.is_closing
        self.plan = with_nodes(plan, self.nodes.values())
        put_in_force(cluster, open_cluster_books(self.plan, self.now, windows), moved)
        self.go_on(cluster)
        self.live.is_closing = is_closing
        if self.on_plan is not None:
            self.on_plan(self.plan, cluster)


class Replay(RecordDriver):
    """Under the plan that was in force."""

    def __init__(self, experiment: Experiment, watches: Sequence[Watch] = (), *, reopens: bool = False) -> None:
        assert experiment.event_trace is not None
        super().__init__(experiment, Told(experiment.event_trace), Durations(), watches, reopens=reopens)
        self.live.hand_by(self.event_trace.quotas)
        if not self.event_trace.has_cycles:
            self.feed(Woken())

    def orchestrator(self, cluster: Cluster) -> Orchestrator:
        """In the rhythm of the experiment; where it is known when cycles ran, no other runs."""
        has_cycles, experiment = self.event_trace.has_cycles, self.experiment
        if has_cycles:
            experiment = replace(experiment, min_gap=NEVER, max_interval=NEVER)
        live = rhythm_of(self, experiment, cluster, reopens=self._reopens)
        live.now, live.is_observing = self.now, self.event_trace.is_observing
        if has_cycles:
            live.cycled_all()
        elif self.event_trace.state is not None:
            live.changed_all()
        return live

    def feed(self, event: Event) -> None:
        """What is refused is left out: the first difference has been told, and what follows need not fit any more."""
        try:
            super().feed(event)
        except InputError:
            self.live.changes = []
            self.wake = None
        if self.event_trace.has_cycles:
            self.wake = None

    def change_nodes(self, changed: NodesChanged) -> None:
        """The cluster has other nodes."""
        take_nodes(self.nodes, changed.nodes)
        self.put(self.plan, changed.windows)


class Told(Source):
    """All that an event trace tells, ends of attempts as well."""

    def __init__(self, event_trace: EventTrace) -> None:
        super().__init__()
        self._lines, self._place = event_trace.lines, 0
        self.last = sum(isinstance(line.what, JobSubmitted) for line in self._lines)

    def next(self) -> int:
        """When the next line was."""
        return self._lines[self._place].at if self._place < len(self._lines) else UNLIMITED

    def follows(self, driver: Driver) -> bool:
        """Whether the next line follows from what was decided at its instant, and that is not decided yet."""
        line, attempts = self._lines[self._place], driver.live.attempts
        what = line.what
        if isinstance(what, Began):
            return what.attempt not in attempts
        if not isinstance(what, TaskEnded) or what.attempt not in attempts:
            return False
        attempt = attempts[what.attempt]
        return (line.after_stop == 0 and not attempt.stopping) or (line.after_notice == 0 and not attempt.noticed)

    def happen(self, driver: Driver) -> None:
        """The next line."""
        what = self._lines[self._place].what
        self._place += 1
        assert isinstance(driver, Replay)
        if isinstance(what, Began):
            return
        if isinstance(what, Cycled):
            driver.live.now = driver.now
            for group in what.groups:
                if group in driver.live.books:
                    driver.live.changed(group, at_once=True)
            driver.feed(Woken())
        elif isinstance(what, Replanned):
            driver.put(what.plan, what.windows, what.moved)
        elif isinstance(what, NodesChanged):
            driver.change_nodes(what)
        elif isinstance(what, ServiceClosing):
            driver.live.is_closing = True
        elif isinstance(what, ServiceStarted):
            driver.go_on(driver.live.cluster)
        elif isinstance(what, MachineReported):
            on = driver.live.cluster.on(what.machine)
            held = tuple(Held(attempt.name, False, None) for attempt in on)  # noqa: FBT003 - a tuple's field
            driver.feed(MachineReported(what.machine, what.boot, what.last, held, what.spool, what.labels))
        else:
            self.arrived += isinstance(what, JobSubmitted)
            driver.feed(what)
