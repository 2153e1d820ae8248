"""The cluster as one sees it who only looks: pods are others' affair, and those that are on no node wait for one.

What keeps a pod from its node does not matter: a gate of Kueue, the queue of another scheduler, or a Job that is
suspended and has no pods yet, of which those are told that it will have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import Pod, pod_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_PODS = 1_000
"""Pods that are told of one Job."""


def observed(pod: Pod) -> Pod:
    """A pod without marks of a service that governs; one that may still get a node stands as at the gate."""
    waits = not pod.node and pod.end is None and not pod.is_deleting
    gates = tuple(name for name in pod.gates if name != names.GATE)
    return replace(pod, attempt=0, finalizers=(), gates=(*gates, names.GATE) if waits else gates)


def pods_of_job(document: Mapping[str, Any]) -> Iterator[Pod]:
    """The pods that a suspended Job has once it is let go; none of one that is not suspended, or is over."""
    meta, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    is_over = any(
        each.get("type") in {"Complete", "Failed"} and each.get("status") == "True"
        for each in status.get("conditions") or ()
    )
    if spec.get("suspend") is not True or is_over:
        return
    template = spec.get("template") or {}
    said = template.get("metadata") or {}
    owner = {"kind": "Job", "name": meta["name"], "uid": meta["uid"], "controller": True}
    for number in range(min(_count(spec, status), MOST_PODS)):
        made = {
            "uid": f"{meta['uid']}.{number}",
            "name": f"{meta['name']}-{number}",
            "namespace": meta["namespace"],
            "resourceVersion": meta["resourceVersion"],
            "labels": said.get("labels") or {},
            "annotations": said.get("annotations") or {},
            "ownerReferences": [owner],
        }
        yield pod_of({"metadata": made, "spec": template.get("spec") or {}, "status": {}})


def _count(spec: Mapping[str, Any], status: Mapping[str, Any]) -> int:
    """How many pods of a Job run at once."""
    parallel = spec.get("parallelism")
    left = (spec.get("completions") or parallel or 1) - (status.get("succeeded") or 0)
    return max(0, min(1 if parallel is None else parallel, left))
