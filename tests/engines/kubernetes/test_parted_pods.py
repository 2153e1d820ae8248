"""Pods that part from their jobs, and go on: starts of the service, gangs, and plans that say less than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.orchestrator.events import JobCancelled
from fairhold.ports import Filter
from tests.engines.kubernetes.pretended import GPU, QUEUES, Pretended
from tests.engines.kubernetes.test_resized_pods import GANG, held, left, narrow, resize, widen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    """Eight GPUs on one node, all owned by /trading."""
    return Pretended(tmp_path)


@pytest.mark.parametrize("is_snapshot", [False, True])
def test_a_pod_that_changed_and_was_refused_is_not_deleted_by_the_next_start(
    cluster: Pretended, *, is_snapshot: bool
) -> None:
    cluster.pod("all", gpus=8)
    cluster.settle()
    cluster.pod("b", gpus=1)
    cluster.settle()
    narrow(cluster, "b")
    cluster.settle()
    assert cluster.why("b").startswith("NeverFits: ")
    cluster.restart(snapshot=is_snapshot)
    assert "deletionTimestamp" not in cluster.named("b")["metadata"]
    cluster.delete("all")
    widen(cluster, "b")
    cluster.settle(6)
    assert cluster.running() == ["b"]


def test_a_pod_of_a_gang_that_changed_and_was_refused_joins_it_after_a_start(cluster: Pretended) -> None:
    cluster.pod("all", gpus=8)
    cluster.settle()
    for name in ("a", "b"):
        cluster.pod(name, gpus=1, annotations=GANG)
    cluster.settle()
    for name in ("a", "b"):
        narrow(cluster, name)
        cluster.settle()
        cluster.restart()
        assert cluster.why(name).startswith(("GangDiffers: ", "NeverFits: "))
        widen(cluster, name)
        cluster.settle()
    cluster.delete("all")
    cluster.settle(6)
    assert cluster.running() == ["a", "b"]


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_pod_whose_job_was_cancelled_before_a_crash_is_deleted_by_the_next_start(
    cluster: Pretended, *, is_changed: bool
) -> None:
    cluster.pod("all", gpus=8)
    cluster.settle()
    cluster.pod("b", gpus=1)
    cluster.settle()
    if is_changed:  # what it asks for now is another job
        resize(cluster, "b", 2)
    (job,) = (job for job in cluster.jobs() if job.waiting)
    cluster.play.core.feed(JobCancelled(job.name))
    cluster.play.commit()  # and nothing of it is carried out
    cluster.restart()
    assert "b" not in [pod["metadata"]["name"] for pod in cluster.pods.values()]


def test_a_pod_that_runs_and_was_resized_is_deleted_where_its_job_was_cancelled_before_a_crash(
    cluster: Pretended,
) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    resize(cluster, "a", 2)
    (job,) = cluster.jobs()
    cluster.play.core.feed(JobCancelled(job.name))
    cluster.play.commit()
    cluster.restart()
    cluster.settle()
    assert (cluster.pods, held(cluster)) == ({}, {})


def test_what_an_outgrown_pod_has_more_is_given_back_when_it_ends_and_its_object_stays(cluster: Pretended) -> None:
    for name in ("a", "b"):
        cluster.pod(name, gpus=1, annotations=GANG, job="j")
    cluster.settle()
    resize(cluster, "a", 4)
    assert left(cluster) == [5]
    cluster.finish("a")
    cluster.settle()
    assert "a" in [pod["metadata"]["name"] for pod in cluster.pods.values()]
    assert left(cluster) == [8]


def annotate(cluster: Pretended, namespace: str, consumer: str) -> None:
    """Somebody writes whose the pods of a namespace are."""
    notes = {names.CONSUMER: consumer}
    cluster.governor.see_namespace(Namespace(namespace, {names.GOVERNED: "true"}, notes))
    cluster.settle()


def test_nobody_gets_what_a_pod_has_grown_by_of_which_nothing_else_can_be_worked_out(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    annotate(cluster, "risk", "/nobody")
    resize(cluster, "a", 6)
    assert (held(cluster), left(cluster), cluster.running()) == ({"/risk": 1}, [3], ["a"])
    assert cluster.why("a").startswith("Outgrown: it asks for more than is booked for it, nvidia.com/gpu 1: ")
    assert "/nobody" in cluster.why("a")
    cluster.pod("b", namespace="trading", gpus=4)
    cluster.settle(6)
    assert cluster.running("trading") == []
    annotate(cluster, "risk", "/risk")
    resize(cluster, "a", 2)
    assert (held(cluster)["/risk"], left(cluster), cluster.running("trading")) == (2, [8], ["b"])


def test_a_start_that_cannot_work_out_what_pods_ask_for_takes_nothing_from_them(tmp_path: Path) -> None:
    """The pod that runs holds its units, and the one at the gate waits until somebody mends the plan."""
    cluster = Pretended(tmp_path)
    for name, gpus in (("a", 8), ("b", 1)):
        cluster.pod(name, gpus=gpus)
        cluster.settle()
    rules = "pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]"
    core = cluster.play.core
    core.apply_plan(QUEUES.replace(rules, "pods: []"), "ann", "", core.version)
    cluster.restart()
    assert (held(cluster), cluster.running(), len(cluster.pods)) == ({"/risk": 8}, ["a"], 2)
    assert cluster.why("b").startswith("NoConsumer: ")
    core = cluster.play.core
    core.apply_plan(QUEUES, "ann", "", core.version)
    cluster.finish("a")
    cluster.settle(6)
    assert (held(cluster), cluster.running()) == ({"/risk": 1}, ["b"])


def test_a_resized_pod_whose_words_of_a_gang_change_at_the_same_time_is_taken_in(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1, annotations=GANG)
    cluster.pod("b", gpus=1, annotations=GANG)
    cluster.settle()
    pod = cluster.named("a")
    pod["spec"]["containers"] = [{"resources": {"requests": {GPU: "2"}}}]
    cluster.see(pod)
    pod["metadata"]["annotations"][names.GANG] = "another"
    cluster.see(pod)
    cluster.settle()
    assert (cluster.running(), left(cluster)) == (["a", "b"], [7])


SLOTS = """
fairhold: 1
resource_groups:
  left: {nodes: {pool: left}, slot: {nvidia.com/gpu: 1}}
  right: {nodes: {pool: right}, slot: {nvidia.com/gpu: 1}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {}, trading: {}}
