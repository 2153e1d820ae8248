"""A real service, its real agents and their processes, in a folder; to be stopped, killed and started again."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairhold
from fairhold.client.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.client.answers import Host, Job
    from fairhold.client.synchronous import Client

PATIENCE = 90.0
"""Seconds; of use on a machine that has much else to do."""
PLAIN = "{slots: 4}"
SH = "/bin/sh"


def plan(groups: str = PLAIN, grace: str = "300ms", more: str = "") -> str:
    """A plan of /A and /B, which own half of a group each."""
    return f"""\
fairhold: 1
cluster: house
resource_groups: {{compute: {groups}}}
consumers:
  A: {{reclaim_grace: {grace}}}
  B: {{reclaim_grace: {grace}}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {{/A: {{owned: 2}}, /B: {{owned: 2}}}}
{more}"""


def until(what: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Wait for something to be true; what it is."""
    end = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)
    return found


def free_port() -> int:
    """A port that nobody has, and no connection gets by chance before it is used: the system gives those above."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port


def lives(pid: int) -> bool:
    """Whether a process is there and not over."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
    except OSError:
        return False


def processes(mark: str) -> list[int]:
    """Processes with this text in their command line or environment, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                if mark.encode() in words and lives(int(entry.name)):
                    found.append(int(entry.name))
    return found


class House:
    """The service. words : more options of `fairhold serve`."""

    def __init__(self, place: Path, text: str = "", *words: str, state: str = "state") -> None:
        self.place, self.words = place, words
        self.state = place / state
        self.plan, self.has_plan_file = place / "plan.yaml", True
        place.mkdir(exist_ok=True, parents=True)
        self.plan.write_text(text or plan())
        self.log = place / "service.log"
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        self.port = 0
        self.client: Client
        self.service: subprocess.Popen[bytes]

    def serve(self, *words: str) -> House:
        """Start the service, wait until it answers."""
        self.launch(*words)
        return self.await_up()

    def await_up(self) -> House:
        """Wait until the service answers."""
        until(self.is_up)
        self.client = fairhold.connect(f"unix:{self.state}/api.sock")
        return self

    def launch(self, *words: str) -> None:
        command = [sys.executable, "-m", "fairhold", "serve", "--state", str(self.state)]
        command += [str(self.plan)] if self.has_plan_file else []
        command += [*(() if "--port" in self.words else ("--port", "0")), *self.words, *words]
        own = os.environ | {"FAIRHOLD_STATE": str(self.place)}
        with self.log.open("ab") as log:
            self.service = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own)

    def is_up(self) -> bool:
        assert self.service.poll() is None, self.said
        with suppress(OSError, ValueError):
            return bool(json.loads((self.state / "service.json").read_text())["pid"] == self.service.pid)
        return False

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self, number: int = signal.SIGKILL) -> int:
        """End the service by a signal; its exit status."""
        self.client.close()
        self.service.send_signal(number)
        return self.service.wait(PATIENCE)

    def again(self, number: int = signal.SIGKILL, *words: str) -> House:
        self.kill(number)
        return self.serve(*words)

    def agent(
        self, name: str, port: int, *, slots: int = 2, secret: Path | None = None, more: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """An agent of another machine."""
        words = ["--directory", str(self.place / name), "--connect", f"tcp:127.0.0.1:{port}", "--host", name]
        words += ["--slots", str(slots), "--secret", str(secret or self.state / "secret"), "--groups", "none", *more]
        with (self.place / f"{name}.log").open("ab") as log:
            made = subprocess.Popen([sys.executable, "-m", "fairhold", "agent", *words], stdout=log, stderr=log)
        self.agents[name] = made
        return made

    def own_agent(self) -> int:
        """Number of the own machine's agent; 0 where none has said it yet."""
        return int((self.state / "agent.lock").read_text() or 0)

    def fairhold(self, *words: str) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "fairhold", *words, "--service", f"unix:{self.state}/api.sock"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout + done.stderr

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command that goes on; what it prints and complains of together."""
        command = [sys.executable, "-m", "fairhold", *words, "--service", f"unix:{self.state}/api.sock"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, script: str, **more: Any) -> Job:
        """Run a script of the shell to its end."""
        return self.client.wait(self.submit(script, **more), PATIENCE)

    def submit(self, script: str, *, consumer: str = "/A", **more: Any) -> Job:
        return self.client.submit(consumer, [SH, "-c", script], **{"directory": str(self.place)} | more)

    def attempts(self, job: Job, task: int = 0) -> list[dict[str, Any]]:
        """All attempts of a task."""
        (found,) = [each for each in self.client.tasks(job) if each.index == task]
        return [dict(each.document) for each in found.attempts]

    def host(self, name: str) -> Host:
        (found,) = [each for each in self.client.hosts() if each.name == name]
        return found

    def close(self) -> None:
        """Stop everything; nothing of it may be left."""
        for agent in self.agents.values():
            agent.send_signal(signal.SIGCONT)
        if self.service.poll() is None:
            with suppress(ServiceError, OSError):
                self.fairhold("stop", "--kill", "--no-wait")
            try:
                self.service.wait(15)
            except subprocess.TimeoutExpired:
                self.service.kill()
                self.service.wait()
        with suppress(AttributeError):
            self.client.close()
        for agent in self.agents.values():
            agent.kill()
            agent.wait()
        end = time.monotonic() + 5
        while (left := processes(str(self.place))) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        assert "Traceback" not in self.said, self.said
