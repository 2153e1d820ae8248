"""The demonstration does what it says, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.house import processes

if TYPE_CHECKING:
    from tests.kubernetes.control_plane import ControlPlane

ROOT = Path(__file__).parents[2]


def test_the_demonstration_lends_reclaims_and_cleans_up(control_plane: type[ControlPlane], tmp_path: Path) -> None:
    assert control_plane
    own = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "examples.kubernetes_demo"]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    lends = ["trading", "/Trading", "gpus", "5", "gpus", "1", "gpus", "4", "0", "gpus", "4", "gpus", "3"]
    has = ["trading", "/Trading", "gpus", "5", "gpus", "4", "gpus", "4", "0"]
    assert lends in rows
    assert any(row[: len(has)] == has for row in rows[rows.index(lends) :])
    assert ["backtest", "Complete", "10/10"] in [row[:3] for row in rows]
    assert "no Job counts a failure" in done.stdout
    assert not list(tmp_path.iterdir())
    assert not processes(str(tmp_path))
