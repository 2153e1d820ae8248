"""What goes wrong: processes, machines, connections, clocks and disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.storms.kernel import SECOND, Process, Thread
from tests.storms.plans import HOSTS, OTHERS, OWN

if TYPE_CHECKING:
    from tests.storms.storm import Storm

KINDS = ("service", "agent", "agent", "supervisor", "all")
"""Of processes that are stopped and continued."""
OFTEN = 25.0
"""Seconds between two troubles, on average; a storm may be five times as wild, or four times as mild."""


class Troubles:
    """They come one after the other, and some last.

    until : instant until which one of them lasts
    allowed : names of those that come, and `spring`, what happens to a process in the midst of what it does
    """

    def __init__(self, storm: Storm) -> None:
        self.storm, self.kernel = storm, storm.kernel
        self.pause = OFTEN * self.kernel.random.choice((0.2, 1.0, 1.0, 4.0)) * SECOND
        self.until = 0
        self.is_over = False
        self.all = (
            self.kill_service, self.kill_agent, self.kill_supervisor, self.kill_command, self.break_link,
            self.break_link, self.cut_off, self.restart_host, self.fill_disk, self.freeze, self.set_clock,
            self.trouble_store,
        )  # fmt: skip
        self.allowed = {"spring", *(each.__name__ for each in self.all)}
        self.kernel.spring = self.spring

    def spring(self, thread: Thread) -> None:
        """In the midst of what a process does, it stands still for a while, or it is gone."""
        kernel = self.kernel
        if self.is_over or "spring" not in self.allowed:
            return
        if kernel.random.random() < 0.5:
            longest = 2 if thread.process.kind == "supervisor" else 20
            kernel.block(kernel.now + int(kernel.random.random() ** 4 * longest * SECOND))
        else:
            thread.process.end(9)

    def come(self) -> None:
        """One comes, and the next a little later."""
        random, kernel = self.kernel.random, self.kernel
        if self.is_over:
            return
        kernel.after(int(random.expovariate(1 / self.pause)), self.come)
        trouble = random.choice(self.all)
        if trouble.__name__ in self.allowed:
            self.until = max(self.until, kernel.now)
            self.storm.judge.note(trouble.__name__)
            trouble()

    def end(self) -> None:
        """All of them are over."""
        self.is_over = True
        storm = self.storm
        for name in HOSTS:
            storm.hosts[name].is_full = False
            storm.network.heal(name)
        storm.disk.calm()

    def _lasts(self, seconds: float) -> int:
        """Microseconds for which one goes on."""
        span = int(self.kernel.random.random() ** 2 * seconds * SECOND)
        self.until = max(self.until, self.kernel.now + span)
        return span

    def kill_service(self) -> None:
        """It is killed; it is started again."""
        process = self.storm.service.process
        if process is not None:
            process.signal(9)

    def kill_agent(self) -> None:
        """An agent is killed, or asked to end."""
        self.storm.agents[self.kernel.random.choice(HOSTS)].signal(self.kernel.random.choice((9, 9, 15)))

    def _one(self, kind: str) -> Process | None:
        host = self.storm.hosts[self.kernel.random.choice(HOSTS)]
        found = [process for process in host.processes.values() if process.kind == kind and not process.is_doomed]
        return self.kernel.random.choice(found) if found else None

    def kill_supervisor(self) -> None:
        """What it runs is left to the agent."""
        process = self._one("supervisor")
        if process:
            process.signal(9)

    def kill_command(self) -> None:
        """Somebody else kills a process of a task."""
        process = self._one("command")
        if process:
            process.signal(9)

    def break_link(self) -> None:
        """A connection breaks; on one machine the system always says so."""
        random = self.kernel.random
        name = random.choice(HOSTS)
        self.storm.network.break_links(name, is_noticed=name == OWN or random.random() < 0.7)

    def cut_off(self) -> None:
        """A host cannot be reached."""
        name, network = self.kernel.random.choice(OTHERS), self.storm.network
        network.cut.add(name)
        self.kernel.after(self._lasts(150), lambda: network.heal(name))

    def restart_host(self) -> None:
        """A machine loses its power."""
        name = self.kernel.random.choice(OTHERS)
        host = self.storm.hosts[name]
        if not host.is_up:
            return
        host.stop()

        def back() -> None:
            host.start()
            self.storm.start_agent(name)

        self.kernel.after(self._lasts(120), back)

    def fill_disk(self) -> None:
        """The disk of a host, with its spool, is full."""
        host = self.storm.hosts[self.kernel.random.choice(HOSTS)]
        host.is_full = True

        def free() -> None:
            host.is_full = False

        self.kernel.after(self._lasts(60), free)

    def freeze(self) -> None:
        """A process is stopped and continued, or a whole machine stands still.

        A supervisor alone is stopped for no longer than the margin of a lease: nobody else ends what it runs.
        """
        random = self.kernel.random
        name, kind = random.choice(HOSTS), random.choice(KINDS)
        if kind == "service":
            name = OWN
        until = self.kernel.now + self._lasts(2 if kind == "supervisor" else 90)
        for process in list(self.storm.hosts[name].processes.values()):
            if kind in {process.kind, "all"}:
                process.freeze(until)

    def set_clock(self) -> None:
        """The time of day is set, forward or back."""
        random = self.kernel.random
        host = self.storm.hosts[random.choice(HOSTS)]
        host.wall = random.choice((0, 0, 1, -1)) * int(random.random() * random.choice((1, 100, 10_000)) * SECOND)

    def trouble_store(self) -> None:
        """The store is full, gone or slow."""
        random, disk = self.kernel.random, self.storm.disk
        what = random.choice(("full", "gone", "slow"))
        disk.is_full, disk.is_gone = what == "full", what == "gone"
        disk.slow = int(random.random() * 2 * SECOND) if what == "slow" else 0
        self.kernel.after(self._lasts(60), disk.recover)
