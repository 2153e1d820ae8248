"""The demonstration does what it says, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.house import processes

if TYPE_CHECKING:
    from tests.kubernetes.control_plane import ControlPlane

ROOT = Path(__file__).parents[2]
ALLOCATED, LENT = 3, 6
"""Columns of consumers."""


def test_the_demonstration_lends_reclaims_and_cleans_up(control_plane: type[ControlPlane]) -> None:
    assert control_plane
    with tempfile.TemporaryDirectory() as folder:  # a short name: sockets are in there
        command = [sys.executable, "-m", "examples.kubernetes_demo"]
        own = os.environ | {"TMPDIR": folder}
        done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=300, check=False)
        assert not list(Path(folder).iterdir())
        assert not processes(folder)
    assert done.returncode == 0, done.stderr
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()]
    trading = [row for row in rows if row[0] == "trading"]
    lends = next(at for at, row in enumerate(trading) if row[LENT] == "gpus 4")
    assert any(row[ALLOCATED] == "gpus 4" for row in trading[lends:])
    assert any(row[:1] == ["research"] and row[ALLOCATED] == "gpus 7" for row in rows)
    assert ["backtest", "Complete", "10/10"] in [row[:3] for row in rows]
    assert "no Job counts a failure" in done.stdout
