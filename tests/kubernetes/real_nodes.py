"""Real nodes on this machine: containerd, runc and a kubelet each, with all they keep in a folder of their own."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.house import processes, until
from tests.kubernetes.control_plane import free_ports
from tests.kubernetes.process import Process
from tests.kubernetes.programs import CLUSTER

if TYPE_CHECKING:
    from tests.kubernetes.control_plane import ControlPlane

IMAGE = "fairhold.test/busybox:1"
BUSYBOX = Path("/bin/busybox")
COMMANDS = ("sh", "sleep", "cat", "grep", "echo")
NEEDED = ("containerd", "runc", "ctr")
NETWORK = {"cniVersion": "1.0.0", "name": "none", "plugins": [{"type": "loopback"}]}
"""A node without any is not ready; pods here use that of the host."""
SLOTS = 4
"""Pods that a node takes."""


def unavailable() -> str:
    """Why there can be no real nodes, empty = there can."""
    if os.geteuid() != 0:
        return "kubelets need root"
    if missing := [name for name in NEEDED if not shutil.which(name)] + (
        [] if BUSYBOX.exists() else ["busybox-static"]
    ):
        return f"not installed: {', '.join(missing)}"
    hierarchies = (Path("/sys/fs/cgroup/cgroup.procs"), Path("/sys/fs/cgroup/pids/cgroup.procs"))
    if not any(os.access(each, os.W_OK) for each in hierarchies):
        return "control groups cannot be made"
    return ""


class RealNode:
    """A node that runs containers. Each of its programs can be killed and started again; containers live on."""

    def __init__(self, cluster: ControlPlane, folder: Path, name: str, pool: str) -> None:
        folder.mkdir()
        self.cluster, self.folder, self.name = cluster, folder, name
        self._socket = folder / "containerd.sock"
        self._port, streams = free_ports(2)
        (folder / "containerd.toml").write_text(_containerd(folder, self._socket, streams))
        (folder / "cni").mkdir()
        (folder / "cni" / "10-none.conflist").write_text(json.dumps(NETWORK))
        (folder / "kubelet.yaml").write_text(json.dumps(_kubelet(folder, self._socket, self._port)))
        words = [
            f"--config={folder}/kubelet.yaml",
            f"--kubeconfig={cluster.kubeconfig()}",
            f"--root-dir={folder}/kubelet",
        ]
        words += [f"--cert-dir={folder}/certificates", f"--hostname-override={name}", f"--node-labels=pool={pool}"]
        self.containerd = Process("containerd", ["containerd", f"--config={folder}/containerd.toml"], folder)
        self.kubelet = Process("kubelet", [str(CLUSTER.path("cluster")), "kubelet", *words], folder)

    def start(self) -> None:
        """Start all, wait until pods may come."""
        self.containerd.start()
        until(self._answers)
        image = self.folder / "image.tar"
        image.write_bytes(_image())
        self._ctr("images", "import", str(image))
        self.start_kubelet()

    def start_kubelet(self) -> None:
        self.kubelet.start()
        until(lambda: self.name in self.cluster.ready_nodes())

    def close(self) -> None:
        """End all that runs here, containers too, and leave nothing mounted."""
        for each in (self.kubelet, self.containerd):
            each.kill()
        for pid in processes(str(self.folder)):  # shims
            _kill(pid)
        runtime = self.folder / "runc" / "k8s.io"
        for container in runtime.iterdir() if runtime.exists() else ():
            subprocess.run(["runc", "--root", str(runtime), "delete", "--force", container.name], check=False)
        mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for path in reversed([each for each in mounted if each.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "--lazy", path], check=False)

    def _answers(self) -> bool:
        self.containerd.check()
        with suppress(subprocess.CalledProcessError):
            self._ctr("version")
            return True
        return False

    def _ctr(self, *words: str) -> None:
        command = ["ctr", "--address", str(self._socket), "--namespace", "k8s.io", *words]
        subprocess.run(command, check=True, capture_output=True)


def containers(mark: str) -> list[int]:
    """Processes of containers whose command has a text in it."""
    return [pid for pid in processes(mark) if Path(f"/proc/{pid}/exe").resolve().name.startswith("busybox")]


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _containerd(folder: Path, socket: Path, port: int) -> str:
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    runc = f"{cri}.containerd.runtimes.runc"
    return f"""
version = 2
root = "{folder}/containerd"
state = "{folder}/state"
[grpc]
address = "{socket}"
[{cri}]
sandbox_image = "{IMAGE}"
disable_apparmor = true
disable_hugetlb_controller = true
tolerate_missing_hugetlb_controller = true
restrict_oom_score_adj = true
stream_server_address = "127.0.0.1"
stream_server_port = "{port}"
[{cri}.cni]
conf_dir = "{folder}/cni"
[{cri}.containerd]
snapshotter = "native"
default_runtime_name = "runc"
[{runc}]
runtime_type = "io.containerd.runc.v2"
[{runc}.options]
SystemdCgroup = false
Root = "{folder}/runc"
"""


def _kubelet(folder: Path, socket: Path, port: int) -> dict[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "127.0.0.1",
        "port": port,
        "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "containerRuntimeEndpoint": f"unix://{socket}",
        "podLogsDir": f"{folder}/logs",
        "maxPods": SLOTS,
        "resolvConf": "",
        "failSwapOn": False,
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": False,
        "makeIPTablesUtilChains": False,
        "nodeStatusUpdateFrequency": "1s",
        "nodeLeaseDurationSeconds": 8,
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    }


def _image() -> bytes:
    """An image with busybox alone, as `docker save` writes it. Without a command it sleeps, as a sandbox has to."""
    layer = _tar({"bin/busybox": BUSYBOX.read_bytes()}, {f"bin/{name}": "busybox" for name in COMMANDS})
    digest = f"sha256:{hashlib.sha256(layer).hexdigest()}"
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/bin/sleep", "1000000"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [digest]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [IMAGE], "Layers": ["layer.tar"]}]
    files = {"manifest.json": manifest, "config.json": config}
    return _tar({name: json.dumps(each).encode() for name, each in files.items()} | {"layer.tar": layer})


def _tar(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return made.getvalue()
