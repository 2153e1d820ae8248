"""Vectors in a live cluster: storms, and who replays or thaws is the same as who was there."""

from random import Random

import pytest

from tests.orchestrator.vector_storm import VectorStorm


@pytest.mark.parametrize("seed", range(12))
def test_a_storm_leaves_everything_in_order(seed: int) -> None:
    storm = VectorStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.seen) >= 15