policies:
  - {policy: hybrid, resource_groups: [left], consumers: {/risk: {owned: 8}}}
  - {policy: hybrid, resource_groups: [right], consumers: {/trading: {owned: 8}}}
"""


def test_a_resized_pod_that_cannot_be_booked_anew_keeps_what_is_booked(tmp_path: Path) -> None:
    """Its namespace is another's meanwhile, who may not use the node on which it runs."""
    cluster = Pretended(tmp_path, SLOTS, nodes={"left": 8, "right": 8})
    cluster.pod("a", gpus=1)
    cluster.settle()
    (job,) = cluster.jobs()
    annotate(cluster, "risk", "/trading")
    resize(cluster, "a", 3)
    assert cluster.running() == ["a"]
    assert [(each.name, each.running) for each in cluster.jobs()] == [(job.name, 1)]
    assert cluster.why("a").startswith("Outgrown: it asks for more than is booked for it, nvidia.com/gpu 1: ")
    cluster.finish("a")
    cluster.settle()
    assert cluster.jobs() == []
    finished = cluster.play.core.finished(job.name)
    assert finished is not None
    assert finished.state == "done"


def test_a_pod_that_others_let_go_to_a_node_of_others_is_not_deleted(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, SLOTS, nodes={"left": 1, "right": 1})
    cluster.settle()
    for name in ("a", "b"):
        cluster.pod(name, gpus=1)
        cluster.settle()
    pod = cluster.named("b")
    pod["spec"] |= {"schedulingGates": [], "nodeName": "right"}
    cluster.see(pod)
    for _ in range(2):
        cluster.settle()
        assert cluster.governor.works.of[pod["metadata"]["uid"]].why[0] == "UnknownHost"
        cluster.restart()


def test_a_pod_is_booked_anew_where_the_plan_shares_more_than_it_did(cluster: Pretended) -> None:
    cluster.pod("a", gpus=1)
    cluster.settle()
    (job,) = cluster.jobs()
    core = cluster.play.core
    shares_pods = QUEUES.replace("gpu: {base: 1}}", "gpu: {base: 1}, pods: {base: 1}}")
    core.apply_plan(shares_pods, "ann", "", core.version)
    cluster.restart()
    assert cluster.running() == ["a"]
    (ended,) = cluster.play.store.tasks(Filter(job=job.name), "", 9).rows
    assert ended.detail == "what its pod asks for was booked anew, as job 2"


def test_no_pod_of_a_gang_starts_where_another_changes_between_grant_and_write(cluster: Pretended) -> None:
    uids = [cluster.pod(name, gpus=1, annotations=GANG) for name in ("a", "b")]
    governor, core = cluster.governor, cluster.play.core
    while not all(governor.works.of[uid].attempt for uid in uids):
        for report in governor.reports():
            cluster.governing.take(core, report)
        cluster.play.pass_time(250_000)
        for order in core.outbox.take():
            governor.execute(order)
    narrow(cluster, "b")
    cluster.settle(4)
    assert (cluster.running(), held(cluster)) == ([], {})
    widen(cluster, "b")
    cluster.settle(4)
    assert cluster.running() == ["a", "b"]
