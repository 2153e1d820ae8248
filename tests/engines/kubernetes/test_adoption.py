"""A service with an empty state takes over: pods that run get new jobs, and stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from tests.engines.kubernetes.pretended import QUEUES, Pretended
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path / "one", nodes={"n1": 2, "n2": 2, "n3": 2})


def take_over(cluster: Pretended, directory: Path) -> None:
    cluster.play = Play(directory, QUEUES)
    cluster.begin()
    cluster.settle(60)


@pytest.mark.parametrize("number", ["", "99999999999999", "999999999999999"])
def test_every_pod_of_a_gang_is_adopted_where_it_runs(cluster: Pretended, tmp_path: Path, number: str) -> None:
    cluster.pod("before")
    cluster.settle()
    cluster.finish("before")
    for index in range(5):
        cluster.pod(f"p{index}", annotations={names.GANG_SIZE: "5"}, job="j")
    cluster.settle()
    nodes = {name: cluster.named(name)["spec"]["nodeName"] for name in cluster.running()}
    assert len(nodes) == 5
    if number:
        cluster.named("p3")["metadata"]["annotations"][names.ATTEMPT] = number
    take_over(cluster, tmp_path / "two")
    [job] = cluster.jobs()
    core = cluster.play.core
    spec = core.specs.of(job.name)
    assert spec is not None
    assert (job.running, job.terms.min_count, job.waiting) == (5, 5, 0)
    there = {spec.labels["pod"].split(",")[core.cluster.attempts[each].index]: each for each in job.attempts}
    for name, node in nodes.items():
        assert core.cluster.attempts[there[name]].places == ((node, 1),)
        meta = cluster.named(name)["metadata"]
        assert meta["annotations"][names.ATTEMPT] == str(there[name])
        assert "deletionTimestamp" not in meta


def test_a_job_has_the_name_of_the_pod_that_took_the_place_of_its_first(cluster: Pretended) -> None:
    for number in range(6):
        cluster.pod(f"r{number}", job=f"j{number}")
    cluster.settle()
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert cluster.running() == []
    cluster.pod("again", job="j0")
    cluster.settle()
    for name in ("t0", "t1", "t2", "t3", "t4", "t5"):
        cluster.finish(name)
    cluster.settle()
    assert cluster.running() == ["again"]
    core = cluster.play.core
    [name] = [spec.name for job in core.cluster.jobs.values() if job.running and (spec := core.specs.of(job.name))]
    assert name == "again"


def test_a_pod_that_asks_for_more_than_the_one_whose_place_it_takes_gets_a_job_of_its_own(cluster: Pretended) -> None:
    for number in range(6):
        cluster.pod(f"r{number}", job="j")
    cluster.settle()
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert cluster.running() == []
    cluster.pod("more", gpus=2, job="j")
    cluster.pod("same", job="j")
    cluster.settle()
    for number in range(6):
        cluster.finish(f"t{number}")
    cluster.settle()
    assert cluster.running() == ["more", "same"]
    core = cluster.play.core
    units = [dict(core.cluster.attempts[each].job.terms.unit)["gpu"] for each in core.cluster.attempts]
    assert sorted(units) == ["1", "2"]


def test_a_pod_of_a_gang_that_cannot_be_adopted_takes_no_other_with_it(cluster: Pretended, tmp_path: Path) -> None:
    for index in range(3):
        cluster.pod(f"p{index}", annotations={names.GANG_SIZE: "3"}, job="j")
    cluster.settle()
    cluster.nodes = {name: 2 for name in cluster.nodes if name != cluster.named("p1")["spec"]["nodeName"]}
    there = [each for each in cluster.running() if cluster.named(each)["spec"]["nodeName"] in cluster.nodes]
    take_over(cluster, tmp_path / "two")
    [job] = cluster.jobs()
    assert job.running == len(there)
    assert cluster.running() == ["p0", "p1", "p2"]
