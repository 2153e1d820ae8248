"""A Kubernetes control plane of its own on this machine, for tests, and nodes that are not there.

`python -m tests.kubernetes.control_plane build` builds its programs.
"""

from __future__ import annotations

import base64
import http.client
import json
import secrets
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.kubernetes.nodes import RESOURCES, fake_node
from tests.kubernetes.process import Process, surroundings
from tests.kubernetes.programs import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PATIENCE = 60.0
ADMINISTRATOR, SERVICE = "administrator", "fairhold"
STAGES = Path(__file__).with_name("stages.yaml")
QUICK = ("--node-monitor-grace-period=6s", "--node-monitor-period=1s")
"""A node that says nothing is found out soon."""
WORKLOADS, WORKLOAD_VERSIONS = ("--feature-gates=GenericWorkload=true",), "--runtime-config=scheduling.k8s.io/v1beta1"
"""The workload API of Kubernetes itself."""


class KubectlError(Exception):
    """What kubectl says when it fails."""


class ControlPlane:
    """etcd, an API server, the controllers and the scheduler, in a folder; each can be killed and started again.

    users : people without groups, besides the administrator and `fairhold`. quick_faults : a node whose lease is not
    renewed for 6 s is NotReady. has_workloads : it has the workload API.
    service_port: of this machine, to which `port-forward` leads for any pod's port 7878.
    """

    def __init__(
        self,
        folder: Path,
        users: Sequence[str] = ("alice", "bob"),
        *,
        quick_faults: bool = False,
        has_workloads: bool = False,
    ) -> None:
        self.folder, self.quick_faults = folder, quick_faults
        self._gates = WORKLOADS if has_workloads else ()
        self._tokens = {user: secrets.token_hex(16) for user in (ADMINISTRATOR, SERVICE, *users)}
        self._etcd_port, peers, port, self._kubelet_port, self.service_port = free_ports(5)
        self.url = f"https://127.0.0.1:{port}"
        self.ca = folder / "certificates" / "apiserver.crt"
        commands = {
            "etcd": self._etcd(peers),
            "kube-apiserver": self._api_server(port),
            "kube-controller-manager": self._controller_manager(),
            "kube-scheduler": ["--leader-elect=false", "--secure-port=0", *self._gates, *self._client()],
        }
        binary = str(CLUSTER.path("cluster"))
        self.processes = {name: Process(name, [binary, name, *words], folder) for name, words in commands.items()}
        self.processes["kwok"] = Process("kwok", self._kwok(), folder)

    def __enter__(self) -> Self:
        try:
            return self._begin()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

    def token(self, user: str) -> str:
        return self._tokens[user]

    def kubeconfig(self, user: str = ADMINISTRATOR) -> Path:
        """A file with which a client is this user."""
        return self.folder / f"{user}.kubeconfig"

    def kubectl(self, *words: str, user: str = ADMINISTRATOR, stdin: str | None = None) -> str:
        """What kubectl answers this user."""
        command = [str(CLUSTER.path("cluster")), "kubectl", "--kubeconfig", str(self.kubeconfig(user)), *words]
        environment = surroundings(self.folder)
        done = subprocess.run(command, input=stdin or "", env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise KubectlError(done.stderr.strip())
        return done.stdout

    def start(self, name: str) -> None:
        """Start a program, wait until it serves."""
        if name == "kwok":  # which waits for the end of another's leases
            self.kubectl("delete", "leases", "--namespace", "kube-node-lease", "--all")
        self.processes[name].start()
        if name == "etcd":
            self.until(lambda: listens(self._etcd_port))
        elif name == "kube-apiserver":
            self.until(self.is_ready)
        self.processes[name].check()

    def kill(self, name: str) -> None:
        """End a program at once."""
        self.processes[name].kill()

    def restart(self, name: str) -> None:
        """Kill a program and start it again.

        kwok is started again after the API server or its store: unlike a kubelet, it drops what was not answered.
        """
        self.kill(name)
        self.start(name)
        if name in {"etcd", "kube-apiserver"}:
            self.until(self.is_ready)
            if self.processes["kwok"].runs:
                self.restart("kwok")

    def stop(self) -> None:
        """End all programs."""
        for process in reversed(self.processes.values()):
            process.kill()

    def kwok(
        self,
        nodes: int,
        resources: Mapping[str, str] = RESOURCES,
        labels: Mapping[str, str] | None = None,
        prefix: str = "node",
    ) -> list[str]:
        """Nodes that are not there; `stages.yaml` says how their pods behave. Their names, once all are ready."""
        names = [f"{prefix}-{number}" for number in range(nodes)]
        if not self.processes["kwok"].runs:
            self.start("kwok")
        with closing(self._connect()) as connection:  # kubectl takes thrice as long
            for name in names:
                node = fake_node(name, resources, labels or {}, self._kubelet_port)
                status, said = self._ask(connection, "POST", "/api/v1/nodes", node)
                assert status == http.HTTPStatus.CREATED, said
        self.until(lambda: self.ready_nodes().issuperset(names))
        return names

    def ready_nodes(self) -> set[str]:
        """Nodes to which the scheduler may give pods."""
        state = '{.status.conditions[?(@.type=="Ready")].status}'
        path = "{range .items[*]}{.metadata.name}={.spec.taints[*].key}" + state + '{"\\n"}{end}'
        lines = self.kubectl("get", "nodes", "--output", f"jsonpath={path}").split()
        return {name for name, _, words in (line.partition("=") for line in lines) if words == "True"}

    def is_ready(self) -> bool:
        """Whether the API server is."""
        with suppress(OSError, http.client.HTTPException), closing(self._connect()) as connection:
            return self._ask(connection, "GET", "/readyz") == (http.HTTPStatus.OK, "ok")
        return False

    def until(self, what: Callable[[], object], patience: float = PATIENCE) -> None:
        """Wait for something to be true while all programs run."""
        end = time.monotonic() + patience
        while not what():
            for process in self.processes.values():
                process.check()
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.05)

    def _begin(self) -> Self:
        (self.folder / "tokens.csv").write_text("".join(map(self._row, self._tokens)))
        (self.folder / "accounts.key").write_text(signing_key())
        for name in ("etcd", "kube-apiserver"):
            self.start(name)
        for user in self._tokens:
            self._write_kubeconfig(user)
        for name in ("kube-controller-manager", "kube-scheduler"):
            self.start(name)
        self.until(self._has_default_namespace)
        return self

    def _has_default_namespace(self) -> bool:
        with suppress(KubectlError):
            return bool(self.kubectl("get", "serviceaccount", "default", "--namespace", "default"))
        return False

    def _connect(self) -> http.client.HTTPSConnection:
        trust = ssl.create_default_context(cafile=self.ca)
        return http.client.HTTPSConnection(self.url.removeprefix("https://"), context=trust, timeout=PATIENCE)

    def _ask(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: object = None
    ) -> tuple[int, str]:
        """What the API server answers the administrator."""
        headers = {"Authorization": f"Bearer {self.token(ADMINISTRATOR)}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def _row(self, user: str) -> str:
        """A user's line of the API server's tokens."""
        return f"{self.token(user)},{user},{user},{'system:masters' if user == ADMINISTRATOR else ''}\n"

    def _write_kubeconfig(self, user: str) -> None:
        certificate = base64.b64encode(self.ca.read_bytes()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "tests", "cluster": {"server": self.url, "certificate-authority-data": certificate}}],
            "users": [{"name": user, "user": {"token": self.token(user)}}],
            "contexts": [{"name": user, "context": {"cluster": "tests", "user": user}}],
            "current-context": user,
        }
        self.kubeconfig(user).write_text(json.dumps(config))

    def _etcd(self, peers: int) -> list[str]:
        here, there = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{peers}"
        clients = [f"--listen-client-urls={here}", f"--advertise-client-urls={here}"]
        members = [f"--listen-peer-urls={there}", f"--initial-advertise-peer-urls={there}"]
        return ["--data-dir=etcd", "--unsafe-no-fsync", *clients, *members, f"--initial-cluster=default={there}"]

    def _api_server(self, port: int) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--cert-dir=certificates",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=accounts.key",
            "--service-account-signing-key-file=accounts.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--allow-privileged",
            "--disable-admission-plugins=ServiceAccount",
            *((*self._gates, WORKLOAD_VERSIONS) if self._gates else ()),
        ]

    def _controller_manager(self) -> list[str]:
        words = ["--leader-elect=false", "--secure-port=0", *self._client(), *(QUICK if self.quick_faults else ())]
        return [*words, *self._gates, "--service-account-private-key-file=accounts.key", f"--root-ca-file={self.ca}"]

    def _client(self) -> list[str]:
        return [f"--kubeconfig={self.kubeconfig()}", "--kube-api-qps=1000", "--kube-api-burst=2000"]

    def _kwok(self) -> list[str]:
        to = {"address": "127.0.0.1", "port": self.service_port}
        forward = {"metadata": {"name": "service"}, "spec": {"forwards": [{"ports": [7878], "target": to}]}}
        kind = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterPortForward"}
        config = self.folder / "kwok.yaml"
        config.write_text(f"{STAGES.read_text()}\n---\n{json.dumps(kind | forward)}\n")
        words = [f"--kubeconfig={self.kubeconfig()}", f"--config={config}"]
        words += [f"--node-port={self._kubelet_port}", f"--server-address=127.0.0.1:{self._kubelet_port}"]
        words.append("--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake")
        return [str(CLUSTER.path("kwok")), *words, f"--node-lease-duration-seconds={8 if self.quick_faults else 40}"]


def signing_key() -> str:
    """A private key for the tokens of service accounts: SEC 1, on P-256."""
    number = b"\x01" + secrets.token_bytes(31)  # below the order of the curve
    der = bytes.fromhex("30310201010420") + number + bytes.fromhex("a00a06082a8648ce3d030107")
    return f"-----BEGIN EC PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END EC PRIVATE KEY-----\n"


def free_ports(number: int) -> list[int]:
    """Ports on which nobody listens, and which the system gives to no client: a server can come back to its own."""
    found: set[int] = set()
    while len(found) < number:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.socket() as taken:
            taken.bind(("127.0.0.1", port))
            found.add(port)
    return list(found)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


if __name__ == "__main__":
    if sys.argv[1:] != ["build"]:
        raise SystemExit("usage: python -m tests.kubernetes.control_plane build")
    CLUSTER.build()
