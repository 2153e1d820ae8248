"""Which pods are governed: their namespace decides, and nothing that its users write at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.pods import pod_of
from tests.engines.kubernetes.pretended import Pretended

if TYPE_CHECKING:
    from pathlib import Path

GOVERNED = {names.GOVERNED: "true"}
THEIRS = {names.CONSUMER: "/trading"}


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path)


def own(cluster: Pretended, name: str, **owner: Any) -> dict[str, Any]:
    """Somebody names a controller at a pod."""
    document = cluster.named(name)
    document["metadata"]["ownerReferences"] = [{"controller": True, "uid": "x", "name": "x"} | owner]
    cluster.see(document)
    return document


def test_a_pod_whose_namespace_is_heard_of_later_is_asked_for_again(cluster: Pretended) -> None:
    cluster.pod("early", namespace="new")
    cluster.settle()
    assert cluster.running("new") == []
    assert cluster.governor.see_namespace(Namespace("new", GOVERNED, THEIRS))  # its pods are listed again
    cluster.governor.see_pod(pod_of(cluster.named("early")))
    cluster.settle()
    assert cluster.running("new") == ["early"]


def test_gates_finalizers_and_annotations_of_other_namespaces_mean_nothing(cluster: Pretended) -> None:
    cluster.governor.see_namespace(Namespace("other", {}, {}))
    cluster.pod("gated", namespace="other", annotations=THEIRS)
    cluster.pod("runs", namespace="other", annotations=THEIRS | {names.ATTEMPT: "7"}, schedulingGates=[], nodeName="n1")
    cluster.named("runs")["metadata"]["finalizers"] = [names.FINALIZER]
    cluster.see(cluster.named("runs"))
    cluster.settle()
    assert (cluster.running("other"), cluster.jobs()) == ([], [])


def test_a_pod_that_had_a_job_keeps_it_when_its_namespace_is_governed_no_more(cluster: Pretended) -> None:
    cluster.pod("p")
    cluster.settle()
    cluster.governor.see_namespace(Namespace("risk", {}, {}))
    cluster.finish("p")
    cluster.settle()
    assert cluster.named("p")["metadata"]["finalizers"] == []


@pytest.mark.parametrize("priority", [99, 1_000_000])
def test_a_priority_class_orders_pods_and_puts_none_out_of_reach(cluster: Pretended, priority: int) -> None:
    for number in range(8):
        cluster.pod(f"r{number}", priority=priority)
    cluster.settle()
    assert len(cluster.running()) == 8  # of which its consumer deserves none
    cluster.pod("owner", namespace="trading")
    cluster.settle()
    assert cluster.running("trading") == ["owner"]
    assert len(cluster.running()) == 7
    cluster.pod("low")
    cluster.pod("high", priority=priority)
    cluster.finish(cluster.running()[0])
    cluster.settle()
    assert {"high", "low"} & set(cluster.running()) == {"high"}


@pytest.mark.parametrize("kind", ["DaemonSet", "Node"])
def test_a_governed_pod_stays_so_whatever_controller_its_user_names(cluster: Pretended, kind: str) -> None:
    cluster.pod("runs")
    cluster.settle()
    own(cluster, "runs", apiVersion="example.com/v1", kind=kind)
    cluster.restart()
    cluster.pod("waits")
    own(cluster, "waits", apiVersion="example.com/v1", kind=kind)
    cluster.settle()
    assert cluster.running() == ["runs", "waits"]
    assert sum(job.running for job in cluster.jobs()) == 2
    cluster.finish("runs")
    cluster.settle()
    assert cluster.named("runs")["metadata"]["finalizers"] == []


def test_a_pod_takes_no_place_in_another_namespace_by_the_uid_of_a_job_there(cluster: Pretended) -> None:
    for number in range(8):
        cluster.pod(f"r{number}", job="j")
    cluster.settle()
    for number in range(8):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert cluster.running() == []
    for number in range(7):
        cluster.delete(f"t{number}")
    cluster.pod("thief", namespace="trading", job="j")
    cluster.settle()
    assert not [job for job in cluster.jobs() if job.running and job.consumer == "/risk"]
    assert cluster.running("trading") == ["t7", "thief"]


def test_the_namespace_of_the_service_itself_is_never_governed() -> None:
    assert Namespace("fairhold", GOVERNED, {}).is_governed
    assert not Namespace("fairhold", GOVERNED, {}, is_own=True).is_governed
