"""`demand:`, `allocated:` and `resource_groups:` of a state: plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.planio.names import find_leaf
from fairhold.planio.report import shown
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

SLOT_KEYS = ("slots",)


def read_slots(view: StateView, value: Value) -> dict[str, int]:
    """Resource group → slots it has now."""
    report, slots = view.report, {}
    for name, node in report.mapping(value, ("resource_groups",), what="resource groups with their slots").items():
        place = ("resource_groups", name)
        group = view.plan.resource_groups.get(name)
        if group is None:
            mend = report.suggest(name, view.plan.resource_groups, "name a resource group of the plan")
            report.fault("unknown-resource-group", f"there is no resource group `{shown(name)}`", mend, place)
        elif group.hosts:
            what = f"`{shown(name)}` has hosts in the plan, so its slots are those of the hosts that are up"
            report.fault("slots-and-hosts", what, "list hosts that are down under `hosts_down:`", place)
        fields = report.mapping(node, place, what="the slots of a resource group")
        report.keys(fields, SLOT_KEYS, place, {"capacity": "`capacity`, totals without hosts, is"})
        report.missing(fields, SLOT_KEYS, place, "a resource group in a state")
        slots[name] = report.whole(fields.get("slots", 0), (*place, "slots"))
    return slots


def read_counts(view: StateView, value: Value, section: str) -> dict[tuple[int, str], int]:
    """(row, resource group) → units, for `demand` or `allocated`."""
    report, tree = view.report, view.tree
    shared = frozenset(view.shared)
    counts: dict[tuple[int, str], int] = {}
    for path, node in report.mapping(value, (section,), what="paths with their units").items():
        row = find_leaf(report, tree, path, (section, path))
        for name, units in report.mapping(node, (section, path), what="units by resource group").items():
            if name not in shared and not view.group(name, (section, path, name)):
                continue
            if name not in view.counted:
                view.counted[name] = (section, path, name)
            is_right = type(units) is int and 0 <= units <= LARGEST
            right = units if is_right else report.whole(units, (section, path, name))
            if row >= 0:
                counts[row, name] = right  # type: ignore[assignment]
    return counts
