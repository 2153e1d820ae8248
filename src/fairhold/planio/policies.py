"""`policies:` of a plan: who owns how much under which policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import PACKINGS, PolicyEntry, PolicySettings
from fairhold.planio.entries import read_consumers_of_entry, refuse_key
from fairhold.planio.installed import all_policies, find_policy
from fairhold.planio.queues import check_limits
from fairhold.planio.report import listed, shown
from fairhold.planio.settings import Reading, make, read_value
from fairhold.planio.windows import read_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import ResourceGroup
    from fairhold.model.policy import Policy
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.window import SpecialDays
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

ENTRY_KEYS = ("resource_groups", "policy", "window", "settings", "consumers")


def read_policies(
    report: Report,
    value: Value,
    groups: Mapping[str, ResourceGroup],
    tree: ConsumerTree,
    *,
    special: Sequence[SpecialDays],
    resources: Known,
) -> tuple[PolicyEntry, ...]:
    """Read the policy entries in plan order; those of policies that are not there yet are refused and left away."""
    entries: list[PolicyEntry] = []
    shared: set[str] = set()
    items = report.sequence(value, ("policies",), what="policy entries")
    if not items:
        report.fault("missing-key", "the plan has no policy entry", "add one under `policies:`", ("policies",))
    for at, item in enumerate(items):
        place = ("policies", at)
        node = report.mapping(item, place, what="a policy entry")
        report.keys(node, ENTRY_KEYS, place, {})
        report.missing(node, ("resource_groups", "policy"), place, "a policy entry")
        names = _read_names(report, node, place, groups)
        has_window = "window" in node
        spans = read_window(report, node["window"], (*place, "window"), special) if has_window else ()
        shared |= set(names)
        policy = _read_policy(report, node.get("policy", "hybrid"), (*place, "policy"))
        if policy:
            reading = Reading(report, policy, tree, resources)
            settings = _read_switches(reading, node.get("settings"), (*place, "settings"))
            _check_kind(report, policy, [groups[name] for name in names], (*place, "resource_groups"))
            _check_packing(report, settings.packing, [groups[name] for name in names], (*place, "settings", "packing"))
            consumers = read_consumers_of_entry(reading, node.get("consumers"), (*place, "consumers"))
            if settings.fair_share:
                queues = [((*place, "consumers", tree.paths[row]), each.queue) for row, each in consumers.items()]
                check_limits(report, settings.fair_share, queues, resources)
            # A window that is at fault is a window all the same.
            window = str(node["window"]) if spans or has_window else ""
            entries.append(PolicyEntry(names, policy, settings, consumers, window, spans))
    for name in groups:
        if name not in shared:
            what = f"no policy entry shares the resource group `{shown(name)}`, so its slots stay idle"
            report.warn("group-not-shared", what, "name it in a policy entry", ("resource_groups", name))
    return tuple(entries)


def _read_names(
    report: Report,
    node: dict[str, Value],
    place: Place,
    groups: Mapping[str, ResourceGroup],
) -> tuple[str, ...]:
    """Read the known resource groups of an entry."""
    if "resource_groups" not in node:
        return ()
    place = (*place, "resource_groups")
    names = []
    items = report.sequence(node["resource_groups"], place, what="names of resource groups")
    if not items and isinstance(node["resource_groups"], list):
        report.fault("missing-key", "the entry names no resource group", "name one", place)
    for at, item in enumerate(items):
        name = report.text(item, (*place, at), what="the name of a resource group")
        if name in names:
            what = f"the resource group `{shown(name)}` is listed twice in one policy entry"
            report.fault("group-shared-twice", what, "name it once", (*place, at))
        elif name in groups:
            names.append(name)
        elif isinstance(item, str):
            mend = report.suggest(name, groups, "name one of those under `resource_groups:`")
            report.fault("unknown-resource-group", f"there is no resource group `{shown(name)}`", mend, (*place, at))
    return tuple(names)


def _read_policy(report: Report, value: Value, place: Place) -> Policy | None:
    """Read the name of a policy; None where it is refused."""
    name = report.text(value, place, what="the name of a policy")
    policy = find_policy(name)
    if name and policy is None:
        known = all_policies()
        mend = report.suggest(name, known, f"use one of {listed(known)}")
        report.fault("unknown-policy", f"there is no policy `{shown(name)}`", mend, place)
    return policy


def _read_switches(reading: Reading, value: Value, place: Place) -> PolicySettings:
    """Read the `settings:` of an entry; those that its policy does not read are refused."""
    settings = reading.policy.of_entry
    schema = {each.key: each for each in settings}
    stated: dict[str, object] = {}
    for key, word in reading.report.mapping(value, place, what="the settings of a policy").items():
        if key in schema:
            stated[key] = read_value(reading, schema[key], word, (*place, key))
        else:
            refuse_key(reading.report, key, reading.policy, (*place, key), part="settings")
    return make(PolicySettings, settings, stated)


def _check_kind(report: Report, policy: Policy, groups: Sequence[ResourceGroup], place: Place) -> None:
    """Refuse a policy of slots for a group of vectors, and the other way round."""
    at_fault = {
        fault.place[1] for fault in report.faults if fault.place[:1] == ("resource_groups",) and fault.place[1:]
    }
    for group in groups:
        if group.name in at_fault:  # what its hosts would have is not known
            continue
        if policy.has_queues and group.capacity:
            continue
        if group.capacity:
            what = f"`{policy.name}` shares resources of hosts, and `{shown(group.name)}` has only totals"
            mend = f"list its `hosts:`, or use {listed(_named(has_queues=True))}"
            report.fault("slots-and-vectors", what, mend, place)
            continue
        has_vectors = group.has_nodes_of_vectors or any(host.amounts for host in group.hosts)
        if policy.shares_vectors and not has_vectors:
            what = f"`{policy.name}` shares resources of hosts, and the resource group `{shown(group.name)}` has none"
            mend = "give it hosts with amounts, as `{name: g1, cpu: 8}`, or use another policy"
            report.fault("slots-and-vectors", what, mend, place)
        elif not policy.shares_vectors and has_vectors:
            what = f"`{policy.name}` shares slots, and the hosts of `{shown(group.name)}` have amounts of resources"
            report.fault(
                "slots-and-vectors",
                what,
                f"use one of {listed(_named(shares_vectors=True))}, or write the hosts with `slots`",
                place,
            )


def _named(**traits: bool) -> list[str]:
    """Names of the policies that have some traits."""
    return [
        name for name, each in all_policies().items() if all(getattr(each, key) is has for key, has in traits.items())
    ]


def _check_packing(report: Report, packing: str, groups: Sequence[ResourceGroup], place: Place) -> None:
    """Refuse a choice among hosts where a group has none."""
    for group in groups if packing in PACKINGS[1:] else ():
        if not group.hosts and group.selector is None:
            what = f"`{packing}` needs hosts to choose from, and the resource group `{shown(group.name)}` has none"
            report.fault("packing-needs-hosts", what, f"give it `hosts:`, or use `{PACKINGS[0]}`", place)
