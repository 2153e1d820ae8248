"""One storm: a cluster of simulated machines, what runs the product on them, and all that happens to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.agent import attempts, supervisor
from fairhold.agent.agent import Agent
from fairhold.agent.link import Address
from fairhold.agent.spool import Spool
from fairhold.store.checking import findings
from tests.storms import calls
from tests.storms.descriptors import Network, OpenFile, PipeIn
from tests.storms.disk import Disk
from tests.storms.installing import installed, places
from tests.storms.judge import Judge
from tests.storms.kernel import SECOND, Host, Kernel, Process
from tests.storms.people import People
from tests.storms.plans import HOSTS, OWN, POLICIES, PlanWriter
from tests.storms.service import SECRET, Service
from tests.storms.tasks import Tasks
from tests.storms.troubles import Troubles

if TYPE_CHECKING:
    from fairhold.agent.order import Order

ATTENTIVE = 8 * SECOND
"""An agent that has lived and run for so long has ended what a dead supervisor had left."""
CALM = 60_000
"""Steps within which all work that was accepted comes to its end once all is well again."""


class Storm:
    """All of it, from a seed.

    policy : of the plan; empty: each seed has one
    nerves : chance that something happens to a process in the midst of what it does, each time it goes on
    """

    def __init__(self, seed: int, policy: str = "") -> None:
        self.seed = seed
        self.kernel = kernel = Kernel(f"storm {seed}")
        random = kernel.random
        self.plans = PlanWriter(random, policy or POLICIES[seed % len(POLICIES)])
        self.nerves = random.choice((0.0, 0.001, 0.005))
        self.network = Network(kernel)
        self.hosts = {name: Host(kernel, name, drift=random.uniform(-0.004, 0.004)) for name in HOSTS}
        self.judge = Judge(self)
        self.tasks = Tasks(kernel, self.judge)
        self.disk = Disk(kernel)
        self.disk.written = self.judge.follow
        self.disk.deadly = random.choice((0.0, 0.0005, 0.005))
        self.disk.unsure = random.choice((0.0, 0.0, 0.002))
        self.time = calls.Times(kernel)
        self.service = Service(self)
        self.agents: dict[str, Process] = {}
        self.people, self.troubles = People(self), Troubles(self)
        self._places = places(self)
        self.service.start()
        for name in HOSTS:
            self.start_agent(name)
        kernel.after(SECOND, self.people.act)
        kernel.after(5 * SECOND, self.troubles.come)

    def run(self, steps: int) -> None:
        """So many steps more, each checked."""
        kernel, judge = self.kernel, self.judge
        with installed(self._places):
            for _ in range(steps):
                kernel.step()
                judge.look(kernel.steps)

    def calm_down(self) -> None:
        """All is well again and nobody asks for anything new: all that was accepted comes to its end."""
        self.people.is_over = True
        self.troubles.end()
        last = self.kernel.steps + CALM
        while self.kernel.steps < last and not self.judge.is_at_rest():
            self.people.let_go()
            self.run(500)
        self.judge.demand(self.judge.is_at_rest(), f"all is well, and work does not end: {self.judge.at_work()}")
        found = findings(self.disk.connection, "the store")
        self.judge.demand(not found, f"the check of the store finds {found}")

    # Agents

    def start_agent(self, name: str) -> None:
        """The agent of a host is started; after its end again, as systemd or the service would."""
        host, kernel = self.hosts[name], self.kernel
        process = self.agents[name] = Process(host, "agent", None, nerves=self.nerves)
        process.is_subreaper = True

        def again() -> None:
            boot, pause = host.boot, 0.05 + kernel.random.random() ** 3 * 5
            kernel.after(int(pause * SECOND), lambda: self.start_agent(name) if host.boot == boot else None)

        process.on_end = again
        process.run(lambda: _serve(host))

    def is_attentive(self, name: str) -> bool:
        """Whether the agent of a host has had the time to look after what lives there."""
        agent, now = self.agents[name], self.kernel.now
        return not agent.is_doomed and max(agent.began, agent.frozen_until) + ATTENTIVE < now

    def fork(self, of: attempts.Attempts, order: Order, descriptor: int, _group: str) -> int:
        """In the place of `Attempts._fork`: a supervisor is a process of its own, with what it inherits."""
        kernel = self.kernel
        parent = kernel.enter()
        if kernel.random.random() < 0.002:
            raise OSError(11, "no more processes")
        process = Process(parent.host, "supervisor", parent, nerves=self.nerves)
        process.is_subreaper = True
        file, pipe = kernel.descriptors[descriptor], kernel.descriptors[of._tell]
        assert isinstance(file, OpenFile)
        assert isinstance(pipe, PipeIn)
        mine = kernel.open(OpenFile(file.content, file.host), process)
        tell = kernel.open(PipeIn(pipe.pipe), process)
        lease, boot = of.lease, of._boot

        def run() -> None:
            supervising = supervisor.Supervisor(order, of._spool, mine, tell, lease=lease, base="", group="")
            supervising.run(boot)

        process.run(run)
        return process.pid


def _serve(host: Host) -> None:
    """As `agent.main` runs an agent."""
    directory = f"/{host.name}"
    address = Address(f"unix:{directory}/agents.sock" if host.name == OWN else "tcp:service:7000")
    made = Agent(directory, Spool(f"{directory}/spool"), [address], SECRET, host=host.name, slots=4, base="")
    made.serve()
