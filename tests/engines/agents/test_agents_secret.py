"""The secret is made once, and is its owner's alone."""

from __future__ import annotations

import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from fairhold.agent.link import read_secret
from fairhold.engines.agents.secret import the_secret
from fairhold.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_made_once_and_agents_read_the_same(tmp_path: Path) -> None:
    secret = the_secret(tmp_path)
    assert len(secret) == 32
    assert the_secret(tmp_path) == secret == read_secret(str(tmp_path / "secret"))
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [tmp_path / "secret"]
    (tmp_path / "secret").unlink()
    assert the_secret(tmp_path) != secret


def test_of_many_that_make_it_at_once_all_have_the_same(tmp_path: Path) -> None:
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(the_secret(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "secret"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_one_that_others_reach_is_refused(tmp_path: Path, mode: int) -> None:
    the_secret(tmp_path)
    (tmp_path / "secret").chmod(mode)
    with pytest.raises(InputError, match="chmod 600") as caught:
        the_secret(tmp_path)
    assert caught.value.faults[0].code == "agent-secret"


def test_another_owner_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    the_secret(tmp_path)
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(InputError, match="another user"):
        the_secret(tmp_path)


@pytest.mark.parametrize("content", [b"", b"00" * 31, b"00" * 33, b"zz" * 32, b"00" * 32 + b"\n\n"])
def test_other_content_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret").write_bytes(content)
    (tmp_path / "secret").chmod(0o600)
    with pytest.raises(InputError, match="holds no secret"):
        the_secret(tmp_path)


@pytest.mark.parametrize("what", ["link", "broken link", "folder", "pipe"])
def test_what_is_no_file_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "secret"
    if what == "link":
        (tmp_path / "other").mkdir()
        the_secret(tmp_path / "other")
        path.symlink_to(tmp_path / "other" / "secret")
    elif what == "broken link":
        path.symlink_to(tmp_path / "nowhere")
    elif what == "folder":
        path.mkdir(mode=0o700)
    else:
        os.mkfifo(path, 0o600)
    with pytest.raises(InputError, match=r"is a link|is not a file"):
        the_secret(tmp_path)
