"""A bank on Kubernetes: two departments submit Jobs, one borrows GPUs and gives them back when the owner comes.

Starts a control plane of its own with two nodes of four GPUs that kwok plays (`make kubernetes-cluster` builds the
programs), applies what `fairhold kubernetes manifest` prints, and `fairhold serve` governs it with
`bank-kubernetes.yaml`. What is printed meanwhile is `kubectl get consumers --watch`. It ends by itself within about a
minute and leaves nothing behind; it exits with 1 where a Job has lost a pod.

    python -m examples.kubernetes_demo
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fairhold.engines.kubernetes.custom_resources import custom_resources
from fairhold.engines.kubernetes.manifest import text_of
from fairhold.engines.kubernetes.manifest_policies import policies
from fairhold.engines.kubernetes.manifest_rights import namespace, rights
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from fairhold.engines.kubernetes.names import GOVERNED
from tests.faults.house import House
from tests.kubernetes.control_plane import SERVICE, ControlPlane
from tests.kubernetes.estate import GPU
from tests.kubernetes.process import surroundings
from tests.kubernetes.programs import CLUSTER
from tests.kubernetes.spaces import is_gated_at_once

PLAN = Path(__file__).with_name("bank-kubernetes.yaml")
SETTINGS = ManifestSettings(user=SERVICE)
DEPARTMENTS = ("trading", "research")
NODES, GPUS = 2, 4


def main() -> int:
    """Show it; returns the exit status."""
    if reason := CLUSTER.unavailable():
        say(reason)
        return 1
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairhold-demo-")))
        (folder / "cluster").mkdir()
        say("a control plane starts: etcd, API server, controllers, scheduler")
        cluster = stack.enter_context(ControlPlane(folder / "cluster"))
        prepare(cluster)
        words = ("--kubernetes", "--kubeconfig", str(cluster.kubeconfig(SERVICE)), "--no-lease")
        house = House(folder / "service", PLAN.read_text(), *words)
        house.launch()
        stack.callback(house.close)
        house.await_up()
        cluster.until(lambda: "research" in cluster.kubectl("get", "consumers", "--output=name"))
        stack.callback(end, watch(cluster))
        return play(cluster)


def prepare(cluster: ControlPlane) -> None:
    """Nodes, what the service needs, and governed namespaces."""
    cluster.kwok(NODES, {"cpu": "32", "memory": "64Gi", GPU: str(GPUS), "pods": "110"}, {"pool": "bank"}, prefix="gpu")
    objects = [namespace(SETTINGS), *custom_resources(), *rights(SETTINGS), *policies(SETTINGS)]
    cluster.kubectl("apply", "--server-side", "--filename=-", stdin=text_of(objects))
    for name in DEPARTMENTS:
        cluster.kubectl("create", "namespace", name)
        cluster.kubectl("label", "namespace", name, f"{GOVERNED}=true")
    say(f"{NODES} nodes with {GPUS} GPUs each; fairhold's admission policies come into force")
    cluster.until(lambda: all(is_gated_at_once(cluster, name) for name in DEPARTMENTS))


def play(cluster: ControlPlane) -> int:
    """What the departments do; 1 where a Job has lost a pod."""
    say("Research owns 3 GPUs and submits a Job of 10 pods: it borrows what Trading does not use")
    submit(cluster, "research", "backtest", 10, seconds=12)
    cluster.until(lambda: running(cluster, "research") >= NODES * GPUS - 1)
    cluster.until(lambda: "gpus 4" in cluster.kubectl("get", "consumers", "trading"))  # and everybody sees it
    say("Trading wants 4 of its 5 GPUs: Research has two seconds to give back, and its pods come back in front")
    submit(cluster, "trading", "prices", 4, seconds=6)
    cluster.until(lambda: running(cluster, "trading") == 4)
    say("Trading has them; when its Job is done, Research borrows again")
    cluster.until(lambda: all(done(cluster, *job) for job in JOBS))
    statuses = [cluster.kubectl("get", "jobs", "--namespace", name) for name, _ in JOBS]
    print("\n" + "\n".join(statuses), flush=True)
    lost = sum(status_of(cluster, *job).get("failed", 0) for job in JOBS)
    say("all pods are done, and no Job counts a failure" if not lost else f"{lost} pods have failed")
    return 1 if lost else 0


JOBS = (("research", "backtest"), ("trading", "prices"))


def submit(cluster: ControlPlane, where: str, name: str, count: int, *, seconds: int) -> None:
    """Submit a Job as anybody would; kwok lets its pods run for some seconds, and go as soon as they are told."""
    container = {"name": "main", "image": "none", "resources": {"limits": {GPU: "1"}}}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    notes = {"tests.fairhold.io/runs-for": str(seconds), "tests.fairhold.io/term-after": "0"}
    template = {"metadata": {"annotations": notes}, "spec": spec}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}}
    job["spec"] = {"parallelism": count, "completions": count, "backoffLimit": 0, "template": template}
    cluster.kubectl("create", "--namespace", where, "--filename=-", stdin=json.dumps(job))


def status_of(cluster: ControlPlane, where: str, name: str) -> dict[str, Any]:
    """What a Job says of itself."""
    found: dict[str, Any] = json.loads(cluster.kubectl("get", "job", name, "--namespace", where, "--output=json"))
    return dict(found["status"])


def done(cluster: ControlPlane, where: str, name: str) -> bool:
    """Whether a Job is over, well or not."""
    conditions = status_of(cluster, where, name).get("conditions", ())
    return any(each["type"] in {"Complete", "Failed"} and each["status"] == "True" for each in conditions)


def running(cluster: ControlPlane, where: str) -> int:
    """How many pods run in a namespace."""
    words = ("--field-selector=status.phase=Running", "--output=name")
    return len(cluster.kubectl("get", "pods", "--namespace", where, *words).split())


def watch(cluster: ControlPlane) -> subprocess.Popen[bytes]:
    """Print how the consumers change."""
    command = [
        str(CLUSTER.path("cluster")),
        "kubectl",
        f"--kubeconfig={cluster.kubeconfig()}",
        "get",
        "consumers",
        "--watch",
    ]
    return subprocess.Popen(command, env=surroundings(cluster.folder), stdin=subprocess.DEVNULL)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program of ours."""
    process.terminate()
    process.wait()


def say(text: str) -> None:
    """A line for people, between those of kubectl."""
    print(f"\n# {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
