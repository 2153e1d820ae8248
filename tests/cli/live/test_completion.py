"""Real shells complete commands, jobs and consumers after `--install-completion`."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from fairhold.cli.live.options import complete_consumer, complete_host, complete_job
from tests.cli.live.served import LONGEST, until

if TYPE_CHECKING:
    from tests.cli.live.served import Served
    from tests.client.fake import Fake

START, END, TAB, ENTER = "\x01", "\x05", "\t", "\r"


class Shell:
    """An interactive shell on a terminal of its own, as it is after `--install-completion`."""

    def __init__(self, name: str, home: Path, environment: dict[str, str]) -> None:
        self.name, self.home = name, home
        usual = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TERM": "xterm", "LANG": "C.UTF-8"}
        self.environment = environment | usual | {"HOME": str(home)}
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "BASH_ENV", "ENV", "EDITOR", "VISUAL"):
            self.environment.pop(variable, None)

    def __enter__(self) -> Self:
        install = [self.name, "-c", "fairhold --install-completion; true"]  # `; true`: the shell stays its parent
        subprocess.run(install, env=self.environment, check=True, capture_output=True)
        self.here, there = pty.openpty()
        termios.tcsetwinsize(self.here, (24, 100))
        os.set_blocking(self.here, False)
        script = 'exec "$0" -i <"$1" >"$1" 2>&1'  # what a session opens first is its terminal
        words = ["sh", "-c", script, self.name, os.ttyname(there)]
        self.process = subprocess.Popen(words, env=self.environment, start_new_session=True)
        self.there, self.shown = there, b""
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(LONGEST)
        os.close(self.here)
        os.close(self.there)

    def complete(self, begun: str) -> str:
        """What a line becomes at TAB."""
        said = self.home / "said"
        said.unlink(missing_ok=True)

        def is_said() -> bool:
            with suppress(BlockingIOError):
                self.shown += os.read(self.here, 65_536)
            return said.exists() and said.read_text().endswith("\n")

        os.write(self.here, f"{begun}{TAB}{START}echo {END} >{said}{ENTER}".encode())
        until(is_said)
        return said.read_text().strip()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_real_shell_completes(live: Served, tmp_path: Path, name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not here")
    job = live.submit("/Trading", "--hold", "--", "true")
    with Shell(name, tmp_path, live.environment) as shell:
        if name == "zsh":
            shell.complete("fairhold ")  # the first TAB only loads what was installed
        assert shell.complete("fairhold submi") == "fairhold submit"
        assert shell.complete("fairhold submit /Research/Mo") == "fairhold submit /Research/Models"
        assert shell.complete("fairhold cancel ") == f"fairhold cancel {job}"


def test_completion_knows_jobs_and_consumers_and_survives_without_a_service(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"], "name": "sweep"})
    assert complete_job("") == [("1", "waiting /Research sweep")]
    assert complete_job("2") == []
    assert complete_consumer("/T") == ["/Trading/Risk"]
    assert complete_host("g") == ["g1", "g2"]
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path / "nowhere"))
    assert (complete_job(""), complete_consumer(""), complete_host("")) == ([], [], [])
