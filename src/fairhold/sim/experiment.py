"""What is simulated: a plan, a workload, and the behaviour of machines and work."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP
from fairhold.planio.nodes import with_nodes
from fairhold.sim.event_trace import NodesChanged

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Told
    from fairhold.model.workload import Workload
    from fairhold.sim.event_trace import EventTrace


@dataclass(frozen=True, slots=True)
class Work:
    """What starting and stopping costs; all in microseconds.

    start_delay : from the grant of its units to the first work of an attempt
    restart     : the same, in addition, of every attempt of a task but its first: it reads what was saved
    stop_delay  : from the order to stop, or to leave, to the end; units are held so long
    checkpoint  : work between two states that are saved, 0 = none is: a task that is stopped begins anew
    yields      : a task that is told to leave saves its state, and leaves at once; else it works on until it is stopped
    """

    start_delay: int = 0
    restart: int = 0
    stop_delay: int = 0
    checkpoint: int = 0
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Outage:
    """An outage of a host.

    down, up : instants; up: UNLIMITED = it does not come back
    lead     : it is known so long before, and what runs there is told to leave by then; 0 = nobody knew: work is lost
    """

    host: str
    down: int
    up: int
    lead: int = 0


@dataclass(frozen=True, slots=True)
class Resizing:
    """From an instant on a group that is a plain number of slots has another number."""

    at: int
    resource_group: str
    slots: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """One plan and one workload; two runs of equal experiments write the same bytes.

    start, end : instants; what is submitted before or after is left out, and the run stops at the end; end:
                 None = when nothing is left that could happen
    slot       : what a task of one slot takes under policies that share vectors, and the other way round how many slots
                 a unit takes: as many as it needs to have its amounts; () = neither is known
    min_gap, max_interval : rhythm of the cycles
    event_trace : what was recorded, and is played instead of the workload, which is its jobs; outages are in it, too
    is_replay  : the plan is the one of the record: it is played as it was
    """

    plan: Plan
    workload: Workload
    start: int
    end: int | None = None
    work: Work = field(default_factory=Work)
    outages: tuple[Outage, ...] = ()
    resizings: tuple[Resizing, ...] = ()
    slot: Told = ()
    min_gap: int = MIN_GAP
    max_interval: int = MAX_INTERVAL
    event_trace: EventTrace | None = None
    is_replay: bool = False

    def under(self, plan: Plan) -> Experiment:
        """The same under another plan, of which hosts are the nodes that the record begins with, where it says so."""
        nodes = self.event_trace.nodes if self.event_trace is not None else {}
        return replace(self, plan=with_nodes(plan, nodes.values()), is_replay=False)

    @property
    def plan_with_all_nodes(self) -> Plan:
        """The plan with every node as a host that there is in the record at any time: how much there may be of all."""
        if self.event_trace is None:
            return self.plan
        nodes = dict(self.event_trace.nodes)
        for line in self.event_trace.lines:
            if isinstance(line.what, NodesChanged):
                nodes |= {name: node for name, node in line.what.nodes.items() if node is not None}
        return with_nodes(self.plan, nodes.values())
