"""What following 200 logs at once costs: the processor time of the service; each task writes a line a second."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.live_service import COMMAND, live_service, plan_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.live_service import LiveService

LOGS, SECONDS = 200, 20
TASK = "exec 3<> <(:); while :; do echo a line of a log; read -t 1 -u 3; done"
"""It needs no other process for its pauses."""


def following() -> dict[str, dict[str, float]]:
    """Cores that the service takes while all are followed, on its own machine and through the agent of another."""
    name = f"{LOGS} logs followed, a line a second each"
    with live_service(LOGS) as service:
        here = _measured(service)
    with _free_port() as port:
        agents = f"127.0.0.1:{port}"
    with live_service(LOGS, plan=_two_machines(), words=("--host", "desk", "--agents", agents)) as service:
        away = service.directory / "away"
        secret = service.state / "secret"
        words = ["--directory", str(away), "--connect", f"tcp:{agents}", "--host", "away", "--secret", str(secret)]
        agent = subprocess.Popen([str(COMMAND), "agent", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            there = _measured(service, agent.pid)
        finally:
            agent.terminate()
            agent.wait()
    return {name: here, f"{name}, on another machine": there}


def _two_machines() -> str:
    plan: dict[str, Any] = json.loads(plan_text(LOGS))
    plan["resource_groups"]["compute"] = {
        "hosts": [{"name": "desk", "slots": 1}, {"name": "away", "slots": LOGS, "labels": ["away"]}]
    }
    return json.dumps(plan)


@contextmanager
def _free_port() -> Iterator[int]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        yield found.getsockname()[1]


def _measured(service: LiveService, agent: int = 0) -> dict[str, float]:
    """agent: process of the agent of another machine, which counts, too."""
    where: dict[str, Any] = {"need": ["away"]} if agent else {}
    job = service.submit("bash", "-c", TASK, count=LOGS, **where)
    service.until(lambda: service.get(f"/v1/jobs/{job}")["tasks"]["running"] == LOGS)
    pids = [service.pid, *([agent] if agent else [])]
    alone = _cores(pids, lambda: time.sleep(SECONDS / 2))
    lines: list[int] = []
    cores = _cores(pids, lambda: lines.append(asyncio.run(_follow_all(service, job))))
    return {"cores": cores, "goal_cores": 1, "cores_alone": alone, "lines_a_second": round(lines[0] / SECONDS)}


def _cores(pids: Sequence[int], work: Callable[[], object]) -> float:
    used, began = sum(map(_processor, pids)), time.monotonic()
    work()
    return round((sum(map(_processor, pids)) - used) / (time.monotonic() - began), 3)


def _processor(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _follow_all(service: LiveService, job: str) -> int:
    """Follow all for a while; how many lines came."""
    end = time.monotonic() + SECONDS
    found = await asyncio.gather(*(_follow(service, job, task, end) for task in range(LOGS)))
    return sum(found)


async def _follow(service: LiveService, job: str, task: int, end: float) -> int:
    """As `fairhold logs -f` does it: one connection, the next piece each time."""
    host, _, port = service.address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    offset, lines = 0, 0
    while time.monotonic() < end:
        path = f"/v1/jobs/{job}/tasks/{task}/output?offset={offset}&wait=20"
        head = f"GET {path} HTTP/1.1\r\nHost: {service.address}\r\nAuthorization: Bearer {service.token}\r\n\r\n"
        writer.write(head.encode())
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in answer.split("\r\n")[1:] if line)
        assert answer.split()[1] == "200", answer
        content = await reader.readexactly(int(fields["content-length"]))
        offset, lines = int(fields["fairhold-next"]), lines + content.count(b"\n")
    writer.close()
    return lines
