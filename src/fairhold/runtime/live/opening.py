"""The one place that puts a live service together: store, core, agents, desk."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from fairhold.engines.agents.hub import Agents
from fairhold.engines.agents.launch import SPOOL, OwnAgent
from fairhold.engines.agents.listening import Doors, check_path
from fairhold.engines.agents.rank import Rank
from fairhold.engines.agents.secret import the_secret
from fairhold.engines.agents.settings import AgentSettings
from fairhold.errors import InputError
from fairhold.kernels._jit import prefer_compiled
from fairhold.planio.document import read_text
from fairhold.planio.plan import parse_plan
from fairhold.runtime.clock import WallClock, time_of_day
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk, Feeding, giving_way
from fairhold.runtime.live.leases import PromisedLeases
from fairhold.runtime.live.led import Led
from fairhold.runtime.live.numbering import rise_above
from fairhold.runtime.live.own_host import check_host_in_force, check_taken_up
from fairhold.runtime.live.place import JOBS, check_own_host, make_state_directory, nothing_can_start
from fairhold.runtime.live.plan_file import not_now, told_of
from fairhold.runtime.live.recovery import refusing_damage
from fairhold.runtime.live.retention import Caretaker, Housekeeping, Keep
from fairhold.runtime.live.standing_by import Outdone, Standby, StoreLeader, Turn
from fairhold.runtime.live.submitting import Limits
from fairhold.store.choosing import has_store, open_store
from fairhold.units import SECOND

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.agents.authority import Authority
    from fairhold.model.plan import Plan
    from fairhold.model.spec import Spec
    from fairhold.ports import Clock, Store
    from fairhold.store.postgresql.address import Address

Listen = Callable[["Standby | None"], str]


def nobody_listens(_: Standby | None) -> str:
    """There are no clients."""
    return ""


MANY_ROWS = 500
"""From so many consumers on, cycles pay for the half second that compiled kernels need to start."""
_LOG = logging.getLogger("fairhold")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Which Kubernetes cluster is governed.

    kubeconfig : None = the one that is found; context : empty = its current one
    lease      : seconds after which another takes the place of a leader that is silent; 0 = there is no other
    lease_namespace : where the lease is, empty = in the namespace of the pod or context
    plan_object : name of the Plan of the cluster that is followed, empty = none is
    observes   : others decide in the cluster, and this one tells what it would do
    """

    kubeconfig: Path | None = None
    context: str = ""
    lease: float = 15.0
    lease_namespace: str = ""
    plan_object: str = ""
    observes: bool = False


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How a service is set up.

    plan      : plan file; None: the store has one
    directory : state directory, absolute
    own       : name of the plan's host that is the service's own machine, empty = plain slots only
    agents    : address and port for agents of other machines, None = there are none
    agents_tls : the same for those that prove by certificates who they are
    launch    : whether the own machine's agent is started where none runs
    tasks     : how agents and what they run are treated
    keep      : how long what is over is kept
    cluster   : the Kubernetes cluster that is governed; None: work runs through agents
    store     : address of the store's schema in PostgreSQL; None = it is in the state directory
    failover  : seconds of silence of a leader of the same store after which another takes its place
    standby   : where another leads, wait for one's turn
    is_again  : this process has led or waited before; yields: seconds that it leaves to others to take over
    tell      : is given a line for people where the plan file is not simply what was in force and is
    """

    plan: Path | None
    directory: Path
    own: str = ""
    agents: tuple[str, int] | None = None
    agents_tls: tuple[str, int] | None = None
    launch: bool = True
    tasks: AgentSettings = field(default_factory=AgentSettings)
    limits: Limits = field(default_factory=Limits)
    keep: Keep = field(default_factory=Keep)
    cycle_min_gap: int = 50_000
    cycle_max_interval: int = 1_000_000
    cluster: ClusterSettings | None = None
    tell: Callable[[str], None] = _LOG.info
    store: Address | None = None
    failover: float = 3.0
    standby: bool = False
    is_again: bool = False
    yields: float = 0.0

    @property
    def place(self) -> Path | Address:
        """Where the store is."""
        return self.store or self.directory

    @property
    def has_others(self) -> bool:
        """Whether agents of other machines may connect."""
        return self.agents is not None or self.agents_tls is not None


class Rising:
    """Instants that rise with every call, from above the last one that is on record.

    Where the time of day is behind, because the clock was set back since that record or while this runs, time goes on
    from there at half speed until the clock has caught up: an hour is made up for in two. So nothing waits for the
    clock, and no instant is wrong for good. A clock that is set forward is noticed at the next start: time that jumps
    would end graces that others still count.

    clock : what time goes by; told: the time of day as it is set now. A given clock tells both
    """

    def __init__(self, last: int, clock: Clock | None = None, told: Callable[[], int] | None = None) -> None:
        self._clock = clock or WallClock()
        self._told = told or (clock.now if clock else time_of_day)
        self._read = self._clock.now()
        self._instant = max(last, self._read)
        self._last = last
        self._lock = Lock()

    def __call__(self) -> int:
        """The next instant."""
        with self._lock:
            self._instant = self._last = max(self._passed(), self._last + 1)
            return self._last

    def look(self) -> int:
        """The same time without a step: any thread may look, only one may take the next instant."""
        with self._lock:
            return max(self._passed(), self._last)

    def rise(self, last: int) -> None:
        """Go on above another instant that is on record."""
        with self._lock:
            self._instant, self._last = max(self._instant, last), max(self._last, last)

    def _passed(self) -> int:
        """Go on by the time since the last reading, or by half of it."""
        read = self._clock.now()
        passed = max(0, read - self._read)
        self._read = read
        # read last: a thread that is held up in between takes the time of day for later, never for set back
        self._instant = min(self._instant + passed, max(self._told(), self._instant + (passed + 1) // 2))
        return self._instant


class Live:
    """A service that runs, without its HTTP side."""

    def __init__(self, settings: LiveSettings, listen: Listen = nobody_listens) -> None:
        """Open everything; see `open_live`."""
        self.settings = settings
        directory = settings.directory
        check_path(directory)
        make_state_directory(directory)
        file = None if settings.is_again else settings.plan  # another has led since it was read, or may have
        text, name = read_text(file) if file else "", str(file or "the store")
        plan = parse_plan(text, name, places=True)[0] if text else None
        if plan and not has_store(settings.place):
            check_own_host(plan, settings.own)
        self._cluster = plan.cluster if plan else ""
        wakes: list[Callable[[], None]] = []
        with giving_way(), ExitStack() as opened:
            self._rising = Rising(0)
            turn = self._turn(listen, opened, lambda: wakes[0]() if wakes else None)
            self.store, self.leader = turn.store, turn.leader
            self._rising.rise(self.store.last_at)
            if turn.has_waited:  # the plan in force is the one to go on with
                text, plan = "", None
            self._outdone = Outdone(self.leader, lambda: wakes[0]() if wakes else None)
            doors = Doors(directory, settings.agents, settings.agents_tls)
            opened.callback(doors.close)
            secret = the_secret(directory)
            self._authority = self._open_authority()
            with refusing_damage(self.store):
                self.core = self._open_core(turn.core or self._new_core(self.store), text, name, plan)
            (directory / JOBS).mkdir(mode=0o700, exist_ok=True)
            self._leases = PromisedLeases(self.store, settings.tasks.lease if settings.has_others else 0.0)
            self.hub = self._open_hub(doors, secret, lambda: wakes[0]() if wakes else None)
            opened.pop_all()
        intake = Led(Feeding(), self.leader, self._outdone.check)
        self.desk = Desk(self.core, self.hub, intake, lambda: self.leader.leads)
        wakes.append(self.desk.wake)
        self.agent = self._own_agent()
        self.desk.start()
        keeping = Housekeeping(self.store, directory / JOBS, partial(live_jobs, self.desk), settings.keep)
        self._caretaker = Caretaker(keeping, WallClock().now, self.hub.answer_old)
        if settings.launch:
            self.agent.start()

    def _turn(self, listen: Listen, opened: ExitStack, wake: Callable[[], None]) -> Turn:
        """Open the store, or wait for one's turn where another leads. Everything is closed with `opened`."""
        settings = self.settings
        addresses: list[str] = [] if not settings.standby else [listen(None)]
        standby = Standby(
            settings.place,
            settings.directory,
            make_leader=lambda lease: StoreLeader(lease, tuple(addresses), settings.failover, wake),
            open_here=lambda: self._opened(listen, addresses),
            make_core=self._new_core,
            is_known=settings.is_again,
        )
        if settings.standby:
            listen(standby)
            turn = standby.wait(settings.yields)
        else:
            turn = standby.open_alone()
        opened.callback(turn.store.close)
        opened.callback(turn.leader.close)
        return turn

    def _opened(self, listen: Listen, addresses: list[str]) -> Store:
        """Open the store for this service alone."""
        settings, node = self.settings, socket.gethostname()
        store = open_store(settings.directory, settings.place, cluster=self._cluster, node=node, now=WallClock().now())
        try:
            if not addresses:
                addresses.append(listen(None))
        except BaseException:
            store.close()
            raise
        return store

    def _new_core(self, store: Store) -> Core:
        settings = self.settings
        return Core(
            store,
            self._rising,
            own=settings.own,
            limits=settings.limits,
            cycle_min_gap=settings.cycle_min_gap,
            cycle_max_interval=settings.cycle_max_interval,
        )

    def _open_core(self, core: Core, text: str, name: str, plan: Plan | None) -> Core:
        settings, before = self.settings, self.store.plan()
        try:
            core.open(text, name, author(), partial(check_taken_up, settings.directory / SPOOL, plan))
        except InputError as error:
            raise not_now(error, name) from None
        rise_above(core, settings.directory / JOBS)
        if line := check_host_in_force(core, plan, name):
            settings.tell(line)
        if plan and (line := told_of(core, before, plan, name)):
            settings.tell(line)
        if line := nothing_can_start(core.plan, settings.own, others=settings.has_others):
            settings.tell(line)
        if any(len(books.rows) >= MANY_ROWS for books in core.orchestrator.books.values()):
            prefer_compiled(MANY_ROWS)
        return core

    def _open_hub(self, doors: Doors, secret: bytes, on_events: Callable[[], None]) -> Agents:
        settings = self.settings
        return Agents(
            doors=doors,
            secret=secret,
            spec_of=self._spec_of,
            now=self._rising.look,
            on_events=on_events,
            own_host=settings.own,
            awaited={name: each.spool for name, each in self.core.cluster.machines.items() if name},
            lease_before=self._leases.before,
            is_planned=self._is_planned,
            handed_out=lambda: [resource.name for resource in self.core.plan.resources],
            authority=self._authority,
            rank=lambda: Rank(self.store.term, self.store.last, secret),
            ahead=self._outdone.told,
            settings=replace(settings.tasks, keep=settings.keep.jobs / SECOND),
            complain=_LOG.warning,
        )

    def _open_authority(self) -> Authority | None:
        if self.settings.agents_tls is None:
            return None
        from fairhold.engines.agents.authority import Authority  # noqa: PLC0415 - it needs a library that few need

        return Authority(self.settings.directory, time_of_day)

    def _is_planned(self, host: str) -> bool:
        cluster = self.core.cluster
        return any((group, host) in cluster.hosts for group in cluster.books)

    def _own_agent(self) -> OwnAgent:
        own = self.settings.own
        slots = (host.slots for (_, name), host in self.core.cluster.hosts.items() if name in {"", own})
        return OwnAgent(
            self.settings.directory,
            host=own or socket.gethostname(),
            slots=max(slots, default=1),
            is_connected=self._is_connected,
            complain=_LOG.warning,
        )

    def _spec_of(self, job: str) -> Spec:
        spec = self.core.specs.of(job)
        assert spec is not None, "a spec is committed before its job starts"
        return spec

    def _is_connected(self) -> bool:
        return any(machine.machine == "" and machine.is_connected for machine in self.hub.status())

    def hand_over(self) -> None:
        """Decide nothing more, and let another lead at once."""
        self.desk.stop(hands_over=True)
        self.leader.close()

    def close(self, *, with_agent: bool = False, hands_over: bool = False) -> None:
        """Stop deciding and leave; agents and tasks go on. May be called twice.

        The own machine's agent ends, too, where nothing runs there, unless somebody else started it.

        with_agent : end it whoever started it; its tasks are to be over
        hands_over : another takes over at once, or has: the agent is left to it
        """
        self.desk.stop(hands_over=hands_over)
        self.leader.close()
        self._caretaker.close()
        if hands_over:
            self.agent.close()
        elif with_agent or not self.core.cluster.on(""):
            self.agent.stop_agent(only_own=not with_agent)
        else:
            self.agent.close()
        self.hub.close()
        self._leases.close()
        self.store.close()


def live_jobs(desk: Desk, jobs: list[str]) -> set[str]:
    """Those of some jobs that have not ended, or whose end is not written yet; asked of the desk."""

    def live(core: Core) -> set[str]:
        return {job for job in jobs if job in core.cluster.jobs or job in core.journal.jobs}

    return desk.read(live).result()


def author() -> str:
    """Name of the user who runs this program."""
    import pwd  # noqa: PLC0415 - not on every system

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def open_live(settings: LiveSettings, listen: Listen = nobody_listens) -> Live:
    """Open a service.

    listen : called when the store is this service's alone, and before a plan is put in force: where it raises, nothing
             has changed; returns the address for clients. A standby calls it before it waits, and again with who waits
    Raises InputError where the plan, the store or the directory are at fault, LeadershipLostError where another takes
    the store over meanwhile, and what `listen` raises.
    """
    return Live(settings, listen)
