"""The service's end with the real agent, as programs of this machine; nothing of it is left when a test ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.engines.agents.launch import OwnAgent
from fairhold.engines.agents.secret import the_secret
from fairhold.orchestrator.events import MachineReported, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Forget, Start
from tests.engines.agents.fake import PATIENT, Desk, spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.orchestrator.instructions import Notify, Stop, Withdraw


def wall() -> int:
    return time.time_ns() // 1000


class House:
    """A state directory, its agent, and a desk that may go and come back."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        secret = the_secret(directory)
        self._more: dict[str, Any] = {"secret": secret, "now": wall}
        self.complaints: list[str] = []
        self.desk = Desk(directory, **self._more)
        self.agent = self.launcher()
        self._next = 0

    def launcher(self) -> OwnAgent:
        return OwnAgent(
            self.directory,
            host="here",
            slots=4,
            is_connected=lambda: self.desk.agents.status()[0].is_connected,
            complain=self.complaints.append,
            groups="none",
        )

    def open(self) -> MachineReported:
        self.agent.start()
        return self.desk.next(MachineReported)

    def reopen_desk(self) -> MachineReported:
        """The service stops and starts; the agent and its tasks do not."""
        self.desk.agents.close()
        specs = self.desk.specs
        self.desk = Desk(self.directory, **self._more)
        self.desk.specs = specs
        return self.desk.next(MachineReported)

    def start(self, code: str, *words: str, **more: Any) -> int:
        """Order one attempt of a Python program; its number."""
        self._next += 1
        job = str(self._next)
        self.desk.specs[job] = spec(argv=(sys.executable, "-I", "-S", "-c", code, *words), **more)
        self.order(Start(self._next, job, 0, 1, "compute", ""))
        return self._next

    def run(self, code: str, *words: str, **more: Any) -> int:
        """The same, and it runs."""
        attempt = self.start(code, *words, **more)
        assert self.desk.next(TaskRunning).attempt == attempt
        return attempt

    def order(self, *instructions: Start | Notify | Withdraw | Stop | Forget) -> None:
        self.desk.order(*instructions)

    def ended(self, attempt: int) -> TaskEnded:
        """The end of an attempt, which is the next event; it is forgotten then."""
        event = self.desk.next(TaskEnded)
        assert event.attempt == attempt
        assert event.exit
        self.order(Forget(attempt, ""))
        return event

    def file(self, attempt: int, ending: str = "1.out") -> Path:
        return self.directory / "jobs" / str(attempt) / f"0.{ending}"

    def printed(self, attempt: int, text: str = "\n") -> str:
        """What an attempt has printed when `text` is in it."""
        give_up = time.monotonic() + PATIENT
        while True:
            with suppress(FileNotFoundError):
                if text in (content := self.file(attempt).read_text()):
                    return content
            assert time.monotonic() < give_up, "it printed nothing"
            time.sleep(0.01)


@contextmanager
def opened(directory: Path) -> Iterator[House]:
    house = House(directory)
    try:
        yield house
    finally:
        house.agent.stop_agent()
        house.desk.agents.close()
        _sweep(directory)


def _sweep(directory: Path) -> None:
    """Kill what attempts have left: supervisors and commands whose names or files are below this directory."""
    mark = os.fsencode(f"FAIRHOLD_RECLAIM_FILE={directory}/")
    for _ in range(3):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    is_task = mark in (entry / "environ").read_bytes()
                    is_supervisor = os.fsencode(directory) in (entry / "cmdline").read_bytes().split(b"\0")
                    if is_task or is_supervisor:
                        os.kill(int(entry.name), signal.SIGKILL)
        time.sleep(0.01)
