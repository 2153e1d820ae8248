"""The attempts of an agent: start, messages to supervisors, take-over after a restart, end without a supervisor."""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from contextlib import suppress

from fairhold.agent import groups, processes
from fairhold.agent.forking import fork_into
from fairhold.agent.lost import sweep
from fairhold.agent.spool import EXIT, LIFE, ORDER, SpoolError, exit_record
from fairhold.agent.supervisor import HELD_BACK, Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from fairhold.agent.accounts import Accounts
    from fairhold.agent.order import Order
    from fairhold.agent.spool import Spool

_SWEEP_AGAIN, _LONGEST_PAUSE = 0.02, 1.0
"""Seconds between two sweeps, each of which reads all of /proc: the first while they make a difference, doubled up to
the second while they make none.
"""
_PIPE = 65536


class Held:
    """An attempt that the agent holds.

    supervisor, started : its supervisor's number and start; started is 0 for a child of this process
    command : number of its command once it is known to run, 0 = not yet
    exit    : its record, once it is over
    left    : what the last sweep has seen of it, number of a process → its start; None = it was not swept
    """

    __slots__ = ("attempt", "command", "exit", "left", "started", "supervisor", "token")

    def __init__(self, attempt: int, token: str, supervisor: int = 0, started: int = 0) -> None:
        self.attempt, self.token, self.supervisor, self.started = attempt, token, supervisor, started
        self.command = 0
        self.exit: dict[str, Any] | None = None
        self.left: dict[int, int] | None = None


