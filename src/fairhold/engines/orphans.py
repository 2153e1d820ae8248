"""Processes that left their attempt's session and environment: this process adopts them, and kills them when it can.

Linux gives an orphan to its nearest ancestor that asked for orphans (PR_SET_CHILD_SUBREAPER). Nothing then shows which
attempt an orphan belongs to. But it cannot be older than its attempt, so it is killed as soon as every running attempt
has started after it.
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.engines import processes

if TYPE_CHECKING:
    from collections.abc import Collection

_PR_SET_CHILD_SUBREAPER = 36
_NO_MARK = b"\0"
"""No variable of an environment is like this."""
_LAST_WAIT = 1.0
"""Seconds to wait for the end of what was killed last."""


class Orphans:
    """What attempts left behind; nothing is adopted before `adopt`, and where the system cannot.

    Children that this process has by then, those in its session and the leaders of attempts are none of its business.
    """

    def __init__(self) -> None:
        self._spared: set[int] = set()
        self._is_adopting = False

    def adopt(self) -> None:
        """Be the parent of orphans from now on."""
        self._spared = set(_children())
        self._is_adopting = _ask_for_orphans(wanted=True)

    def collect(self, leaders: Collection[int]) -> None:
        """Wait for ended orphans, and kill those that no running attempt can have started.

        leaders : of the attempts that run
        """
        strangers = self._strangers(leaders) if self._is_adopting else []
        if not strangers:
            return
        oldest = min((start for start in map(processes.start_of, leaders) if start is not None), default=None)
        left = [process.pid for process in strangers if oldest is None or process.started < oldest]
        if left:
            processes.kill(dict.fromkeys(left, _NO_MARK))

    def close(self) -> None:
        """Kill and wait for all that there are, and adopt no more; may be called twice."""
        deadline = time.monotonic() + _LAST_WAIT
        self.collect(())
        while self._is_adopting and self._strangers(()) and time.monotonic() < deadline:
            time.sleep(0.005)
            self.collect(())
        if self._is_adopting:
            self._is_adopting = not _ask_for_orphans(wanted=False)

    def _strangers(self, leaders: Collection[int]) -> list[processes.Process]:
        """Living children that nobody here has started; those that are over are waited for."""
        found, own = [], os.getsid(0)
        for pid in _children():
            process = processes.read(pid) if pid not in self._spared and pid not in leaders else None
            if process is None or process.session == own:
                continue
            if process.is_over:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            else:
                found.append(process)
        return found


def _ask_for_orphans(*, wanted: bool) -> bool:
    """Whether the system did what was asked."""
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return False
    arguments = [ctypes.c_ulong(argument) for argument in (int(wanted), 0, 0, 0)]
    return int(prctl(ctypes.c_int(_PR_SET_CHILD_SUBREAPER), *arguments)) == 0


def _children() -> list[int]:
    """Children of this process, those that are over and not waited for included."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # a thread that has just ended
                found += map(int, (task / "children").read_text().split())
    return found
