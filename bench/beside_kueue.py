"""Kueue's own performance run on a control plane of this machine, and then the same work as pods under a plan.

Kueue admits objects that stand for work, and its runner ends them: nothing of it is on nodes. The pods are let go, are
bound, and run on nodes that are not there.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bench.governed import create, estate, rate, watching, watching_pods
from tests.kubernetes.process import Process
from tests.kubernetes.programs import Programs, go

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.kubernetes.control_plane import ControlPlane

    Row = dict[str, Any]
    Document = Mapping[str, Any]

KUEUE = Programs("Kueue", Path(__file__).with_name("kueue"), ("tool",))
MODULE = "sigs.k8s.io/kueue"
SHAPE = "test/performance/scheduler/configs/baseline/generator.yaml"
CUSTOM_RESOURCES = "config/components/crd/bases"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
PART = 10
"""Its run has so many times the work."""
NODES = 1_000


def beside_kueue(cluster: ControlPlane) -> dict[str, Row]:
    """Pieces of work that are let go in a second."""
    try:
        KUEUE.build()
        source = _source()
    except (SystemExit, OSError, subprocess.CalledProcessError) as why:
        return {"kubernetes, beside Kueue": {"skipped": f"Kueue cannot be built: {why}"}}
    shape = _part_of(yaml.safe_load((source / SHAPE).read_text()))
    count = len(pods_of_queues(shape))
    theirs, ours = _admitted(cluster, source, shape, count), _let_go(cluster, shape)
    return {
        f"kubernetes, Kueue's performance run, {count:,} workloads, admitted": {"per_s": theirs, "goal_per_s": 0},
        "kubernetes, the same as pods on 1,000 nodes, let go": {"per_s": ours, "goal_per_s": round(3 * theirs, 1)},
    }


def _source() -> Path:
    """Where the module of Kueue is."""
    command = [go() or "go", "mod", "download", "-json", MODULE]
    said = subprocess.run(command, cwd=KUEUE.source, capture_output=True, text=True, check=True).stdout
    return Path(json.loads(said)["Dir"])


def _part_of(shape: Document) -> Document:
    """A run with less work of each kind."""
    for cohort in shape["cohorts"]:
        for queues in cohort["queuesSets"]:
            for work in queues["workloadsSets"]:
                work["count"] //= PART
    return shape


def _admitted(cluster: ControlPlane, source: Path, shape: Document, count: int) -> float:
    """How many workloads Kueue admits in a second, as it is set up for its run."""
    cluster.kubectl("create", "--filename", str(source / CUSTOM_RESOURCES))
    cluster.kubectl("wait", "--for=condition=Established", "customresourcedefinitions", "--all")
    (cluster.folder / "shape.yaml").write_text(yaml.safe_dump(shape))
    access = f"--kubeconfig={cluster.kubeconfig()}"
    words = [access, "--generatorConfig=shape.yaml", "--o=.", "--qps=1000", "--burst=2000"]
    kueue = Process("kueue", [str(KUEUE.path("minimalkueue")), access], cluster.folder)
    runner = Process("runner", [str(KUEUE.path("runner")), *words], cluster.folder)
    with watching(cluster, WORKLOADS, _words_of_workload) as watch:
        try:
            kueue.start()
            runner.start()
            return rate(watch.until("admitted", count))
        finally:
            runner.kill()
            kueue.kill()


def _words_of_workload(workload: Document) -> Sequence[str]:
    conditions = workload.get("status", {}).get("conditions", ())
    return [each["type"].lower() for each in conditions if each["status"] == "True"]


def _let_go(cluster: ControlPlane, shape: Document) -> float:
    """How many pods a service lets go in a second, of those that wait when it starts."""
    pods = pods_of_queues(shape)
    with estate(cluster, nodes=NODES, gpus=max(pod["gpus"] for pod in pods), plan=plan_of_queues(shape)) as made:
        for name, value in {(work["className"], work["priority"]) for _, _, work in _works(shape)}:
            made.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        create(made, made.risk, pods)
        with watching_pods(cluster, made.risk) as watch:
            made.serve()
            return rate(watch.until("let go", len(pods)))


def _queues(shape: Document) -> Iterator[tuple[str, str, Document]]:
    """Cohort and name of each queue, and what is said of it."""
    for cohort in shape["cohorts"]:
        for number in range(cohort["count"]):
            for queues in cohort["queuesSets"]:
                for each in range(queues["count"]):
                    yield f"{cohort['className']}-{number}", f"{queues['className']}-{number}-{each}", queues


def _works(shape: Document) -> Iterator[tuple[int, str, Document]]:
    """When a piece of work comes, its queue, and what is said of it."""
    for _, queue, said in _queues(shape):
        for kind in said["workloadsSets"]:
            for number in range(kind["count"]):
                for work in kind["workloads"]:
                    yield (number + 1) * kind["creationIntervalMs"], queue, work


def pods_of_queues(shape: Document) -> list[dict[str, Any]]:
    """A pod for each piece of work, in the order in which the pieces come."""
    return [
        {
            "gpus": int(work["request"]),
            "runs_for": work["runtimeMs"] / 1000,
            "labels": {"queue": queue},
            "spec": {"priorityClassName": work["className"]},
        }
        for _, queue, work in sorted(_works(shape), key=lambda each: each[0])
    ]


def plan_of_queues(shape: Document) -> str:
    """The queues as consumers: a cohort has what its queues have together, and a queue may borrow as much as there."""
    consumers: dict[str, Any] = {}
    terms: dict[str, Any] = {}
    for cohort, queue, said in _queues(shape):
        owned = int(said["nominalQuota"])
        consumers.setdefault(cohort, {"consumers": {}})["consumers"][queue] = {"reclaim_grace": "0s"}
        terms[f"/{cohort}/{queue}"] = {
            "deserved": {"gpu": owned},
            "limit": {"gpu": owned + int(said["borrowingLimit"])},
        }
        whole = terms.setdefault(f"/{cohort}", {"deserved": {"gpu": 0}, "limit": {"gpu": 0}})
        whole["deserved"]["gpu"] += owned
        whole["limit"]["gpu"] += owned
    plan = {
        "fairhold": 1,
        "cluster": "queues",
        "resources": {"gpu": {"base": 1}},
        "resource_groups": {"gpus": {"nodes": {"pool": "POOL"}}},
        "kubernetes": {"pods": [{"consumer_label": "queue"}]},
        "consumers": consumers,
        "policies": [{"policy": "fair_share", "resource_groups": ["gpus"], "consumers": terms}],
    }
    return json.dumps(plan).replace("{", "{{").replace("}", "}}").replace("POOL", "{pool}")
