"""What `make run` runs: whole without a terminal; on one it is broken off, or stays up until ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import termios
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.cli.live.served import LONGEST, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN_JOB = [sys.executable, str(ROOT / "examples/service.py")]
SHORT = """\
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, "examples")
import service
service.WAVES = Path(sys.argv[1])
service.Watch = partial(service.Watch, cut="all waves but one are left out")
sys.exit(service.main())
"""
"""The main job, with other waves, in which nobody has to borrow."""
WAVES = f"""\
fairhold_jobs: 1
jobs:
  - name: small
    consumer: /Research/Models
    directory: {ROOT / "examples"}
    argv: [python3, price.py, --seed, "2{{index}}", --strike, "90", --paths, "2000"]
    count: 6
"""


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


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, here: int, process: subprocess.Popen[bytes]) -> None:
        self.here, self.process = here, process
        self.shown = b""

    def read_until(self, pattern: bytes) -> None:
        while not re.search(pattern, self.shown):
            try:
                self.shown += os.read(self.here, 65_536)
            except OSError:
                raise AssertionError(self.shown.decode()) from None

    def interrupt(self) -> int:
        """Press ctrl-C and wait for the end; the exit status."""
        os.write(self.here, b"\x03")
        with suppress(OSError):  # nobody is at the other end any more
            while True:
                self.shown += os.read(self.here, 65_536)
        return self.process.wait(LONGEST)


@contextmanager
def on_terminal(command: list[str], place: Path) -> Iterator[Terminal]:
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (40, 100))
    script = 'exec "$@" <"$0"'  # what a session opens first is its terminal
    words = ["sh", "-c", script, os.ttyname(there), *command]
    environment = os.environ | {"TMPDIR": str(place), "TERM": "xterm"}
    process = subprocess.Popen(
        words, stdin=there, stdout=there, stderr=there, env=environment, cwd=ROOT, start_new_session=True
    )
    os.close(there)
    try:
        yield Terminal(here, process)
    finally:
        os.close(here)  # a program that is still there hears a hang-up
        process.wait(LONGEST)


def test_ctrl_c_ends_it_with_all_that_it_runs(tmp_path: Path) -> None:
    with on_terminal(MAIN_JOB, tmp_path) as terminal:
        terminal.read_until(rb"Models .*\xe2\x96\x88")  # a bar is drawn
        assert terminal.interrupt() == 130
    assert b"Traceback" not in terminal.shown
    assert b"It is being stopped" in terminal.shown
    assert leftovers(tmp_path) == []


def test_on_a_terminal_it_stays_up_and_says_how_to_look_at_it(tmp_path: Path) -> None:
    waves = tmp_path / "waves.yaml"
    waves.write_text(WAVES)
    with on_terminal([sys.executable, "-c", SHORT, str(waves)], tmp_path) as terminal:
        terminal.read_until(rb"Ctrl-C stops it, with all that it runs\.")
        waves.unlink()
        assert b"6 of 6 results are right" in terminal.shown
        said = terminal.shown.decode().replace("\r", "")
        ((name, state),) = re.findall(r"^  export (\w+)=(.+)$", said, re.MULTILINE)
        commands = [shlex.split(line) for line in re.findall(r"^  (/.+)$", said, re.MULTILINE)]
        assert [words[1] for words in commands] == ["console", "top", "jobs", "submit", "explain", "usage"]
        (console,) = re.findall(r"^Its web console is at (http://127\.0\.0\.1:\d+/console/);", said, re.MULTILINE)
        assert httpx.get(console).headers["content-type"] == "text/html; charset=utf-8"
        shown = {}
        for words in commands[1:]:  # the console opens a browser, where there is one
            done = subprocess.run(words, env=os.environ | {name: state}, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), words
            shown[words[1]] = done.stdout
        assert "Models" in shown["top"]
        assert "small" in shown["jobs"]
        assert shown["submit"] == "2\n"
        assert "/Research/Models" in shown["usage"]
        assert terminal.process.poll() is None
        assert terminal.interrupt() == 0, "while tasks run"
    assert b"Traceback" not in terminal.shown
    assert leftovers(tmp_path) == []
