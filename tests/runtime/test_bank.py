"""The main job of the examples, run whole: it checks its own results, and so do we."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.runtime.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.whole
def test_the_bank_shares_this_machine_and_every_result_is_right(tmp_path: Path) -> None:
    output = tmp_path / "bank"
    done = subprocess.run(
        [sys.executable, ROOT / "examples/bank.py", output], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert " results checked, each there once and right; at most " in done.stdout
    assert done.stdout.count("Why this ") == 2
    assert (output / "record.jsonl").exists()
