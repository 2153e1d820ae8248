"""Waits for the end of the engine's own child processes, without polling where possible.

Every child has a descriptor that becomes readable when it ends. Where none is available (an old kernel, or many
children: half of the open-file limit is left to others), the child is polled every 20 ms. Nothing here depends on
SIGCHLD, so that an engine works in any thread and leaves other children of the process alone.
"""

from __future__ import annotations

import os
import resource
import selectors
import sys
import threading
import time
from contextlib import suppress

_POLL = 0.02
_LONGEST = 3600.0
"""The longest single wait in seconds; longer ones overflow on some systems."""


class Watch:
    """Children that are to be told of when they end; they are not waited for here (see `has_ended`)."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_out, False)
        os.set_blocking(self._wake_in, False)
        self._selector.register(self._wake_out, selectors.EVENT_READ, None)
        self._descriptors: dict[int, int] = {}
        self._asked: set[int] = set()
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = soft // 2 if soft != resource.RLIM_INFINITY else sys.maxsize
        self._is_closed = False
        # So that `wake` of another thread writes to no file that got the number of a pipe just closed. A signal handler
        # may come while its own thread is in here: it has to be re-entrant.
        self._closing = threading.RLock()

    def add(self, pid: int) -> None:
        """Watch a child."""
        if len(self._descriptors) >= self._most:
            self._asked.add(pid)
            return
        try:
            descriptor = os.pidfd_open(pid)
        except (OSError, AttributeError):
            self._asked.add(pid)
            return
        try:
            self._selector.register(descriptor, selectors.EVENT_READ, pid)
        except OSError:  # the system watches as many as it can
            os.close(descriptor)
            self._asked.add(pid)
            return
        self._descriptors[pid] = descriptor

    def drop(self, pid: int) -> None:
        """Watch a child no longer."""
        self._asked.discard(pid)
        descriptor = self._descriptors.pop(pid, None)
        if descriptor is not None:
            self._selector.unregister(descriptor)
            os.close(descriptor)

    def ended(self, timeout: float) -> list[int]:
        """Children that have ended; waits up to `timeout` seconds for the first or for `wake`."""
        deadline = time.monotonic() + min(timeout, _LONGEST)
        while True:
            left = max(0.0, deadline - time.monotonic())
            ready = [key.data for key, _ in self._selector.select(min(left, _POLL) if self._asked else left)]
            ended = [pid for pid in (*ready, *self._asked) if pid is not None and has_ended(pid)]
            is_woken = None in ready
            if is_woken:
                with suppress(BlockingIOError):
                    os.read(self._wake_out, 4096)
            if ended or is_woken or time.monotonic() >= deadline:
                return ended

    def wake(self) -> None:
        """End the wait of `ended`, now or the next time; may be called from a signal handler or another thread."""
        with self._closing:
            if not self._is_closed:
                with suppress(BlockingIOError):
                    os.write(self._wake_in, b"!")

    def close(self) -> None:
        """Give the descriptors back; may be called twice."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
        for pid in (*self._descriptors, *self._asked):
            self.drop(pid)
        self._selector.close()
        os.close(self._wake_out)
        os.close(self._wake_in)


def has_ended(pid: int) -> bool:
    """Whether a child has ended; it is left to be waited for, so that its number stays its own.

    Also where its end was taken by somebody else.
    """
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True
