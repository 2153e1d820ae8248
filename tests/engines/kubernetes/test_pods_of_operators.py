"""Pods as Kubeflow, KubeRay and Argo make them, without these operators: labels, owners and containers are theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.gangs import COSCHEDULING, JOB_SETS
from tests.engines.kubernetes.pretended import GPU, Pretended

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """
fairhold: 1
resources: {gpu: {base: 1}, cpu: {}, memory: {unit: GiB}}
resource_groups: {all: {nodes: {}}}
kubernetes:
  pods:
    - {namespace: risk, consumer_label: kueue.x-k8s.io/queue-name}
    - {namespace: risk, consumer: /risk}
    - {namespace: trading, consumer: /trading}
consumers: {risk: {reclaim_grace: 0s}, desk: {}, trading: {reclaim_grace: 0s}}
policies: [{policy: fair_share, resource_groups: [all], consumers: {/trading: {deserved: {gpu: 8, cpu: 64}}}}]
"""
Document = dict[str, Any]


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    """Eight GPUs and 64 cores on one node, all owned by /trading."""
    return Pretended(tmp_path, PLAN)


def owned_by(kind: str, name: str, api: str) -> list[Document]:
    reference = {"apiVersion": api, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    return [reference | {"blockOwnerDeletion": True}]


def container(name: str, **requests: str) -> Document:
    return {
        "name": name,
        "resources": {"requests": {GPU if key == "gpu" else key: text for key, text in requests.items()}},
    }


def terms(cluster: Pretended) -> list[tuple[str, Document, int]]:
    """Of each job: whose it is, what each of its pods asks for, how many pods it has."""
    return [(job.consumer, dict(job.terms.unit), job.terms.tasks) for job in cluster.jobs()]


# Kubeflow


def replica(cluster: Pretended, kind: str, index: int, **labels: str) -> None:
    """A pod of a PyTorchJob; a worker waits in an init container for the name of the master."""
    mine = {
        "training.kubeflow.org/job-name": "bert",
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
        "training.kubeflow.org/replica-index": str(index),
        "training.kubeflow.org/replica-type": kind,
    }
    mine |= {"training.kubeflow.org/job-role": "master"} if kind == "master" else {}
    meta: Document = {"name": f"bert-{kind}-{index}", "labels": mine | labels}
    meta["ownerReferences"] = owned_by("PyTorchJob", "bert", "kubeflow.org/v1")
    spec: Document = {"restartPolicy": "Never", "containers": [container("pytorch", gpu="1", cpu="4", memory="16Gi")]}
    if kind == "worker":
        spec["initContainers"] = [container("init-pytorch", cpu="50m", memory="10Mi")]
    cluster.make(meta, spec)


def test_each_pod_of_a_pytorchjob_is_work_of_its_own_where_no_group_is_asked_for(cluster: Pretended) -> None:
    replica(cluster, "master", 0)
    replica(cluster, "worker", 0)
    cluster.settle()
    assert cluster.running() == ["bert-master-0", "bert-worker-0"]
    assert terms(cluster) == [("/risk", {"gpu": "1", "cpu": "4", "memory": "16"}, 1)] * 2


def test_a_pytorchjob_with_a_pod_group_starts_whole_and_comes_back_whole(cluster: Pretended) -> None:
    group = {"scheduling.x-k8s.io/pod-group": "bert"}
    cluster.serve(COSCHEDULING)
    replica(cluster, "master", 0, **group)
    replica(cluster, "worker", 0, **group)
    cluster.group(COSCHEDULING, "bert", {"spec": {"minMember": 3}})
    cluster.settle()
    assert cluster.running() == []
    assert cluster.why("bert-master-0").startswith("GangIncomplete: 3 pods of its PodGroup `bert` start together")
    replica(cluster, "worker", 1, **group)
    cluster.settle()
    assert cluster.running() == ["bert-master-0", "bert-worker-0", "bert-worker-1"]
    assert terms(cluster) == [("/risk", {"gpu": "1", "cpu": "4", "memory": "16"}, 3)]
    cluster.pod("owner", namespace="trading", gpus=8)
    cluster.settle()
    assert (cluster.running(), cluster.running("trading")) == ([], ["owner"])
    replica(cluster, "master", 0, **group)  # the operator makes them anew, one by one
    cluster.delete("owner")
    cluster.settle()
    assert cluster.running() == []
    for index in (0, 1):
        replica(cluster, "worker", index, **group)
    cluster.settle()
    assert cluster.running() == ["bert-master-0", "bert-worker-0", "bert-worker-1"]
    assert len(cluster.jobs()) == 1, "it is the job that it was"


def node_of_trainjob(cluster: Pretended, index: int, notes: dict[str, str], labels: dict[str, str]) -> None:
    """A pod of a TrainJob: of an Indexed Job of a JobSet of its name."""
    mine = {
        "jobset.sigs.k8s.io/jobset-name": "llama",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "batch.kubernetes.io/job-name": "llama-node-0",
        "batch.kubernetes.io/job-completion-index": str(index),
        **dict.fromkeys(names.JOB_SELECTORS, "uid-llama-node-0"),
    }
    meta: Document = {
        "name": f"llama-node-0-{index}",
        "labels": mine | labels,
        "annotations": {names.INDEX: str(index)} | notes,
    }
    meta["ownerReferences"] = owned_by("Job", "llama-node-0", "batch/v1")
    cluster.make(meta, {"restartPolicy": "Never", "containers": [container("node", gpu="2", cpu="8")]})


@pytest.mark.parametrize("is_by_group", [False, True])
def test_a_trainjob_starts_whole_by_its_pod_group_or_as_a_job_set(cluster: Pretended, *, is_by_group: bool) -> None:
    notes = {} if is_by_group else {names.GANG_SIZE: "all"}
    labels = {"scheduling.x-k8s.io/pod-group": "llama"} if is_by_group else {}
    if is_by_group:
        cluster.serve(COSCHEDULING)
        cluster.group(COSCHEDULING, "llama", {"spec": {"minMember": 2}})
    else:
        cluster.serve(JOB_SETS)
        template = {"template": {"metadata": {"annotations": notes}}}
        jobs = [{"name": "node", "replicas": 1, "template": {"spec": {"parallelism": 2, "completions": 2} | template}}]
        cluster.group(JOB_SETS, "llama", {"spec": {"replicatedJobs": jobs}})
    node_of_trainjob(cluster, 0, notes, labels)
    cluster.settle()
    assert cluster.running() == []
    node_of_trainjob(cluster, 1, notes, labels)
    cluster.settle()
    assert cluster.running() == ["llama-node-0-0", "llama-node-0-1"]
    assert terms(cluster) == [("/risk", {"gpu": "2", "cpu": "8"}, 2)]


# KubeRay


def node_of_ray(cluster: Pretended, kind: str, name: str, unit: str = "", **labels: str) -> None:
    """A pod of a RayCluster; a worker waits in an init container for the head."""
    mine = {
        "app.kubernetes.io/created-by": "kuberay-operator",
        "ray.io/cluster": "ray",
        "ray.io/group": "headgroup" if kind == "head" else "gpus",
        "ray.io/is-ray-node": "yes",
        "ray.io/node-type": kind,
    }
    meta: Document = {
        "name": f"ray-{name}",
        "labels": mine | labels,
        "annotations": {names.GANG_UNIT: unit} if unit else {},
    }
    meta["ownerReferences"] = owned_by("RayCluster", "ray", "ray.io/v1")
    asked: dict[str, str] = (
        {"cpu": "2", "memory": "4Gi"} if kind == "head" else {"gpu": "1", "cpu": "8", "memory": "32Gi"}
    )
    spec: Document = {"restartPolicy": "Always", "containers": [container(f"ray-{kind}", **asked)]}
    if kind == "worker":
        spec["initContainers"] = [container("wait-gcs-ready", cpu="200m", memory="256Mi")]
    cluster.make(meta, spec)


def test_a_ray_cluster_grows_as_there_is_room_and_gives_its_workers_back(cluster: Pretended) -> None:
    queue = {"kueue.x-k8s.io/queue-name": "desk"}
    node_of_ray(cluster, "head", "head", **queue)
    for worker in ("a", "b"):
        node_of_ray(cluster, "worker", worker, **queue)
    cluster.settle()
    assert cluster.running() == ["ray-a", "ray-b", "ray-head"]
    assert terms(cluster) == [
        ("/desk", {"cpu": "2", "memory": "4"}, 1),
        ("/desk", {"gpu": "1", "cpu": "8", "memory": "32"}, 1),
        ("/desk", {"gpu": "1", "cpu": "8", "memory": "32"}, 1),
    ]
    cluster.pod("owner", namespace="trading", gpus=7)
    cluster.settle()
    assert cluster.running() == ["ray-a", "ray-head"], "the youngest worker, and no head, has what the owner wants"
    node_of_ray(cluster, "worker", "c", **queue)  # the operator replaces it
    cluster.settle()
    assert cluster.running() == ["ray-a", "ray-head"]
    cluster.delete("owner")
    cluster.settle()
    assert cluster.running() == ["ray-a", "ray-c", "ray-head"]
    assert len(cluster.jobs()) == 3, "it has the place of the one that went"


def test_the_head_of_a_ray_cluster_is_unlike_its_workers_and_a_group_of_them_says_so(cluster: Pretended) -> None:
    group = {"scheduling.x-k8s.io/pod-group": "ray"}
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "ray", {"spec": {"minMember": 3}})
    node_of_ray(cluster, "head", "head", **group)
    for worker in ("a", "b"):
        node_of_ray(cluster, "worker", worker, **group)
    cluster.settle()
    assert cluster.running() == []
    assert cluster.why("ray-head").startswith("GangDiffers: ")
    assert names.GANG_UNIT in cluster.why("ray-head")


def test_a_ray_cluster_starts_whole_where_each_of_its_pods_counts_as_the_largest(cluster: Pretended) -> None:
    group, unit = {"scheduling.x-k8s.io/pod-group": "ray"}, names.LARGEST
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "ray", {"spec": {"minMember": 3}})
    node_of_ray(cluster, "head", "head", unit, **group)
    node_of_ray(cluster, "worker", "a", unit, **group)
    cluster.settle()
    assert cluster.running() == []
    node_of_ray(cluster, "worker", "b", unit, **group)
    cluster.settle()
    assert cluster.running() == ["ray-a", "ray-b", "ray-head"]
    assert terms(cluster) == [("/risk", {"gpu": "1", "cpu": "8", "memory": "32"}, 3)]


def test_the_submitter_of_a_rayjob_is_a_pod_of_a_job_beside_its_cluster(cluster: Pretended) -> None:
    node_of_ray(cluster, "head", "head")
    labels = {"batch.kubernetes.io/job-name": "fit", **dict.fromkeys(names.JOB_SELECTORS, "uid-fit")}
    meta: Document = {"name": "fit-x", "labels": labels, "ownerReferences": owned_by("Job", "fit", "batch/v1")}
    cluster.make(meta, {"restartPolicy": "Never", "containers": [container("ray-job-submitter", cpu="500m")]})
    cluster.settle()
    assert cluster.running() == ["fit-x", "ray-head"]
    cluster.finish("fit-x")
    cluster.settle()
    assert terms(cluster) == [("/risk", {"cpu": "2", "memory": "4"}, 1)]


# Argo


def step(cluster: Pretended, name: str, **requests: str) -> None:
    """A pod of a step of a Workflow: Argo's init container, what waits beside the work, and the work."""
    labels = {"workflows.argoproj.io/completed": "false", "workflows.argoproj.io/workflow": "night"}
    notes = {"workflows.argoproj.io/node-id": name, "workflows.argoproj.io/node-name": f"night.{name}"}
    meta: Document = {"name": name, "labels": labels, "annotations": notes}
    meta["ownerReferences"] = owned_by("Workflow", "night", "argoproj.io/v1alpha1")
    beside = {"cpu": "100m", "memory": "64Mi"}
    spec: Document = {"restartPolicy": "Never", "initContainers": [container("init", **beside)]}
    spec["containers"] = [container("wait", **beside), container("main", **requests)]
    cluster.make(meta, spec)


def test_a_step_of_a_workflow_holds_what_its_containers_ask_for_together(cluster: Pretended) -> None:
    step(cluster, "night-1", gpu="1", cpu="1", memory="960Mi")
    cluster.settle()
    assert cluster.running() == ["night-1"]
    assert terms(cluster) == [("/risk", {"gpu": "1", "cpu": "1.1", "memory": "1"}, 1)]


def test_a_step_that_is_tried_again_takes_its_place_and_another_step_does_not(cluster: Pretended) -> None:
    step(cluster, "night-1", gpu="4")
    cluster.settle()
    (first,) = (job.name for job in cluster.jobs())
    cluster.pod("owner", namespace="trading", gpus=8)
    cluster.settle()
    assert cluster.running() == []
    step(cluster, "night-1-retry", gpu="4")
    cluster.settle()
    assert [job.name for job in cluster.jobs() if job.consumer == "/risk"] == [first]
    step(cluster, "night-2", gpu="2")
    cluster.delete("owner")
    cluster.settle()
    assert cluster.running() == ["night-1-retry", "night-2"]
    assert [dict(job.terms.unit)["gpu"] for job in cluster.jobs()] == ["4", "2"]
