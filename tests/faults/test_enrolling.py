"""Hosts that enrol with a service, through commands and processes: nothing secret is seen on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.house import House, free_port, plan, until

if TYPE_CHECKING:
    from collections.abc import Callable

    Open = Callable[..., House]


@pytest.fixture
def house(open_house: Open) -> House:
    port = free_port()
    made = open_house(plan("{hosts: [{name: h1, slots: 2}]}"), "--agents-tls", f"127.0.0.1:{port}", "--lease", "60s")
    made.port = port
    return made


def enrol(house: House, host: str = "h1", code: str | None = None) -> subprocess.CompletedProcess[str]:
    code = house.fairhold("hosts", "enrol", host).splitlines()[0] if code is None else code
    words = ["enrol", "--directory", str(house.place / host), "--connect", f"tls:127.0.0.1:{house.port}"]
    command = [sys.executable, "-m", "fairhold", "agent", *words, "--host", host]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=False, timeout=30)


def agent(house: House, host: str = "h1") -> subprocess.Popen[bytes]:
    words = ["--directory", str(house.place / host), "--connect", f"tls:127.0.0.1:{house.port}", "--host", host]
    with (house.place / f"{host}.log").open("ab") as log:
        command = [sys.executable, "-m", "fairhold", "agent", *words, "--groups", "none"]
        made = subprocess.Popen(command, stdout=log, stderr=log)
    house.agents[host] = made
    return made


def seen(pid: int) -> bytes:
    """What other users of the machine see of a process, and what stands in its environment."""
    row = Path(f"/proc/{pid}")
    return (row / "cmdline").read_bytes() + (row / "environ").read_bytes()


def test_a_host_enrols_runs_work_and_is_revoked(house: House) -> None:
    done = enrol(house)
    assert (done.returncode, "h1 has enrolled" in done.stdout) == (0, True), done.stderr
    agent(house)
    until(lambda: house.host("h1").document["connected"])
    assert house.run("echo by tls").state == "done"
    house.again()
    until(lambda: house.host("h1").document["connected"])
    assert "revoked" in house.fairhold("hosts", "revoke", "h1")
    until(lambda: not house.host("h1").document["connected"])
    until(lambda: "certificate of h1 was revoked" in house.said)
    until(lambda: "the certificate does not count" in (house.place / "h1.log").read_text())
    assert enrol(house).returncode == 0
    until(lambda: house.host("h1").document["connected"])


def test_an_agent_that_has_not_enrolled_says_so(house: House) -> None:
    made = agent(house)
    assert made.wait(20) == 1
    assert "run `fairhold agent enrol`" in (house.place / "h1.log").read_text()
    done = enrol(house, code="no code")
    assert (done.returncode, "[not-enrolled]" in done.stderr) == (1, True)
    assert "no host `h9`" in house.fairhold("hosts", "enrol", "h9")


def test_secrets_stand_in_no_log_and_no_list_of_processes(house: House) -> None:
    code = house.fairhold("hosts", "enrol", "h1").splitlines()[0]
    assert enrol(house, code=code).returncode == 0
    agent(house)
    until(lambda: house.host("h1").document["connected"])
    job = house.submit("cat /proc/$PPID/environ; sleep 60", environment={"PATH": os.environ["PATH"]})
    until(lambda: [each["state"] for each in house.attempts(job)] == ["running"])
    secrets = [code.partition(".")[0], *(private(path) for path in house.state.glob("authority/*key.pem"))]
    secrets += [
        private(house.state / "token"),
        private(house.state / "secret"),
        private(house.place / "h1/identity/key.pem"),
    ]
    tree = [house.service.pid, house.agents["h1"].pid, *below(house.agents["h1"].pid), *below(house.service.pid)]
    shown: Any = b"".join(seen(pid) for pid in tree)
    logs = house.said + (house.place / "h1.log").read_text() + house.fairhold("audit", "--all", "--json")
    logs += house.fairhold("logs", job.name)
    assert len(tree) > 3
    assert len(secrets) == 5
    assert [each for each in secrets if each.encode() in shown or each in logs] == []


def private(path: Path) -> str:
    """What is secret in a file; of a key, a line of its middle."""
    lines = path.read_text().split()
    return lines[len(lines) // 2]


def below(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *below(int(child))]
    return found
