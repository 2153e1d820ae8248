"""A room of simulated machines: their processes, threads and clocks, and one loop that lets things happen by one seed.

A thread of a simulated process is a greenlet. It runs the product's own code until a system call has to wait; then the
loop goes on with whatever is next in simulated time. So nothing depends on the real clock or on real threads, and the
same seed gives the same history.
"""

from __future__ import annotations

import heapq
import signal
import zlib
from contextlib import suppress
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECOND = 1_000_000
START = 1_767_600_000 * SECOND
TICK = 10_000
"""Microseconds; a process is known by its number and the tick at which it started."""


class Killed(BaseException):
    """Unwinds the threads of a process that was killed."""


class Thread:
    """One thread of a process.

    token    : of its present wait; a call that was made for an earlier one is stale
    trap     : so many system calls from now something happens to it, 0 = nothing does
    waits_for: signals that end its wait; polls: whether anything at its descriptors does
    """

    __slots__ = ("_is_called", "greenlet", "is_blocked", "kernel", "polls", "process", "token", "trap", "waits_for")

    def __init__(self, process: Process, run: Callable[[], object]) -> None:
        self.process, self.kernel = process, process.host.kernel
        self.greenlet = greenlet(partial(self._main, run), self.kernel.main)
        self.token = self.trap = 0
        self.is_blocked, self._is_called, self.polls = True, False, False
        self.waits_for: frozenset[int] = frozenset()
        process.threads.append(self)
        self.wake()

    def _main(self, run: Callable[[], object]) -> None:
        with suppress(Killed):
            run()
            self.process.threads.remove(self)
            if not self.process.threads:
                self.process.end(0)

    def wake(self) -> None:
        """Let it go on soon."""
        if self.is_blocked and not self._is_called:
            self._is_called = True
            self.kernel.after(self.kernel.latency(), partial(self.resume, self.token))

    def resume(self, token: int) -> bool:
        """Go on after a wait; False where that wait is over already."""
        kernel, process = self.kernel, self.process
        if token != self.token or not self.is_blocked or process.is_doomed:
            return False
        if process.frozen_until > kernel.now:
            kernel.at(process.frozen_until, partial(self.resume, token))
            return False
        self.is_blocked = self._is_called = False
        self.token += 1
        if kernel.random.random() < process.nerves:
            self.trap = kernel.random.randint(1, 12)
        kernel.current = self
        try:
            self.greenlet.switch()
        finally:
            kernel.current = None
        return True


class Process:
    """A process of a host.

    kind     : service, agent, supervisor or command
    nerves   : chance that something happens to a thread in the midst of what it does, each time it goes on
    mark     : what its environment says it belongs to
    zombies  : children that ended and were not waited for, with their status
    is_doomed: it is being killed, and does nothing more; is_over: it is gone
    on_signal: what a command does at a signal; handlers: functions of a program for signals
    """

    def __init__(self, host: Host, kind: str, parent: Process | None, *, nerves: float = 0.0) -> None:
        self.host, self.kind, self.parent, self.nerves = host, kind, parent, nerves
        host.pids += 1
        self.pid, self.session = host.pids, host.pids
        self.started = host.ticks()
        self.threads: list[Thread] = []
        self.descriptors: set[int] = set()
        self.children: dict[int, Process] = {}
        self.zombies: list[tuple[int, int]] = []
        self.pending: set[int] = set()
        self.handlers: dict[int, Callable[..., object]] = {}
        self.wake_descriptor = -1
        self.mark = b""
        self.began, self.frozen_until = host.kernel.now, 0
        self.is_subreaper = self.is_doomed = self.is_over = False
        self.status = 0
        self.parent_is_command = parent is not None and parent.kind == "command"
        self.on_signal: Callable[[int], object] = lambda _: None
        self.on_end: Callable[[], object] = lambda: None
        host.processes[self.pid] = self
        if parent:
            parent.children[self.pid] = self

    def run(self, main: Callable[[], object]) -> Process:
        """Begin with a program."""
        Thread(self, main)
        return self

    def freeze(self, until: int) -> None:
        """It stands still until an instant."""
        self.frozen_until = max(self.frozen_until, until)

    def end(self, status: int, delay: int = 0) -> None:
        """It ends, by itself or killed; who is in the midst of a call of it does nothing more."""
        if self.is_doomed:
            return
        self.is_doomed, self.status = True, status
        kernel = self.host.kernel
        kernel.after(delay, self._leave)
        if kernel.current is not None and kernel.current.process is self:
            raise Killed

    def _leave(self) -> bool:
        if self.is_over:
            return False
        kernel = self.host.kernel
        self.is_over = True
        for thread in list(self.threads):
            if thread.greenlet:  # else it has not begun, or is over
                kernel.current = thread
                try:
                    thread.greenlet.throw(Killed)
                finally:
                    kernel.current = None
        self.threads.clear()
        self.on_end()
        for descriptor in sorted(self.descriptors):
            kernel.close(descriptor)
        del self.host.processes[self.pid]
        self._leave_family()
        return True

    def _leave_family(self) -> None:
        heir = self.parent
        while heir is not None and (heir.is_over or not heir.is_subreaper):
            heir = heir.parent
        for child in self.children.values():
            child.parent = heir
            if heir is not None:
                heir.children[child.pid] = child
        parent = self.parent
        if parent is not None:
            parent.children.pop(self.pid, None)
            if not parent.is_over and parent.kind != "command":
                parent.zombies.append((self.pid, self.status))
                parent.signal(signal.SIGCHLD)
        if heir is not None and heir is not parent and not heir.is_over:
            for pid, status in self.zombies:
                heir.zombies.append((pid, status))
                heir.signal(signal.SIGCHLD)

    def signal(self, number: int) -> None:
        """It gets a signal."""
        if self.is_doomed:
            return
        if number == signal.SIGKILL:
            self.end(int(number), self.host.kernel.death())
        elif self.kind == "command":
            self.on_signal(number)
        elif self.wake_descriptor >= 0:
            if number in self.handlers:
                self.handlers[number]()
            self.host.kernel.descriptors[self.wake_descriptor].put(b"!")
        else:
            self.pending.add(int(number))
            for thread in self.threads:
                if number in thread.waits_for:
                    thread.wake()

    def below(self) -> Iterator[Process]:
        """All that descend from it."""
        for child in list(self.children.values()):
            if not child.is_over:
                yield child
                yield from child.below()


