"""A thread that acts when it is woken or some time is over, and that nothing ends which was not foreseen."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

LATER = 5.0
"""Seconds after which it acts again where it failed."""
_LOG = logging.getLogger("fairhold")


class Again(NamedTuple):
    """When to act again. pause: seconds before which not; within: seconds after them, None = when it is woken."""

    pause: float = 0.0
    within: float | None = None


class Repeating:
    """Acts in a thread of its own, at first when it is woken.

    act        : does what is due
    is_closing : set once it is to end
    """

    def __init__(self, name: str, act: Callable[[], Again]) -> None:
        self._act, self.is_closing, self._is_woken = act, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do; may be called by any thread, at any time."""
        self._is_woken.set()

    def close(self, patience: float | None = None) -> None:
        """End, and wait for that; patience: seconds, None = any time. May be called twice."""
        self.is_closing.set()
        self._is_woken.set()
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        again = Again()
        while True:
            self._is_woken.wait(again.within)
            self._is_woken.clear()
            if self.is_closing.is_set():
                return
            try:
                again = self._act()
            except Exception:  # noqa: BLE001 - a fault of ours: nobody would know that nothing is done any more
                _LOG.exception("the thread `%s` failed, and tries again", self._thread.name)
                again = Again(LATER, 0.0)
            self.is_closing.wait(again.pause)
