"""An agent on a disk without room."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest

from fairhold.agent import main
from fairhold.agent.agent import Agent
from fairhold.agent.link import Address
from fairhold.agent.spool import Spool
from tests.agent.service import SECRET, Service
from tests.places import disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NO_ROOM = "the disk is full: cannot write to"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk on which a file `fill` takes all the room."""
    with disk(tmp_path / "disk", "64k") as place:
        yield place


def test_an_agent_waits_for_room_to_start(full_disk: Path) -> None:
    service = Service(full_disk / "s")
    fill = full_disk / "fill"
    try:
        with pytest.raises(OSError, match="No space"):
            fill.write_bytes(b"x" * 80_000)
        agent = service.launch()
        assert agent.stderr is not None
        line = agent.stderr.readline().decode()
        assert NO_ROOM in line
        assert str(service.state) in line
        time.sleep(1.2)  # another look
        assert agent.poll() is None
        fill.unlink()
        assert service.accept()["attempts"] == []
        assert service.run(1, "true")["reason"] == "finished"
    finally:
        service.close()
    assert service.words == f"fairhold agent: connected to the service at {service.address} as host here\n"


def test_what_fails_for_room_is_done_when_there_is_some(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "_LOOK", 0.0)
    answers: list[object] = [OSError(errno.ENOSPC, ""), OSError(errno.EDQUOT, ""), "done"]

    def action() -> object:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert main._Room("/there").wait(action) == "done"
    assert capfd.readouterr().err.splitlines() == [
        f"fairhold agent: {NO_ROOM} /there; the agent starts when there is space"
    ]
    answers.append(PermissionError(errno.EACCES, "no"))
    with pytest.raises(PermissionError):
        main._Room("/there").wait(action)


def test_a_first_lease_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(str(tmp_path / "spool"))
    made = Agent(str(tmp_path), spool, [Address("unix:/no")], SECRET, host="h", slots=1, base="")
    made._length = 600.0

    def full(_: float) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(spool, "write_lease", full)
        made._extend(100.0)
        assert made._attempts.lease == 0.0
    made._extend(100.0)
    assert made._attempts.lease == spool.lease() == 700.0


@pytest.mark.parametrize(("had", "has"), [(150.0, 150.0), (9_000.0, 0.0)])
def test_a_lease_that_cannot_be_written_is_the_one_before_where_that_ends_earlier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], had: float, has: float
) -> None:
    """A later one is from before the host's start: with it, work could outlast the service's count."""
    spool = Spool(str(tmp_path / "spool"))
    spool.write_lease(had)
    made = Agent(str(tmp_path), spool, [Address("unix:/no")], SECRET, host="h", slots=1, base="")
    made._attempts.lease, made._length = spool.lease(), 600.0

    def broken(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", broken)
        made._extend(100.0)
    assert (made._attempts.lease, spool.lease()) == (has, had)
    assert "cannot write the lease: Input/output error" in capfd.readouterr().err
    made._extend(100.0)
    assert made._attempts.lease == spool.lease() == 700.0
