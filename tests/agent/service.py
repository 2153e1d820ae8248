"""A service of a few lines, for one agent: it listens, orders, and keeps what it hears."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairhold.agent import groups, processes
from fairhold.agent.frames import SERVICE, VERSION, Channel

PROGRAM = Path(groups.__file__).with_name("__main__.py")
SECRET = bytes(range(32))
Message = dict[str, Any]


class Service:
    """Listens on a Unix socket or, with `tcp`, on a port; `lease` and `keep` are what it welcomes with."""

    def __init__(
        self, state: Path, *, tcp: bool = False, lease: float | None = None, keep: float | None = None
    ) -> None:
        self.state = state
        state.mkdir(mode=0o700, exist_ok=True)
        self.lease, self.keep = lease, keep
        self.secret = state / "secret"
        self.secret.write_text(SECRET.hex() + "\n")
        self.secret.chmod(0o600)
        if tcp:
            self._server = socket.create_server(("127.0.0.1", 0))
            self.address = f"tcp:127.0.0.1:{self._server.getsockname()[1]}"
        else:
            self._server = socket.socket(socket.AF_UNIX)
            self._server.bind(str(state / "agents.sock"))
            self._server.listen()
            self.address = f"unix:{state / 'agents.sock'}"
        self._server.settimeout(10)
        self._socket: socket.socket | None = None
        self._channel = Channel(SECRET, SERVICE)
        self.heard: list[Message] = []
        self.agents: list[subprocess.Popen[bytes]] = []
        self.words = ""
        self.answers_beats = lease is not None

    def launch(self, *words: str, groups: str = "none") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", "-S", str(PROGRAM), "--directory", str(self.state), "--connect", self.address]
        command += ["--host", "here", "--secret", str(self.secret), "--groups", groups, *words]
        agent = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.agents.append(agent)
        return agent

    def accept(self) -> Message:
        """The next connection of the agent, up to the welcome; its inventory."""
        self.cut()
        self._socket, _ = self._server.accept()
        self._socket.settimeout(10)
        self._channel = Channel(SECRET, SERVICE)
        self.heard = []
        self._socket.sendall(self._channel.greeting)
        inventory = self.hear("inventory")
        self.send({"type": "welcome", "version": VERSION, "lease": self.lease, "keep": self.keep})
        return inventory

    def cut(self) -> None:
        if self._socket:
            self._socket.close()
            self._socket = None

    def send(self, *messages: Message) -> None:
        assert self._socket is not None
        self._socket.sendall(b"".join(self._channel.seal(message) for message in messages))

    def hear(self, kind: str, attempt: int | None = None, seconds: float = 10) -> Message:
        """The first message of a kind, of an attempt; what came before it stays to be heard."""
        end = time.monotonic() + seconds
        while True:
            for message in self.heard:
                if message["type"] == kind and attempt in (None, message.get("attempt")):
                    self.heard.remove(message)
                    return message
            assert time.monotonic() < end, f"no {kind} of {attempt}; heard {self.heard}"
            self.pump(end - time.monotonic())

    def pump(self, seconds: float) -> None:
        """Take in what arrives within some seconds, up to the first portion."""
        assert self._socket is not None
        self._socket.settimeout(max(0.001, seconds))
        try:
            data = self._socket.recv(1 << 18)
        except TimeoutError:
            return
        assert data, "the agent has closed the connection"
        messages = self._channel.feed(data)
        for message in messages:
            if message["type"] == "beat" and self.answers_beats:
                self.send({"type": "lease", "n": message["n"]})
        self.heard += [message for message in messages if message["type"] != "beat" or not self.answers_beats]

    def start(self, attempt: int, *argv: str, **more: Any) -> Message:
        return {
            "type": "start",
            "attempt": attempt,
            "token": f"token-{self.state}-{attempt}",
            "argv": list(argv),
            "environment": {"PATH": os.environ["PATH"], "FAIRHOLD_ATTEMPT": "1", **more.pop("environment", {})},
            "directory": str(self.state),
            "stdin": base64.b64encode(more.pop("stdin", b"")).decode(),
            "output": f"jobs/7/{attempt}.1.out",
            "reclaim_file": f"jobs/7/{attempt}.1.reclaim.json",
            "job_directory": f"jobs/7/{attempt}.dir",
            "time_limit": 0,
            "memory": 0,
            "signal": signal.SIGTERM,
            "lead": 0,
            "weight": 100,
            **more,
        }

    def run(self, attempt: int, *argv: str, **more: Any) -> Message:
        """Start something and wait for its end; the exit record."""
        self.send(self.start(attempt, *argv, **more))
        return self.ended(attempt)

    def ended(self, attempt: int, seconds: float = 10) -> Message:
        record: Message = self.hear("ended", attempt, seconds)["exit"]
        return record

    def output(self, attempt: int) -> str:
        """What an attempt has written; one that wrote nothing leaves no file."""
        path = self.state / f"jobs/7/{attempt}.1.out"
        return path.read_text() if path.exists() else ""

    def stage(self, attempt: int) -> str:
        """`order`, `alive`, `exit`, or empty: how far the spool says that an attempt is."""
        return next(
            (stage for stage in ("order", "alive", "exit") if (self.state / f"spool/{attempt}.{stage}").exists()), ""
        )

    def strays(self) -> list[int]:
        """Everything that runs for this state directory: supervisors, and processes with its tokens."""
        mark = f"token-{self.state}-".encode()
        found = []
        for process in processes.survey():
            with suppress(OSError):
                row = Path(f"/proc/{process.pid}")
                if mark in (row / "environ").read_bytes() or bytes(self.state) in (row / "cmdline").read_bytes():
                    found.append(process.pid)
        return found

    def close(self) -> None:
        """End everything, by the rules or by force; the supervisors too."""
        self.cut()
        self._server.close()
        for agent in self.agents:
            agent.kill()
            agent.wait()
            assert agent.stderr is not None
            if not agent.stderr.closed:
                self.words += agent.stderr.read().decode()
                agent.stderr.close()
        while strays := self.strays():
            for pid in strays:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


def wait_for(condition: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


def is_alive(pid: int) -> bool:
    return any(process.pid == pid for process in processes.survey())
