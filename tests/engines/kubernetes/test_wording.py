"""What people who made a pod read: words that Kubernetes has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import node_of
from fairhold.engines.kubernetes.wording import in_kubernetes
from tests.engines.kubernetes.pretended import GPU, QUEUES, Pretended, node
from tests.engines.kubernetes.test_resized_pods import narrow

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            "its unit fits no host with pool=a: the nearest, `host-1`, has 2 of 3 gpu; ask for less, or larger hosts",
            "it fits no node with pool=a: the nearest, `host-1`, has 2 of 3 gpu; ask for less, or larger nodes",
        ),
        (
            "4 units at once can never start: all hosts together have room for 3",
            "4 pods at once can never start: all nodes together have room for 3",
        ),
        (
            "lower `min_count` to 3 or less, or the unit",
            "lower the number of pods that start together to 3 or less, or what each asks for",
        ),
        (
            "it is held: its controller makes its pod anew; `fairhold release 12` lets it continue",
            "its controller makes its pod anew",
        ),
        ("2 tasks of its leaf are served before it", "2 pods of its leaf are served before it"),
        ("it waits for a host with tier=host, zone/host", "it waits for a node with tier=host, zone/host"),
        ("no host of all may start anything now; `fairhold hosts` shows why", None),
        ("/units/host has its quota of `units`", "/units/host has its quota of `units`"),
    ],
)
def test_sentences_about_jobs_become_sentences_about_pods(said: str, read: str | None) -> None:
    found = in_kubernetes(said)
    if read is None:
        assert "fairhold hosts" not in found
        assert "kubectl get nodes" in found
    else:
        assert found == read


def test_paths_with_blanks_stay_as_they_are() -> None:
    said = "2 jobs of /Desk of hosts/units wait for a host; /Desk of hosts has 3 units"
    read = "2 jobs of /Desk of hosts/units wait for a node; /Desk of hosts has 3 pods"
    assert in_kubernetes(said, ["/Desk of hosts", "/Desk of hosts/units"]) == read


def test_the_reason_of_a_pod_names_its_consumer_as_the_plan_does(tmp_path: Path) -> None:
    plan = QUEUES.replace("/risk}", "/desk of hosts}").replace("{risk:", "{desk of hosts:")
    cluster = Pretended(tmp_path, plan)
    for name in ("a", "b"):
        cluster.pod(name, gpus=8)
        cluster.settle()
    cluster.settle(6)
    assert "/desk of hosts " in cluster.why("b")


def test_a_pod_whose_labels_no_node_has_says_which(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path)
    cluster.pod("a", nodeSelector={"disk": "ssd"})
    cluster.settle()
    told = "NeverFits: no node has the labels that it asks for: disk=ssd; ask for labels of nodes, or label a node"
    assert cluster.why("a") == told


def test_a_pod_that_tolerates_no_taint_says_which_and_starts_when_it_is_taken_off(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path)
    meta = {"name": "n1", "labels": {names.HOSTNAME: "n1"}}
    status = {
        "allocatable": {GPU: "8"},
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"bootID": "b"},
    }
    spec = {"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]}
    cluster.governor.see_node(node_of({"metadata": meta, "spec": spec, "status": status}))
    cluster.pod("a")
    cluster.settle()
    told = "NeverFits: all nodes of the cluster have taints that it does not tolerate, `n1` has `team=x:NoSchedule`"
    assert cluster.why("a") == f"{told}; give the pod a toleration, or take the taint off"
    cluster.governor.see_node(node("n1", 8))
    cluster.settle()
    assert cluster.running() == ["a"]


def test_no_word_of_jobs_and_hosts_is_read_at_pods_that_cannot_start(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path)
    cluster.pod("large", gpus=9)
    for number in range(9):
        cluster.pod(f"g{number}", annotations={names.GANG_SIZE: "9", names.GANG: "g"})
    cluster.pod("all", gpus=8)
    cluster.settle()
    cluster.pod("waits", gpus=1)
    cluster.pod("b", gpus=1)
    narrow(cluster, "b")
    cluster.settle(6)
    said = [cluster.why(name) for name in ("large", "g0", "waits", "b")]
    assert all(said), said
    for each in said:
        assert not {"host", "hosts", "unit", "units", "`min_count`", "task"} & set(each.replace(",", " ").split()), each
