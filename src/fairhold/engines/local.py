"""The engine of this machine: every attempt is a process with its own session, started without a shell.

Notice of a reclaim is a file and a SIGTERM, the stop is a SIGKILL (S1.58-60). When the command of an attempt ends, all
processes that it left running are killed, so that nothing runs on a free slot.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.agent.devices import with_devices
from fairhold.engines import processes
from fairhold.engines.files import Files, files_of, write_reclaim
from fairhold.engines.guard import Guard
from fairhold.engines.orphans import Orphans
from fairhold.engines.watch import Watch
from fairhold.orchestrator.events import Outcome, TaskEnded
from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from fairhold.model.job import Job

PATIENCE = 2.0
"""Seconds that `close` gives to what still runs between SIGTERM and SIGKILL."""
_LAST_WAIT = 5.0
"""Seconds that `close` waits for what it has killed."""
_LONGEST_WORD = 200
RECLAIM_FILE = "FAIRHOLD_RECLAIM_FILE"


@dataclass(slots=True)
class _Child:
    """A running attempt.

    is_noticed : it was told that its slot is taken back, now or before a withdrawal
    is_stopped : it was told to stop
    """

    start: Start
    process: subprocess.Popen[bytes]
    files: Files
    is_noticed: bool = False
    is_stopped: bool = False

    @property
    def mark(self) -> bytes:
        """The variable of its environment that no other attempt has."""
        return _mark(self.files)


class LocalEngine:
    """Runs attempts as processes of this machine; see `ports.Engine`.

    jobs     : by name; may grow while the engine runs
    paths    : (rows,) full path of every row of the plan's tree
    output   : directory, absolute, for what attempts print and are told
    complain : is told why something could not be started or written: the first of a job and kind, and how many more
    guard    : is told of every attempt, to kill it where this process is killed
    orphans  : ends what attempts left behind where neither session nor environment tells whose it is
    first_gpu : host → number of its first GPU on this machine, which is all hosts; 0 where it is not said

    One thread calls it; `wake` and `hurry` may be called from any, and from signal handlers.
    """

    def __init__(
        self,
        jobs: Mapping[str, Job],
        paths: Sequence[str],
        output: Path,
        complain: Callable[[str], None] = lambda _: None,
        guard: Guard | None = None,
        *,
        orphans: Orphans | None = None,
        first_gpu: Mapping[str, int] | None = None,
    ) -> None:
        self._first_gpu = first_gpu or {}
        self._guard = guard or Guard()
        self._orphans = orphans or Orphans()
        self._jobs = jobs
        self._paths = paths
        self._output = output
        self._complain = complain
        self._complaints: dict[tuple[str, str], int] = {}
        self._watch = Watch()
        self._running: dict[int, _Child] = {}
        self._attempt_of: dict[int, int] = {}
        self._over: list[TaskEnded] = []
        self._how: dict[int, str] = {}
        self._is_closed = self._is_hurried = False

    def execute(self, instructions: Iterable[Start | Notify | Withdraw | Stop]) -> None:
        """Carry out instructions in order; what cannot be started is reported by `events` as failed."""
        for instruction in instructions:
            if isinstance(instruction, Start):
                self._start(instruction)
                continue
            child = self._running.get(instruction.attempt)
            if child is None:  # it ended by itself, and the event is on its way
                continue
            if isinstance(instruction, Notify):
                self._notify(child, instruction)
            elif isinstance(instruction, Withdraw):
                with suppress(OSError):
                    child.files.reclaim.unlink()
            else:
                child.is_stopped = True
                processes.kill({child.process.pid: child.mark})

    def events(self, timeout: float) -> Sequence[TaskEnded]:
        """Attempts that ended since the last call; waits up to `timeout` seconds for the first, or for `wake`."""
        if not self._is_closed:
            self._collect(0.0 if self._over else timeout)
        over, self._over = self._over, []
        return over

    def wake(self) -> None:
        """End the wait of `events`, now or the next time."""
        self._watch.wake()

    def hurry(self) -> None:
        """Let `close` kill at once."""
        self._is_hurried = True
        self.wake()

    def how(self, attempt: int) -> str:
        """How a failed attempt ended, once: `exit 3`, `killed by SIGSEGV`, why it could not be started."""
        return self._how.pop(attempt, "")

    def close(self) -> None:
        """Stop everything that was started: SIGTERM, SIGKILL after `PATIENCE`; `events` still tells how it ended."""
        if self._is_closed:
            return
        for child in self._running.values():
            child.is_stopped = True
        processes.terminate(child.process.pid for child in self._running.values())
        deadline = time.monotonic() + PATIENCE
        while self._running and not self._is_hurried and time.monotonic() < deadline:
            self._collect(deadline - time.monotonic())
        if self._running:
            processes.kill({child.process.pid: child.mark for child in self._running.values()})
        deadline = time.monotonic() + _LAST_WAIT
        while self._running and time.monotonic() < deadline:
            self._collect(deadline - time.monotonic())
        for child in self._running.values():
            self._tell(child.start.job, f"process {child.process.pid} could not be stopped", "could not be stopped")
        for (job, why), times in self._complaints.items():
            if times > 1:
                self._complain(f"job {job}: {times - 1} more like this: {why}")
        self._is_closed = True
        self._orphans.close()
        self._watch.close()

    def _start(self, start: Start) -> None:
        job = self._jobs[start.job]
        files = files_of(self._output, start)
        try:
            files.output.parent.mkdir(exist_ok=True)
            output = files.output.open("wb", buffering=0)
        except (OSError, ValueError) as error:  # ValueError: the file system's encoding has no such name
            self._fail(start, f"cannot write to {files.output.parent}: {_why(error)}", _why(error))
            return
        with output:
            argv = [part.replace("{index}", str(start.index)) for part in job.argv]
            self._guard.starting(_mark(files))  # before it is there: this process may be killed at any instant
            try:
                process = subprocess.Popen(  # noqa: S603 - running commands is what an engine is for
                    argv,
                    cwd=job.directory or None,
                    env=self._environment(start, job, files),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
                self._guard.not_started()
                cause = _cause(argv, job.directory, error)
                self._fail(start, cause, _why(error))
                with suppress(OSError):
                    output.write(f"fairhold: {cause}\n".encode(errors="replace"))
                return
        child = self._running[start.attempt] = _Child(start, process, files)
        self._guard.started(process.pid, child.mark)
        self._attempt_of[process.pid] = start.attempt
        self._watch.add(process.pid)

    def _environment(self, start: Start, job: Job, files: Files) -> dict[str, str]:
        first = self._first_gpu.get(start.host, 0)
        devices = None if start.devices is None else [first + number for number in start.devices]
        return {
            **with_devices({**os.environ, **job.environment}, devices),
            "FAIRHOLD_JOB": start.job,
            "FAIRHOLD_TASK": str(start.index),
            "FAIRHOLD_ATTEMPT": str(start.number),
            "FAIRHOLD_CONSUMER": self._paths[job.consumer],
            RECLAIM_FILE: str(files.reclaim),
        }

    def _fail(self, start: Start, cause: str, why: str) -> None:
        """An attempt could not be started; `why` is the part of the cause that many attempts may share."""
        self._how[start.attempt] = cause
        self._over.append(TaskEnded(start.attempt, Outcome.FAILED))
        self._tell(start.job, cause, why)

    def _tell(self, job: str, cause: str, why: str) -> None:
        """Say the first of its kind; `close` counts the others."""
        times = self._complaints.get((job, why), 0)
        self._complaints[job, why] = times + 1
        if not times:
            self._complain(f"job {job}: {cause}")

    def _notify(self, child: _Child, notice: Notify) -> None:
        """First the file, then the signal: who is woken by the signal finds the file."""
        child.is_noticed = True
        try:
            write_reclaim(child.files.reclaim, notice, child.start.number)
        except OSError as error:
            self._tell(child.start.job, f"cannot write to {child.files.reclaim.parent}: {_why(error)}", _why(error))
        processes.terminate([child.process.pid])

    def _collect(self, timeout: float) -> None:
        """Take in the children that have ended, after a wait of at most `timeout` seconds for the first."""
        ended = sorted(self._attempt_of[pid] for pid in self._watch.ended(timeout))
        children = [self._running.pop(attempt) for attempt in ended]
        # What they left running goes before they are waited for: until then their numbers are nobody else's.
        if children:
            processes.kill({child.process.pid: child.mark for child in children})
        for child in children:
            pid = child.process.pid
            self._watch.drop(pid)
            self._guard.over(pid)
            del self._attempt_of[pid]
            self._over.append(TaskEnded(child.start.attempt, self._outcome(child)))
        if children:
            self._orphans.collect(self._attempt_of.keys())

    def _outcome(self, child: _Child) -> Outcome:
        try:
            _, ending = os.waitpid(child.process.pid, 0)
            status = os.waitstatus_to_exitcode(ending)
            how = f"exit {status}" if status > 0 else f"killed by {_signal_name(-status)}"
        except ChildProcessError:  # some other part of this program waited for all children
            status, how = 1, "another process has collected its exit status"
        child.process.returncode = status
        if status == 0:
            return Outcome.FINISHED
        if child.is_stopped or child.is_noticed:
            return Outcome.STOPPED
        self._how[child.start.attempt] = how
        return Outcome.FAILED


def _mark(files: Files) -> bytes:
    """The variable that only the processes of an attempt have."""
    return os.fsencode(f"{RECLAIM_FILE}={files.reclaim}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _cause(argv: Sequence[str], directory: str, error: Exception) -> str:
    """Why a command could not be started, for people."""
    if not argv or not argv[0]:
        return "the command is empty"
    if isinstance(error, OSError) and directory and error.filename == directory:
        return f"cannot work in the directory {directory}: {_why(error)}"
    return f"cannot start {_shown(argv[0])}: {_why(error)}"


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _shown(word: str) -> str:
    """A word of a command in a line of text: short, and no line of its own."""
    word = word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…"
    return word if word.isprintable() else repr(word)
