"""Any events in any order: the books add up, and who replays or thaws is the same as who was there."""

import os
from random import Random

import pytest

from tests.orchestrator.storm import Storm

SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"within": "fifo", "victims": "oldest"},
    {"victims": "lowest_priority", "distribute_evenly": True},
    {"disable_reclaim_own": True},
)


@pytest.mark.parametrize("seed", range(24))
def test_a_storm_leaves_everything_in_order(seed: int) -> None:
    storm = Storm(Random(seed), forgets=seed % 2 == 0, **SETTINGS[seed % len(SETTINGS)])
    storm.run(400)
    assert storm.cycles > 20
    assert len(storm.seen) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("STORM_SEEDS", "400"))))
def test_a_long_storm_leaves_everything_in_order(seed: int) -> None:
    storm = Storm(Random(1000 + seed), forgets=seed % 2 == 0, **SETTINGS[seed // 2 % len(SETTINGS)])
    storm.run(1500)
