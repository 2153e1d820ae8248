"""Ctrl-C at any moment: a status, and no traceback."""

from __future__ import annotations

import signal
import sys

import pytest

from fairhold.cli import main as command


class Interrupting:
    """Stands in the way of an import as Ctrl-C does that comes while it is carried out."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "fairhold.cli.commands":
            raise KeyboardInterrupt


def test_an_interrupt_while_the_command_is_read_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fairhold", "jobs"])
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "fairhold.cli.commands", raising=False)
    monkeypatch.setattr(command, "open_streams", lambda: None)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 128 + signal.SIGINT
    assert capsys.readouterr().err == ""
