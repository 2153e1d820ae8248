"""The agent's loop: carries out orders of the service and reports what supervisors say, one at a time."""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from contextlib import suppress

from fairhold.agent import attempts, groups, reading
from fairhold.agent.attempts import Attempts
from fairhold.agent.clearing import Clearing
from fairhold.agent.frames import VERSION, FrameError
from fairhold.agent.link import RECONNECT, Link
from fairhold.agent.order import Order
from fairhold.agent.rank import Rank
from fairhold.agent.spool import NOTICE, STOP, Spool, SpoolError, refusal
from fairhold.agent.supervisor import now, take_orphans_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fairhold.agent.accounts import Accounts
    from fairhold.agent.link import Address

BEAT = 2.0
"""Seconds between two beats, at most."""
_SLICE = 16
"""Messages that are carried out before the loop looks around."""
_BEATS = 256
"""Beats whose instants are remembered for the service's answer."""
_RETRY = 1.0
_PAUSE = 0.1


class Agent:
    """One host's agent.

    addresses : of the services of which one leads
    directory : absolute; holds the spool, which has its name, and every file that the service names is below it
    base      : where groups can be made, empty = nowhere
    labels    : of the host, `NAME=VALUE` or `NAME`
    accounts  : of those as whom commands run, None = as the agent
    """

    def __init__(
        self,
        directory: str,
        spool: Spool,
        addresses: Sequence[Address],
        secret: bytes | str,
        *,
        host: str,
        slots: int,
        base: str,
        labels: Sequence[str] = (),
        accounts: Accounts | None = None,
    ) -> None:
        self._directory, self._host, self._slots, self._base = directory, host, slots, base
        self._labels = list(labels)
        self._spool = spool
        self._poll = select.epoll()
        self._link = Link(addresses, secret, self._poll, log, host=host)
        self._rank = Rank(spool)
        self._attempts = Attempts(
            self._spool,
            base,
            running=self._say_running,
            over=self._say_ended,
            watch=self._register,
            accounts=accounts,
        )
        self._clearing = Clearing(directory)
        self._inbox: deque[dict[str, Any]] = deque()
        self._unwritten: deque[dict[str, Any]] = deque()
        self._retry_at = float("inf")
        self._raised = self._last = self._spool.last()
        self._unraised = "the agent cannot write to its spool"
        self._name = self._spool.name()
        self._length: float | None = None
        self._is_promised = False
        """Whether the lease is one of this start of the host; else it counts on a clock that has begun again."""
        self._told_at = 0.0
        self._is_told = self._must_go = self._is_unplanned = self._is_moved = False
        self._beat = 0
        self._beat_at = float("inf")
        self._sent_at: dict[int, float] = {}
        self._woken, self._waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        for descriptor in (self._attempts.ear, self._woken):
            self._register(descriptor)

    def serve(self) -> None:
        """Run until SIGTERM or SIGINT; attempts continue to run."""
        attempts.hold_signals_back()
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._go)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(RECONNECT, lambda *_: setattr(self, "_is_moved", True))
        take_orphans_in()
        self._attempts.lease = self._spool.lease()
        self._attempts.take_up()
        self._is_promised = self._attempts.has_adopted()
        attempts.let_signals_in()
        while not self._must_go:
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001 - an agent that is gone helps nobody
                log(f"{error!r}; it goes on")
                self._link.close(now())
                self._drop_inbox()
                time.sleep(_PAUSE)
        with suppress(Exception):
            self._link.flush(now())
        if self._attempts.is_idle():
            groups.remove_base(self._base)

    def _go(self, *_: object) -> None:
        self._must_go = True

    def _turn(self) -> None:
        instant = now()
        link = self._link
        if self._is_moved:
            self._is_moved = False
            link.close(instant)
            link.next_at = instant
        if link.descriptor < 0 and self._inbox:
            self._drop_inbox()
        if link.descriptor < 0 and instant >= link.next_at:
            self._is_told = False
            link.connect(instant)
        for descriptor, events in self._poll.poll(self._timeout(instant)):
            if descriptor == self._attempts.ear:
                self._attempts.hear()
            elif descriptor == self._woken:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._attempts.hear()
                self._attempts.reap()
            elif descriptor != link.descriptor:
                self._poll.unregister(descriptor)
                self._attempts.adopted_ended(descriptor)
            elif events & ~select.EPOLLOUT:
                self._receive()
        self._work()
        instant = now()
        self._attempts.tend(instant)
        if old := self._clearing.step(instant):
            self._send({"type": "old", "jobs": old})
        self._keep_time(instant)
        link.flush(instant)

    def _timeout(self, instant: float) -> float:
        """Seconds until something is due."""
        if self._inbox:
            return 0.0
        link = self._link
        speak_at = self._beat_at if link.is_welcome else link.heard_at + link.patience
        due = link.next_at if link.descriptor < 0 else speak_at
        return max(0.0, min(due, self._attempts.due(), self._clearing.due, self._retry_at) - instant)

    def _receive(self) -> None:
        messages = self._link.receive(now())
        if not all(map(self._rank.accepts, messages)):
            log(f"orders of an earlier service are refused: one of term {self._rank.term} has led since")
            self._link.close(now())
            return
        if self._link.is_open and not self._is_told:
            self._is_told = True
            self._say_all()
        starts = [message.get("attempt") for message in messages if message.get("type") == "start"]
        highest = max((number for number in starts if isinstance(number, int)), default=0)
        if highest > self._raised:
            try:
                self._spool.raise_last(highest)
                self._raised = highest
            except OSError as error:
                log(f"cannot write to {self._directory}: {error.strerror}")
                self._unraised = refusal(error, f"the agent cannot write to its spool: {error.strerror or error}")
        self._inbox += messages

    def _drop_inbox(self) -> None:
        """Drop orders that were not carried out; they never run, and `last` tells the service so. It repeats them."""
        self._inbox.clear()
        self._last = self._raised

    def _work(self) -> None:
        """Carry out some of the orders."""
        if not self._inbox:
            return
        attempts.hold_signals_back()
        try:
            for _ in range(min(_SLICE, len(self._inbox))):
                message = self._inbox.popleft()
                try:
                    self._obey(message)
                except (KeyError, TypeError, ValueError, OverflowError) as error:
                    log(f"a message {message.get('type')!r} that is not understood: {error!r}")
        finally:
            self._fork()
            attempts.let_signals_in()

    def _obey(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "start":
            self._start(message)
        elif kind in {"notice", "withdraw", "stop"}:
            self._fork()  # it may be meant for one of those
            self._tell(message, now())
        elif kind == "forget":
            for attempt in message["attempts"]:
                self._attempts.forget(attempt)
        elif kind == "lease":
            self._extend(self._sent_at.get(message["n"]))
        elif kind in {"read", "list"}:
            self._send(reading.answer(f"{self._directory}/jobs", message))
        elif kind == "clear":
            self._clearing.answer(message["jobs"])
        elif kind == "welcome":
            self._welcome(message)
        elif kind == "certificate":
            self._keep_certificate(message["certificate"])
        elif kind == "unplanned" and not self._is_unplanned:
            self._is_unplanned = True
            log(f"the plan has no host {self._host}: nothing is started here until it has one; --host sets the name")

    def _keep_certificate(self, text: str) -> None:
        from fairhold.agent.tunnel import keep  # noqa: PLC0415 - others start faster without it

        try:
            keep(self._directory, text)
        except OSError as error:
            log(f"the new certificate cannot be kept: {error.strerror or error}; the service sends another tomorrow")

    def _start(self, message: dict[str, Any]) -> None:
        attempt = message["attempt"]
        held = self._attempts.held.get(attempt)
        if held is not None:  # asked again
            if held.exit is not None:
                self._say_ended(attempt, held.exit)
            elif held.command:
                self._say_running(attempt, held.command)
            return
        if attempt <= self._last:
            self._refuse(attempt, f"{attempt} is not above {self._last}, the last that was started here")
            return
        self._last = attempt
        if attempt > self._raised:
            self._refuse(attempt, self._unraised)
            return
        lease = self._attempts.lease
        if lease is not None and lease <= now():
            self._refuse(attempt, "the agent has no lease")
            return
        try:
            self._attempts.prepare(Order(message, self._directory))
        except OSError as error:
            self._refuse_for(attempt, error)
        except (SpoolError, ValueError) as error:
            self._refuse(attempt, str(error))

    def _fork(self) -> None:
        """Start what is prepared."""
        for attempt, error in self._attempts.fork():
            self._refuse_for(attempt, error)

    def _tell(self, message: dict[str, Any], instant: float) -> None:
        """Hand an order on to a supervisor. `until` is made of the seconds left: two clocks may differ."""
        attempt, kind = message["attempt"], message["type"]
        line: dict[str, Any] = {}
        if kind != "withdraw":
            seconds = max(0.0, float(message["seconds"]))
            message["seconds"] = seconds
            line = {
                "until": message.setdefault("until", instant + seconds),
                "deadline": int(message.get("deadline") or attempts.wall_micros(seconds)),
                "reason": str(message["reason"])[:64],
                "for": message.get("for"),
                "cycle": message.get("cycle"),
            }
        place = STOP if kind == "stop" else NOTICE
        if kind == "stop":
            del line["for"], line["cycle"]
        try:
            try:
                self._attempts.tell(attempt, place, line)
            except SpoolError:
                self._attempts.tell(attempt, place, {**line, "for": None})
        except OSError:
            self._unwritten.append(message)
            self._retry_at = min(self._retry_at, instant + _RETRY)

    def _welcome(self, message: dict[str, Any]) -> None:
        if message["version"] != VERSION:
            log(f"the service speaks version {message['version']}, this agent {VERSION}")
            self._link.close(now())
            return
        length = message.get("lease")
        self._length = None if length is None else float(length)
        self._link.welcome()
        keep = message.get("keep")
        self._clearing.welcome(None if keep is None else float(keep))
        self._beat_at = now()
        had = self._attempts.lease
        self._extend(self._told_at)
        if had is None and self._length is not None:
            for held in self._attempts.held.values():
                self._attempts.wake(held)

    def _extend(self, since: float | None) -> None:
        """Extend the lease from this instant; a lease that cannot be written does not count.

        An earlier lease that ends later stays in force, as after a restart of the service with a shorter lease. A lease
        from before the host's start does not count: it could outlast what the service expects.
        """
        if since is None:
            return
        lease = self._attempts.lease
        until = None if self._length is None else since + self._length
        if until == lease or (self._is_promised and until is not None and lease is not None and until < lease):
            return
        try:
            self._spool.write_lease(until)
            self._attempts.lease = until
            self._is_promised = True
        except OSError as error:
            log(f"cannot write the lease: {error.strerror}")
            if until is not None and (lease is None or lease > until):
                self._attempts.lease = 0.0  # none that ends in time is none to start with

    def _keep_time(self, instant: float) -> None:
        """Send heartbeats, detect a silent service, and write orders again that could not be written."""
        link = self._link
        if link.descriptor >= 0:
            patience = link.patience if not link.is_welcome or not self._length else link.silence(self._length)
            if instant > link.heard_at + patience and (not link.is_welcome or self._length):
                link.close(instant)
        if instant >= self._beat_at and link.is_welcome:
            self._beat += 1
            self._sent_at[self._beat] = instant
            self._sent_at.pop(self._beat - _BEATS, None)
            self._send({"type": "beat", "n": self._beat})
            self._beat_at = instant + (min(BEAT, self._length / 4) if self._length else BEAT)
            self._attempts.look()
        if instant >= self._retry_at:
            self._retry_at = float("inf")
            waiting, self._unwritten = self._unwritten, deque()
            for message in waiting:
                self._tell(message, instant)

    def _say_all(self) -> None:
        self._told_at = now()
        lease = self._attempts.lease
        left = max(0.0, lease - self._told_at) if self._is_promised and lease is not None else None
        held = [
            {"attempt": held.attempt, "alive": held.exit is None, "exit": held.exit}
            for held in sorted(self._attempts.held.values(), key=lambda held: held.attempt)
        ]
        self._send({
            "type": "inventory", "version": VERSION, "host": self._host, "boot": self._attempts.boot,
            "spool": self._name, "slots": self._slots, "last": max(self._raised, self._last), "attempts": held,
            "labels": self._labels, "enforced": groups.limits_kept(self._base), "lease": left,
            "term": self._rank.term, "tail": self._rank.tail, "proof": self._rank.proof,
        })  # fmt: skip

    def _say_running(self, attempt: int, pid: int) -> None:
        self._send({"type": "running", "attempt": attempt, "pid": pid})

    def _say_ended(self, attempt: int, record: dict[str, Any]) -> None:
        self._send({"type": "ended", "attempt": attempt, "exit": record})

    def _refuse_for(self, attempt: int, error: OSError) -> None:
        self._refuse(attempt, refusal(error, f"cannot start a supervisor: {error.strerror or error}"))

    def _refuse(self, attempt: int, detail: str) -> None:
        self._send({"type": "refused", "attempt": attempt, "detail": detail})

    def _send(self, message: dict[str, Any]) -> None:
        if not self._is_told:
            return  # the inventory will say it
        try:
            self._link.send(message)
        except FrameError as error:
            log(f"{message['type']}: {error}")
            self._link.close(now())

    def _register(self, descriptor: int) -> None:
        self._poll.register(descriptor, select.EPOLLIN)


def log(text: str) -> None:
    """A line on standard error, where there is one."""
    with suppress(OSError):
        os.write(2, f"fairhold agent: {text}\n".encode(errors="replace"))
