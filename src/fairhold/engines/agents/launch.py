"""The agent of the service's own machine: a separate process that keeps running when the service stops."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.agent import frames
from fairhold.agent.link import RECONNECT
from fairhold.engines.agents.listening import SOCKET
from fairhold.engines.agents.secret import NAME as SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

SPOOL = "spool"
"""In the state directory: what the agent keeps of its attempts."""
LOG = "agent.log"
LOCK = "agent.lock"
"""In the state directory; the agent holds it as long as it lives, and its number is in there."""
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
"""Seconds between the end of an agent and the start of the next."""
_STEADY = 10.0
"""Seconds after which an agent that has not connected is complained of."""
_LOOK = 0.1
"""Seconds between two looks at whether an agent has connected."""
_STARTING = 10.0
"""Seconds that an agent may take until it holds its lock."""
# Forks, says the number of the child, and ends: so the agent is no child of the service, which need not wait for it.
_DETACH = (
    "import os,signal,sys\n"
    "pid=os.fork()\n"
    "if pid:os.write(1,b'%d'%pid);os._exit(0)\n"
    "os.setsid()\n"
    "signal.pthread_sigmask(signal.SIG_SETMASK,())\n"
    "os.dup2(2,1)\n"
    "os.execv(sys.argv[1],sys.argv[1:])\n"
)


class OwnAgent:
    """Keeps the agent of the own machine running: uses one that runs already, replaces one that ends.

    directory    : state directory, with the secret in it
    host, slots  : what the agent is to call its host, and how many slots it has
    is_connected : whether the service has a connection to it
    complain     : called when the agent ended, cannot be started, or does not connect; from a thread of this class
    groups       : auto, or none: the agent makes no control groups
    """

    def __init__(
        self,
        directory: Path,
        *,
        host: str,
        slots: int,
        is_connected: Callable[[], bool],
        complain: Callable[[str], None] = lambda _: None,
        groups: str = "auto",
    ) -> None:
        self._directory = directory
        self._is_connected = is_connected
        self._complain = complain
        program = str(Path(frames.__file__).with_name("__main__.py"))
        # Without `site` it starts twice as fast; it needs the standard library only.
        self._command = [sys.executable, "-I", "-S", program, "--directory", str(directory)]
        self._command += ["--connect", f"unix:{directory / SOCKET}", "--host", host, "--slots", str(slots)]
        self._command += ["--secret", str(directory / SECRET), "--groups", groups]
        self._latest = 0
        self._is_closing = threading.Event()
        self._wake_out, self._wake_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._watch, name="own agent", daemon=True)

    def start(self) -> None:
        """Begin to watch; the agent is started where none runs."""
        self._thread.start()

    def pid(self) -> int:
        """Number of the agent's process, 0 = none runs."""
        found = self._find()
        if found is None:
            return 0
        os.close(found[1])
        return found[0]

    def close(self) -> None:
        """Watch no more; the agent runs on. May be called twice."""
        if self._is_closing.is_set():
            return
        self._is_closing.set()
        os.write(self._wake_in, b"!")
        if self._thread.ident is not None:
            self._thread.join()
        os.close(self._wake_out)
        os.close(self._wake_in)

    def stop_agent(self, patience: float = 5.0, *, only_own: bool = False) -> bool:
        """Watch no more, and end the agent: SIGTERM, and SIGKILL after `patience` seconds; whether there was one.

        only_own : leave one alone that was not started in the way of `start`: somebody started it by hand

        Its tasks run on: stop them before. Returns when the agent is gone.
        """
        self.close()
        found = self._find()
        if found is None:
            return False
        descriptor = found[1]
        try:
            if only_own and _words(found[0]) != [os.fsencode(word) for word in self._command]:
                return False
            for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, None)):
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, number)
                if _wait(seconds, descriptor):
                    break
        finally:
            os.close(descriptor)
        return True

    def _watch(self) -> None:
        pause = FIRST_PAUSE
        while not self._is_closing.is_set():
            try:
                found = self._find()
                descriptor = found[1] if found else self._launch()
            except OSError as error:
                self._complain(f"the agent cannot be started: {error.strerror or error}; again in {pause:g} s")
                descriptor = -1
            if descriptor >= 0:
                began = time.monotonic()
                try:
                    was_connected = self._attend(descriptor)
                finally:
                    os.close(descriptor)
                if self._is_closing.is_set():
                    return
                if was_connected or time.monotonic() - began > LONGEST_PAUSE:
                    pause = FIRST_PAUSE
                log = self._directory / LOG
                self._complain(f"the agent of this machine ended; it is started again in {pause:g} s (see {log})")
            _wait(pause, self._wake_out)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _attend(self, descriptor: int) -> bool:
        """Wait for the end of the agent, or for `close`; whether it was seen to be connected."""
        give_up = time.monotonic() + _STEADY
        if not self._is_connected():  # perhaps to a service before that stands still
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, RECONNECT)
        while not self._is_connected():
            if time.monotonic() > give_up:
                self._complain(f"the agent of this machine runs and has not connected for {_STEADY:g} s")
                _wait(None, descriptor, self._wake_out)
                return False
            if _wait(_LOOK, descriptor, self._wake_out):
                return False
        _wait(None, descriptor, self._wake_out)
        return True

    def _find(self) -> tuple[int, int] | None:
        """Number and descriptor of the agent that holds the lock, or was started last; None where there is none."""
        give_up = time.monotonic() + _STARTING
        while True:
            try:
                lock = os.open(self._directory / LOCK, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                return self._find_latest()
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                number = os.pread(lock, 20, 0).strip()
            else:
                return self._find_latest()  # and the lock goes with its descriptor
            finally:
                os.close(lock)
            descriptor = self._open_agent(int(number)) if number.isdigit() else -1
            if descriptor >= 0:
                return int(number), descriptor
            if time.monotonic() > give_up:
                raise TimeoutError(f"{self._directory / LOCK} is held by a process that is not an agent")
            time.sleep(_LOOK / 10)  # it has the lock and is about to write its number; or its last child lets go

    def _find_latest(self) -> tuple[int, int] | None:
        """The agent that was started last, which may not have come to its lock yet."""
        descriptor = self._open_agent(self._latest) if self._latest else -1
        return (self._latest, descriptor) if descriptor >= 0 else None

    def _open_agent(self, pid: int) -> int:
        """A descriptor of this process if it is an agent of this directory; -1 = it is not (any more)."""
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return -1
        # Asked when the descriptor is there: the number cannot become another's any more.
        if os.fsencode(self._directory) in _words(pid) and not _wait(0, descriptor):
            return descriptor
        os.close(descriptor)
        return -1

    def _launch(self) -> int:
        """Start the agent; a descriptor of its process. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        log = os.open(self._directory / LOG, flags, 0o600)
        try:
            done = subprocess.run(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", _DETACH, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd="/",
                start_new_session=True,
                check=False,
            )
        finally:
            os.close(log)
        if done.returncode or not done.stdout.isdigit():
            raise OSError(0, f"python ended with exit code {done.returncode}, see {self._directory / LOG}")
        self._latest = int(done.stdout)
        return os.pidfd_open(self._latest)


def _words(pid: int) -> list[bytes]:
    """The words with which a process was started; none where it is gone."""
    with suppress(OSError), Path(f"/proc/{pid}/cmdline").open("rb") as file:
        return file.read().split(b"\0")[:-1]
    return []


def _wait(seconds: float | None, *descriptors: int) -> bool:
    """Wait for one of these to be readable (a process: to end); False where none was in time."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
