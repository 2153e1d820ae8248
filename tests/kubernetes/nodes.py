"""Nodes that are not there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RESOURCES = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8", "pods": "110"}


def manifest(names: Iterable[str], resources: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """Nodes with these resources, to be created at once."""
    items = [_node(name, resources, {"kubernetes.io/hostname": name, **labels}) for name in names]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _node(name: str, resources: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": resources, "allocatable": resources},
    }
