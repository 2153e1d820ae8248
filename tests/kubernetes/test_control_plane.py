"""The cluster that other tests use does what they rely on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.house import lives, until
from tests.kubernetes.control_plane import ControlPlane, KubectlError
from tests.kubernetes.process import DiedError, Process

if TYPE_CHECKING:
    from pathlib import Path

FINALIZER = "tests.fairhold.io/kept"
POOL = {"pool": "own"}
ALONE = """\
import sys, time, pathlib
from tests.kubernetes.control_plane import ControlPlane
cluster = ControlPlane(pathlib.Path(sys.argv[1]))
cluster.start("etcd")
print(cluster.processes["etcd"].pid, flush=True)
time.sleep(60)
"""


class Pods:
    """Pods of a namespace, each with a GPU."""

    def __init__(self, cluster: ControlPlane, namespace: str) -> None:
        self.cluster, self.within = cluster, ("--namespace", namespace)

    def create(self, name: str, finalizers: tuple[str, ...] = (), **annotations: str) -> None:
        notes = {f"tests.fairhold.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
        container = {"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "finalizers": finalizers, "annotations": notes},
            "spec": {"nodeSelector": POOL, "restartPolicy": "Never", "containers": [container]},
        }
        self.cluster.kubectl("create", *self.within, "--filename=-", stdin=json.dumps(pod))

    def delete(self, *names: str, grace: int = 30) -> None:
        self.cluster.kubectl("delete", "pods", *names, *self.within, "--wait=false", f"--grace-period={grace}")

    def release(self, *names: str) -> None:
        """Take the finalizers away."""
        for name in names:
            patch = '--patch={"metadata":{"finalizers":null}}'
            self.cluster.kubectl("patch", "pod", name, *self.within, "--type=merge", patch)

    def names(self) -> str:
        return self.cluster.kubectl("get", "pods", *self.within, "--output=name")

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.cluster.kubectl("get", "pod", name, *self.within, "--output=json"))
        return found["status"]  # type: ignore[no-any-return]

    def runs(self, name: str) -> bool:
        return any("running" in each["state"] for each in self.status(name).get("containerStatuses", ()))

    def exit_code(self, name: str) -> int | None:
        """What the node says of the end of the pod's container."""
        for each in self.status(name).get("containerStatuses", ()):
            if end := each["state"].get("terminated"):
                return int(end["exitCode"])
        return None


@pytest.fixture(scope="session")
def nodes(cluster: ControlPlane) -> list[str]:
    return cluster.kwok(nodes=2, prefix="own", labels=POOL)


@pytest.fixture
def pods(cluster: ControlPlane, namespace: str, nodes: list[str]) -> Pods:
    assert nodes == ["own-0", "own-1"]
    return Pods(cluster, namespace)


def test_a_pod_runs_and_ends_with_its_exit_code(pods: Pods) -> None:
    pods.create("long")
    pods.create("short", runs_for="0.5", exit_code="3")
    until(lambda: pods.exit_code("short") == 3)
    assert pods.status("short")["phase"] == "Failed"
    until(lambda: pods.runs("long"))


def test_a_deleted_pod_says_how_it_ended_while_a_finalizer_keeps_it(pods: Pods) -> None:
    pods.create("kept", finalizers=(FINALIZER,))
    until(lambda: pods.runs("kept"))
    pods.delete("kept")
    until(lambda: pods.exit_code("kept") == 143)
    pods.release("kept")
    until(lambda: not pods.names())


def test_a_deleted_pod_takes_its_time_and_its_grace_at_most(pods: Pods) -> None:
    pods.create("obeys", finalizers=(FINALIZER,), term_after="2", term_exit_code="75")
    pods.create("ignores", finalizers=(FINALIZER,), term_after="60")
    until(lambda: pods.runs("obeys") and pods.runs("ignores"))
    pods.delete("obeys", "ignores", grace=5)
    assert pods.runs("obeys")
    until(lambda: pods.exit_code("obeys") == 75)
    assert pods.runs("ignores")
    until(lambda: pods.exit_code("ignores") == 137)
    pods.release("obeys", "ignores")
    until(lambda: not pods.names())


def test_a_pod_that_is_deleted_before_it_runs_says_that_it_is_over(
    cluster: ControlPlane, pods: Pods, nodes: list[str]
) -> None:
    cluster.kill("kwok")
    pods.create("early", finalizers=(FINALIZER,))
    until(lambda: any(each["type"] == "PodScheduled" for each in pods.status("early").get("conditions", ())))
    pods.delete("early")
    cluster.start("kwok")
    until(lambda: pods.exit_code("early") == 137)
    assert pods.status("early")["phase"] == "Failed"
    cluster.until(lambda: cluster.ready_nodes().issuperset(nodes))
    pods.release("early")
    until(lambda: not pods.names())


def test_users_may_do_what_their_roles_say(cluster: ControlPlane, namespace: str) -> None:
    within = ("--namespace", namespace)
    cluster.kubectl("create", "role", "reader", "--verb=list", "--resource=pods", *within)
    cluster.kubectl("create", "rolebinding", "reader", "--role=reader", "--user=alice", *within)
    assert cluster.kubectl("get", "pods", "--output=name", *within, user="alice") == ""
    for user in ("bob", "fairhold"):
        with pytest.raises(KubectlError, match=f'User "{user}" cannot list'):
            cluster.kubectl("get", "pods", *within, user=user)


def test_a_service_account_has_tokens(cluster: ControlPlane, namespace: str) -> None:
    within = ("--namespace", namespace)
    cluster.kubectl("create", "serviceaccount", "robot", *within)
    token = cluster.kubectl("create", "token", "robot", *within).strip()
    reviewed = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    said = cluster.kubectl("create", "--filename=-", "--output=json", stdin=json.dumps(reviewed))
    assert json.loads(said)["status"]["user"]["username"] == f"system:serviceaccount:{namespace}:robot"


def test_killed_programs_come_back_with_their_objects(control_plane: type[ControlPlane], tmp_path: Path) -> None:
    with control_plane(tmp_path, quick_faults=True) as own:
        names = set(own.kwok(nodes=2))
        own.kubectl("create", "namespace", "remembered")
        for name in ("kube-apiserver", "etcd"):
            own.kill(name)
        with pytest.raises(KubectlError):
            own.kubectl("get", "nodes")
        for name in ("etcd", "kube-apiserver"):
            own.start(name)
        assert own.kubectl("get", "namespace", "remembered", "--output=name").strip() == "namespace/remembered"
        own.kill("kwok")
        until(lambda: not own.ready_nodes())
        own.start("kwok")
        until(lambda: own.ready_nodes() == names)


@pytest.mark.usefixtures("control_plane")
def test_nothing_is_left_of_tests_that_die(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ALONE, str(tmp_path)], stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        etcd = int(tests.stdout.readline())
        assert lives(etcd)
        tests.send_signal(signal.SIGKILL)
    until(lambda: not lives(etcd))


def test_a_program_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    process = Process("short", ["sh", "-c", "echo bad flag; exit 3"], tmp_path)
    process.start()
    with pytest.raises(DiedError, match="short ended with 3:\nbad flag"):
        until(process.check)
    process.kill()
    assert not process.runs
