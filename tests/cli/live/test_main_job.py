"""What `make run` runs: whole without a terminal, and broken off on one."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.live.served import LONGEST, ROOT

MAIN_JOB = [sys.executable, str(ROOT / "examples/service.py")]


def leftovers(place: Path) -> list[str]:
    """Files that are left in a directory, and processes that were started with its name."""
    found = [each.name for each in place.iterdir()]
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes()
        except OSError:
            continue
        if str(place).encode() in words:
            found.append(words.decode())
    return found


@pytest.mark.whole
def test_every_result_is_right_and_nothing_is_left_behind(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*MAIN_JOB, "--whole"], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "310 of 310 results are right" in done.stdout
    assert done.stdout.count("\nWhy ") == 2
    assert "R-RECLAIM-" in done.stdout
    table = done.stdout[done.stdout.index("\nleaf ") :].splitlines()[2:8]
    rows = [line.split() for line in table]
    owned, borrowed, lent, reclaimed = ([int(row[column]) for row in rows] for column in (1, 2, 3, 4))
    assert sum(owned) == 8
    assert all(map(max, (borrowed, lent, reclaimed)))
    assert leftovers(tmp_path) == []


def test_ctrl_c_ends_it_with_all_that_it_runs(tmp_path: Path) -> None:
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (40, 100))
    environment = os.environ | {"TMPDIR": str(tmp_path), "TERM": "xterm"}
    process = subprocess.Popen(MAIN_JOB, stdin=there, stdout=there, stderr=there, env=environment, process_group=0)
    os.close(there)
    shown = b""
    while not re.search(rb"Models .*\xe2\x96\x88", shown):  # a bar is drawn
        shown += os.read(here, 65_536)
    process.send_signal(2)
    while True:
        try:
            shown += os.read(here, 65_536)
        except OSError:
            break
    os.close(here)
    assert process.wait(LONGEST) == 130
    assert b"Traceback" not in shown
    assert b"It is being stopped" in shown
    assert leftovers(tmp_path) == []
