"""The service of the storm: the product's core, desk and hub in one simulated process, started again when it dies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.engines.agents.hub import Agents
from fairhold.engines.agents.rank import Rank
from fairhold.engines.agents.settings import AgentSettings
from fairhold.ports import StoreWaits
from fairhold.runtime.clock import WallClock
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.leases import PromisedLeases
from fairhold.runtime.live.opening import Rising
from tests.storms.descriptors import Door
from tests.storms.disk import MemoryStore
from tests.storms.kernel import SECOND, Killed, Process
from tests.storms.plans import OWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.model.spec import Spec
    from tests.storms.storm import Storm

SECRET = b"s" * 32
SOCKET = f"unix:/{OWN}/agents.sock"
LEASE = 40.0
SETTINGS = AgentSettings(lease=LEASE, silence=15.0, output=0, starts_per_second=50.0)


class Service:
    """What runs while its process lives; desk: None = it is starting or gone."""

    def __init__(self, storm: Storm) -> None:
        self.storm = storm
        self.desk: Desk | None = None
        self.process: Process | None = None
        self.core: Core
        self.hub: Agents
        self.starts = self.began = 0

    def start(self) -> None:
        """Begin with a process; it is started again some time after its end."""
        storm = self.storm
        self.starts += 1
        self.began = storm.kernel.now
        process = self.process = Process(storm.hosts[OWN], "service", None, nerves=storm.nerves)
        process.on_end = self._has_ended
        process.run(self._open)

    def _has_ended(self) -> None:
        self.desk = None
        kernel = self.storm.kernel
        kernel.after(int(kernel.random.random() ** 4 * 120 * SECOND), self.start)

    def _open(self) -> None:
        """As `Live` opens a service."""
        storm, kernel = self.storm, self.storm.kernel
        store = MemoryStore(storm.disk)
        store.lead()
        rising = Rising(store.last_at, WallClock(), storm.hosts[OWN].time_of_day)
        core = Core(store, rising, own=OWN)
        storm.judge.watch(core)
        text = storm.plans.text() if store.plan() is None else ""
        try:
            core.open(text, "the plan", "ann")
            storm.judge.has_taken_up(core)
            leases = PromisedLeases(store, LEASE)
        except StoreWaits:
            kernel.block(kernel.now + 5 * SECOND)
            assert self.process is not None
            self.process.end(1)
            raise Killed from None
        wakes: list[Callable[[], None]] = []
        self.core = core
        self.hub = Agents(
            doors=Doors(storm),  # type: ignore[arg-type]  # as far as it is used
            secret=SECRET,
            spec_of=self._spec_of,
            now=rising.look,
            on_events=lambda: wakes[0]() if wakes else None,
            own_host=OWN,
            awaited={name: each.spool for name, each in core.cluster.machines.items() if name},
            lease_before=leases.before,
            rank=lambda: Rank(store.term, store.last),
            ahead=lambda why: storm.judge.demand(holds=False, what=f"an agent {why}"),
            settings=SETTINGS,
            clock=storm.time.monotonic,
        )
        desk = Desk(core, self.hub)
        desk.failed.add_done_callback(lambda failed: storm.judge.desk_has_failed(failed.result()))
        wakes.append(desk.wake)
        desk.start()
        self.desk = desk
        while True:
            kernel.block(kernel.now + 3600 * SECOND)

    def _spec_of(self, job: str) -> Spec:
        spec = self.core.specs.of(job)
        assert spec is not None, "a spec is committed before its job starts"
        return spec


class Doors:
    """Listening sockets: for the own machine's agent, and for those of other machines."""

    secure = secure_address = address = None

    def __init__(self, storm: Storm) -> None:
        kernel = storm.kernel
        self.sockets: list[Any] = []
        for address in (SOCKET, "tcp"):
            door = Door(storm.network, address)
            door.descriptor = kernel.open(door)
            self.sockets.append(door)

    def close(self) -> None:
        """The wire has closed them."""
