"""Nodes of Kubernetes → hosts of a plan: what they can give to pods, and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.model.hostnames import fold
from fairhold.model.siting import MOST_LABELS, is_label
from fairhold.planio.imports.kueue_resources import is_size
from fairhold.planio.imports.objects import brief
from fairhold.planio.nodes import quantity_text
from fairhold.planio.report import kind, shown
from fairhold.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.values import Value

MOST, MOST_BYTES = 10**9, 10**18
"""The most of a resource that a host has."""
_HOSTNAME = "kubernetes.io/hostname"
"""The label that says a node's name once more."""
Host = dict[str, "Written"]


@dataclass(frozen=True, slots=True)
class Node:
    """One node.

    labels  : as they stand
    amounts : resource of Kubernetes → what pods can have of it
    """

    object: KubernetesObject
    labels: Mapping[str, str]
    amounts: Mapping[str, Fraction]


def read_nodes(objects: Iterable[KubernetesObject]) -> list[Node]:
    """The nodes that are ready, in the order of the files; faults and notes go to the reports of the objects."""
    nodes: dict[str, Node] = {}
    for each in objects:
        if each.name in nodes:
            place = (*each.place, "metadata", "name")
            each.report.fault("import-twice", f"there are two of {each.called()}", "leave one out", place)
        elif "[" in each.name or "]" in each.name:
            what, mend = f"{each.called()}: brackets are ranges in a plan", "give the node another name"
            each.report.fault("name", what, mend, (*each.place, "metadata", "name"))
        elif _is_ready(each):
            nodes[each.name] = Node(each, _labels(each), _allocatable(each))
            _leave(each)
    return list(nodes.values())


def hosts_of(nodes: Iterable[Node], amounts_of: Callable[[Node], Mapping[str, Written]]) -> list[Host]:
    """Hosts of a plan; those that are alike but for their number stand in one line.

    amounts_of : what a node has of the resources of the plan
    """
    alike: dict[tuple[str, str], tuple[Host, list[str]]] = {}
    for node in nodes:
        amounts = amounts_of(node)
        if not any(amounts.values()):
            what = f"{node.object.called()} is not carried over: it has nothing that queues share"
            place = (*node.object.place, "metadata", "name")
            node.object.report.warn("not-carried", what, "leave it out", place)
            continue
        host: Host = dict(amounts)
        pairs = [(name, value) for name, value in node.labels.items() if name != _HOSTNAME]
        labels = tuple(f"{name}={value}" if value else name for name, value in pairs)
        if labels:
            host["labels"] = labels
        alike.setdefault((str(amounts), str(labels)), (host, []))[1].append(node.object.name)
    return [Host(name=name, **host) for host, names in alike.values() for name in fold(names)]


def _is_ready(found: KubernetesObject) -> bool:
    """Whether the last word of its kubelet is that it is; where nothing is said it counts as ready."""
    conditions = found.whole_status().get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each.get("type") == "Ready" and each.get("status") != "True":
            what = f"{found.called()} is not carried over: it is not ready"
            found.report.warn("not-carried", what, "import again when it is", (*found.place, "metadata", "name"))
            return False
    return True


def _allocatable(found: KubernetesObject) -> dict[str, Fraction]:
    status, place = found.whole_status(), (*found.place, "status", "allocatable")
    stated = found.report.mapping(status.get("allocatable"), place)
    amounts: dict[str, Fraction] = {}
    for name, value in stated.items():
        text = quantity_text(value)
        number = None if text is None else parse_quantity(text)
        if number is not None and number > (MOST_BYTES if is_size(name) else MOST):
            what = f"{shown(value)} is more than a plan can hold"
            found.report.fault("out-of-range", what, "write what the node has", (*place, name))
        elif number is None or number < 0:
            what, mend = f"expected a quantity from 0 on, found {kind(value)}", "write it as `500m`, `4` or `16Gi`"
            found.report.fault("import-quantity", what, mend, (*place, name))
        else:
            amounts[name] = number
    return amounts


def _labels(found: KubernetesObject) -> dict[str, str]:
    """Labels of a node; those that a plan cannot hold are told."""
    place = (*found.place, "metadata", "labels")
    labels: dict[str, str] = {}
    for name, value in found.report.mapping(found.labels, place).items():
        if isinstance(value, str) and len(labels) < MOST_LABELS and is_label(f"{name}={value}" if value else name):
            labels[name] = value
        else:
            what = f"{found.called()}: `{brief(value)}` is not carried over: a plan has shorter labels, and fewer"
            found.report.warn("not-carried", what, "give the host a shorter label", (*place, name))
    return labels


def _leave(found: KubernetesObject) -> None:
    spec = found.spec
    if spec.get("unschedulable") is True:
        found.leave(True, "a plan closes no hosts", f"`fairhold hosts close {shown(found.name)}`", "unschedulable")  # noqa: FBT003
    if spec.get("taints"):
        why = "hosts have no taints"
        found.leave(spec["taints"], why, "give the host a label, and let jobs avoid it", "taints")


def chosen(labels: Mapping[str, str], flavors: Sequence[tuple[str, Mapping[str, Value]]]) -> str | None:
    """The flavor that a node belongs to: of those whose labels it has, the one with the most, then the first."""
    fitting = [
        (len(wanted), -at, name)
        for at, (name, wanted) in enumerate(flavors)
        if all(labels.get(key) == value for key, value in wanted.items())
    ]
    return max(fitting)[2] if fitting else None
