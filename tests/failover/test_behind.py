"""A store that has lost what it confirmed is noticed by who knows more of it, and nothing goes on from two truths."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.failover.pair import Pair
from tests.faults.house import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path, is_file=True)
    try:
        yield made.open()
    finally:
        made.close()


def fairhold(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", *words], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_agents_notice_a_store_that_lacks_the_last_commits_and_a_restore_is_the_way_out(
    pair: Pair, tmp_path: Path
) -> None:
    one, two = pair.members
    pair.client.wait(pair.submit(2), PATIENCE)
    state = str(one.state)
    fairhold("store", "backup", str(tmp_path / "backup"), "--state", state)
    pair.client.wait(pair.submit(4), PATIENCE)
    until(lambda: pair.tails() == {one.health()["entries"]})
    two.kill()
    one.kill()
    for old in one.state.glob("store.sqlite*"):
        old.unlink()
    shutil.copy(tmp_path / "backup", one.state / "store.sqlite")  # as a replica that was late
    one.launch()
    assert one.process is not None
    assert one.process.wait(PATIENCE) != 0
    assert "store-behind" in one.said
    assert "of the log, and the store ends with" in one.said
    pair.accepted.pop()  # it is lost, and that was told
    fairhold("store", "restore", str(tmp_path / "backup"), "--state", state, "--replace")
    one.launch()
    until(one.leads)
    two.launch()
    until(two.stands_by)
    pair.submit(2)
    until(lambda: one.health()["term"] > 1_000_000)
    pair.client.wait(pair.accepted[-1], PATIENCE)
    pair.check_ranks()
