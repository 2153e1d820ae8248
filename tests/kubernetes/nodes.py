"""Nodes that are not there."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

RESOURCES = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8", "pods": "110"}
NAMES_OF_SYSTEM = ("containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion", "osImage")


def fake_node(name: str, resources: Mapping[str, str], labels: Mapping[str, str], port: int = 10250) -> dict[str, Any]:
    """A node that kwok plays, whose kubelet is at a port of this machine.

    It is born ready: a thousand cost the API server a third less so.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    system = dict.fromkeys(NAMES_OF_SYSTEM, "none") | {"architecture": "amd64", "operatingSystem": "linux"}
    boot = {"bootID": str(uuid.uuid4()), "machineID": name, "systemUUID": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **labels},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [ready | {"lastHeartbeatTime": now, "lastTransitionTime": now}],
            "nodeInfo": system | boot,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        },
    }
