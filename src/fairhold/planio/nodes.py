"""`nodes:` of a resource group: the hosts are the nodes of a Kubernetes cluster that have some labels."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.model.kubernetes import Node, base_units, slots_of, suits
from fairhold.model.plan import Host
from fairhold.model.siting import MOST_LABELS, is_label
from fairhold.model.vector import number
from fairhold.planio.report import kind, shown
from fairhold.planio.scalars import Written, WrittenWhole
from fairhold.units import LARGEST, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.kubernetes import Amounts, KubernetesSettings
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Resource
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

LABEL_NAME = re.compile(r"(?:[a-z0-9.-]{1,253}/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
FIRST_LABELS = "fairhold.io/"
"""How labels begin that come first where a host has more than a plan may say: those that say which pods it suits."""
QUANTITY_MEND = "write a quantity of Kubernetes such as 4, 500m or 16Gi"


def read_selector(report: Report, value: Value, place: Place) -> tuple[tuple[str, str], ...]:
    """Read the labels that nodes must have, by name; none of them: all nodes."""
    found = []
    for name, stated in report.mapping(value, place, what="labels of nodes").items():
        word = report.text(stated, (*place, name), what="the value of a label") if stated is not None else ""
        if not LABEL_NAME.fullmatch(name) or not _LABEL_VALUE.fullmatch(word):
            what = f"`{shown(name)}: {shown(word)}` is not a label of Kubernetes"
            report.fault("label", what, "write it as `kubectl get nodes --show-labels` shows it", (*place, name))
        found.append((name, word))
    return tuple(sorted(found))


def read_slot(report: Report, value: Value, place: Place) -> Amounts:
    """Read what a slot is made of, by name of the resource."""
    found = []
    for name, stated in report.mapping(value, place, what="what a slot is made of").items():
        text = quantity_text(stated)
        amount = None if text is None else parse_quantity(text)
        if amount is None or not 0 < amount <= LARGEST * 10**6:
            what = f"expected an amount above 0, found {kind(stated)}"
            report.fault("not-a-quantity", what, QUANTITY_MEND, (*place, name))
            amount = Fraction(1)
        found.append((name, amount))
    if not found:
        what = "a slot is made of nothing"
        report.fault("missing-key", what, "write what it is made of, as `slot: {cpu: 4, memory: 16Gi}`", place)
    return tuple(sorted(found))


def quantity_text(value: Value) -> str | None:
    """The text of a quantity, which is written as text or as a number; None where it is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, (Written, WrittenWhole)):
        return value.text
    return repr(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def with_nodes(plan: Plan, nodes: Collection[Node]) -> Plan:
    """A plan with the nodes that there are as the hosts of the groups that say `nodes`."""
    if all(group.selector is None for group in plan.resource_groups.values()):
        return plan
    inventory, taken = Inventory.of(nodes, plan.resources, plan.kubernetes), set[str]()
    groups = {}
    for name, group in plan.resource_groups.items():
        if group.selector is None:
            taken.update(host.name for host in group.hosts)
            groups[name] = group
        else:
            hosts = inventory.hosts(group.selector, group.slot, taken)
            groups[name] = replace(group, hosts=hosts, slots=sum(host.slots for host in hosts))
    return replace(plan, resource_groups=groups)


def with_labels(plan: Plan, labels: Mapping[str, Iterable[str]]) -> Plan:
    """A plan whose hosts have more labels, `name` or `name=value`, by the names of hosts; its own come first."""
    groups = {
        name: replace(group, hosts=tuple(_labelled(host, labels.get(host.name, ())) for host in group.hosts))
        for name, group in plan.resource_groups.items()
    }
    return replace(plan, resource_groups=groups) if groups != plan.resource_groups else plan


def _labelled(host: Host, labels: Iterable[str]) -> Host:
    told = {name: value for name, _, value in (each.partition("=") for each in labels)}
    return replace(host, labels=tuple(sorted((told | dict(host.labels)).items())))


def with_hosts(document: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The document of a plan that says all hosts that the plan has now, with their labels."""
    groups = {}
    for name, said in document["resource_groups"].items():
        kept = {key: value for key, value in said.items() if key not in {"nodes", "slot", "hosts"}}
        hosts = plan.resource_groups[name].hosts
        groups[name] = kept | {"hosts": [_host_document(each, plan.resources) for each in hosts]} if hosts else said
    return {**document, "resource_groups": groups}


def _host_document(host: Host, resources: Sequence[Resource]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": host.name}
    if host.amounts:
        found |= {
            each.name: number(Fraction(units, each.base)) for each, units in zip(resources, host.amounts, strict=True)
        }
    else:
        found["slots"] = host.slots
    labels = sorted(host.labels, key=lambda each: not each[0].startswith(FIRST_LABELS))[:MOST_LABELS]
    return found | {"labels": [f"{name}={value}" if value else name for name, value in labels]}


def take_nodes(nodes: MutableMapping[str, Node], changed: Mapping[str, Node | None]) -> None:
    """Nodes came, changed, or went (None)."""
    for name, node in changed.items():
        if node is None:
            nodes.pop(name, None)
        else:
            nodes[name] = node


def nodes_document(nodes: Mapping[str, Node | None]) -> dict[str, Any]:
    """Nodes as logs, snapshots and records have them."""
    return {
        name: None if node is None else [node.labels, [(each, str(amount)) for each, amount in node.amounts]]
        for name, node in nodes.items()
    }


def nodes_of(document: Mapping[str, Any]) -> dict[str, Node | None]:
    """The reverse."""
    return {name: None if said is None else _node_of(name, *said) for name, said in document.items()}


def _node_of(name: str, labels: Iterable[Sequence[str]], amounts: Iterable[Sequence[str]]) -> Node:
    there = tuple((each, Fraction(amount)) for each, amount in amounts)
    return Node(name, tuple((key, value) for key, value in labels), there)


class Inventory(NamedTuple):
    """What groups take their hosts from where they are nodes of a cluster.

    nodes     : all there are, by name
    resources : of the plan, by the names that the cluster has for them
    """

    nodes: tuple[Node, ...]
    resources: tuple[tuple[str, Resource], ...]

    @classmethod
    def of(cls, nodes: Iterable[Node], resources: Sequence[Resource], settings: KubernetesSettings) -> Inventory:
        """What nodes have of a plan's resources."""
        return cls(tuple(sorted(nodes)), tuple((settings.name_of(each.name), each) for each in resources))

    def hosts(self, selector: Sequence[tuple[str, str]], slot: Amounts, taken: set[str]) -> tuple[Host, ...]:
        """The hosts of a group: the nodes that its selector takes and no group before it has, in order of names.

        What a node has too much of to be a whole number of base units or slots does not count.
        """
        found = []
        for node in self.nodes:
            if node.name not in taken and suits(selector, dict(node.labels)):
                taken.add(node.name)
                found.append(self._host(node, slot))
        return tuple(found)

    def _host(self, node: Node, slot: Amounts) -> Host:
        told = tuple((name, value) for name, value in node.labels if is_label(f"{name}={value}" if value else name))
        if slot:
            return Host(node.name, min(LARGEST, slots_of(slot, node.amounts)), told)
        there = dict(node.amounts)
        units = (base_units(each, there.get(name, Fraction(0)), up=False) for name, each in self.resources)
        return Host(node.name, 0, told, tuple(max(0, min(LARGEST, each)) for each in units))
