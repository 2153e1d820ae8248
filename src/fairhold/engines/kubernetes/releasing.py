"""Takes the governor out of a cluster: pods lose gate, finalizer, annotations and conditions, and run on."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.pods import pod_of
from fairhold.engines.kubernetes.writes import leave, unsay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.writes import Write

_TRIES = 5


class Released(NamedTuple):
    """How many pods were let go: that waited at the gate, and that ran or had ended.

    refused : what the API server said, by pod
    """

    gated: int
    kept: int
    refused: Mapping[str, str]


def next_write(document: Mapping[str, Any]) -> Write | None:
    """The next change that takes something of ours from a pod; None where there is nothing.

    One that is ending keeps the condition by which its Job knows that it is not at fault.
    """
    pod, meta = pod_of(document), document["metadata"]
    if (
        pod.is_gated
        or pod.is_kept
        or not {names.ATTEMPT, names.NOTICE, names.OWNER}.isdisjoint(meta.get("annotations") or ())
    ):
        return leave(pod)
    said = {each["type"]: each.get("reason") for each in (document.get("status") or {}).get("conditions") or ()}
    ours = [names.GRANTED] if names.GRANTED in said else []
    if said.get(names.DISRUPTION) in {names.RECLAIMED, names.WITHDRAWN} and not pod.is_deleting:
        ours.append(names.DISRUPTION)
    return unsay(pod, ours) if ours else None


def release(api: Api, namespace: str = "") -> Released:
    """Let all pods go, of one namespace or all. Raises ApiError where they cannot be listed."""
    path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
    gated = kept = 0
    refused: dict[str, str] = {}
    for document in api.list(path)[0]:
        write = next_write(document)
        if write is None:
            continue
        if why := _change(api, write):
            refused[f"{document['metadata']['namespace']}/{document['metadata']['name']}"] = why
        elif "spec" in write.body:
            gated += 1
        else:
            kept += 1
    return Released(gated, kept, refused)


def _change(api: Api, first: Write) -> str:
    """Change a pod, looked at anew where it has changed meanwhile; what the API server said where it refuses."""
    why, write = "", first
    path = first.path.removesuffix("/status")
    for _ in range(_TRIES):
        try:
            document = api.request(write.method, write.path, write.body, write.media)
        except ApiError as error:
            why = str(error)
            if error.status == HTTPStatus.NOT_FOUND:
                return ""
            if error.status != HTTPStatus.CONFLICT:
                return why
            document = api.request("GET", path)
        following = next_write(document)
        if following is None:
            return ""
        write = following
    return why
