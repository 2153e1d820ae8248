"""Gangs on a real control plane: pod groups, Jobs and JobSets say who starts together; elastic ones grow and shrink."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import PLAN, Estate, template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

COSCHEDULING = "/apis/scheduling.x-k8s.io/v1alpha1"
NATIVE = "/apis/scheduling.k8s.io/v1beta1"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2"
LABELS = {"scheduling.x-k8s.io/pod-group": "g"}
MERGE = "application/merge-patch+json"


def define(cluster: ControlPlane, path: str, kind: str) -> None:
    """The definition of a kind that other projects bring, without its schema."""
    _, _, group, version = path.split("/")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    plural = f"{kind.lower()}s"
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
        "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
    }
    meta = {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}}
    document = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta}
    cluster.kubectl("apply", "--filename=-", stdin=json.dumps(document | {"spec": spec}))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/{plural}.{group}", "--timeout=30s")


@pytest.fixture(scope="module")
def cluster(control_plane: type[ControlPlane], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster with the workload API, and the pod groups of the coscheduling plugin."""
    with control_plane(tmp_path_factory.mktemp("cluster"), has_workloads=True) as started:
        define(started, COSCHEDULING, "PodGroup")
        yield started


@pytest.fixture
def estate(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    """As elsewhere, but that trading deserves all, and risk borrows."""
    plan = PLAN.replace("gpu: {each}, cpu", "gpu: 0, cpu").replace("gpu: {each}", "gpu: 8, cpu: unlimited")
    with ExitStack() as stack:
        made = Estate(cluster, tmp_path, plan=plan)
        stack.callback(made.close)
        yield made.serve()


def group(estate: Estate, least: int, path: str = COSCHEDULING) -> None:
    """Make a pod group `g`, or change it."""
    spec = {"minMember": least} if path == COSCHEDULING else {"schedulingPolicy": {"gang": {"minCount": least}}}
    place = f"{path}/namespaces/{estate.risk}/podgroups"
    version = path.removeprefix("/apis/")
    document = {"apiVersion": version, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec}
    if estate.api.list(place)[0]:
        estate.api.request("PATCH", f"{place}/g", {"spec": spec}, MERGE)
    else:
        estate.post(place, document)


def occupy(estate: Estate, gpus: int, name: str = "t") -> None:
    """Let the other half of the organisation use GPUs, and wait until it does."""
    for number in range(gpus):
        estate.pod(estate.trading, f"{name}{number}")
    estate.until(lambda: len(estate.named(estate.trading, "running")) >= gpus)


def release(estate: Estate, *pods: str) -> None:
    for name in pods:
        estate.delete(estate.trading, name, grace=1)


def test_a_pod_group_that_comes_late_starts_its_pods_together(estate: Estate) -> None:
    for number in range(4):
        estate.pod(estate.risk, f"p{number}", labels=LABELS)
    estate.until_waits(estate.risk, "p0", "GangUnknown", "its PodGroup `g` is not there")
    group(estate, 5)
    estate.until_waits(estate.risk, "p3", "GangIncomplete", "5 pods")
    estate.pod(estate.risk, "p4", labels=LABELS)
    estate.until_states(estate.risk, running=5)
    [job] = estate.house.client.jobs()
    assert (job.tasks["running"], job.tasks["tasks"]) == (5, 5)


def test_a_pod_group_that_changes_or_goes_decides_what_waits(estate: Estate) -> None:
    occupy(estate, 4)
    group(estate, 5)
    for number in range(5):
        estate.pod(estate.risk, f"p{number}", labels=LABELS)
    estate.until(lambda: any(job.tasks["tasks"] == 5 for job in estate.house.client.jobs()))
    group(estate, 7)
    estate.until_waits(estate.risk, "p0", "Held", "5 of the 7 pods of its PodGroup `g` are there")
    release(estate, "t0")
    estate.api.request("DELETE", f"{COSCHEDULING}/namespaces/{estate.risk}/podgroups/g")
    estate.until(lambda: any("not there any more" in (job.text or "") for job in estate.house.client.jobs()))
    assert estate.states(estate.risk) == {"gated": 5}
    group(estate, 4)
    estate.until_states(estate.risk, running=5)


def test_the_workload_api_of_kubernetes_says_who_starts_together(estate: Estate) -> None:
    of_group: dict[str, Any] = {"schedulingGroup": {"podGroupName": "g"}}
    occupy(estate, 4)
    group(estate, 4, NATIVE)
    for number in range(3):
        estate.pod(estate.risk, f"p{number}", spec=of_group)
    estate.until_waits(estate.risk, "p2", "GangIncomplete", "4 pods of its PodGroup `g`")
    estate.pod(estate.risk, "p3", spec=of_group)
    estate.until_states(estate.risk, running=4)
    for number in range(4, 6):
        estate.pod(estate.risk, f"p{number}", spec=of_group)
    estate.until(lambda: any(job.tasks["tasks"] == 6 for job in estate.house.client.jobs()))
    release(estate, "t0")
    estate.until(lambda: len(estate.pods(estate.trading)) == 3)
    assert estate.states(estate.risk) == {"running": 4, "gated": 2}  # one alone would not be bound
    release(estate, "t1")
    estate.until_states(estate.risk, running=6)


def test_pods_of_a_job_set_start_together_once_it_is_known(estate: Estate, cluster: ControlPlane) -> None:
    notes = {names.GANG_SIZE: "all"}
    labels = {"jobset.sigs.k8s.io/jobset-name": "s"}
    for name, count in (("a", 2), ("b", 1)):  # as its controller makes them
        estate.job(estate.risk, f"s-{name}-0", count, notes=notes, labels=labels)
    estate.until_states(estate.risk, gated=3)
    first = estate.pods(estate.risk)[0]["metadata"]["name"]
    estate.until_waits(estate.risk, first, "GangUnknown", "its JobSet `s` is not there")
    define(cluster, JOB_SETS, "JobSet")
    parts = [
        {"name": name, "replicas": 1, "template": {"spec": {"parallelism": count, "template": template(notes=notes)}}}
        for name, count in (("a", 2), ("b", 1))
    ]
    parts.append({"name": "driver", "template": {"spec": {"parallelism": 1, "template": template()}}})
    document = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "s"}}
    estate.post(f"{JOB_SETS}/namespaces/{estate.risk}/jobsets", document | {"spec": {"replicatedJobs": parts}})
    estate.until_states(estate.risk, running=3)
    [job] = estate.house.client.jobs()
    assert job.tasks["running"] == 3


