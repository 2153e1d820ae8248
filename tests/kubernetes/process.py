"""One process of a cluster."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LINES = 20
"""Of a log, in a message."""


def surroundings(folder: Path) -> dict[str, str]:
    """Variables for a program that keeps its hands off the user's own settings and caches."""
    return os.environ | {"HOME": str(folder), "KUBECONFIG": "", "KUBERC": "off"}


class DiedError(Exception):
    """A program ended that should run; the message has the end of its log."""


class Process:
    """A server, to be killed and started again. It ends when its input does: with this process at the latest."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        self.name, self.command, self.folder = name, command, folder
        self.log = folder / f"{name}.log"
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self._running is None, f"{self.name} runs"
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=surroundings(self.folder),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End the process and what it started at once; nothing where it does not run."""
        if self._running is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.communicate()
        self._running = None

    @property
    def runs(self) -> bool:
        return self._running is not None

    @property
    def pid(self) -> int:
        assert self._running is not None, f"{self.name} does not run"
        return self._running.pid

    def check(self) -> None:
        """Fail where the process ended by itself."""
        if self._running is not None and (code := self._running.poll()) is not None:
            end = "\n".join(self.log.read_text(errors="replace").splitlines()[-LINES:])
            raise DiedError(f"{self.name} ended with {code}:\n{end}")