class Host:
    """A machine.

    booted  : instant of its start; boot: how often it was started
    wall    : microseconds that its time of day is ahead; drift: parts by which its clocks go fast
    files   : path → content, kept when it is restarted
    is_full : nothing new fits on its disk; is_up: it has power
    """

    def __init__(self, kernel: Kernel, name: str, *, drift: float = 0.0) -> None:
        self.kernel, self.name, self.drift = kernel, name, drift
        self.booted, self.boot, self.wall = kernel.now - 1000 * SECOND, 1, 0
        self.pids = 100
        self.processes: dict[int, Process] = {}
        self.files: dict[str, bytearray] = {}
        self.is_full, self.is_up = False, True

    def uptime(self) -> float:
        """Seconds since its start, by its own clock."""
        return (self.kernel.now - self.booted) * (1.0 + self.drift) / SECOND

    def ticks(self) -> int:
        """The same in ticks."""
        return int(self.uptime() * SECOND) // TICK

    def time_of_day(self) -> int:
        """Microseconds since the epoch, as its clock is set."""
        return self.kernel.now + self.wall

    def stop(self) -> None:
        """Its power goes: nothing of it runs any more."""
        self.is_up = False
        for process in list(self.processes.values()):
            process.is_doomed = True
        for process in list(self.processes.values()):
            process._leave()
        self.boot += 1

    def start(self) -> None:
        """Its power is back."""
        self.is_up = True
        self.booted = self.kernel.now


class Kernel:
    """All hosts, and the loop.

    now     : microseconds since the epoch, of a true clock that nobody has
    steps   : things that have happened so far; digest: of what they were
    current : the thread that runs, None = the loop itself
    """

    def __init__(self, seed: int | str) -> None:
        self.random = Random(seed)
        self.now = START
        self.steps = self.digest = 0
        self.current: Thread | None = None
        self.main = getcurrent()
        self._queue: list[tuple[int, int, Callable[[], object]]] = []
        self._number = 0
        self.descriptors: dict[int, Any] = {}
        self._last_descriptor = 10
        self.spring: Callable[[Thread], None] = lambda _: None

    def at(self, instant: int, action: Callable[[], object]) -> None:
        """Do something at an instant; one that gives back False has not happened."""
        self._number += 1
        heapq.heappush(self._queue, (max(instant, self.now), self._number, action))

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Do something after so many microseconds."""
        self.at(self.now + delay, action)

    def step(self) -> None:
        """The next thing happens."""
        while True:
            self.now, number, action = heapq.heappop(self._queue)
            if action() is not False:
                break
        self.steps += 1
        self.mix(f"{self.now} {number}")

    def mix(self, what: str) -> None:
        """Make something part of the digest."""
        self.digest = zlib.crc32(what.encode(), self.digest)

    def latency(self) -> int:
        """Microseconds until a thread that was woken runs."""
        chance = self.random.random()
        return int(chance * 200) if chance < 0.98 else int((chance - 0.98) * 5 * SECOND)

    def death(self) -> int:
        """Microseconds that a process takes to go once it was killed."""
        chance = self.random.random()
        return int(chance * 2000) if chance < 0.99 else int((chance - 0.99) * 100 * SECOND)

    def enter(self) -> Process:
        """A system call begins: of whom. Something may happen to it here."""
        thread = self.current
        assert thread is not None, "a system call by nobody"
        if thread.process.is_doomed:
            raise Killed
        if thread.trap:
            thread.trap -= 1
            if not thread.trap:
                self.spring(thread)
        return thread.process

    def block(self, until: float | None = None) -> None:
        """The thread that runs waits, until an instant at the latest."""
        thread = self.current
        assert thread is not None
        if thread.process.is_doomed:
            raise Killed
        thread.token += 1
        thread.is_blocked = True
        if until is not None:
            self.at(int(until), partial(thread.resume, thread.token))
        self.main.switch()
        if thread.process.is_doomed:
            raise Killed

    def open(self, thing: Any, process: Process | None = None) -> int:
        """A descriptor of something, of the process that runs or of another."""
        if process is None:
            assert self.current is not None
            process = self.current.process
        self._last_descriptor += 1
        self.descriptors[self._last_descriptor] = thing
        process.descriptors.add(self._last_descriptor)
        thing.opened(process)
        return self._last_descriptor

    def close(self, descriptor: int) -> None:
        """A descriptor is closed by whoever has it."""
        thing = self.descriptors.pop(descriptor)
        thing.owner.descriptors.discard(descriptor)
        thing.closed()