def test_an_elastic_job_grows_and_shrinks_from_its_end_and_then_goes_whole(estate: Estate) -> None:
    occupy(estate, 4)
    estate.job(
        estate.risk, "e", 8, spec={"completionMode": "Indexed"}, notes={names.GANG_SIZE: "3"}, term_after=0, grace=1
    )
    estate.until_states(estate.risk, running=4, gated=4)
    release(estate, "t0", "t1", "t2", "t3")
    estate.until_states(estate.risk, running=8, gated=0)
    occupy(estate, 2, "u")
    estate.until_states(estate.risk, running=6, gated=2)
    assert indices(estate) == [0, 1, 2, 3, 4, 5]
    estate.house.kill()
    estate.house.serve()
    occupy(estate, 4, "v")
    estate.until_states(estate.risk, running=0, gated=8)
    release(estate, "u0", "u1", "v0", "v1", "v2")
    estate.until_states(estate.risk, running=7, gated=1)
    assert estate.job_status(estate.risk, "e").get("failed", 0) == 0


def indices(estate: Estate) -> list[int]:
    """Completion indices of the pods that run."""
    running = set(estate.named(estate.risk, "running"))
    pods = [pod for pod in estate.pods(estate.risk) if pod["metadata"]["name"] in running]
    return sorted(int(pod["metadata"]["annotations"][names.INDEX]) for pod in pods)


def test_a_job_says_that_all_its_pods_start_together(estate: Estate) -> None:
    occupy(estate, 2)
    estate.job(estate.risk, "mpi", 7, notes={names.GANG_SIZE: "all"})
    estate.until(lambda: any(job.tasks["tasks"] == 7 for job in estate.house.client.jobs()))
    assert estate.states(estate.risk) == {"gated": 7}
    release(estate, "t0")
    estate.until_states(estate.risk, running=7)


def test_a_gang_that_can_never_start_says_why(estate: Estate) -> None:
    group(estate, 9)
    for number in range(9):
        estate.pod(estate.risk, f"p{number}", labels=LABELS)
    for number in (0, 8):
        estate.until_waits(estate.risk, f"p{number}", "NeverFits", "9 pods at once can never start")
    group(estate, 2)
    estate.until_states(estate.risk, running=8, gated=1)
