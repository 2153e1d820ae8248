"""`demand:`, `allocated:` and `resource_groups:` of a state: plain numbers, or amounts of resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.groups import read_capacity
from fairhold.planio.names import find_leaf
from fairhold.planio.report import listed, shown
from fairhold.planio.resources import read_vector
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.vector import Vector
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

SLOT_KEYS = ("slots", "capacity")


class Sizes(NamedTuple):
    """What groups without hosts have now: resource group → slots, or base units of every resource."""

    slots: dict[str, int]
    capacity: dict[str, Vector]


class Counts(NamedTuple):
    """(row, resource group) → units of slots, or base units of every resource where no request is named for them."""

    units: dict[tuple[int, str], int]
    amounts: dict[tuple[int, str], Vector]


def read_sizes(view: StateView, value: Value) -> Sizes:
    """What groups have now, as far as it is not what the plan says."""
    report, found = view.report, Sizes({}, {})
    for name, node in report.mapping(value, ("resource_groups",), what="resource groups with their slots").items():
        place = ("resource_groups", name)
        group = view.plan.resource_groups.get(name)
        if group is None:
            mend = report.suggest(name, view.plan.resource_groups, "name a resource group of the plan")
            report.fault("unknown-resource-group", f"there is no resource group `{shown(name)}`", mend, place)
        elif group.hosts:
            what = f"`{shown(name)}` has hosts in the plan, so its size is that of the hosts that are up"
            report.fault("slots-and-hosts", what, "list hosts that are down under `hosts_down:`", place)
        fields = report.mapping(node, place, what="the slots of a resource group")
        has_totals = group is not None and bool(group.capacity)
        report.keys(fields, SLOT_KEYS, place, {})
        mine, other = ("capacity", "slots") if has_totals else ("slots", "capacity")
        if other in fields and group is not None and not group.hosts:
            what = f"`{shown(name)}` has `{mine}` in the plan, not `{other}`"
            report.fault("slots-and-vectors", what, f"write `{mine}:`", (*place, other))
        elif group is not None and not group.hosts:
            report.missing(fields, (mine,), place, "a resource group in a state")
        if has_totals and "capacity" in fields:
            found.capacity[name] = read_capacity(report, fields["capacity"], (*place, "capacity"), view.resources)
        elif not has_totals:
            found.slots[name] = report.whole(fields.get("slots", 0), (*place, "slots"))
    return found


def read_counts(view: StateView, value: Value, section: str) -> Counts:
    """Units and amounts of `demand` or `allocated`."""
    report, tree = view.report, view.tree
    shared = frozenset(view.shared)
    found = Counts({}, {})
    for path, node in report.mapping(value, (section,), what="paths with their units").items():
        row = find_leaf(report, tree, path, (section, path))
        for name, units in report.mapping(node, (section, path), what="units by resource group").items():
            place: Place = (section, path, name)
            if name in view.queues:
                _read_amounts(view, units, place, row, found.amounts)
                continue
            if name not in shared and not view.group(name, place):
                continue
            if name not in view.counted:
                view.counted[name] = place
            is_right = type(units) is int and 0 <= units <= LARGEST
            right = units if is_right else report.whole(units, place)
            if row >= 0:
                found.units[row, name] = right  # type: ignore[assignment]
    return found


def _read_amounts(
    view: StateView, value: Value, place: Place, row: int, amounts: dict[tuple[int, str], Vector]
) -> None:
    """Read what a leaf wants or holds of a group whose queues share resources."""
    report, (_, path, name) = view.report, place
    view.stated.setdefault(str(name), place)
    found = read_vector(report, value, place, view.resources, what="amounts by resource, such as `{gpu: 5, cpu: 3}`")
    if row <= 0:
        return
    groups = view.groups_of(row)
    if name in groups:
        amounts[row, str(name)] = found
        return
    what = f"no policy entry of `{shown(str(path))}` shares the resource group `{shown(str(name))}`"
    mend = f"name one of {listed(groups)}" if groups else "list it in a policy entry, in the plan"
    report.fault("group-without-policy", what, mend, place)


def check_amounts(view: StateView, *, places: bool) -> None:
    """Refuse amounts beside requests of the same queues, and where units are to be placed."""
    report = view.report
    both = _asked_in_both(view)
    for name, place in view.stated.items():
        if name in both:
            what = f"`{shown(name)}` has amounts here, and requests ask for units of it"
            report.fault("counts-and-requests", what, "give one of the two for a resource group", place)
    if places and view.stated:
        name, place = next(iter(view.stated.items()))
        what = f"requests need hosts, and `{shown(name)}` has only amounts"
        mend = "write `requests:` and `allocations:`; with amounts only `quota`, `explain` and `verify` of a quota work"
        report.fault("needs-requests", what, mend, place)


def _asked_in_both(view: StateView) -> frozenset[str]:
    """Resource groups of which requests ask for units."""
    rows = {each.consumer for each in view.requests.values() if each is not None and each.unit}
    return frozenset(name for row in rows for name in view.groups_of(row))
