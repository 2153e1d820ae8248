"""A real service in a directory of its own, for the benchmarks: started, asked over HTTP, stopped, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COMMAND = Path(sys.executable).parent / "fairhold"
DISK = "/var/tmp"
"""A directory of a real disk, which `/tmp` need not be."""
PATIENCE = 120.0
"""Seconds that a service has to start or to stop."""


def plan_text(slots: int) -> str:
    """Three leaves that share so many slots."""
    plan = {
        "fairhold": 1,
        "cluster": "bench",
        "resource_groups": {"compute": {"slots": slots}},
        "consumers": {name: {} for name in "ABC"},
        "policies": [
            {
                "resource_groups": ["compute"],
                "policy": "hybrid",
                "consumers": {f"/{name}": {"owned": slots // 4} for name in "ABC"},
            }
        ],
    }
    return json.dumps(plan)


class LiveService:
    """A service and one connection to it, which is kept open."""

    def __init__(self, directory: Path, slots: int, plan: str = "", words: Sequence[str] = ()) -> None:
        self.directory, self.slots, self._words = directory, slots, words
        self._plan = directory / "plan.json"
        self._plan.write_text(plan or plan_text(slots))
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: HTTPConnection
        self.address = self.token = ""

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.directory / "state"

    @property
    def pid(self) -> int:
        """Number of the service's process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start it, and come back when it answers and its agent is there."""
        self.launch()
        self.until(lambda: self.get("/v1/health")["agents"][0]["connected"])
        return self

    def launch(self) -> None:
        """Start it, and come back when it answers."""
        told = self.state / "service.json"
        told.unlink(missing_ok=True)
        command = [str(COMMAND), "serve", str(self._plan), "--state", str(self.state), "--port", "0"]
        command += self._words
        environment = {**os.environ, "FAIRHOLD_STATE": str(self.directory / "home"), "FAIRHOLD_JIT": "off"}
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self.until(told.exists)
        self.address = json.loads(told.read_text())["url"].removeprefix("http://")
        self.token = (self.state / "token").read_text().strip()
        self._connection = HTTPConnection(self.address, timeout=PATIENCE)

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait for something, as long as the service runs."""
        give_up = time.monotonic() + PATIENCE
        while not is_so():
            assert self._process is not None
            assert self._process.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < give_up, "the service does not come up"
            time.sleep(0.005)

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - whatever JSON says
        """A request, and the JSON of its answer."""
        content = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self._connection.request(method, path, content, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text) if text else None

    def get(self, path: str) -> Any:  # noqa: ANN401
        """What is at a path."""
        return self.ask("GET", path)

    def submit(self, *argv: str, consumer: str = "/A", **more: object) -> str:
        """Submit a job; its name."""
        name: str = self.ask("POST", "/v1/jobs", {"consumer": consumer, "argv": argv, **more})["job"]
        return name

    def finish(self, job: str) -> dict[str, Any]:
        """Wait until a job is over."""
        while True:
            document: dict[str, Any] = self.get(f"/v1/jobs/{job}?wait=60")
            if document["ended"] is not None:
                return document

    def rss_mb(self) -> float:
        """Memory of the service's process, in MB of 1,000,000 bytes."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
        return round(kilobytes * 1024 / 1e6, 1)

    def kill(self) -> None:
        """End the service as a crash does; its agent goes on."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End the service, its agent and all that runs."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self.ask("POST", "/v1/stop", {"how": "kill"})
            self._process.wait(PATIENCE)


@contextmanager
def live_service(
    slots: int, *, starts: bool = True, plan: str = "", words: Sequence[str] = ()
) -> Iterator[LiveService]:
    """A service in a temporary directory, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="fairhold-bench-", dir=DISK) as folder:
        service = LiveService(Path(folder), slots, plan, words)
        try:
            if starts:
                service.start()
            yield service
        finally:
            service.stop()
