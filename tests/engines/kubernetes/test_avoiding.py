"""Pods that kube-scheduler cannot bind: their nodes are kept from them for a while, and the reason is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.avoiding import AVOIDED_FOR, Avoided
from fairhold.engines.kubernetes.pods import node_of
from fairhold.units import SECOND
from tests.engines.kubernetes.pretended import GPU, Pretended

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = ("risk.j", "")


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path, nodes={"n1": 4, "n2": 4})


def trouble(cluster: Pretended, name: str) -> str:
    """kube-scheduler cannot bind a pod where it was let go to, and it goes; the node."""
    document = cluster.named(name)
    node: str = document["spec"].pop("nodeName")
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "a port is taken"}
    document["status"] = {"conditions": [condition]}
    cluster.see(document)
    cluster.settle(16)
    cluster.see(document)
    cluster.settle()
    return node


def see_node(cluster: Pretended, name: str, more: dict[str, str]) -> None:
    """A node has more than GPUs."""
    status = {"allocatable": {GPU: "4"} | more, "conditions": [{"type": "Ready", "status": "True"}]}
    meta = {"name": name, "labels": {names.HOSTNAME: name}}
    cluster.governor.see_node(node_of({"metadata": meta, "status": status}))


def test_where_no_node_is_left_the_reason_stays_and_all_are_tried_again(cluster: Pretended) -> None:
    for number in range(2):
        cluster.pod(f"p{number}", job="j")
        cluster.settle()
        assert trouble(cluster, f"p{number}") == f"n{number + 1}"
    cluster.pod("p2", job="j")
    cluster.settle()
    assert cluster.running() == []
    said = cluster.why("p2")
    assert said.startswith("NotBound: kube-scheduler could not bind it on n1, n2: a port is taken; it is tried there ")
    cluster.pod("other")
    cluster.settle()
    assert cluster.running() == ["other"]
    cluster.settle(AVOIDED_FOR / SECOND)
    assert cluster.running() == ["other", "p2"]


def test_a_pod_that_waits_for_another_node_may_have_the_first_again(cluster: Pretended) -> None:
    cluster.pod("p0", job="j")
    cluster.settle()
    assert trouble(cluster, "p0") == "n1"
    for number in range(4):
        cluster.pod(f"t{number}", nodeSelector={"kubernetes.io/hostname": "n2"})
    cluster.settle()
    cluster.pod("p1", job="j")
    cluster.settle(20)
    assert "p1" not in cluster.running()
    assert "not-bound" not in cluster.why("p1")
    cluster.settle(AVOIDED_FOR / SECOND)
    assert "p1" in cluster.running()


def test_what_has_run_out_is_forgotten() -> None:
    avoided = Avoided()
    avoided.add(FAMILY, "n1", 5, "a port is taken")
    avoided.add(FAMILY, "n2", 9, "a volume is elsewhere")
    [label] = avoided.label_of(FAMILY)
    assert avoided.labels("n1") == avoided.labels("n2") == [label]
    assert (avoided.labels("n3"), avoided.label_of(("x", ""))) == ([], ())
    avoided.changed.clear()
    assert not avoided.run_out(4)
    assert avoided.run_out(5)
    assert (avoided.changed, avoided.labels("n1")) == ({"n1"}, [])
    assert avoided.said(FAMILY)[0] == "kube-scheduler could not bind it on n2: a volume is elsewhere"
    assert avoided.run_out(9)
    assert (avoided.label_of(FAMILY), avoided.said(FAMILY)) == ((), ("", ""))


def test_a_pod_that_asks_for_what_no_node_has_is_refused_by_name(cluster: Pretended) -> None:
    for name, other in (("amd", "amd.com/gpu"), ("disk", "ephemeral-storage"), ("plain", "")):
        cluster.pod(name)
        if other:
            cluster.named(name)["spec"]["containers"][0]["resources"]["requests"][other] = "2"
            cluster.see(cluster.named(name))
    cluster.settle()
    assert cluster.running() == ["plain"]
    said = "no node that will do has so much of `amd.com/gpu`, 2; the plan does not share it; ask for what there is"
    assert cluster.why("amd") == f"NoSuchResource: {said}"
    see_node(cluster, "n1", {"ephemeral-storage": "1"})
    cluster.settle()
    assert cluster.running() == ["plain"]
    see_node(cluster, "n2", {"ephemeral-storage": "2"})
    cluster.settle()
    assert cluster.running() == ["disk", "plain"]
    assert cluster.why("amd").startswith("NoSuchResource")
