"""What a plan says of a Kubernetes cluster: whose a pod is, what a slot is made of, and how resources are called."""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.vector import decimal_text
from fairhold.units import SECOND, size_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.vector import Resource, Told

Amounts = tuple[tuple[str, Fraction], ...]
"""Kubernetes' name of a resource and how much of it, in cores, bytes or pieces; by name."""
USUAL_NAMES = {"cpus": "cpu", "gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu"}
"""What resources of plans are called in Kubernetes, where the plan says nothing and the names differ."""

START_WITHIN = 600 * SECOND


class Node(NamedTuple):
    """A node as the cluster tells it.

    amounts : what pods that the plan governs may use of it
    """

    name: str
    labels: tuple[tuple[str, str], ...] = ()
    amounts: Amounts = ()


class PodRule(NamedTuple):
    """One rule of whose a pod is: a pod that has all that is said belongs to the consumer.

    namespace, service_account : patterns as `ml-*`; empty = any
    labels   : name → pattern of the value
    consumer : path of the leaf; empty: the label `consumer_label` of the pod, or of its namespace, names it
    """

    namespace: str = ""
    service_account: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    consumer: str = ""
    consumer_label: str = ""

    def fits(self, namespace: str, service_account: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod has all that the rule asks for."""
        return (
            fnmatchcase(namespace, self.namespace or "*")
            and fnmatchcase(service_account, self.service_account or "*")
            and all(name in labels and fnmatchcase(labels[name], pattern) for name, pattern in self.labels)
        )


class KubernetesSettings(NamedTuple):
    """The part `kubernetes:` of a plan.

    resources : name in the plan → name in Kubernetes
    pods      : rules of whose a pod is; the first that fits decides
    start_within : microseconds for which a pod may hold its units though its containers cannot start; 0 = any time
    deleted_nodes_lost_after : microseconds after which nothing of a node runs whose object was deleted; 0 = never
    """

    resources: tuple[tuple[str, str], ...] = ()
    pods: tuple[PodRule, ...] = ()
    start_within: int = START_WITHIN
    deleted_nodes_lost_after: int = 0

    def name_of(self, resource: str) -> str:
        """What a resource of the plan is called in Kubernetes."""
        return dict(self.resources).get(resource) or USUAL_NAMES.get(resource, resource)


NO_KUBERNETES = KubernetesSettings()


def suits(selector: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> bool:
    """Whether something has all labels of a selector; an empty value stands for any."""
    return all(name in labels and value in {"", labels[name]} for name, value in selector)


def slots_of(slot: Amounts, amounts: Amounts) -> int:
    """How many whole slots there are in some amounts."""
    there = dict(amounts)
    return min((int(there.get(name, Fraction(0)) // least) for name, least in slot), default=0)


def slots_for(slot: Amounts, amounts: Amounts) -> int:
    """How many slots hold some amounts, at least one; resources that a slot does not have do not count."""
    wanted = dict(amounts)
    return max([1, *(-int(-wanted.get(name, Fraction(0)) // size) for name, size in slot)])


def base_units(resource: Resource, amount: Fraction, *, up: bool) -> int:
    """Base units of a resource in an amount in cores, bytes or pieces, rounded up or down to whole ones."""
    units = amount * resource.base / (size_unit(resource.unit) or 1)
    return -int(-units // 1) if up else int(units // 1)


def amounts_of_told(settings: KubernetesSettings, resources: Sequence[Resource], told: Told) -> Amounts:
    """Amounts of the plan in names and units of Kubernetes: the reverse of `told_of_pod`."""
    sizes = {resource.name: size_unit(resource.unit) or 1 for resource in resources}
    return tuple((settings.name_of(name), Fraction(text) * sizes.get(name, 1)) for name, text in told)


def told_of_pod(settings: KubernetesSettings, resources: Sequence[Resource], amounts: Amounts) -> Told:
    """What a pod asks for, in names and amounts of the plan; resources that the plan does not have are left out."""
    wanted = dict(amounts)
    found = []
    for resource in resources:
        units = base_units(resource, wanted.get(settings.name_of(resource.name), Fraction(0)), up=True)
        if units:
            found.append((resource.name, decimal_text(Fraction(units, resource.base))))
    return tuple(found)
