"""Nodes beside queues become hosts: amounts, labels, flavors, what is left out."""

from __future__ import annotations

import pytest

from tests.planio.importing import Json, cluster_queue, faults, imported, kueue_object, plan_of, queue, stream, told
from tests.planio.test_import_kueue import flavored

ALLOCATABLE = {"cpu": "63500m", "memory": "263851164Ki", "nvidia.com/gpu": "8", "pods": "110"}


def node(
    name: str, labels: Json | None = None, *, ready: str = "True", spec: Json | None = None, **amounts: str
) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}, "annotations": {"csi": "x"}},
        "spec": {"podCIDR": "10.0.0.0/24"} | (spec or {}),
        "status": {
            "allocatable": amounts or ALLOCATABLE,
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}],
        },
    }


def test_nodes_are_the_hosts_of_kais_queues() -> None:
    labels = {"kubernetes.io/hostname": "g1", "gpu.type": "a100", "node-role.kubernetes.io/worker": ""}
    result = imported(
        "kai", stream(queue("a"), node("g1", labels), node("g2", {**labels, "kubernetes.io/hostname": "g2"}))
    )
    plan = plan_of(result)
    hosts = plan.resource_groups["cluster"].hosts
    assert [host.name for host in hosts] == ["g1", "g2"]
    assert hosts[0].amounts == (63_500, 270_183, 8000)
    assert hosts[0].labels == (("gpu.type", "a100"), ("node-role.kubernetes.io/worker", ""))
    assert (
        '{name: "g[1-2]", cpu: 63.5, memory: 270.183, gpu: 8, labels: [gpu.type=a100, node-role.kubernetes.io/worker]}'
        in result.text
    )
    assert (result.notes, result.warnings) == ((), ())


def test_nodes_that_take_no_work_are_told() -> None:
    down = node("down", ready="Unknown")
    closed = node("closed", spec={"unschedulable": True, "taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    result = imported("kai", stream(queue("a"), down, closed, node("none", pods="110")))
    assert [host.name for host in plan_of(result).resource_groups["cluster"].hosts] == ["closed"]
    assert told(result.notes) == [
        ("not-carried", "metadata.name"),
        ("not-carried", "spec.unschedulable"),
        ("not-carried", "spec.taints"),
        ("not-carried", "metadata.name"),
    ]


def test_without_a_node_that_is_ready_the_capacity_is_assumed() -> None:
    result = imported("kai", stream(queue("a"), node("down", ready="False")))
    assert [each.code for each in result.notes] == ["not-carried", "capacity-assumed"]
    assert plan_of(result).resource_groups["cluster"].capacity == (1000, 1000, 1000)


def test_labels_that_no_plan_holds_are_told() -> None:
    many = {f"l{at:02}": "x" for at in range(70)} | {"x" * 70: "1", "odd": "ä b"}
    result = imported("kai", stream(queue("a"), node("g1", many)))
    assert len(plan_of(result).resource_groups["cluster"].hosts[0].labels) == 64
    assert len(result.notes) == 8


def test_a_node_has_the_resources_of_its_flavor() -> None:
    groups = flavored(("spot", "cpu", 4), ("fixed", "cpu", 6), ("any", "nvidia.com/gpu", 8))
    objects = [
        kueue_object("ResourceFlavor", "spot", nodeLabels={"kind": "spot"}),
        kueue_object("ResourceFlavor", "fixed"),
        kueue_object("ResourceFlavor", "any"),
        cluster_queue("a", resourceGroups=groups),
        node("n1", {"kind": "spot"}),
        node("n2", {"kind": "other"}),
        node("n3", {"kind": "spot"}, cpu="4"),
    ]
    result = imported("kueue", stream(*objects))
    plan = plan_of(result)
    assert [each.name for each in plan.resources] == ["spot.cpu", "fixed.cpu", "gpu"]
    assert {host.name: host.amounts for host in plan.resource_groups["cluster"].hosts} == {
        "n1": (63_500, 0, 8),
        "n2": (0, 63_500, 8),
        "n3": (4000, 0, 0),
    }
    assert "spec.nodeLabels" not in {place for _, place in told(result.notes)}


BROKEN: list[tuple[Json, str, str]] = [
    (node("g[1-2]"), "name", "metadata.name"),
    (node("g1"), "import-twice", "metadata.name"),
    (node("g2", cpu="four"), "import-quantity", "status.allocatable.cpu"),
    (node("g2", cpu="1E"), "out-of-range", "status.allocatable.cpu"),
    (node("g2", cpu="-4"), "import-quantity", "status.allocatable.cpu"),
    (node("g2") | {"status": {"allocatable": [1]}}, "wrong-type", "status.allocatable"),
    (node("g2") | {"metadata": {"name": "g2", "labels": 4}}, "wrong-type", "metadata.labels"),
]


@pytest.mark.parametrize(("broken", "code", "place"), BROKEN)
def test_broken_nodes_are_faults(broken: Json, code: str, place: str) -> None:
    assert told(faults("kai", stream(queue("a"), node("g1"), broken))) == [(code, place)]


def test_nodes_alone_are_no_plan() -> None:
    assert [each.code for each in faults("kueue", stream(node("g1")))] == ["import-nothing"]
