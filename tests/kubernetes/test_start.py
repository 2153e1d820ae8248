"""Starts that cannot be, or are odd, on a real control plane: each says what is wrong and how to mend it."""

from __future__ import annotations

import json
import signal
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.manifest_rights import EVERYWHERE
from tests.faults.house import House, until
from tests.kubernetes.control_plane import SERVICE, free_ports
from tests.kubernetes.estate import PLAN, Estate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

TEXT = PLAN.format(pool="nowhere", grace="1s", each=1)
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/fairhold"


def refusal(place: Path, *words: str) -> str:
    """What a service says that does not start."""
    house = House(place, TEXT, "--kubernetes", *words)
    house.launch()
    assert house.service.wait(30) == 1
    assert "Traceback" not in house.said
    return house.said


@pytest.fixture
def house(cluster: ControlPlane, tmp_path: Path) -> Iterator[House]:
    """A service of a plan whose group matches no node, not started yet."""
    made = House(tmp_path, TEXT, "--kubernetes", "--kubeconfig", str(cluster.kubeconfig()))
    yield made
    made.close()


def test_a_user_without_rights_is_told_all_that_is_missing_and_of_some_the_rest(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    words = ("--kubeconfig", str(cluster.kubeconfig(SERVICE)))
    said = refusal(tmp_path / "none", *words)
    assert "[kubernetes-rights]" in said
    assert "list, watch, create, patch, delete pods; patch pods/status; get, list, watch nodes" in said
    assert "get, create, update leases in default" in said
    rules = [
        {
            "apiGroups": [group],
            "resources": [kind],
            "verbs": [verb for verb in verbs if (verb, kind) != ("patch", "pods")],
        }
        for group, kind, verbs, *_ in EVERYWHERE
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "most"}}
    cluster.kubectl("create", "--filename=-", stdin=json.dumps(role | {"rules": rules}))
    cluster.kubectl("create", "clusterrolebinding", "most", "--clusterrole=most", f"--user={SERVICE}")
    until(lambda: "yes" in cluster.kubectl("auth", "can-i", "list", "nodes", user=SERVICE))
    said = refusal(tmp_path / "most", "--no-lease", *words)
    assert "may not: patch pods" in said
    assert said.count("pods") == 1


def test_a_cluster_or_context_that_is_not_there_is_told(cluster: ControlPlane, tmp_path: Path) -> None:
    said = refusal(tmp_path / "a", "--kubeconfig", str(cluster.kubeconfig()), "--context", "other")
    assert "it has no `other` under `contexts`" in said
    assert "kubectl config get-contexts" in said
    config = json.loads(cluster.kubeconfig().read_text())
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_ports(1)[0]}"
    (wrong := tmp_path / "wrong").write_text(json.dumps(config))
    said = refusal(tmp_path / "b", "--kubeconfig", str(wrong))
    assert "does not answer" in said
    assert "kubectl get --raw /readyz" in said
    assert "there is no kubeconfig" in refusal(tmp_path / "c", "--kubeconfig", str(tmp_path / "none"))


def test_the_clock_of_the_server_is_read(cluster: ControlPlane) -> None:
    with closing(Api(find_access(cluster.kubeconfig()))) as api:
        assert abs(api.clock() - time.time()) < 3


def test_a_group_in_which_no_node_is_is_told_until_there_is_one(cluster: ControlPlane, house: House) -> None:
    house.words += ("--no-lease",)
    house.serve()
    line = "no node has the labels `pool=nowhere`: nothing starts in the resource group `gpus`"
    until(lambda: line in house.said)
    cluster.kwok(1, labels={"pool": "nowhere"}, prefix="late")
    until(lambda: any(host.name == "late-0" and host.state == "up" for host in house.client.hosts()))
    assert house.said.count(line) == 1
    cluster.kubectl("delete", "node", "late-0")


def test_a_service_that_waits_for_its_plan_ends_at_once_when_it_is_asked_to(house: House) -> None:
    house.has_plan_file = False
    house.launch("--plan-object", "none")
    until(lambda: "waiting for the Plan none" in house.said)
    house.service.send_signal(signal.SIGTERM)
    assert house.service.wait(5) == 0
    assert "Traceback" not in house.said


def test_the_very_first_service_leads_at_once_and_one_after_a_deleted_lease_waits(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    cluster.kubectl("delete", "lease", "fairhold", "--namespace=default", "--ignore-not-found")
    estate = Estate(cluster, tmp_path, "--lease-duration", "20s", nodes=1)
    try:
        began = time.monotonic()
        estate.serve()
        assert time.monotonic() - began < 15
        estate.pod(estate.risk, "p")
        estate.until_states(estate.risk, running=1)
        estate.house.kill()
        estate.api.request("DELETE", LEASE)
        began = time.monotonic()
        estate.house.launch()
        estate.until(lambda: "the lease is new, and is taken in 20 seconds" in estate.house.said)
        estate.until(estate.house.is_up)
        assert time.monotonic() - began > 19
        estate.house.await_up()
        (pod,) = estate.pods(estate.risk)
        assert names.FINALIZER in pod["metadata"]["finalizers"]
    finally:
        estate.close()
