"""A store that came back from a copy, beside agents that have run more since than it knows of."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.faults.house import PATIENCE, House, free_port, plan, until

if TYPE_CHECKING:
    from tests.faults.conftest import Open


def test_a_restored_store_starts_work_again_on_every_host(open_house: Open) -> None:
    hosts = "{hosts: [{name: desk, slots: 2}, {name: h2, slots: 2}]}"
    port = free_port()
    house = open_house(plan(hosts), "--host", "desk", "--agents", f"127.0.0.1:{port}", "--lease", "5s")
    house.agent("h2", port)
    until(lambda: house.host("h2").document["connected"])
    assert house.run("true", count=4).state == "done"
    copy = house.place / "copy"
    _store(house, "backup", str(copy))
    assert house.run("true", count=12).state == "done"
    assert all(_last(house, name) > 4 for name in ("state/spool", "h2/spool"))
    house.client.close()
    house.fairhold("stop")
    house.service.wait(PATIENCE)
    _store(house, "restore", str(copy), "--replace")
    house.serve()
    until(lambda: all(house.host(name).document["connected"] for name in ("desk", "h2")))
    job = house.run("sleep 0.3", count=12)
    assert (job.state, job.tasks["done"]) == ("done", 12)
    ends = [(each["reason"], each["host"]) for task in range(12) for each in house.attempts(job, task)]
    assert set(ends) == {("finished", "desk"), ("finished", "h2")}


def _last(house: House, spool: str) -> int:
    return int((house.place / spool / "last").read_text())


def _store(house: House, *words: str) -> None:
    command = [sys.executable, "-m", "fairhold", "store", *words, "--state", str(house.state)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
