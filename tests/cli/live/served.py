"""A real service of its own with an agent and tasks, for the tests of the commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
ME = [sys.executable, "-m", "fairhold"]
PLAN = """\
fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 4}}
consumers:
  Trading: {}
  Research: {reclaim_grace: 1s, consumers: {Models: {}, Backtests: {}}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 2}
      /Research: {owned: 2}
      /Research/Models: {owned: 1}
      /Research/Backtests: {owned: 1, limit: 2}
"""
LONGEST = 60
"""Seconds after which something has certainly gone wrong."""


class Served:
    """A service in a directory, which is found as the one that runs here."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.plan = place / "plan.yaml"
        self.plan.write_text(PLAN)
        self.state = place / "state"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FAIRHOLD_")}
        self.environment = {**kept, "FAIRHOLD_STATE": str(self.state)}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            if not self.processes():
                return
            self.start()  # what it has left running must end, too
        self("stop", "--kill")
        assert self._process.wait(LONGEST) == 0
        until(lambda: not self.processes())

    def start(self) -> None:
        (self.state / "service.json").unlink(missing_ok=True)
        with (self.place / "log").open("a") as log:
            command = [*ME, "serve", str(self.plan), "--port", "0"]
            self._process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, cwd=ROOT, stdin=subprocess.DEVNULL
            )
        until((self.state / "service.json").exists)

    def ended(self) -> int:
        """The exit status of the service, which is ending."""
        assert self._process is not None
        return self._process.wait(LONGEST)

    def kill(self) -> None:
        """Kill the service alone, as a crash would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def processes(self) -> list[str]:
        """Processes that belong to it."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.state).encode() in words:
                found.append(words.replace(b"\0", b" ").decode())
        return found

    def __call__(self, *args: str, exits: int = 0, stdin: str = "", **more: str) -> str:
        """What a command prints on standard output, or on standard error where it fails."""
        done = self.done(*args, exits=exits, stdin=stdin, **more)
        return done.stderr if exits else done.stdout

    def done(self, *args: str, exits: int = 0, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*ME, *args],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=self.environment | more,
            timeout=LONGEST,
        )
        assert done.returncode == exits, (args, done)
        assert "Traceback" not in done.stderr
        return done

    def json(self, *args: str) -> Any:
        return json.loads(self(*args, "--json"))

    def logs(self, name: str) -> str:
        """What a task has written until now; nothing where it has not begun."""
        command = [*ME, "logs", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=self.environment)
        return done.stdout

    def submit(self, *args: str) -> str:
        """Number of a new job."""
        return self("submit", *args).strip()

    def state_of(self, job: str) -> str:
        return str(self.json("show", job)["job"]["state"])


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
