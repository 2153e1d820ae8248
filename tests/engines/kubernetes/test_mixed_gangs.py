"""Gangs whose pods differ: each of them counts as the largest, where they say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.gangs import COSCHEDULING, NATIVE
from tests.engines.kubernetes.pretended import QUEUES, Pretended, node

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = {names.GANG_UNIT: names.LARGEST}
GROUP: dict[str, Any] = {"labels": {"scheduling.x-k8s.io/pod-group": "g"}, "annotations": LARGEST}
SLOTS = QUEUES.replace("resources: {gpu: {base: 1}}\n", "").replace("{nodes: {}}", "{nodes: {}, slot: {cpu: 1}}")


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    """Two nodes of four GPUs each."""
    made = Pretended(tmp_path, nodes={"n1": 4, "n2": 4})
    made.serve(COSCHEDULING)
    made.group(COSCHEDULING, "g", {"spec": {"minMember": 3}})
    return made


def launch(cluster: Pretended, workers: int = 2, **said: Any) -> None:
    """A launcher and its workers, each with two GPUs."""
    cluster.pod("launcher", **(GROUP | said))
    for number in range(workers):
        cluster.pod(f"w{number}", gpus=2, **GROUP)


def test_each_pod_counts_as_the_largest(cluster: Pretended) -> None:
    launch(cluster)
    cluster.settle()
    assert cluster.running() == ["launcher", "w0", "w1"]
    (job,) = cluster.jobs()
    assert (job.terms.unit, job.terms.tasks, job.terms.min_count) == ((("gpu", "2"),), 3, 3)
    cluster.pod("one", gpus=2)
    cluster.pod("too-much", gpus=1)
    cluster.settle(8)
    assert cluster.running() == ["launcher", "one", "w0", "w1"]


def test_they_start_together_or_not_at_all(cluster: Pretended) -> None:
    for number in range(2):
        cluster.pod(f"t{number}", namespace="trading", gpus=2)
    cluster.settle()
    launch(cluster)
    cluster.settle(8)
    assert cluster.running() == []
    cluster.delete("t0")
    cluster.settle()
    assert cluster.running() == ["launcher", "w0", "w1"]


def test_one_that_says_so_is_enough_and_it_may_say_so_later(cluster: Pretended) -> None:
    labels = {"labels": GROUP["labels"]}
    for number in range(3):
        cluster.pod(f"p{number}", gpus=1 + number % 2, **labels)
    cluster.settle()
    assert "fairhold.io/gang-unit: largest" in cluster.why("p0")
    pod = cluster.named("p1")
    pod["metadata"]["annotations"] |= LARGEST
    cluster.see(pod)
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]


@pytest.mark.parametrize("restarts", [False, True])
def test_later_pods_join_that_are_no_larger(cluster: Pretended, *, restarts: bool) -> None:
    launch(cluster)
    cluster.settle()
    if restarts:
        cluster.restart()
    cluster.pod("w2", gpus=1, **GROUP)
    cluster.settle()
    cluster.pod("huge", gpus=3, **GROUP)
    cluster.settle(8)
    assert cluster.running() == ["launcher", "w0", "w1", "w2"]
    (job,) = cluster.jobs()
    assert (job.terms.unit, job.terms.tasks) == ((("gpu", "2"),), 4)
    assert cluster.why("huge").startswith("GangDiffers: it asks for more than each pod of its gang counts as")


def test_their_nodes_suit_every_pod(cluster: Pretended) -> None:
    cluster.governor.see_node(node("n3", 4, pool="b"))
    cluster.governor.see_node(node("n4", 4, pool="b"))
    cluster.settle()
    launch(cluster, nodeSelector={"pool": "b"})
    cluster.settle()
    attempts = cluster.play.core.cluster.attempts.values()
    assert {place for each in attempts for place, _ in each.places} == {"n3", "n4"}
    cluster.pod("late", nodeSelector={"pool": "c"}, **GROUP)
    cluster.settle(8)
    assert cluster.why("late").startswith(
        "GangDiffers: its gang began without a pod that asks for such nodes as `late`"
    )


def test_pods_of_slots_that_differ_start_together_where_each_takes_one(tmp_path: Path) -> None:
    plan = (
        SLOTS.replace("cpu: 1", "nvidia.com/gpu: 2")
        .replace("fair_share", "hybrid")
        .replace("deserved: {gpu: 8}", "owned: 1")
    )
    made = Pretended(tmp_path, plan, {"n1": 4, "n2": 4})
    made.serve(COSCHEDULING)
    made.group(COSCHEDULING, "g", {"spec": {"minMember": 3}})
    launch(made)
    made.settle()
    assert made.running() == ["launcher", "w0", "w1"]


def test_pods_of_a_group_of_kubernetes_say_why_less_than_all_do_not_start(cluster: Pretended) -> None:
    cluster.serve(NATIVE)
    cluster.group(NATIVE, "w", {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", schedulingGroup={"podGroupName": "w"})
    cluster.settle(8)
    assert cluster.running() == []
    assert cluster.why("p0").endswith("binds no pod of a PodGroup of Kubernetes before all 3 of it have left the gate")
