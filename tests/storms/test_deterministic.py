"""Storms of the whole live product on simulated machines; `make storms` and `make storm` play many more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.storms.deterministic import main, play, play_many, report
from tests.storms.plans import POLICIES

LONG = int(os.environ.get("STORM_STEPS", str(10**8)))
PARTS = 100


@pytest.mark.parametrize("seed", range(len(POLICIES)), ids=POLICIES)
def test_all_is_as_it_must_be_in_a_short_storm(seed: int) -> None:
    played = play(seed, 3_000)
    assert not played.failure, report(played)
    assert played.storm.plans.policy == POLICIES[seed]
    assert played.storm.judge.counts["commands"]


def test_a_seed_gives_the_same_history_whatever_the_order_of_hashes() -> None:
    told = set()
    for order in ("1", "2"):
        words = [sys.executable, "-m", "tests.storms.deterministic", "7", "2000", "--one"]
        environment = {**os.environ, "PYTHONHASHSEED": order}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        told.add(done.stdout)
    assert len(told) == 1


def test_a_failing_seed_is_told_with_what_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairhold.runtime.live.journal.Journal.put_key", lambda *_: None)
    assert main(["3000", "0"]) == 1
    *_, told, failed, takes, again = capsys.readouterr().out.splitlines()
    assert told.startswith("seed 0, hybrid: ")
    assert failed.startswith("FAILED: k")
    assert takes.startswith("it takes: ")
    assert again.startswith("again: python -m tests.storms.deterministic 0 ")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_is_as_it_must_be_in_long_storms(part: int) -> None:
    _, _, failed = play_many(LONG // PARTS, 1_000_000 + part * 10_000)
    assert failed is None, report(failed)
