"""Work that runs as its submitters, through the whole service: who runs it, what is told, and who reads its output."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import pytest

from tests.faults.house import House, free_port, plan, until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of other users")
USER = "nobody"


@pytest.fixture
def house() -> Iterator[House]:
    """A service with one host, which runs work as its submitters; the tests ask as root, who has no account there."""
    place = Path(tempfile.mkdtemp(prefix="fairhold-accounts-"))
    place.chmod(0o711)
    (place / "accounts").touch(0o644)
    port = free_port()
    made = House(place, plan("{hosts: [{name: h1, slots: 2}]}"), "--agents", f"127.0.0.1:{port}")
    made.port = port
    try:
        made.serve()
        words = ["--run-as", "submitter", "--least-uid", "2", "--accounts", str(place / "accounts")]
        made.agent("h1", port, more=words)
        until(lambda: made.host("h1").document["connected"])
        yield made
    finally:
        made.close()
        rmtree(place)


def test_work_refused_for_its_account_is_told_and_runs_when_that_is_mended(house: House) -> None:
    job = house.submit("id -un; echo kept > $FAIRHOLD_JOB_DIRECTORY/file", directory="/", count=3)
    held = until(lambda: house.client.job(job).state == "held" and house.client.job(job))
    why = "host h1 does not run it: the account 'root' is root, which runs nothing for anybody"
    assert why in str(held.document)
    assert why in house.fairhold("show", job.name)
    assert {each["reason"] for task in range(3) for each in house.attempts(job, task)} <= {"no_account"}
    tried = sum(len(house.attempts(job, task)) for task in range(3))
    (house.place / "accounts").write_text(f"root {USER}\n")
    house.fairhold("release", job.name)
    assert house.client.wait(job, 20).state == "done"
    assert sum(len(house.attempts(job, task)) for task in range(3)) == tried + 3, "it was not tried in between"
    assert house.fairhold("logs", job.name).split().count(USER) == 3
    assert "file" in house.fairhold("files", job.name, "0")
    assert {path.owner() for path in (house.place / "h1/jobs" / job.name).rglob("*")} == {USER}


def test_work_of_an_account_outlives_agent_and_service_and_is_cancelled(house: House) -> None:
    (house.place / "accounts").write_text(f"root {USER}\n")
    job = house.submit("trap '' TERM; echo $$; setsid sleep 600 & wait", directory="/")
    until(lambda: house.fairhold("logs", job.name).strip())
    house.agents["h1"].kill()
    house.agents["h1"].wait()
    house.again()
    house.agent("h1", house.port, more=["--run-as", "submitter", "--accounts", str(house.place / "accounts")])
    until(lambda: house.host("h1").document["connected"])
    house.fairhold("cancel", job.name)
    assert house.client.wait(job, 20).state == "cancelled"
    assert [each["reason"] for each in house.attempts(job)] == ["cancel"]
