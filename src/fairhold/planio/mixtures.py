"""What has to be right between policy entries that are in force together in a resource group (SPEC §3.6, §4, §9)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.planio.lending import check_lists
from fairhold.planio.report import listed, shown
from fairhold.policies.keys import OBSERVE_ONLY, PACKING
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan, PolicyEntry, PolicySettings, ResourceGroup
    from fairhold.planio.report import Report

_DEFAULT = ConsumerSettings()


def together(plan: Plan, group: str) -> Iterator[tuple[int, ...]]:
    """Positions of the entries that are in force together at some time, each combination once."""
    if plan.calendar is not None and group in plan.calendar.windows.tracks:
        yield from sorted(plan.calendar.combinations(group))
    elif force := tuple(at for at, entry in enumerate(plan.policies) if group in entry.resource_groups):
        yield force


def check_mixtures(report: Report, plan: Plan) -> None:
    """Report what does not go together, once for each combination of entries of each group."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for name, group in plan.resource_groups.items():
        for force in together(plan, name):
            found = type(report)(report.document)
            _check(found, plan, group, force)
            for told, kept in ((found.faults, report.faults), (found.warnings, report.warnings)):
                for fault in told:
                    key = (fault.code, tuple(map(str, (fault.what, *fault.place))))
                    if key not in seen:
                        seen.add(key)
                        kept.append(fault)


def _check(report: Report, plan: Plan, group: ResourceGroup, force: tuple[int, ...]) -> None:
    entry_of = plan.entries_of(group.name, force)
    entries = {at: plan.policies[at] for at in dict.fromkeys(force)}
    policies = {entry.policy.name: entry.policy for entry in entries.values()}
    is_mixed = len(policies) > 1
    if is_mixed and not all(one.goes_with(other) for one, other in combinations(policies.values(), 2)):
        what = f"the policies {listed(sorted(policies))} apply together to `{shown(group.name)}`"
        mend = "use one policy for all, or mix `ownership` and `hybrid`"
        report.fault("policies-not-mixed", what, mend, ("policies", max(entries), "policy"))
        return
    if len(entries) > 1 and any(policy.shares_vectors for policy in policies.values()):
        what = f"{len(entries)} entries of {listed(sorted(policies))} share `{shown(group.name)}` at once; only one may"
        mend = "write one entry for all consumers, or give each a `window`"
        report.fault("group-shared-twice", what, mend, ("policies", max(entries), "resource_groups"))
        return
    _check_switches(report, group.name, entries)
    if any(policy.owns_exactly for policy in policies.values()):
        _check_ratios(report, plan, entries, entry_of, is_mixed=is_mixed)
        check_lists(report, plan.tree, entries, entry_of)
    if all(policy.owns_slots for policy in policies.values()):
        owned = sum(plan.policies[entry_of[row]].consumers.get(row, _DEFAULT).owned for row in plan.tree.children[0])
        _check_owned(report, group, owned, is_mixed=is_mixed)


def _check_switches(report: Report, group: str, entries: dict[int, PolicyEntry]) -> None:
    """Entries of one policy must agree on what holds for the whole group; all, on where units stand and who is told."""
    first: dict[str, tuple[int, PolicySettings]] = {}
    leading = next(iter(entries))
    for at, entry in entries.items():
        other, settings = first.setdefault(entry.policy.name, (at, entry.settings))
        same = [each for each in entry.policy.of_entry if not each.may_differ]
        if other == at:
            other, settings, same = leading, entries[leading].settings, [PACKING, OBSERVE_ONLY]
        for setting in same:
            key = setting.key
            if setting.of(settings) != setting.of(entry.settings):
                what = f"`{key}` differs from that of `policies[{other}]`, and both share `{shown(group)}`"
                report.fault("settings-differ", what, "write the same in both", ("policies", at, "settings", key))


def _check_ratios(
    report: Report, plan: Plan, entries: dict[int, PolicyEntry], entry_of: list[int], *, is_mixed: bool
) -> None:
    for at, entry in entries.items():
        for row, stated in entry.consumers.items() if entry.policy.owns_exactly else ():
            if stated.share_ratio is None or entry_of[row] != at:
                continue
            path = plan.tree.paths[row]
            place = ("policies", at, "consumers", path, "share_ratio")
            if is_mixed:
                what = f"`{shown(path)}` has a share ratio, but here the slots that nobody owns go to `hybrid`"
                report.fault("ratio-in-mixture", what, "leave it out", place)
            elif plan.tree.children[row]:
                what = f"`{shown(path)}` has consumers below it, and only leaves have a share ratio under `ownership`"
                report.fault("ratio-on-branch", what, "write it at the leaves below", place)


def _check_owned(report: Report, group: ResourceGroup, owned: int, *, is_mixed: bool) -> None:
    """Check what the first level owns against the slots of one group."""
    place = ("resource_groups", group.name)
    if owned > LARGEST:
        what = f"the consumers of the first level own {owned} in total, more than {LARGEST}"
        report.fault("out-of-range", what, "lower what they own", place)
    elif group.configured_slots is not None and group.configured_slots < owned:
        what = f"the consumers of the first level own {owned}, more than the {group.configured_slots} configured slots"
        mend = f"raise `configured_slots` to {owned}, or leave it out"
        report.fault("owned-above-configured", what, mend, (*place, "configured_slots"))
    elif group.slots < owned and not group.has_unknown_hosts:
        what = f"{owned} slots are owned and `{shown(group.name)}` has {group.slots}: what is owned is scaled down"
        report.warn("overcommitted", what, "lower what is owned, or add hosts", place)
    if is_mixed and group.configured_slots is not None and group.configured_slots > owned:
        balance = group.configured_slots - owned
        what = f"`/` has a balance of {balance}: {owned} of {group.configured_slots} configured slots are owned"
        mend = f"let `hybrid` consumers own {balance} more; then the owned numbers of the plan hold as they are"
        report.warn("root-balance", what, mend, (*place, "configured_slots"))
