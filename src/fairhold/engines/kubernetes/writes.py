"""What is written to pods: one request of the API each, which does nothing to another pod of the name.

Each change names the uid and the resource version of its pod: on anything else than what was seen it fails (409), and
what was seen meanwhile decides anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names, news
from fairhold.engines.kubernetes.recreating import unpack
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.engines.kubernetes.news import News
    from fairhold.engines.kubernetes.pods import Pod

EXPLAIN = "explain"
"""What a request is called that only tells why a pod waits."""
MOST_CHARACTERS = 1000
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Write:
    """One request.

    uid  : of the pod that it is about; what : word for it, as logs and metrics show it
    told : what people hear once it is done, None = nothing
    version : of the object on which it was decided, empty = there was none
    """

    uid: str
    what: str
    method: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict)
    media: str = JSON
    told: News | None = None
    version: str = ""


def path_of(pod: Pod) -> str:
    """Where the object of a pod is."""
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def grant(pod: Pod, host: str, attempt: int) -> Write:
    """Let a pod go to a node: the gate away, the node pinned, its end kept, in one change."""
    spec = _without_gate(pod) | {"nodeSelector": {names.HOSTNAME: host}}
    meta = {"annotations": {names.ATTEMPT: str(attempt)}, "finalizers": _with_finalizer(pod)}
    return _patch(pod, "grant", {"metadata": meta, "spec": spec}, news.granted(pod, host))


def keep(pod: Pod, attempt: int) -> Write:
    """Put attempt and finalizer at a pod that has them not, or not any more."""
    meta = {"annotations": {names.ATTEMPT: str(attempt)}, "finalizers": _with_finalizer(pod)}
    return _patch(pod, "keep", {"metadata": meta})


def notice(pod: Pod, text: str) -> Write:
    """Tell a pod by when it has to go, or with an empty text that it may stay."""
    said = {"metadata": {"annotations": {names.NOTICE: text or None}}}
    return _patch(pod, "notice" if text else "withdraw", said, news.noticed(pod, text))


def disrupt(pod: Pod, message: str, now: int, *, is_disrupted: bool) -> Write:
    """Say by a condition whether a pod is to give way: a Job may ignore such an end.

    now : instant; a condition without the time of its change counts as one that is out of date
    """
    condition = {
        "type": names.DISRUPTION,
        "status": "True" if is_disrupted else "False",
        "reason": names.RECLAIMED if is_disrupted else names.WITHDRAWN,
        "message": message,
        "lastTransitionTime": format_instant(now - now % SECOND),
    }
    return _say(pod, "disrupt", condition)


def explain(pod: Pod, reason: str, message: str, *, is_granted: bool, is_refused: bool = False) -> Write:
    """Say by a condition why a pod waits, or that it does not any more; is_refused: it will not start as it is."""
    condition = {
        "type": names.GRANTED,
        "status": "True" if is_granted else "False",
        "reason": reason,
        "message": message[:MOST_CHARACTERS],
    }
    told = None if is_granted else news.explained(pod, reason, message, is_refused=is_refused)
    return _say(pod, EXPLAIN, condition, told=told)


def recreate(key: str, packed: bytes) -> Write:
    """Make a bare pod anew; it fails where one of its name is there, and then nothing is missing.

    key : by which it is answered in the place of a uid
    """
    document = unpack(packed)
    return Write(key, "recreate", "POST", f"/api/v1/namespaces/{document['metadata']['namespace']}/pods", document)


def release(pod: Pod) -> Write:
    """Make a Job let a pod go that is to be stopped: it makes another at once, and counts no failure."""
    uid = pod.owner.uid if pod.owner else ""
    meta = {"labels": dict.fromkeys(names.JOB_SELECTORS), "annotations": {names.OWNER: f"{uid}/{pod.index}"}}
    return _patch(pod, "release", {"metadata": meta})


def delete(pod: Pod, seconds: int, why: str, *, is_moving: bool = False) -> Write:
    """Stop a pod: its containers are told to end, and killed after so many seconds.

    why : as a word; is_moving: kube-scheduler could not bind it
    """
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": max(1, seconds),
        "preconditions": {"uid": pod.uid, "resourceVersion": pod.version},
    }
    told = news.stopped(pod, why, is_moving=is_moving)
    return Write(pod.uid, "stop", "DELETE", path_of(pod), body, JSON, told, pod.version)


def finish(pod: Pod) -> Write:
    """The end of a pod is recorded: its object may go."""
    return _patch(pod, "finish", {"metadata": _without_finalizer(pod)})


def leave(pod: Pod) -> Write:
    """Take gate, finalizer and annotations from a pod, which nobody governs any more."""
    notes = dict.fromkeys((names.ATTEMPT, names.NOTICE, names.OWNER))
    meta = _without_finalizer(pod) | {"annotations": notes}
    return _patch(pod, "leave", {"metadata": meta} | ({"spec": _without_gate(pod)} if pod.is_gated else {}))


def unsay(pod: Pod, conditions: Iterable[str]) -> Write:
    """Take conditions of these types from such a pod."""
    return _say(pod, "unsay", *({"$patch": "delete", "type": each} for each in conditions))


def _without_gate(pod: Pod) -> dict[str, Any]:
    return {"schedulingGates": [{"name": name} for name in pod.gates if name != names.GATE] or None}


def _without_finalizer(pod: Pod) -> dict[str, Any]:
    return {"finalizers": [name for name in pod.finalizers if name != names.FINALIZER] or None}


def _with_finalizer(pod: Pod) -> list[str]:
    return list(dict.fromkeys((*pod.finalizers, names.FINALIZER)))


def _patch(pod: Pod, what: str, body: dict[str, Any], told: News | None = None) -> Write:
    body["metadata"] |= {"uid": pod.uid, "resourceVersion": pod.version}
    return Write(pod.uid, what, "PATCH", path_of(pod), body, MERGE, told, pod.version)


def _say(pod: Pod, what: str, *conditions: dict[str, str], told: News | None = None) -> Write:
    body = {"metadata": {"uid": pod.uid, "resourceVersion": pod.version}, "status": {"conditions": [*conditions]}}
    return Write(pod.uid, what, "PATCH", f"{path_of(pod)}/status", body, STRATEGIC, told, pod.version)
