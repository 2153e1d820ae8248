"""The unit that is shipped: systemd takes it, and a restart under it leaves tasks running."""

from __future__ import annotations

import shutil
import subprocess
import sys
from configparser import ConfigParser
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import ROOT

if TYPE_CHECKING:
    from pathlib import Path

UNIT = ROOT / "packaging/systemd/fairhold.service"


def test_a_restart_ends_the_service_alone() -> None:
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    assert (service["KillMode"], service["Delegate"], service["Restart"]) == ("process", "yes", "on-failure")
    assert service["ExecStart"].split()[1] == "serve"
    assert service["Environment"] == f"FAIRHOLD_STATE=/var/lib/{service['StateDirectory']}"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_takes_it(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/fairhold/bin/fairhold", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