class Attempts:
    """All attempts of a spool.

    base    : where groups can be made, empty = nowhere
    running : is told (attempt, number of its command); over : (attempt, exit record)
    watch   : is given the descriptor of a supervisor that is not a child of this process, readable when it ends
    accounts : of those as whom commands run, None = as the agent
    """

    def __init__(
        self,
        spool: Spool,
        base: str,
        *,
        running: Callable[[int, int], None],
        over: Callable[[int, dict[str, Any]], None],
        watch: Callable[[int], None],
        accounts: Accounts | None = None,
    ) -> None:
        self._accounts = accounts
        self._spool, self._base, self._is_born_in = spool, base, groups.is_born_in(base)
        self._running, self._over, self._watch = running, over, watch
        self._boot = processes.boot_id()
        # A program that became this one may have left children: they are nobody's attempt.
        self._strangers = {process.pid for process in processes.survey() if process.parent == os.getpid()}
        self._prepared: list[tuple[Order, int, str]] = []
        self._supervisors: dict[int, int] = {}
        self._adopted: dict[int, int] = {}
        self._lost: dict[int, Held] = {}
        self._sweep_at, self._pause = float("inf"), _SWEEP_AGAIN
        self._heard = b""
        self.held: dict[int, Held] = {}
        self.lease: float | None = None
        self.ear, self._tell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)

    @property
    def boot(self) -> str:
        """Identity of the host's start."""
        return self._boot

    def due(self) -> float:
        """When `tend` has something to do."""
        return self._sweep_at

    def is_idle(self) -> bool:
        """Whether no supervisor lives."""
        return not self._supervisors and not self._adopted and not self._lost

    def has_adopted(self) -> bool:
        """Whether an attempt is alive that an earlier agent started, since the host's start."""
        return bool(self._adopted)

    def take_up(self) -> None:
        """Take over the attempts of an earlier agent in the spool: living ones continue, the others are settled."""
        for attempt, stage in self._spool.attempts().items():
            token = self._spool.read(attempt, stage, ORDER).get("token", "")
            held = self.held[attempt] = Held(attempt, token)
            if stage == "order":
                try:
                    self._settle(held, "order", exit_record("refused", "the agent ended before it was started"))
                    groups.remove(groups.group_of(self._base, attempt))
                    continue
                except FileNotFoundError:  # its supervisor was slow, not dead
                    stage = "exit" if self._spool.is_at(attempt, "exit") else "alive"  # noqa: PLW2901
            if stage == "exit":
                held.exit = self._record(attempt)
                groups.remove(groups.group_of(self._base, attempt))
            else:
                self._adopt(held)

    def prepare(self, order: Order) -> None:
        """Make all that an attempt needs before its supervisor; raises OSError, SpoolError where it cannot be made."""
        descriptor = self._spool.create(order.attempt, order.token)
        self.held[order.attempt] = Held(order.attempt, order.token)
        self._prepared.append((order, descriptor, groups.make(self._base, order.attempt, order.memory, order.cpu)))

    def fork(self) -> list[tuple[int, OSError]]:
        """Fork the supervisors of all prepared attempts; returns the attempts for which that failed.

        They are forked right after one another: after a fork, memory that this process writes to is copied.
        """
        failed = []
        for order, descriptor, group in self._prepared:
            try:
                pid = self._fork(order, descriptor, group)
            except OSError as error:
                failed.append((order.attempt, error))
            else:
                self._supervisors[pid] = order.attempt
                self.held[order.attempt].supervisor = pid
        for _, descriptor, _ in self._prepared:
            os.close(descriptor)
        self._prepared.clear()
        for attempt, _ in failed:
            del self.held[attempt]
            groups.remove(groups.group_of(self._base, attempt))
            with suppress(OSError):
                self._spool.advance(attempt, "order", "exit")
            self._spool.delete(attempt)
        return failed

    def tell(self, attempt: int, place: tuple[int, int], document: Mapping[str, Any]) -> None:
        """Write a line of an attempt and wake its supervisor; nothing where it is over. Raises OSError, SpoolError."""
        held = self.held.get(attempt)
        if held is None or held.exit is not None:
            return
        try:
            self._spool.write(attempt, place, document)
        except FileNotFoundError:
            return  # it has just ended
        self.wake(held)

    def wake(self, held: Held) -> None:
        """Let a supervisor look at its file."""
        if held.started:
            processes.send(held.supervisor, held.started, signal.SIGUSR1)
        elif held.supervisor in self._supervisors:  # not waited for yet: the number is its own
            os.kill(held.supervisor, signal.SIGUSR1)

    def forget(self, attempt: int) -> None:
        """Delete an attempt that is over."""
        held = self.held.get(attempt)
        if held is not None and held.exit is not None:
            self._spool.delete(attempt)
            del self.held[attempt]

    def hear(self) -> None:
        """What the supervisors have said since the last time."""
        with suppress(BlockingIOError):
            while part := os.read(self.ear, _PIPE):
                self._heard += part
                if len(part) < _PIPE:
                    break
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            what, number, rest = line.split(b" ", 2)
            held = self.held.get(int(number))
            if held is None or held.exit is not None:
                continue
            if what == b"R":
                self._has_begun(held, int(rest))
            else:
                self._has_ended(held, json.loads(rest))

    def reap(self) -> None:
        """Take in children that have ended: supervisors, and what dead supervisors left."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            self._strangers.discard(pid)
            attempt = self._supervisors.pop(pid, 0)
            if attempt:
                self._is_alone(attempt)

    def adopted_ended(self, descriptor: int) -> None:
        """The supervisor of this descriptor is gone."""
        attempt = self._adopted.pop(descriptor)
        os.close(descriptor)
        self._is_alone(attempt)

    def look(self) -> None:
        """Check attempts that should run by now: their message may be lost, or they may have no pipe to this agent."""
        for held in list(self.held.values()):
            if not held.command and held.exit is None:
                self._has_begun(held, self._spool.read(held.attempt, "alive", LIFE).get("command", 0))

    def tend(self, instant: float) -> None:
        """Kill processes of attempts without a supervisor until none is found; then settle these attempts."""
        if instant < self._sweep_at:
            return
        before = {attempt: held.left for attempt, held in self._lost.items()}
        for held in list(self._lost.values()):
            with suppress(OSError, SpoolError):  # of the file; once more
                self._bury(held)
        is_same = before == {attempt: held.left for attempt, held in self._lost.items()}
        self._pause = min(self._pause * 2, _LONGEST_PAUSE) if is_same else _SWEEP_AGAIN
        self._sweep_at = instant + self._pause if self._lost else float("inf")

    def _fork(self, order: Order, descriptor: int, group: str) -> int:
        is_inside = bool(group) and self._is_born_in
        try:
            pid = fork_into(group) if is_inside else os.fork()
        except OSError:
            is_inside = False
            pid = os.fork()
        if pid:
            return pid
        code = 1
        try:  # from here on: the supervisor
            gc.disable()
            os.setsid()
            for standard in (0, 1, 2):
                os.dup2(self._null, standard)
            low, high = sorted((descriptor, self._tell))
            os.closerange(3, low)
            os.closerange(low + 1, high)
            os.closerange(high + 1, 1 << 20)
            if not is_inside and not groups.enter(group):
                group = ""
            supervisor = Supervisor(
                order, self._spool, descriptor, self._tell,
                lease=self.lease, base=self._base, group=group, accounts=self._accounts,
            )  # fmt: skip
            supervisor.run(self._boot)
            code = 0
        finally:
            os._exit(code)

    def _adopt(self, held: Held) -> None:
        life = self._spool.read(held.attempt, "alive", LIFE)
        pid, started = life.get("pid", 0), life.get("start", 0)
        held.command = life.get("command", 0)
        try:
            if life.get("boot") != self._boot:
                raise ProcessLookupError
            descriptor = os.pidfd_open(pid)
        except OSError:
            self._is_alone(held.attempt)
            return
        self._adopted[descriptor] = held.attempt
        if not processes.lives(pid, started):
            self.adopted_ended(descriptor)
            return
        held.supervisor, held.started = pid, started
        self._watch(descriptor)

    def _is_alone(self, attempt: int) -> None:
        """The supervisor of an attempt is gone: it has left a record, or it was lost."""
        held = self.held.get(attempt)
        if held is not None and held.exit is None:
            if self._spool.is_at(attempt, "exit"):
                self._has_ended(held, self._record(attempt))
            else:
                self._lost[attempt] = held
                self._sweep_at = 0.0
                return
        groups.remove(groups.group_of(self._base, attempt))

    def _has_begun(self, held: Held, command: int) -> None:
        if command and not held.command:
            held.command = command
            self._running(held.attempt, command)

    def _has_ended(self, held: Held, record: dict[str, Any]) -> None:
        held.exit = record
        self._over(held.attempt, record)

    def _record(self, attempt: int) -> dict[str, Any]:
        return self._spool.read(attempt, "exit", EXIT) or exit_record("host_lost", "its exit record cannot be read")

    def _bury(self, held: Held) -> None:
        """Settle an attempt without a supervisor if nothing of it lives any more."""
        group = groups.group_of(self._base, held.attempt)
        stage = "alive" if self._spool.is_at(held.attempt, "alive") else "order"
        life = self._spool.read(held.attempt, stage, LIFE)
        if stage == "alive" and life.get("boot") != self._boot:
            record = exit_record("host_lost", "the host was restarted")
        elif held.left != {} and self._sweep(held, life, group):
            return
        elif stage == "order" and not held.command:
            record = exit_record("refused", "the supervisor was lost before it started the command")
        else:
            record = exit_record("supervisor_lost", "its supervisor was killed or crashed")
        record["started"] = life.get("started", 0) or min(record["ended"], time.time_ns() // 1000)
        with suppress(FileNotFoundError):  # the spool is gone: nobody will ever read it there
            self._settle(held, stage, record)
        held.exit = record
        del self._lost[held.attempt]
        groups.remove(group)
        self._over(held.attempt, record)

    def _sweep(self, held: Held, life: dict[str, Any], group: str) -> bool:
        """Kill the remaining processes of an attempt; returns whether any was found. If not, it is done."""
        held.left = sweep(held.token, life, group, self._alive())
        return bool(held.left)

    def _settle(self, held: Held, stage: str, record: dict[str, Any]) -> None:
        self._spool.settle(held.attempt, stage, record)
        held.exit = record

    def _alive(self) -> set[int]:
        adopted = (self.held[attempt].supervisor for attempt in self._adopted.values())
        return {*self._strangers, *self._supervisors, *adopted}


def hold_signals_back() -> None:
    """Before supervisors are forked: they keep these signals blocked for good."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)


def let_signals_in() -> None:
    """After supervisors were forked; SIGUSR1 is theirs alone."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number for number in HELD_BACK if number != signal.SIGUSR1])


def wall_micros(ahead: float) -> int:
    """The instant in so many seconds, microseconds since the epoch."""
    return time.time_ns() // 1000 + int(ahead * 1e6)
