"""`resource_groups:` of a plan: a plain number of slots, hosts, nodes of a cluster, or totals without hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import ResourceGroup
from fairhold.model.vector import amount_text
from fairhold.planio.hosts import read_hosts
from fairhold.planio.names import check_name
from fairhold.planio.nodes import read_selector, read_slot
from fairhold.planio.report import shown
from fairhold.planio.resources import read_vector
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import Host
    from fairhold.model.vector import Vector
    from fairhold.planio.nodes import Inventory
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

GROUP_KEYS = ("slots", "configured_slots", "hosts", "capacity", "nodes", "slot")
NOT_HERE = {"labels": "hosts by `labels` are"}
MOST_TOGETHER = 1000 * LARGEST
"""Base units of a resource that may be used of the hosts of a group together."""
_PLACE = ("resource_groups",)


def read_groups(report: Report, value: Value, resources: Known, inventory: Inventory) -> dict[str, ResourceGroup]:
    """Read the resource groups by name, in plan order."""
    groups: dict[str, ResourceGroup] = {}
    taken: set[str] = set()
    nodes = report.mapping(value, _PLACE, what="the resource groups")
    if not nodes:
        what, mend = "the plan has no resource group", "add `resource_groups: {NAME: {slots: N}}`"
        report.fault("missing-key", what, mend, _PLACE)
    for name, node in nodes.items():
        place = (*_PLACE, name)
        check_name(report, name, place)
        stated = report.mapping(node, place, what="a resource group")
        if "nodes" in stated:
            groups[name] = _read_nodes(report, name, stated, resources, inventory, taken=taken)
        else:
            groups[name] = _read_group(report, name, stated, taken, resources)
    return groups


def _read_nodes(
    report: Report, name: str, node: dict[str, Value], resources: Known, inventory: Inventory, *, taken: set[str]
) -> ResourceGroup:
    """Read a group whose hosts are nodes of a cluster."""
    place: Place = (*_PLACE, name)
    report.keys(node, GROUP_KEYS, place, NOT_HERE)
    for key in ("slots", "hosts", "capacity"):
        if key in node:
            what = f"the resource group `{shown(name)}` has `nodes` and `{key}`"
            report.fault("slots-and-hosts", what, "leave one out: the nodes are the hosts", (*place, key))
    selector = read_selector(report, node["nodes"], (*place, "nodes"))
    slot = read_slot(report, node["slot"], (*place, "slot")) if "slot" in node else ()
    if not slot and not resources.at:
        what = f"the plan does not say what a slot of the nodes of `{shown(name)}` is made of"
        mend = "add `slot: {cpu: 4, memory: 16Gi}`, or `resources:` of the plan"
        report.fault("missing-key", what, mend, place)
    configured = None
    if "configured_slots" in node:
        configured = report.whole(node["configured_slots"], (*place, "configured_slots"))
    hosts = inventory.hosts(selector, slot, taken)
    _check_totals(report, hosts, (*place, "nodes"), resources)
    return ResourceGroup(name, sum(host.slots for host in hosts), configured, hosts, (), selector, slot)


def _read_group(report: Report, name: str, node: dict[str, Value], taken: set[str], resources: Known) -> ResourceGroup:
    place: Place = (*_PLACE, name)
    report.keys(node, GROUP_KEYS, place, NOT_HERE)
    if "slot" in node:
        what = f"`slot` says what a slot of a node is made of, and `{shown(name)}` has no `nodes`"
        report.fault("missing-key", what, "add `nodes: {}` with labels of nodes, or leave it out", (*place, "slot"))
    if "capacity" in node:
        return _read_totals(report, name, node, resources)
    configured = None
    if "configured_slots" in node:
        configured = report.whole(node["configured_slots"], (*place, "configured_slots"))
    if "hosts" not in node:
        if "slots" not in node:
            what = f"the resource group `{shown(name)}` has neither `slots` nor `hosts`"
            report.fault("missing-key", what, "add `slots: N`", place)
        return ResourceGroup(name, report.whole(node.get("slots", 0), (*place, "slots")), configured)
    if "slots" in node:
        what = f"the resource group `{shown(name)}` has both `slots` and `hosts`"
        report.fault("slots-and-hosts", what, "leave `slots` out: it is the sum of the hosts' slots", (*place, "slots"))
    faults = len(report.faults)
    hosts = read_hosts(report, node["hosts"], (*place, "hosts"), taken, resources)
    if len(report.faults) == faults:  # what a host at fault would have is not known
        _check_alike(report, name, node, hosts)
    _check_totals(report, hosts, (*place, "hosts"), resources)
    slots = sum(host.slots for host in hosts)
    if slots > LARGEST:
        what = f"the hosts have {slots} slots together, more than {LARGEST}"
        report.fault("out-of-range", what, "write fewer or smaller hosts", (*place, "hosts"))
    return ResourceGroup(name, slots, configured, hosts)


def _read_totals(report: Report, name: str, node: dict[str, Value], resources: Known) -> ResourceGroup:
    """Read a group of which only is said what it has in all."""
    place: Place = (*_PLACE, name)
    others = {
        "hosts": ("slots-and-hosts", "leave one out: the capacity is the sum of the hosts"),
        "slots": ("slots-and-vectors", "leave one out: a group is shared either in slots or in resources"),
        "configured_slots": ("slots-and-vectors", "leave it out"),
    }
    for key, (code, mend) in others.items():
        if key in node:
            what = f"the resource group `{shown(name)}` has `capacity` and `{key}`"
            report.fault(code, what, mend, (*place, key))
    capacity = read_capacity(report, node["capacity"], (*place, "capacity"), resources)
    return ResourceGroup(name, 0, capacity=capacity)


def read_capacity(report: Report, value: Value, place: Place, resources: Known) -> Vector:
    """Read what a group has in all; something it must have."""
    faults = len(report.faults)
    found = read_vector(report, value, place, resources, what="totals such as `{gpu: 8, cpu: 64}`")
    if len(report.faults) == faults and not any(found):
        report.fault("out-of-range", "there is nothing of any resource", "write an amount above 0", place)
    return found


def refuse_totals(report: Report, groups: Mapping[str, ResourceGroup]) -> None:
    """Refuse groups without hosts where units are to be placed."""
    for name, group in groups.items():
        if group.capacity:
            what = f"units run on hosts, and `{shown(name)}` has only totals"
            mend = "list its hosts under `hosts:`; with totals only `quota`, `explain` and `verify` of a quota work"
            report.fault("needs-hosts", what, mend, (*_PLACE, name, "capacity"))


def _check_alike(report: Report, name: str, node: dict[str, Value], hosts: Sequence[Host]) -> None:
    """Refuse a group that is counted in slots and in vectors."""
    vectors = [bool(host.amounts) for host in hosts]
    if any(vectors) and not all(vectors):
        what = f"`{shown(name)}` has hosts with slots and hosts with amounts of resources"
        report.fault("slots-and-vectors", what, "write two resource groups", (*_PLACE, name, "hosts"))
    elif any(vectors) and "configured_slots" in node:
        what = f"the hosts of `{shown(name)}` have amounts of resources and no slots"
        report.fault("slots-and-vectors", what, "leave it out", (*_PLACE, name, "configured_slots"))


def _check_totals(report: Report, hosts: Sequence[Host], place: Place, resources: Known) -> None:
    """Bound what may be used of all hosts together."""
    for at, resource in enumerate(resources.resources):
        units = sum(int(host.amounts[at] * resource.overcommit) for host in hosts if host.amounts)
        if units > MOST_TOGETHER:
            most = amount_text(resource, MOST_TOGETHER)
            what = f"the hosts have more than {most} of `{shown(resource.name)}` together"
            report.fault("out-of-range", what, "write fewer or smaller hosts, or a larger `base`", place)
