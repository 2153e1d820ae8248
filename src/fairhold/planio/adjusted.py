"""`adjusted:` of a state: when ownership of hosts was adjusted last (SPEC §6.7; R-ADJUST-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.adjusted import Adjusted
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

ADJUSTED_KEYS = ("at", "of")


def read_adjusted(view: StateView, value: Value) -> dict[str, Adjusted]:
    """Read the last adjustment of resource groups that are shared in vectors."""
    report, found = view.report, {}
    for name, item in report.mapping(value, ("adjusted",), what="resource groups with their last adjustment").items():
        place = ("adjusted", name)
        node = report.mapping(item, place, what="an adjustment")
        report.keys(node, ADJUSTED_KEYS, place, {})
        report.missing(node, ADJUSTED_KEYS, place, "an adjustment")
        at = view.past(node["at"], (*place, "at"), "ownership was adjusted") if "at" in node else 0
        of = report.text(node.get("of", ""), (*place, "of"), what="what a cycle has written there")
        if name in view.vectors:
            found[name] = Adjusted(at, of)
        elif name in view.plan.resource_groups:
            what = f"the resource group `{shown(name)}` is shared in slots, so no consumer owns parts of its hosts"
            report.fault("unknown-resource-group", what, "leave it out", place)
        elif not view.is_other:
            mend = report.suggest(name, view.plan.resource_groups, "name a resource group of the plan")
            report.fault("unknown-resource-group", f"there is no resource group `{shown(name)}`", mend, place)
    return found
