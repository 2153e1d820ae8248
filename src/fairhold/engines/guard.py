"""A process beside an engine that kills what the engine left running when it was killed itself (Linux).

    engine ──pipe──▶ guard      one JSON line for every attempt before it starts, when it runs and when it is over,
                                `[]` as a good-bye

The pipe closes when the engine's process ends, however it ends. Without a good-bye, the guard then sends SIGKILL to all
processes of attempts that it knows and that have not ended. Of an attempt that was about to start it only knows the
mark, and looks for processes with it. The guard has its own session, so that neither Ctrl-C nor a signal to the process
group of the run reaches it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fairhold.engines import processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PATIENCE = 5.0
"""Seconds to wait for the end of a guard that was told good-bye."""
_LOOK, _LOOKS_LAST = 0.02, 2.0
"""Seconds between two looks for an attempt that was about to start, and after which it is taken not to have."""


class Guard:
    """The engine's side; where there is no guard to be had, everything is as it was without one.

    complain : is told why there is none
    """

    def __init__(self, complain: Callable[[str], None] = lambda _: None) -> None:
        self._complain = complain
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """Start to guard."""
        # Only this package and the standard library: nothing of the folder of the call, nothing that is installed.
        home = str(Path(__file__).parents[2])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-P", "-m", "fairhold.engines.guard"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": home},
                bufsize=0,
                start_new_session=True,
            )
            os.set_blocking(self._pipe(self._process).fileno(), False)
        except OSError as error:
            self._complain(
                f"if this process is killed, its tasks continue, because no guard could be started: {error.strerror}"
            )

    def starting(self, mark: bytes) -> None:
        """An attempt is about to start: the next word is that it runs, or that it could not be started."""
        self._say([None, None, os.fsdecode(mark)])

    def not_started(self) -> None:
        """The attempt that was about to start could not be started."""
        self._say([None])

    def started(self, leader: int, mark: bytes) -> None:
        """An attempt runs (see `processes.kill`)."""
        self._say([leader, processes.start_of(leader), os.fsdecode(mark)])

    def over(self, leader: int) -> None:
        """Nothing of an attempt runs any more."""
        self._say([leader])

    def close(self) -> None:
        """Say good-bye; may be called twice."""
        process = self._process
        if process is None:
            return
        self._say([])
        self._process = None
        with suppress(OSError):
            self._pipe(process).close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @staticmethod
    def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
        assert process.stdin is not None
        return process.stdin

    def _say(self, line: list[object]) -> None:
        if self._process is not None:
            with suppress(OSError):  # it was killed, or stands still: the run goes on
                self._pipe(self._process).write(json.dumps(line).encode() + b"\n")


def left(lines: Iterable[bytes]) -> tuple[dict[int, bytes], bytes]:
    """What to kill after the pipe has closed: leader → mark of attempts that have not ended.

    Also the mark of an attempt that was about to start, empty = none.

    lines : what came through the pipe, line by line
    """
    marks: dict[int, bytes] = {}
    begun: dict[int, int | None] = {}
    about_to_start = b""
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:  # it was cut off
            continue
        if not said:
            return {}, b""
        if said[0] is None:
            about_to_start = os.fsencode(said[2]) if len(said) == 3 else b""
        elif len(said) == 1:
            marks.pop(said[0], None)
        else:
            begun[said[0]], marks[said[0]] = said[1], os.fsencode(said[2])
            about_to_start = b""
    # A leader whose number belongs to a stranger by now; one that is gone may have left others behind.
    strangers = [leader for leader in marks if processes.start_of(leader) not in (None, begun[leader])]
    for leader in strangers:
        del marks[leader]
    return marks, about_to_start


def main() -> None:
    """Wait for the end of the pipe, then kill what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    marks, about_to_start = left(sys.stdin.buffer)
    if marks:
        processes.kill(marks)
    if about_to_start:
        kill_when_seen(about_to_start)


def kill_when_seen(mark: bytes) -> None:
    """Kill an attempt that may have started: between fork and exec, a child has no mark yet."""
    deadline = time.monotonic() + _LOOKS_LAST
    while time.monotonic() < deadline:
        leaders = processes.leaders_of(mark)
        if leaders:
            processes.kill(dict.fromkeys(leaders, mark))
            return
        time.sleep(_LOOK)


if __name__ == "__main__":
    main()
