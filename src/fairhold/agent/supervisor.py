"""The supervisor of an attempt, a process of its own: it starts the command and exits after the attempt's last process.

All that the command starts are descendants of this process, which also adopts their orphans. So when it has no child
any more, the kernel guarantees that the attempt is over; then the exit record is written.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource  # noqa: F401 - `os.wait4` needs it: imported once by the agent, not again by every supervisor
import signal
import time
from contextlib import suppress

from fairhold.agent import groups, processes
from fairhold.agent.ending import PendingRequest, reason_of
from fairhold.agent.launch import NotStartedError, Runner
from fairhold.agent.output import FIRST_LOOK, Output
from fairhold.agent.spool import EXIT, LIFE, NOTICE, STOP, SpoolError, exit_record, read_line, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fairhold.agent.accounts import Accounts
    from fairhold.agent.order import Order
    from fairhold.agent.spool import Spool

PATIENCE = 5.0
"""Seconds that an attempt has between the signal at its time limit and the end."""
_SAMPLE = 1.0
"""Seconds between two looks at the memory of an attempt."""
_NEVER = float("inf")
_LONGEST_WAIT, _LONGEST_WATCH = 3600.0, 1.0
"""Seconds; the latter while an instant is set from outside. A wait is not counted while the host sleeps, but such an
instant does not wait for it: after a sleep it is looked at soon.
"""
_SUBREAPER = 36
_WAKE = (signal.SIGCHLD, signal.SIGUSR1)
HELD_BACK = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, *_WAKE)
"""Signals that the agent blocks before it forks a supervisor, for good: it goes when its attempt is over."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LIBC = ctypes.CDLL(None)
_LIBC.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)


def take_orphans_in() -> None:
    """Processes below this one that lose their parent become its children."""
    _LIBC.prctl(_SUBREAPER, 1, 0, 0, 0)


