"""Building the console where that cannot be done: all else goes on, and says what is missing."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.types import CONSOLE

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None, str], Any]:
    """The program, with a Node and with what fails when it is run."""
    spec = spec_from_file_location("console_build", CONSOLE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)

    def made(npm: str | None, fails: str) -> Any:
        monkeypatch.setattr(module, "find_npm", lambda: npm)
        monkeypatch.setattr(module, "_run", lambda *command: int(fails in command))
        return module

    return made


@pytest.mark.parametrize(
    ("npm", "fails", "told"),
    [(None, "", "no Node 20.19"), ("npm", "ci", "cannot be had from the registry of Node packages"), ("npm", "", "")],
)
def test_what_cannot_be_built_here_is_said_and_stops_nothing(
    build: Any, capsys: pytest.CaptureFixture[str], npm: str | None, fails: str, told: str
) -> None:
    assert build(npm, fails).main([]) == 0
    said = capsys.readouterr().out
    assert told in said
    assert ("`make console` tries it again" in said) == bool(told)


def test_a_fault_of_its_own_source_fails(build: Any) -> None:
    assert build("npm", "build").main([]) == 1
