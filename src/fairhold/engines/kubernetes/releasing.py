"""Takes the governor out of a cluster: pods lose gate, finalizer and annotations, and run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.writes import MERGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.engines.kubernetes.api import Api

_OURS = (names.ATTEMPT, names.NOTICE, names.OWNER)
_GONE, _CHANGED = 404, 409
_TRIES = 5


class Released(NamedTuple):
    """How many pods were let go: that waited at the gate, and that ran or had ended.

    refused : what the API server said, by pod
    """

    gated: int
    kept: int
    refused: Mapping[str, str]


def patch_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The change that takes all that is ours from a pod; empty where there is nothing."""
    meta, spec = document["metadata"], document.get("spec") or {}
    notes = dict.fromkeys(name for name in _OURS if name in (meta.get("annotations") or {}))
    patch: dict[str, Any] = {}
    if notes:
        patch["annotations"] = notes
    finalizers = meta.get("finalizers") or []
    if names.FINALIZER in finalizers:
        patch["finalizers"] = [each for each in finalizers if each != names.FINALIZER] or None
    gates = spec.get("schedulingGates") or []
    left = [each for each in gates if each["name"] != names.GATE]
    is_gated = len(left) < len(gates)
    if not patch and not is_gated:
        return {}
    found: dict[str, Any] = {"metadata": patch | {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
    return found | ({"spec": {"schedulingGates": left or None}} if is_gated else {})


def release(api: Api, namespace: str = "") -> Released:
    """Let all pods go, of one namespace or all. Raises ApiError where they cannot be listed."""
    path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
    gated = kept = 0
    refused: dict[str, str] = {}
    for document in api.list(path)[0]:
        patch = patch_of(document)
        if not patch:
            continue
        name = f"{document['metadata']['namespace']}/{document['metadata']['name']}"
        if why := _change(api, document, patch):
            refused[name] = why
        elif "spec" in patch:
            gated += 1
        else:
            kept += 1
    return Released(gated, kept, refused)


def _change(api: Api, document: Mapping[str, Any], patch: Mapping[str, Any]) -> str:
    """Change a pod, looked at anew where it has changed meanwhile; what the API server said where it refuses."""
    meta = document["metadata"]
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    why = ""
    for _ in range(_TRIES):
        try:
            api.request("PATCH", path, patch, MERGE)
        except ApiError as error:
            why = str(error)
            if error.status == _GONE:
                return ""
            if error.status != _CHANGED:
                return why
            patch = patch_of(api.request("GET", path))
            if not patch:
                return ""
        else:
            return ""
    return why
