"""Pods that ask for something else than when they were accepted: resized where they run, or changed at the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import pod_of
from fairhold.engines.kubernetes.requests import amounts_of
from fairhold.runtime.live.views.pods import pod_document
from tests.engines.kubernetes.pretended import GPU, Pretended

if TYPE_CHECKING:
    from pathlib import Path

GANG = {names.GANG_SIZE: "2", names.GANG: "g"}


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    """Eight GPUs on one node, all owned by /trading."""
    return Pretended(tmp_path)


def resize(cluster: Pretended, name: str, gpus: int) -> None:
    """Somebody resizes a pod, and its kubelet does it."""
    pod = cluster.named(name)
    pod["spec"]["containers"] = [{"resources": {"requests": {GPU: str(gpus)}}}]
    cluster.see(pod)
    cluster.settle()


def held(cluster: Pretended) -> dict[str, int]:
    """Consumer → GPUs that its jobs hold."""
    found: dict[str, int] = {}
    for attempt in cluster.play.core.cluster.attempts.values():
        gpus = sum(int(amount) for _, amount in attempt.job.terms.unit)
        found[attempt.job.consumer] = found.get(attempt.job.consumer, 0) + gpus
    return found


def left(cluster: Pretended) -> list[int]:
    """GPUs of each node that the plan shares."""
    hosts = cluster.play.core.plan.resource_groups["all"].hosts
    return [host.amounts[0] for host in hosts]


def test_a_resized_pod_holds_what_it_asks_for_and_runs_on(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    for gpus in (6, 2):
        resize(cluster, "a", gpus)
        assert (held(cluster), cluster.running(), len(cluster.jobs())) == ({"/risk": gpus}, ["a"], 1)
        cluster.restart()
        assert (held(cluster), cluster.running(), len(cluster.jobs())) == ({"/risk": gpus}, ["a"], 1)
    [number] = cluster.play.core.cluster.attempts
    assert cluster.named("a")["metadata"]["annotations"][names.ATTEMPT] == str(number)
    cluster.finish("a")
    cluster.settle()
    assert (held(cluster), cluster.jobs()) == ({}, [])


def test_nobody_gets_what_a_resized_pod_has_grown_by(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    resize(cluster, "a", 6)
    cluster.pod("b", gpus=3)
    cluster.settle(6)
    assert cluster.running() == ["a"]
    resize(cluster, "a", 5)
    assert cluster.running() == ["a", "b"]


def test_what_it_has_grown_by_is_borrowed_and_taken_back(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    resize(cluster, "a", 8)
    cluster.pod("owner", namespace="trading", gpus=1)
    cluster.settle(6)
    assert (cluster.running(), cluster.running("trading")) == ([], ["owner"])


def test_a_pod_that_was_resized_while_nobody_looked_is_booked_at_the_start(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    pod = cluster.named("a")
    pod["spec"]["containers"] = [{"resources": {"requests": {GPU: "6"}}}]
    cluster.restart()
    assert (held(cluster), cluster.running()) == ({"/risk": 6}, ["a"])


def test_a_crash_before_the_new_number_stands_at_the_pod_costs_nothing(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    resize(cluster, "a", 6)
    cluster.named("a")["metadata"]["annotations"][names.ATTEMPT] = "1"  # the write was lost
    cluster.restart()
    assert (held(cluster), cluster.running()) == ({"/risk": 6}, ["a"])


def test_a_pod_of_a_gang_keeps_its_unit_and_says_that_it_is_more(cluster: Pretended) -> None:
    for name in ("a", "b"):
        cluster.pod(name, gpus=1, annotations=GANG)
    cluster.settle()
    resize(cluster, "a", 4)
    assert (held(cluster), left(cluster)) == ({"/risk": 2}, [5])
    told = "Outgrown: it asks for more than is booked for it, nvidia.com/gpu 1: all pods of its gang hold the same"
    assert cluster.why("a") == told
    explained = pod_document(cluster.play.core, cluster.governor, "risk", "a")
    assert f"{explained['reason']}: {explained['text']}" == told
    cluster.pod("c", gpus=4)
    cluster.settle(6)
    assert cluster.running() == ["a", "b"]
    resize(cluster, "a", 1)
    assert (left(cluster), cluster.running()) == ([8], ["a", "b", "c"])
    assert cluster.why("a").startswith("Granted")


def test_a_pod_that_has_to_go_is_not_booked_anew(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PATIENT)
    cluster.pod("a", gpus=5)
    cluster.settle()
    cluster.pod("owner", namespace="trading", gpus=4)
    cluster.settle()
    assert names.NOTICE in cluster.named("a")["metadata"]["annotations"]
    resize(cluster, "a", 6)
    assert (held(cluster), left(cluster)) == ({"/risk": 5}, [7])
    assert "it has to give way" in cluster.why("a")
    cluster.delete("owner")  # the notice is withdrawn, and it is booked then
    cluster.settle(6)
    assert (held(cluster), left(cluster), cluster.running()) == ({"/risk": 6}, [8], ["a"])


PATIENT = """
fairhold: 1
resources: {gpu: {base: 1}}
resource_groups: {all: {nodes: {}}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {reclaim_grace: 10m}, trading: {reclaim_grace: 10m}}
policies: [{policy: fair_share, resource_groups: [all], consumers: {/trading: {deserved: {gpu: 8}}}}]
"""


def narrow(cluster: Pretended, name: str) -> None:
    """Somebody says of a pod at the gate that only some nodes will do."""
    pod = cluster.named(name)
    pod["spec"]["nodeSelector"] = {"disk": "ssd"}
    cluster.see(pod)


def widen(cluster: Pretended, name: str) -> None:
    """Somebody takes that back."""
    pod = cluster.named(name)
    pod["spec"]["nodeSelector"] = {}
    cluster.see(pod)


def test_a_pod_whose_nodes_were_narrowed_at_the_gate_is_read_again(cluster: Pretended) -> None:
    cluster.pod("all", gpus=8)
    cluster.settle()
    cluster.pod("b", gpus=1)
    cluster.settle()
    narrow(cluster, "b")
    cluster.delete("all")
    cluster.settle(6)
    assert cluster.running() == []
    assert cluster.why("b").startswith("NeverFits: ")
    widen(cluster, "b")
    cluster.settle(6)
    assert cluster.running() == ["b"]


def test_what_was_granted_on_what_a_pod_does_not_say_any_more_is_given_back(cluster: Pretended) -> None:
    """It changes after the service has decided, and before its gate is taken away."""
    cluster.pod("b", gpus=1)
    uid, governor = cluster.named("b")["metadata"]["uid"], cluster.governor
    while not governor.works.of[uid].attempt:
        for report in governor.reports():
            cluster.governing.take(cluster.play.core, report)
        cluster.play.pass_time(250_000)
        for order in cluster.play.core.outbox.take():
            governor.execute(order)
    [write] = governor.writes()
    assert write.what == "grant"
    narrow(cluster, "b")
    governor.wrote(uid, pod_of(cluster.named("b")), is_done=True)  # a conflict: it is another version by now
    cluster.settle()
    assert (cluster.running(), held(cluster)) == ([], {})
    assert cluster.why("b").startswith("NeverFits: ")


def test_a_gang_of_which_one_pod_was_narrowed_waits_until_all_are_alike(cluster: Pretended) -> None:
    cluster.pod("all", gpus=8)
    cluster.settle()
    for name in ("a", "b"):
        cluster.pod(name, gpus=1, annotations=GANG)
    cluster.settle()
    narrow(cluster, "b")
    cluster.delete("all")
    cluster.settle(6)
    assert cluster.running() == []
    assert cluster.why("b").startswith("GangDiffers: ")
    widen(cluster, "b")
    cluster.settle(6)
    assert cluster.running() == ["a", "b"]


@pytest.mark.parametrize("more", [{"nodeSelector": {"disk": "ssd"}}, {"gpus": 4}])
def test_a_pod_that_takes_the_place_of_another_is_treated_by_what_it_asks_for(
    cluster: Pretended, more: dict[str, Any]
) -> None:
    cluster.pod("old", gpus=1, job="j")
    cluster.settle()
    cluster.pod("owner", namespace="trading", gpus=8)
    cluster.settle()
    cluster.pod("new", job="j", **({"gpus": 1} | more))
    cluster.delete("owner")
    cluster.settle(6)
    assert (cluster.running(), held(cluster)) == (([], {}) if "gpus" not in more else (["new"], {"/risk": 4}))


def container(**resources: dict[str, str]) -> dict[str, Any]:
    return {"name": "main", "resources": resources}


@pytest.mark.parametrize(
    ("asked", "given", "pending", "counts"),
    [
        ("2", "2", "", 2),
        ("4", "2", "Deferred", 4),
        ("4", "2", "Infeasible", 2),
        ("1", "3", "", 3),
    ],
)
def test_while_a_pod_is_resized_the_larger_counts(asked: str, given: str, pending: str, counts: int) -> None:
    status: dict[str, Any] = {"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": given}}]}
    if pending:
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": pending}]
    assert dict(amounts_of({"containers": [container(requests={"cpu": asked})]}, status))["cpu"] == counts


def test_what_is_in_force_in_a_container_counts_as_long_as_it_is_more() -> None:
    status = {"containerStatuses": [container(requests={"cpu": "3"}) | {"allocatedResources": {"cpu": "1"}}]}
    assert dict(amounts_of({"containers": [container(requests={"cpu": "1", "memory": "1"})]}, status)) == {
        "cpu": 3,
        "memory": 1,
        "pods": 1,
    }
