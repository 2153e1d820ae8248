"""Fields of Kueue's objects that have no place in a plan: why, and what to do instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.planio.imports.objects import KubernetesObject

_READ = {
    "ClusterQueue": ("resourceGroups", "fairSharing", "preemption"),
    "Cohort": ("resourceGroups", "fairSharing", "parentName"),
    "LocalQueue": ("clusterQueue",),
}
"""Kind → keys below `spec` that are told elsewhere."""
_UNKNOWN = ("Kueue has no such field that is known", "leave it out")
_CHECKS = ("nothing outside is asked before work starts", "submit work when its checks are done")
_STOP = (
    "a plan stops nobody",
    "let the queue have `limit` 0 of each resource, or hold its jobs with `fairhold hold`",
)
_WHY: dict[str, tuple[str, str]] = {
    "queueingStrategy": (
        "a request that does not fit lets the next one pass",
        "give the one that has to start first a higher priority",
    ),
    "namespaceSelector": (
        "its LocalQueues say which namespaces may use it",
        "leave it out, or leave out LocalQueues that it would refuse",
    ),
    "flavorFungibility": (
        "a job asks for the resources of one flavor, so no flavor is tried after another",
        "let each job ask for the resources of one flavor",
    ),
    "admissionChecks": _CHECKS,
    "admissionChecksStrategy": _CHECKS,
    "stopPolicy": _STOP,
    "admissionScope": (
        "inside a queue priority and then age decide, not what LocalQueues have used",
        "make a consumer of each LocalQueue, and set `k` for history to count",
    ),
    "concurrentAdmissionPolicy": ("a job runs where it starts", "let each job ask for the resources of one flavor"),
    "cohort": ("`v1beta2` has `cohortName` in its place", "write `cohortName`"),
    "cohortName": ("`v1beta1` has `cohort` in its place", "write `cohort`"),
    "fairSharing": (
        "inside a queue LocalQueues have no weights",
        "make a consumer of each LocalQueue below its ClusterQueue, with `over_quota_weight`",
    ),
    "nodeLabels": (
        "the files do not say which hosts there are",
        "give the nodes, too, or write the hosts with these labels, with the resources of this flavor",
    ),
    "nodeTaints": ("hosts have no taints", "let only jobs run there that ask for resources of this flavor"),
    "tolerations": ("hosts have no taints", "leave it out"),
    "topologyName": ("topologies of Kueue are not read", "give hosts labels, and let jobs ask for them"),
}
"""Key below `spec` → why it is left, and what to do instead."""
_SAME: dict[str, object] = {"queueingStrategy": "BestEffortFIFO", "stopPolicy": "None"}
"""Key → the value that means what a plan does."""


def leave_cluster_queue(found: KubernetesObject, cohort: str) -> None:
    """Tell what a ClusterQueue says beside quotas, weight and preemption; `cohort` is the key of its Cohort."""
    _leave(found, (*_READ[found.kind], cohort))
    strategy, stop = found.spec.get("queueingStrategy"), found.spec.get("stopPolicy")
    if strategy is not None:
        found.report.word(strategy, found.at("queueingStrategy"), ("BestEffortFIFO", "StrictFIFO"))
    if stop is not None:
        found.report.word(stop, found.at("stopPolicy"), ("None", "Hold", "HoldAndDrain"))


def leave_cohort(found: KubernetesObject) -> None:
    """Tell what a Cohort says beside quotas, weight and parent."""
    _leave(found, _READ[found.kind])


def read_local_queue(found: KubernetesObject, paths: Mapping[str, str]) -> str:
    """The consumer of the jobs of a LocalQueue; empty and told where that is not known.

    paths : name of each ClusterQueue → its consumer
    """
    found.report.missing(found.spec, ("clusterQueue",), found.at(), "a LocalQueue")
    name = found.text("clusterQueue", "the name of a ClusterQueue")
    if name not in paths:
        found.leave(
            name, "its ClusterQueue is not in the files", "give the file of the ClusterQueue, too", "clusterQueue"
        )
    elif not found.namespace:
        found.leave(name, "it does not say its namespace", "write `namespace` below `metadata`", "clusterQueue")
    _leave(found, _READ[found.kind])
    return paths.get(name, "") if found.namespace else ""


def leave_flavor(found: KubernetesObject, *, is_used: bool, has_hosts: bool) -> None:
    """Tell what a ResourceFlavor says; its name is carried over, and its labels where there are hosts."""
    if not is_used:
        what = f"{found.called()} is not carried over: nobody has a quota in it"
        found.report.warn("not-carried", what, "leave it out", (*found.place, "metadata", "name"))
    _leave(found, ("nodeLabels",) if has_hosts else ())


def _leave(found: KubernetesObject, read: tuple[str, ...]) -> None:
    for key, value in found.spec.items():
        if key not in read and value not in (None, _SAME.get(key, "")):
            found.leave(value, *_WHY.get(key, _UNKNOWN), key)
