"""A plan comes into force in place: the cluster is what thawing its document would make of it, and goes on so."""

from random import Random

import pytest

from tests.orchestrator.plan_storm import PlanStorm, VectorPlanStorm


@pytest.mark.parametrize("seed", range(16))
def test_a_storm_of_plans_leaves_the_cluster_that_its_document_would_give(seed: int) -> None:
    storm = PlanStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.changed) >= 6
    assert storm.refused


@pytest.mark.parametrize("seed", range(10))
def test_so_does_a_storm_of_plans_of_vectors(seed: int) -> None:
    storm = VectorPlanStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.changed) >= 6
