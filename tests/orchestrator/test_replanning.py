"""A plan comes into force in place: the cluster is what thawing its document would make of it, and goes on so."""

import json
import os
from random import Random

import pytest

from fairhold.ledger.wait_queue import LONG
from fairhold.orchestrator.changes import HoldSet
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.in_use import InUseError
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import put_in_force
from tests.orchestrator.house import House, plan_of
from tests.orchestrator.plan_storm import PlanStorm, VectorPlanStorm, told
from tests.orchestrator.storm import check_cluster


@pytest.mark.parametrize("seed", range(16))
def test_a_storm_of_plans_leaves_the_cluster_that_its_document_would_give(seed: int) -> None:
    storm = PlanStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.changed) >= 6


@pytest.mark.parametrize("seed", range(10))
def test_so_does_a_storm_of_plans_of_vectors(seed: int) -> None:
    storm = VectorPlanStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.changed) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PlanStorm, VectorPlanStorm])
@pytest.mark.parametrize("seed", range(int(os.environ.get("STORM_SEEDS", "200"))))
def test_so_does_a_long_storm_of_plans(kind: type[PlanStorm], seed: int) -> None:
    kind(Random(1000 + seed), forgets=seed % 2 == 0).run(1000)


@pytest.mark.parametrize("jobs", [9, LONG])
@pytest.mark.parametrize("units", [1, 2])
def test_jobs_of_two_leaves_that_come_together_stand_in_one_line(jobs: int, units: int) -> None:
    house = House(h1=4)
    for number in range(jobs):
        house.submit(("/A", "/B")[number % 2], units=units, user=("", "ann")[number % 3 == 0])
    plan = plan_of({"h1": 4}, {"B": {}})
    cluster = house.live.cluster
    thawed = thaw(freeze(cluster), open_cluster_books(plan, house.now), forgets=False, own="", moved={"/A": "/B"})
    put_in_force(cluster, open_cluster_books(plan, house.now), {"/A": "/B"})
    assert told(cluster) == told(thawed)
    check_cluster(cluster)


def test_a_plan_that_is_refused_leaves_everything() -> None:
    house = House(h1=2)
    house.submit("/A", count=4)
    house.submit("/B", count=4)
    cluster, books = house.live.cluster, house.live.books["c"]
    before, was = freeze(cluster), told(cluster)
    with pytest.raises(InUseError):
        put_in_force(cluster, open_cluster_books(plan_of({"h1": 5}, {"Z": {}, "B": {}}), house.now))
    assert (freeze(cluster), told(cluster)) == (before, was)
    assert cluster.books["c"] is books
    house.submit("/A")


def test_what_is_frozen_in_slices_is_as_it_was_before_the_plan() -> None:
    house = House(h1=2)
    for number in range(20):
        house.submit(("/A", "/B")[number % 2], units=1 + number % 2)
    cluster = house.live.cluster
    expected, slow = freeze(cluster), Freezing(cluster)
    slow.step(5)
    put_in_force(cluster, open_cluster_books(plan_of({"h1": 2}, {"Z": {}, "B": {}}), house.now), {"/A": "/Z"})
    put_in_force(cluster, open_cluster_books(plan_of({"h1": 2}, {"B": {}}), house.now), {"/Z": "/B"})
    assert {job.consumer for job in cluster.jobs.values()} == {"/B"}
    cluster.apply(HoldSet("j7", "why"), house.now)
    assert slow.document() == expected
    assert json.dumps(freeze(cluster)) != json.dumps(expected)
