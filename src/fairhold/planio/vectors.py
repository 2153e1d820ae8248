"""Units of vectors in a state: what they are of, where they stand, and what they stand on (SPEC §6.1, §11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import total
from fairhold.model.tree import ROOT
from fairhold.model.vector import Parcel, amount_text
from fairhold.planio.names import unknown_path
from fairhold.planio.report import listed, shown
from fairhold.planio.resources import read_vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.state import Parts, Request
    from fairhold.model.vector import Vector
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

OWN, PUBLIC = "own", "/"
"""Pools that are not private: a leaf's own parcels, and the public pool."""
PARCEL_KEYS = ("host", "consumer", "amounts")
_NO_GROUP = "units of resources may run on any host of their consumer's policy entry"


def asks_for_vector(view: StateView, node: dict[str, Value]) -> bool:
    """Whether a request is for units of a vector: it says so, or nothing else is shared."""
    unit = node.get("unit")
    says_so = isinstance(unit, dict) and bool(unit) and "slots" not in unit
    return bool(view.vectors) and (says_so or not view.shared)


def read_unit(view: StateView, node: dict[str, Value], consumer: int, place: Place) -> Vector:
    """Read what one unit of a request needs; empty where something is at fault."""
    report = view.report
    faults = len(report.faults)
    refuse_group(view, node, place)
    report.missing(node, ("unit",), place, "a request for resources")
    at = (*place, "unit")
    unit = read_vector(report, node.get("unit"), at, view.resources, what="a unit such as `{cpu: 4, memory: 16}`")
    if "unit" in node and len(report.faults) == faults and not any(unit):
        mend = "write an amount above 0 of one resource at least"
        report.fault("out-of-range", "the unit needs nothing of any resource", mend, at)
    if consumer > ROOT and not view.groups_of(consumer):
        what = f"several policy entries share resources, and none of them lists `{shown(view.tree.paths[consumer])}`"
        mend = "list it in one of them, in the plan"
        report.fault("group-without-policy", what, mend, (*place, "consumer"))
    return unit if len(report.faults) == faults else ()


def refuse_group(view: StateView, node: dict[str, Value], place: Place) -> None:
    """Refuse `resource_group` together with a vector."""
    if "resource_group" in node:
        view.report.fault("wrong-place", _NO_GROUP, "leave `resource_group` out", (*place, "resource_group"))


def host_of_vector(view: StateView, node: dict[str, Value], request: Request, place: Place) -> str:
    """Return the `host` of a row about units of a vector; empty with a fault."""
    report = view.report
    if "host" not in node:
        report.fault("missing-key", "units of resources run on a host, and none is given", "add `host:`", place)
        return ""
    here = (*place, "host")
    name = report.text(node["host"], here, what="the name of a host")
    if not isinstance(node["host"], str) or not view.known_host(name, here):
        return ""
    groups = view.groups_of(request.consumer)
    if view.host[name] not in groups:
        what = f"the host `{shown(name)}` is in the resource group `{shown(view.host[name])}`"
        path = view.tree.paths[request.consumer]
        report.fault("wrong-host", what, f"name a host of {listed(groups)}, that `{shown(path)}` shares", here)
        return ""
    return name


def read_pool(view: StateView, node: dict[str, Value], request: Request, place: Place) -> str:
    """Read the pool that units were placed in: `own`, `/`, or the path of a consumer above the holder."""
    if "pool" not in node:
        return PUBLIC
    here = (*place, "pool")
    word = view.report.text(node["pool"], here, what="a pool")
    if not isinstance(node["pool"], str) or word in {OWN, PUBLIC}:
        return word
    if word in view.gone:
        return PUBLIC
    row = view.tree.parent[request.consumer]
    pools = [OWN, PUBLIC]
    while row != ROOT:
        if view.tree.paths[row] == word:
            return word
        pools.append(view.tree.paths[row])
        row = view.tree.parent[row]
    what = f"`{shown(word)}` is not a pool of `{shown(view.tree.paths[request.consumer])}`"
    view.report.fault("unknown-pool", what, f"write one of {listed(pools)}", here)
    return ""


def read_lenders(
    view: StateView, node: dict[str, Value], request: Request, pool: str, place: Place, *, units: int
) -> tuple[tuple[int, int], ...]:
    """Read (row of a consumer other than the request's own, units that stand on what it owns), by row."""
    report, lenders = view.report, []
    here = (*place, "lenders")
    for path, stated in report.mapping(node.get("lenders"), here, what="paths with units").items():
        if path in view.gone:
            continue
        row = _owner(view, path, (*here, path))
        lent = report.whole(stated, (*here, path), least=1)
        if row == request.consumer:
            what = f"`{shown(path)}` holds the units, and cannot lend to itself"
            report.fault("lends-to-itself", what, "leave it out, or name the owner", (*here, path))
        if lent > units:
            what = f"{lent} units use what `{shown(path)}` owns, but only {units} are held"
            report.fault("lent-above-held", what, "lower them", (*here, path))
        lenders.append((row, lent))
    if lenders and pool == OWN:
        what = "units in the pool `own` use what their holder owns, so there is no lender"
        report.fault("lent-above-held", what, "leave `lenders` out, or name another pool", here)
    return tuple(sorted(lenders))


