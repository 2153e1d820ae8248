"""Where the service that runs here is looked for: FAIRHOLD_STATE, XDG_STATE_HOME, the home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.client.errors import ServiceMissing
from fairhold.client.finding import base_directory, find
from fairhold.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_state_is_below_the_home_where_nothing_else_is_said(home: Path) -> None:
    assert base_directory({}) == home / ".local/state/fairhold"
    assert base_directory({"FAIRHOLD_STATE": ""}) == home / ".local/state/fairhold"


def test_xdg_state_home_is_followed_where_it_is_absolute(home: Path, tmp_path: Path) -> None:
    assert base_directory({"XDG_STATE_HOME": str(tmp_path / "xdg")}) == tmp_path / "xdg/fairhold"
    for ignored in ("", "xdg", "./xdg"):
        assert base_directory({"XDG_STATE_HOME": ignored}) == home / ".local/state/fairhold"
    own = {"XDG_STATE_HOME": str(tmp_path / "xdg"), "FAIRHOLD_STATE": "/own"}
    assert str(base_directory(own)) == "/own"
    with pytest.raises(ServiceMissing, match=str(tmp_path / "xdg/fairhold/current")):
        find(environ={"XDG_STATE_HOME": str(tmp_path / "xdg")})


def test_what_stands_below_the_home_stays_in_use_until_it_is_moved(home: Path, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "xdg")}
    before = home / ".local/state/fairhold"
    before.mkdir(parents=True)
    assert base_directory(environ) == before
    (tmp_path / "xdg").mkdir()
    assert base_directory(environ) == before
    before.rename(tmp_path / "xdg/fairhold")
    assert base_directory(environ) == tmp_path / "xdg/fairhold"


def test_who_has_no_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(UsageError, match="set FAIRHOLD_STATE"):
        base_directory({})
    assert str(base_directory({"XDG_STATE_HOME": "/xdg"})) == "/xdg/fairhold"