def now() -> float:
    """Seconds since the host's start; goes on while it sleeps, and nobody can set it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Supervisor:
    """One attempt, from its start to its record.

    order : what to run; spool, descriptor : its file there, open
    tell  : pipe to the agent, which may be gone
    lease : until when it may run, on the clock of `now`; None = for ever
    base  : where groups can be made, empty = nowhere
    group : that this process is in, made for the attempt; empty = none
    accounts : of those as whom commands run, None = they run as this process
    """

    def __init__(
        self,
        order: Order,
        spool: Spool,
        descriptor: int,
        tell: int,
        *,
        lease: float | None,
        base: str,
        group: str,
        accounts: Accounts | None = None,
    ) -> None:
        self._order, self._spool, self._descriptor, self._tell, self._base = order, spool, descriptor, tell, base
        self._accounts, self._runner = accounts, Runner()
        self._asked = PendingRequest()
        self._pid = 0
        self._status: int | None = None
        self._cpu = self._peak = 0
        self._group, self._detail = group, ""
        self._begin = now()
        self._started = time.time_ns() // 1000
        self._notice: dict[str, Any] = {}
        self._notice_at = self._deadline = self._stop_by = self._limit_at = self._patience_ends = self._sample_at = (
            _NEVER
        )
        self._trim_at = _NEVER
        self._lease_at = _NEVER if lease is None else lease

    def run(self, boot: str) -> None:
        """From the fork to the end. The record is written when this returns, or somebody else has settled it."""
        take_orphans_in()
        me = os.getpid()
        write_line(self._descriptor, LIFE, life := {"boot": boot, "pid": me, "start": processes.started_at(me)})
        try:
            self._spool.advance(self._order.attempt, "order", "alive")
        except FileNotFoundError:  # a later agent has said that this never ran
            return
        try:
            record = self._attend(life)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing may be left running without a record
            self._clear()
            record = {**self._record(), "detail": f"supervisor: {error!r}"[:200]}
        self._write(record)

    def _attend(self, life: dict[str, Any]) -> dict[str, Any]:
        try:
            self._runner = Runner.of(self._order, self._accounts)
            self._pid, output = self._runner.launch(self._order)
        except NotStartedError as error:
            return exit_record(error.reason, str(error), started=self._started)
        life.update(command=self._pid, command_start=processes.started_at(self._pid), started=self._started)
        write_line(self._descriptor, LIFE, life)
        self._say(f"R {self._order.attempt} {self._pid}")
        if self._order.time_limit:
            self._limit_at = self._begin + self._order.time_limit
        if self._order.memory and not groups.is_limited(self._group):
            self._sample_at = self._begin + _SAMPLE
        kept = "" if self._order.keep_empty else self._order.output
        self._output = Output(output, self._order.output_limit, kept)
        if self._order.output_limit:
            self._trim_at = self._begin + FIRST_LOOK
        has_others = True
        while self._status is None:
            self._wait()
            has_others = self._reap()
            if self._status is None:
                self._act(now())
        if has_others:
            self._clear()
        with self._runner.acting():
            self._output.close()
        self._drop_reclaim_file()
        return self._record()

    def _wait(self) -> None:
        """Until a child ends, the agent calls, or something is due."""
        due = min(
            self._notice_at, self._deadline, self._stop_by, self._limit_at, self._patience_ends,
            self._sample_at, self._trim_at, self._lease_at,
        )  # fmt: skip
        is_set = min(self._deadline, self._stop_by, self._lease_at) < _NEVER
        longest = _LONGEST_WATCH if is_set else _LONGEST_WAIT
        woken = signal.sigtimedwait(_WAKE, max(0.0, min(due - now(), longest)))
        if woken is not None and woken.si_signo == signal.SIGUSR1:
            self._read_notice()
            self._read_stop()
            self._has_lease(now())

    def _reap(self) -> bool:
        """Take in all children that have ended; whether there are others."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            self._cpu += int((usage.ru_utime + usage.ru_stime) * 1e6)
            self._peak = max(self._peak, usage.ru_maxrss * 1024)
            if pid == self._pid:
                self._status = status

    def _act(self, instant: float) -> None:
        """Do what is due."""
        if instant >= self._notice_at:
            self._notice_at = _NEVER
            self._signal()
        if instant >= self._limit_at:
            self._limit_at = _NEVER
            self._patience_ends = instant + PATIENCE
            self._force("time_limit", f"it ran longer than {self._order.time_limit:g} s")
            self._signal()
        if instant >= self._sample_at:
            self._sample_at = instant + _SAMPLE
            self._look_at_memory()
        if instant >= self._trim_at:
            self._trim_at = instant + self._output.trim()
        if instant >= self._lease_at and not self._has_lease(instant):
            self._force("host_lost", "its lease ended")
            self._clear()
        if instant >= min(self._deadline, self._stop_by, self._patience_ends):
            # the service may order it, too, by a clock that is a little ahead of the one here
            if min(self._deadline, self._stop_by) <= instant and self._asked.stop in {"", "reclaim"}:
                self._force("reclaim", "stopped at its deadline")
            self._clear()

    def _force(self, reason: str, detail: str) -> None:
        """The supervisor stops the attempt; the first reason counts."""
        if not self._asked.forced:
            self._asked.forced = reason
            self._detail = detail

    def _signal(self) -> None:
        """The signal of its job to all that belongs to it."""
        self._asked.sent = self._order.signal
        family = processes.below(os.getpid())
        processes.send_all(family, self._order.signal)
        processes.send_all(processes.stopped(family), signal.SIGCONT)  # or it would hear of it only from SIGKILL

    def _clear(self) -> None:
        """Kill all that belongs to it; comes back when nothing is left."""
        pause = 0.001
        is_grouped = bool(self._group)
        while self._reap():
            if is_grouped:
                is_grouped = groups.kill_others(self._base, self._group)
            processes.send_all(processes.below(os.getpid()), signal.SIGKILL)
            signal.sigtimedwait((signal.SIGCHLD,), pause)
            pause = min(pause * 2, 0.1)

    def _read_notice(self) -> None:
        notice = read_line(self._descriptor, NOTICE)
        if notice == self._notice:
            return
        is_new = not self._notice
        is_said_again = not is_new and bool(notice) and notice["deadline"] == self._notice["deadline"]
        self._notice = notice
        self._asked.is_under_notice = bool(notice)
        if not notice:
            self._notice_at = self._deadline = _NEVER
            if not self._asked.stop:
                self._drop_reclaim_file()
            return
        self._asked.was_noticed = True
        until = float(notice["until"])  # said again by a service whose clock goes slow, a grace gets no longer
        self._deadline = min(self._deadline, until) if is_said_again else until
        self._write_reclaim_file(notice)
        if is_new or self._notice_at < _NEVER:  # told once, also where the deadline moves
            self._notice_at = self._deadline - self._order.lead if self._order.lead else 0.0

    def _read_stop(self) -> None:
        stop = read_line(self._descriptor, STOP)
        if not stop:
            return
        is_new = not self._asked.stop
        self._stop_by = min(self._stop_by, float(stop["until"]))
        if not is_new:
            return
        self._asked.stop = str(stop["reason"])
        self._asked.was_noticed = True
        is_told = bool(self._notice) and self._notice_at == _NEVER and self._asked.stop == "reclaim"
        self._notice_at = _NEVER
        if not self._notice or self._asked.stop != "reclaim":  # else the file says more: it came with the notice
            self._write_reclaim_file(stop)
        if not is_told:  # of the same thing, by its notice: a second signal could cut short what it saves
            self._signal()

    def _has_lease(self, instant: float) -> bool:
        lease = self._spool.lease()
        if lease is not None:
            self._lease_at = lease
        elif self._spool.is_at(self._order.attempt, "alive"):
            self._lease_at = _NEVER
        return self._lease_at > instant  # a spool that is gone cannot make a lease longer

    def _look_at_memory(self) -> None:
        used = shared = 0
        for pid in processes.below(os.getpid()):
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
                _, resident, common = (int(word) for word in file.read().split()[:3])
                used += resident - common
                shared = max(shared, common)
        used = (used + shared) * _PAGE
        self._peak = max(self._peak, used)
        if used > self._order.memory:
            self._force("memory", f"it used {used} bytes, more than its limit of {self._order.memory}")
            self._clear()

    def _write_reclaim_file(self, order: dict[str, Any]) -> None:
        """Write it before the signal, so that the task can read the reason; see docs/attempts.md."""
        seconds, micros = divmod(int(order["deadline"]), 1_000_000)
        fraction = f".{micros:06}" if micros else ""
        document = {
            "reason": order["reason"],
            "for": order.get("for"),
            "deadline": time.strftime(f"%Y-%m-%dT%H:%M:%S{fraction}Z", time.gmtime(seconds)),
            "attempt": self._order.number,
            "cycle": order.get("cycle"),
        }
        draft = f"{self._order.reclaim_file}.tmp"
        with self._runner.acting():
            try:
                with open(draft, "w", encoding="utf-8") as file:  # noqa: PTH123
                    file.write(json.dumps(document) + "\n")
                os.rename(draft, self._order.reclaim_file)  # noqa: PTH104
            except OSError:  # a full disk: the signal says it too
                with suppress(OSError):
                    os.unlink(draft)  # noqa: PTH108

    def _drop_reclaim_file(self) -> None:
        if self._asked.was_noticed:
            with self._runner.acting(), suppress(OSError):
                os.unlink(self._order.reclaim_file)  # noqa: PTH108

    def _record(self) -> dict[str, Any]:
        outcome = os.waitstatus_to_exitcode(self._status) if self._status is not None else -1
        code, number = (-1, -outcome) if outcome < 0 and self._status is not None else (outcome, 0)
        if number == signal.SIGKILL and not self._asked.forced and groups.was_short_of_memory(self._group):
            self._force("memory", f"it used more than its {self._order.memory} bytes")
        record = exit_record(reason_of(code, number, self._asked), self._detail, code=code, signal=number)
        record.update(started=self._started, cpu=self._cpu, peak=self._peak)
        record["ended"] = self._started + int((now() - self._begin) * 1e6)
        return record

    def _write(self, record: dict[str, Any]) -> None:
        """Write the whole record; retry for as long as the disk is full or fails."""
        while True:
            try:
                line = write_line(self._descriptor, EXIT, record)
                self._spool.advance(self._order.attempt, "alive", "exit")
            except FileNotFoundError:  # the spool is gone: nobody will ever ask
                return
            except SpoolError:
                record["detail"] = ""
            except OSError:
                time.sleep(1)
            else:
                if not self._say(f"E {self._order.attempt} {line}"):
                    groups.leave(self._base, self._group)  # nobody is there to clear it away
                return

    def _say(self, line: str) -> bool:
        """Send a line to the agent if it listens; else it reads the file. Short writes to a pipe are atomic."""
        try:
            os.write(self._tell, f"{line}\n".encode())
        except OSError:
            return False
        return True
