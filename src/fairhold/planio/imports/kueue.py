"""Objects of Kueue: ClusterQueues and Cohorts in trees, with their quotas and what a plan has no place for."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.imports.kueue_fields import leave_cluster_queue, leave_cohort, leave_flavor, read_local_queue
from fairhold.planio.imports.kueue_preemption import preemption_settings
from fairhold.planio.imports.kueue_quotas import Pair, Quota, read_quantity, read_quotas
from fairhold.planio.imports.trees import Member, arrange
from fairhold.planio.queues import FINEST_WEIGHT, MOST_OF_A_NUMBER
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.values import Value

COHORT_KEY = {"v1beta1": "cohort", "v1beta2": "cohortName"}
"""Version → the key by which a ClusterQueue names its Cohort."""

QUEUE_LABEL, DEFAULT_QUEUE = "kueue.x-k8s.io/queue-name", "default"


class Key(NamedTuple):
    """A ClusterQueue and a Cohort may have one name."""

    kind: str
    name: str


@dataclass
class Node:
    """A ClusterQueue, or a Cohort.

    parent   : its Cohort, empty = none
    settings : what a plan says about its preemption
    object   : None where a Cohort is only named
    """

    parent: str = ""
    object: KubernetesObject | None = None
    quotas: dict[Pair, Quota] = field(default_factory=dict)
    weight: Fraction = Fraction(1)
    settings: dict[str, str] = field(default_factory=dict)


@dataclass
class Kueue:
    """What files say.

    paths   : of every node, parents first; incomplete where there are faults
    flavors : name → labels of its hosts
    pods    : whose a pod is, by its namespace and the LocalQueue that it names
    """

    nodes: dict[Key, Node]
    paths: dict[Key, str]
    flavors: dict[str, dict[str, Value]]
    pods: list[Mapping[str, Written]]


def read_kueue(objects: Sequence[KubernetesObject], *, has_hosts: bool) -> Kueue:
    """All objects together; faults go to their reports.

    has_hosts : whether the files have nodes, so that labels of flavors say which are theirs
    """
    nodes: dict[Key, Node] = {}
    for each in _once(objects):
        if each.kind in {"ClusterQueue", "Cohort"}:
            nodes[Key(each.kind, each.name)] = _read_node(each)
    members: dict[Key, Member] = {}
    for parent in [node.parent for node in nodes.values() if node.parent]:
        nodes.setdefault(Key("Cohort", parent), Node())  # naming a Cohort is enough for it to be there
    for key, node in nodes.items():
        place = node.object.at(_parent_key(node.object)) if node.object else ()
        members[key] = Member(key.name, Key("Cohort", node.parent) if node.parent else None, node.object, place)
    paths = arrange(members)
    pods = _rest(objects, nodes, paths, has_hosts=has_hosts)
    flavors = {
        each.name: each.report.mapping(each.spec.get("nodeLabels"), each.at("nodeLabels"))
        for each in objects
        if each.kind == "ResourceFlavor"
    }
    return Kueue(nodes, paths, flavors, pods)


def _once(objects: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    """Objects; of those that stand twice the first, and a fault."""
    seen: dict[tuple[str, str, str], KubernetesObject] = {}
    for each in objects:
        key = each.kind, each.namespace, each.name
        if key in seen:
            place = (*each.place, "metadata", "name")
            each.report.fault("import-twice", f"there are two of {each.called()}", "leave one out", place)
        seen.setdefault(key, each)
    return list(seen.values())


def _parent_key(found: KubernetesObject) -> str:
    return "parentName" if found.kind == "Cohort" else COHORT_KEY[found.version]


def _read_node(found: KubernetesObject) -> Node:
    parent = found.text(_parent_key(found), "the name of a Cohort")
    node = Node(parent, found, read_quotas(found), _weight(found))
    if found.kind == "ClusterQueue":
        node.settings = preemption_settings(found, has_cohort=bool(parent))
    for quota in node.quotas.values():
        _leave_limits(found, quota, has_parent=bool(parent))
    return node


def _weight(found: KubernetesObject) -> Fraction:
    stated = found.report.mapping(found.spec.get("fairSharing"), found.at("fairSharing"))
    for key in [each for each in stated if each != "weight"]:
        found.leave(stated[key], "Kueue has no such field that is known", "leave it out", "fairSharing", key)
    value = stated.get("weight")
    if value is None:
        return Fraction(1)
    weight, steps = read_quantity(found, value, ("fairSharing", "weight")), ("fairSharing", "weight")
    if weight > MOST_OF_A_NUMBER:
        what = f"{shown(value)} is above {MOST_OF_A_NUMBER}"
        found.report.fault("out-of-range", what, "make all weights smaller by one factor", found.at(*steps))
    if weight.denominator > FINEST_WEIGHT:
        found.note("rounded", f"{shown(value)} is cut after nine decimals", "write a rounder number", *steps)
    return Fraction(floor(weight * FINEST_WEIGHT), FINEST_WEIGHT)


def _leave_limits(found: KubernetesObject, quota: Quota, *, has_parent: bool) -> None:
    """Limits that have no place, or no meaning."""
    if quota.lending is not None and quota.lending < quota.nominal and has_parent:
        why = "under `fair_share` others may use all that is idle, and it comes back when it is wanted"
        mend = "leave it, or share the hosts by `multidimensional`, where owners reserve"
        found.leave(_shown(found, quota, "lendingLimit"), why, mend, *quota.steps, "lendingLimit")
    if not has_parent:
        for key, number in (("borrowingLimit", quota.borrowing), ("lendingLimit", quota.lending)):
            if number is not None:
                why = "without a Cohort above it nothing is borrowed or lent"
                found.leave(_shown(found, quota, key), why, "leave it out", *quota.steps, key)


def _shown(found: KubernetesObject, quota: Quota, key: str) -> str:
    value: object = found.spec
    for step in (*quota.steps, key):
        value = value[step]  # type: ignore[index] # it was read from there
    return shown(value)


def _rest(
    objects: Sequence[KubernetesObject], nodes: dict[Key, Node], paths: dict[Key, str], *, has_hosts: bool
) -> list[Mapping[str, Written]]:
    """Whose a pod is; tells all fields that have no place in a plan."""
    local: dict[str, dict[str, str]] = {}
    used = {pair.flavor for node in nodes.values() for pair in node.quotas}
    queues = {key.name: path for key, path in paths.items() if key.kind == "ClusterQueue"}
    for each in objects:
        if each.kind == "ClusterQueue":
            leave_cluster_queue(each, _parent_key(each))
        elif each.kind == "Cohort":
            leave_cohort(each)
        elif each.kind == "LocalQueue":
            path = read_local_queue(each, queues)
            if path:
                local.setdefault(each.namespace, {})[each.name] = path
        else:
            leave_flavor(each, is_used=each.name in used, has_hosts=has_hosts)
    return [rule for namespace, queues in local.items() for rule in _rules(namespace, queues)]


def _rules(namespace: str, queues: Mapping[str, str]) -> Iterator[Mapping[str, Written]]:
    """Whose a pod of a namespace is: by its label; without one of its only LocalQueue, or of the one called `default`.

    queues : name of each LocalQueue → consumer
    """
    for name, path in queues.items() if len(queues) > 1 else ():
        yield {"namespace": namespace, "labels": {QUEUE_LABEL: name}, "consumer": path}
    for name, path in queues.items():
        if len(queues) == 1 or name == DEFAULT_QUEUE:
            yield {"namespace": namespace, "consumer": path}
