"""How a bare pod is made anew after a reclaim: as its user made it, without what the cluster added."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names

if TYPE_CHECKING:
    from collections.abc import Mapping

_ADDED = "kube-api-access-"
"""How the names of volumes begin that the API server adds to each pod."""
_OF_ONE_LIFE = {names.ATTEMPT, names.NOTICE, names.OWNER}


def pack(document: Mapping[str, Any]) -> bytes:
    """What a pod was made from, small: it is kept with its job."""
    return zlib.compress(json.dumps(manifest_of(document), separators=(",", ":"), sort_keys=True).encode())


def unpack(packed: bytes) -> dict[str, Any]:
    """The reverse."""
    found: dict[str, Any] = json.loads(zlib.decompress(packed))
    return found


def manifest_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a pod that waits at the gate as this one did."""
    meta, spec = document["metadata"], dict(document.get("spec") or {})
    notes = {key: value for key, value in (meta.get("annotations") or {}).items() if key not in _OF_ONE_LIFE}
    made = {"name": meta["name"], "namespace": meta["namespace"], "annotations": notes}
    if meta.get("labels"):
        made["labels"] = meta["labels"]
    if names.ATTEMPT in (meta.get("annotations") or {}):  # the pin is ours
        spec["nodeSelector"] = {
            key: value for key, value in (spec.get("nodeSelector") or {}).items() if key != names.HOSTNAME
        }
    for key in ("nodeName", "priority", "preemptionPolicy", "ephemeralContainers"):
        spec.pop(key, None)
    volumes = [each for each in spec.get("volumes") or () if not each["name"].startswith(_ADDED)]
    spec["volumes"] = volumes
    for kind in ("containers", "initContainers"):
        if spec.get(kind):
            spec[kind] = [_without_added(each) for each in spec[kind]]
    others = [each for each in spec.get("schedulingGates") or () if each["name"] != names.GATE]
    spec["schedulingGates"] = [*others, {"name": names.GATE}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": spec}


def _without_added(container: Mapping[str, Any]) -> dict[str, Any]:
    mounts = [each for each in container.get("volumeMounts") or () if not each["name"].startswith(_ADDED)]
    return dict(container) | {"volumeMounts": mounts}
