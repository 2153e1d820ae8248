"""The unit that is shipped: systemd takes it, and what it asks for leaves tasks running at a restart."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import ROOT, Served, until
from tests.faults.house import lives

if TYPE_CHECKING:
    from configparser import SectionProxy
    from pathlib import Path

UNIT = ROOT / "packaging/systemd/fairhold.service"


@pytest.fixture
def unit() -> SectionProxy:
    """What the unit says of the service."""
    found = ConfigParser()
    found.optionxform = str  # type: ignore[method-assign,assignment]
    found.read_string(UNIT.read_text())
    return found["Service"]


def test_it_ends_the_service_alone_and_finds_its_state(unit: SectionProxy) -> None:
    assert (unit["KillMode"], unit["Delegate"], unit["Restart"]) == ("process", "yes", "on-failure")
    assert unit["ExecStart"].split()[1:] == ["serve", "/etc/fairhold/plan.yaml"]
    assert unit["Environment"] == f"FAIRHOLD_STATE=/var/lib/{unit['StateDirectory']}"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_takes_it(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/fairhold/bin/fairhold", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class ByHand(Served):
    """Does with the service what systemd would, as far as the unit says."""

    def begin(self) -> None:
        self.start()

    def restart(self) -> None:
        assert self._process is not None
        self._process.terminate()
        assert self.ended() == 0
        self.start()

    def crash(self) -> None:
        self.kill()
        self.start()

    def main(self) -> int:
        assert self._process is not None
        return self._process.pid

    def rests(self) -> bool:
        return self.ended() == 0

    def close(self) -> None:
        """Nothing more is to be done."""


class BySystemd(Served):
    """The unit, with places of its own, under the systemd of whoever runs the tests."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.name = f"{place.name}.service"
        text = UNIT.read_text()
        for pattern, mine in {
            "(User|Group|StateDirectory)=.*\n": "",
            "ExecStart=.*": f"ExecStart={sys.executable} -m fairhold serve {self.plan} --port 0",
            "Environment=.*": f"Environment=FAIRHOLD_STATE={self.state}",
        }.items():
            text = re.sub(f"^{pattern}", mine, text, flags=re.MULTILINE)
        (place / self.name).write_text(text)

    def ask(self, *words: str) -> str:
        command = ["systemctl", "--user", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def begin(self) -> None:
        self.ask("link", "--runtime", str(self.place / self.name))
        self.ask("start", self.name)

    def restart(self) -> None:
        self.ask("restart", self.name)

    def crash(self) -> None:
        self.ask("kill", "--kill-whom=main", "--signal=KILL", self.name)
        until(lambda: self.ask("show", "--value", "--property=NRestarts", self.name) == "1")

    def main(self) -> int:
        return int(self.ask("show", "--value", "--property=MainPID", self.name))

    def rests(self) -> bool:
        return self.ask("show", "--value", "--property=ActiveState", self.name) == "inactive"

    def close(self) -> None:
        self.ask("stop", self.name)
        self.ask("disable", "--runtime", self.name)


def has_systemd() -> bool:
    """Whether a systemd runs for this user."""
    if not shutil.which("systemctl"):
        return False
    said = subprocess.run(["systemctl", "--user", "is-system-running"], capture_output=True, text=True, check=False)
    return said.stdout.strip() in {"running", "degraded"}


HOW = [
    ByHand,
    pytest.param(BySystemd, marks=pytest.mark.skipif(not has_systemd(), reason="no systemd runs for this user")),
]


@pytest.mark.parametrize("made", HOW)
def test_tasks_run_on_whatever_becomes_of_the_service(tmp_path: Path, made: type[ByHand | BySystemd]) -> None:
    service = made(tmp_path)
    pid, go = tmp_path / "pid", tmp_path / "go"

    def is_up() -> bool:
        with suppress(OSError, ValueError):
            return bool(json.loads((service.state / "service.json").read_text())["pid"] == service.main())
        return False

    try:
        service.begin()
        until(is_up)
        script = f"echo $$ > {pid}; until [ -e {go} ]; do sleep 0.02; done"
        job = service.submit("/Trading", "--", "sh", "-c", script)
        until(lambda: pid.exists() and pid.read_text())
        mains = [service.main()]
        for happens in (service.restart, service.crash):
            happens()
            until(is_up)
            assert lives(int(pid.read_text()))
            mains.append(service.main())
        assert len(set(mains)) == 3
        go.touch()
        until(lambda: service.state_of(job) == "done")
        assert [each["number"] for each in service.json("show", job)["tasks"][0]["attempts"]] == [1]
        service("stop", "--kill")
        until(service.rests)
        until(lambda: not service.processes())
    finally:
        go.touch()
        service.close()
