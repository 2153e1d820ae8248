"""`fairhold import … --live`: the queues that a real control plane has."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.kubernetes.control_plane import ADMINISTRATOR, KubectlError
from tests.planio.importing import cluster_queue, kueue_object, queue, quotas

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

KUEUE = {"ClusterQueue": "Cluster", "Cohort": "Cluster", "ResourceFlavor": "Cluster", "LocalQueue": "Namespaced"}
OBJECTS = [
    queue("department"),
    queue("team", "department", resources={"gpu": {"quota": 4}}),
    kueue_object("Cohort", "ml"),
    cluster_queue("vision", "ml", resourceGroups=quotas(nominalQuota=8)),
    cluster_queue("speech", "ml", resourceGroups=quotas(nominalQuota=4)),
    kueue_object("ResourceFlavor", "default"),
    kueue_object("LocalQueue", "eyes", namespace="default", clusterQueue="vision"),
]


def definition(group: str, kind: str, scope: str, *versions: str) -> dict[str, Any]:
    """A kind that takes anything."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = [
        {"name": name, "served": True, "storage": name == versions[-1], "schema": {"openAPIV3Schema": anything}}
        for name in versions
    ]
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": served},
    }


def fairhold(cluster: ControlPlane, *words: str, user: str = ADMINISTRATOR) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fairhold", "import", *words, "--kubeconfig", str(cluster.kubeconfig(user))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def queues(cluster: ControlPlane) -> ControlPlane:
    """A cluster with queues of KAI and Kueue; before that, it says what is missing."""
    for system in ("kai", "kueue"):
        done = fairhold(cluster, system, "--live")
        assert done.returncode == 1
        assert "[kubernetes-no-kind]" in done.stderr
    definitions = [definition("scheduling.run.ai", "Queue", "Cluster", "v2")]
    definitions += [definition("kueue.x-k8s.io", kind, scope, "v1beta1", "v1beta2") for kind, scope in KUEUE.items()]
    for each in definitions:
        cluster.kubectl("create", "--filename=-", stdin=json.dumps(each))
    cluster.until(lambda: all(created(cluster, each) for each in OBJECTS))
    cluster.kwok(1)
    return cluster


def created(cluster: ControlPlane, document: dict[str, Any]) -> bool:
    """Whether an object could be made: its kind is known a moment after its definition."""
    with suppress(KubectlError):
        cluster.kubectl("apply", "--server-side", "--filename=-", stdin=json.dumps(document))
        return True
    return False


@pytest.mark.parametrize(
    ("system", "kinds", "paths"),
    [
        ("kai", "queues.scheduling.run.ai", {"/department", "/department/team"}),
        ("kueue", "clusterqueues,cohorts,localqueues,resourceflavors", {"/ml", "/ml/vision"}),
    ],
)
def test_the_plan_is_that_of_the_same_objects_in_a_file(
    queues: ControlPlane, tmp_path: Path, system: str, kinds: str, paths: set[str]
) -> None:
    live = fairhold(queues, system, "--live", "--output", str(tmp_path / "live.yaml"))
    assert live.returncode == 0, live.stderr
    file = tmp_path / "objects.yaml"
    file.write_text(queues.kubectl("get", f"{kinds},nodes", "-A", "-o", "yaml"))
    command = [sys.executable, "-m", "fairhold", "import", system, str(file), "--output", str(tmp_path / "plan.yaml")]
    subprocess.run(command, check=True, capture_output=True)
    plan = yaml.safe_load((tmp_path / "live.yaml").read_text())
    assert plan == yaml.safe_load((tmp_path / "plan.yaml").read_text())
    assert paths <= set(plan["consumers"])
    assert json.dumps(plan).count("node-0") >= 1


def test_whoever_may_not_list_them_is_told_which(queues: ControlPlane) -> None:
    done = fairhold(queues, "kai", "--live", user="alice")
    assert done.returncode == 1
    assert "[kubernetes-rights]" in done.stderr
    assert "kubectl get queues -A" in done.stderr
    queues.kubectl("create", "clusterrole", "queues", "--verb=list", "--resource=queues.scheduling.run.ai")
    queues.kubectl("create", "clusterrolebinding", "queues", "--clusterrole=queues", "--user=alice")

    def may() -> bool:
        return fairhold(queues, "kai", "--live", user="alice").returncode == 0

    queues.until(may)
    assert "what the cluster has is not read" in fairhold(queues, "kai", "--live", user="alice").stderr
