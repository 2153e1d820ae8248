"""What people are told of a change to a pod, beside the pod's own words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.orchestrator.instructions import Notify

_STOPPED = {
    "reclaim": "what it had borrowed is given back",
    "cancel": "its job was cancelled",
    "requeue": "its job waits again",
    "host": "its node is drained",
}
"""Why a pod is stopped → the words for it."""


class News(NamedTuple):
    """Something to tell of a pod.

    action, reason : words of one part; is_urgent: people have to know it
    """

    namespace: str
    name: str
    uid: str
    action: str
    reason: str
    note: str
    is_urgent: bool = True


def granted(pod: Pod, host: str) -> News | None:
    """A pod was let go; None of one that has not waited for so long that it said why."""
    return _of(pod, "Grant", "Granted", f"it was let go to the node {host}", is_urgent=False) if pod.waits else None


def text_of(order: Notify) -> str:
    """What a pod is told at its annotation: by when it has to go, why, and for whom."""
    said = {"deadline": format_instant(order.deadline), "reason": order.reason}
    if order.taker:
        said["taker"] = order.taker
    return json.dumps(said)


def noticed(pod: Pod, text: str) -> News:
    """A pod was told that it has to go, by a text as at its annotation; empty: that it may stay."""
    if not text:
        return _of(pod, "Withdraw", "NoticeWithdrawn", "it may stay", is_urgent=False)
    said = json.loads(text)
    taker = f", for {said['taker']}" if said.get("taker") else ""
    return _of(pod, "Notify", "NoticeGiven", f"it has to go by {said['deadline']}{taker} ({said['reason']})")


def stopped(pod: Pod, why: str, *, is_moving: bool) -> News:
    """A pod was told to end; is_moving: kube-scheduler could not bind it."""
    if is_moving:
        return _of(pod, "Stop", "CannotBeBound", f"it is placed again on another node: {pod.trouble}")
    return _of(pod, "Stop", "Reclaimed" if why == "reclaim" else "Stopped", _STOPPED.get(why, why))


def explained(pod: Pod, reason: str, message: str, *, is_refused: bool) -> News:
    """Why a pod waits is something else now; is_refused: it will not start as it is."""
    return _of(pod, "Refuse" if is_refused else "Wait", reason, message, is_urgent=is_refused)


def _of(pod: Pod, action: str, reason: str, note: str, *, is_urgent: bool = True) -> News:
    return News(pod.namespace, pod.name, pod.uid, action, reason, note, is_urgent)