def read_parts(view: StateView, node: dict[str, Value], request: Request, place: Place) -> Parts:
    """Read (row of an owner, 0 = nobody, amounts): what each of the units uses of whose parcel, by row."""
    report, parts = view.report, []
    here = (*place, "stands_on")
    faults = len(report.faults)
    for path, stated in report.mapping(node.get("stands_on"), here, what="paths with amounts").items():
        row = ROOT if path == PUBLIC else _owner(view, path, (*here, path))
        parts.append((row, read_vector(report, stated, (*here, path), view.resources, what="amounts by resource")))
    if len(report.faults) > faults or not parts:
        return ()
    if total((amounts for _, amounts in parts), len(request.unit)) != request.unit:
        mend = "make them add up to the `unit` of the request, or leave `stands_on` out"
        report.fault("out-of-range", "the amounts of `stands_on` do not add up to what a unit needs", mend, here)
    return tuple(sorted(parts))


def _owner(view: StateView, path: str, place: Place) -> int:
    """Return the row of a consumer that may own something; -1 with a fault where there is none."""
    row = view.tree.rows.get(path, -1)
    if row == ROOT:
        view.report.fault("name", "the root `/` is the cluster and owns nothing", "leave it out", place)
    elif row < 0:
        unknown_path(view.report, view.tree, path, place)
    return row if row > ROOT else -1


def count_use(view: StateView, host: str, units: int, request: Request, place: Place) -> None:
    """Add units to what is used on a host; a fault where it has not so much."""
    used = view.used.setdefault(host, [0] * len(request.unit))
    for at, each in enumerate(request.unit):
        room = view.room[host][at]
        was_in = used[at] <= room
        used[at] += units * each
        if was_in and used[at] > room:
            resource = view.plan.resources[at]
            mine, all_of_it = amount_text(resource, used[at]), amount_text(resource, room)
            what = f"{mine} of `{shown(resource.name)}` are used on `{shown(host)}`, and {all_of_it} can be"
            view.report.fault("used-above-host", what, "lower `units`, or move some to another host", place)


def read_ownership(view: StateView, value: Value) -> tuple[Parcel, ...] | None:
    """Read the parcels as adjusted so far; None where the section is left out."""
    if value is None:
        return None
    report, parcels = view.report, []
    seen: set[tuple[str, int]] = set()
    owned: dict[str, list[int]] = {}
    for at, item in enumerate(report.sequence(value, ("ownership",), what="parcels")):
        place = ("ownership", at)
        node = report.mapping(item, place, what="a parcel")
        report.keys(node, PARCEL_KEYS, place, {})
        report.missing(node, PARCEL_KEYS, place, "a parcel")
        if any(isinstance(name := node.get(key), str) and name in view.gone for key in ("host", "consumer")):
            continue
        parcel = read_parcel(view, node, place)
        if parcel is None:
            continue
        if (parcel.host, parcel.consumer) in seen:
            path = view.tree.paths[parcel.consumer]
            what = f"`{shown(path)}` is listed twice with `{shown(parcel.host)}`"
            report.fault("listed-twice", what, "merge them into one parcel", place)
        seen.add((parcel.host, parcel.consumer))
        if not view.is_other:  # a host that has less now is divided anew
            _count_parcel(view, parcel, owned, (*place, "amounts"))
        parcels.append(parcel)
    return tuple(parcels)


def read_parcel(view: StateView, node: dict[str, Value], place: Place) -> Parcel | None:
    """One parcel; None where something is at fault."""
    report = view.report
    faults = len(report.faults)
    path = report.text(node.get("consumer", ""), (*place, "consumer"), what="the path of a consumer")
    has_path = isinstance(node.get("consumer"), str)
    row = _owner(view, path, (*place, "consumer")) if has_path else -1
    host = report.text(node.get("host", ""), (*place, "host"), what="the name of a host")
    if isinstance(node.get("host"), str) and view.known_host(host, (*place, "host")) and host not in view.room:
        what = f"the host `{shown(host)}` is shared in slots, so nobody owns parts of it"
        report.fault("wrong-host", what, "name a host that is shared in resources", (*place, "host"))
    at = (*place, "amounts")
    amounts = read_vector(report, node.get("amounts"), at, view.resources, what="amounts by resource")
    if "amounts" in node and len(report.faults) == faults and not any(amounts):
        report.fault("out-of-range", "the parcel has nothing of any resource", "leave it out", at)
    return Parcel(host, row, amounts) if row > ROOT and host and len(report.faults) == faults else None


def _count_parcel(view: StateView, parcel: Parcel, owned: dict[str, list[int]], place: Place) -> None:
    """Add a parcel to what is owned of its host; a fault where the host has not so much."""
    so_far = owned.setdefault(parcel.host, [0] * len(parcel.amounts))
    has: Sequence[int] = view.amounts[parcel.host]
    for at, each in enumerate(parcel.amounts):
        was_in = so_far[at] <= has[at]
        so_far[at] += each
        if was_in and so_far[at] > has[at]:
            resource = view.plan.resources[at]
            mine, all_of_it = amount_text(resource, so_far[at]), amount_text(resource, has[at])
            what = f"{mine} of `{shown(resource.name)}` are owned of `{shown(parcel.host)}`, and it has {all_of_it}"
            view.report.fault("owned-above-host", what, "lower the amounts", place)
