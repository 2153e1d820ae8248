"""The whole result, recomputed exactly, in the format of `fairhold quota` and `fairhold cycle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.books import Books, Place, open_books, shut
from fairhold.cycle.verify.counting import count
from fairhold.cycle.verify.group import GroupCycle, entitlements, run_group
from fairhold.cycle.verify.housing import most_on_hosts, move_in
from fairhold.cycle.verify.sheet import Sheet, make_sheet, planned_groups
from fairhold.cycle.verify.spare import free_slots
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.model.plan import Plan
    from fairhold.model.state import Notice, Request, State

Json = dict[str, Any]


def expected_quota(plan: Plan, state: State) -> Json:
    """Recompute what `fairhold quota --json` prints."""
    return quota_document(plan, state) | _absent(plan, state)


def quota_document(plan: Plan, state: State) -> Json:
    """The same without hosts that are not up."""
    groups: Json = {}
    for name in planned_groups(plan):
        sheet = make_sheet(plan, state, name)
        books = open_books(plan, state, sheet)
        sheet = move_in(count(shut(books, sheet), books), books)
        quotas, _ = entitlements(sheet, books.held_by_request())
        held = sheet.summed(books.held(sheet))
        groups[name] = {**_slots(sheet, quotas), "consumers": _consumers(sheet, quotas, held, held)}
    return {"now": format_instant(state.now), "resource_groups": groups}


def expected_cycle(plan: Plan, state: State) -> Json:
    """Recompute what `fairhold cycle --json` prints; of several valid reasons of a notice the first."""
    return cycle_document(plan, state, run_cycle(plan, state)) | _absent(plan, state)


def _absent(plan: Plan, state: State) -> Json:
    hosts = expected_hosts(plan, state)
    return {"hosts": hosts} if hosts else {}


def cycle_document(plan: Plan, state: State, cycles: Mapping[str, GroupCycle]) -> Json:
    """Build the result of a cycle from the cycles of the groups."""
    result: Json = {"now": format_instant(state.now), "resource_groups": {}}
    for name, each in cycles.items():
        result["resource_groups"][name] = {
            **_slots(each.sheet, each.quotas),
            "idle": each.idle,
            "consumers": _consumers(each.sheet, each.quotas, each.held_before, each.held),
        }
    for kind in ("stops", "grants", "reclaims", "withdrawn"):
        result[kind] = [row for each in cycles.values() for row in _rows(each, kind)]
    if observed := [row for each in cycles.values() for row in _rows(each, "observed")]:
        result["observed"] = observed
    return result | {"warnings": [], "state": _state_after(plan, state, cycles)}


def expected_hosts(plan: Plan, state: State) -> Json:
    """Shared resource group → its hosts that are not up in the state (R-UP-1)."""
    found: Json = {}
    for name, group in plan.resource_groups.items():
        if not any(name in entry.resource_groups for entry in plan.policies):
            continue
        words = {
            "unseen": state.hosts_never_seen,
            "down": state.hosts_down - state.hosts_never_seen,
            "closed": state.hosts_closed - state.hosts_down,
        }
        found_by = {word: [host.name for host in group.hosts if host.name in those] for word, those in words.items()}
        rows = [{"state": word, "since": None, "hosts": names} for word, names in found_by.items() if names]
        if rows:
            up = len(group.hosts) - sum(map(len, found_by.values()))
            found[name] = {"up": up, "all": len(group.hosts), "not_up": rows}
    return found


def run_cycle(plan: Plan, state: State) -> dict[str, GroupCycle]:
    """Run the cycle of every group that a policy entry names."""
    return {name: run_group(plan, state, name) for name in planned_groups(plan)}


def _slots(sheet: Sheet, quotas: Quotas) -> Json:
    blocked = {"blocked": most_on_hosts(sheet, quotas.quota)[1]} if sheet.is_exclusive else {}
    return {"slots": sheet.slots, **blocked}


def _consumers(sheet: Sheet, quotas: Quotas, held: Mapping[str, int], held_after: Mapping[str, int]) -> Json:
    demand = sheet.summed(sheet.demand)
    free = free_slots(sheet, quotas, held_after)
    return {
        path: {
            "demand": demand[path],
            "need": quotas.need[path],
            "owned": sheet.owned[path],
            "reserve": quotas.reserve[path],
            "limit": None if sheet.limit[path] >= UNLIMITED else sheet.limit[path],
            "allocated": held[path],
            "quota": quotas.quota[path],
            "free": free[path],
        }
        | (
            {"share_ratio": None if path == "/" else sheet.ratio[path], "planned": str(quotas.planned[path])}
            if sheet.policy.divides_by_ratio
            else {}
        )
        for path in sheet.paths
    }


def _rows(cycle: GroupCycle, kind: str) -> list[Json]:
    group = cycle.sheet.group
    if kind not in {"reclaims", "observed"}:
        places: dict[str, Mapping[Place, int]] = {
            "stops": cycle.stops,
            "grants": cycle.grants,
            "withdrawn": cycle.withdrawn,
        }
        return [_row(place, group, units) for place, units in places[kind].items()]
    return [
        _row(place, group, units)
        | {
            "for": taker,
            "deadline": format_instant(deadline),
            "reason": "window" if switch else cycle.reasons[place.consumer][0] if taker is None else "quota",
        }
        for place, deadline, units, taker, switch in (cycle.observed if kind == "observed" else cycle.notices)
    ]


def _row(place: Place, group: str, units: int) -> Json:
    row: Json = {"consumer": place.consumer, "resource_group": group, "units": units}
    row |= {"request": place.request} if place.request else {}
    return row | ({"host": place.host} if place.host else {})


def _state_after(plan: Plan, state: State, cycles: Mapping[str, GroupCycle]) -> Json:
    books = [cycle.books for cycle in cycles.values()]
    paths = plan.tree.paths
    document: Json = {
        "fairhold_state": 1,
        "now": format_instant(state.now),
        "previous_cycle": format_instant(state.now),
        "resource_groups": {name: {"slots": slots} for name, slots in state.slots.items()},
        "hosts_down": sorted(state.hosts_down - state.hosts_never_seen),
        "hosts_never_seen": sorted(state.hosts_never_seen),
        "hosts_closed": sorted(state.hosts_closed),
        "spent": _by_path({(paths[row], group): units for (row, group), units in state.spent.items()}),
        "demand": _by_path({(paths[row], group): units for (row, group), units in state.demand.items()}),
        "allocated": _by_path(
            {(path, name): units for name, each in cycles.items() for path, units in each.books.counts.items()}
        ),
        "requests": [_request(plan, state, number) for number in range(len(state.requests))],
        "allocations": [row for each in books for row in _allocations(each)],
        "reclaims": [row for each in books for row in _notices(plan, each.notices)],
        "held": [{"request": u.request, "host": u.host, "units": u.units} for each in books for u in each.kept],
    }
    document["borrowed"] = [
        {"borrower": borrower, "lender": lender, "resource_group": name, "units": units}
        for name, each in cycles.items()
        for (borrower, lender), units in each.loans.items()
    ]
    document["shortages"] = [
        {"consumer": leaf, "resource_group": name, "since": format_instant(since), "taking": is_taking}
        for name, each in cycles.items()
        for leaf, (since, is_taking) in each.shortages.items()
    ]
    document["reclaims"] += [row for cycle in cycles.values() for row in _rows(cycle, "reclaims")]
    return {key: value for key, value in document.items() if value not in ({}, [])}


def _by_path(units: Mapping[tuple[str, str], int]) -> Json:
    nested: Json = {}
    for (path, group), number in units.items():
        if number:
            nested.setdefault(path, {})[group] = number
    return nested


def _request(plan: Plan, state: State, number: int) -> Json:
    request = state.requests[number]
    return {
        "id": request.id,
        "consumer": plan.tree.paths[request.consumer],
        "resource_group": request.resource_group,
        "unit": {"slots": 1},
        "count": request.count,
        "min_count": request.min_count,
        "priority": request.priority,
        "submitted": format_instant(request.submitted),
    } | _optional(request)


def _optional(request: Request) -> Json:
    asked = request.siting
    stated: Json = {"user": request.user, "need": [*asked.need], "prefer": [*asked.prefer], "avoid": [*asked.avoid]}
    if request.time_limit:
        stated["time_limit"] = f"{request.time_limit // 1000}.{request.time_limit % 1000:03d}ms"
    if request.since is not None:
        stated["waiting_since"] = format_instant(request.since)
    return {key: value for key, value in (stated | {"place": asked.place}).items() if value}


def _allocations(books: Books) -> list[Json]:
    rows = []
    for (request, host, started), units in books.batches.items():
        if units:
            row: Json = {"request": request, "units": units, "started": format_instant(started)}
            rows.append(row | ({"host": host} if host else {}))
    return rows


def _notices(plan: Plan, notices: Iterable[Notice]) -> list[Json]:
    return [
        _row(Place(plan.tree.paths[notice.consumer], notice.request, notice.host), notice.resource_group, notice.units)
        | {
            "for": plan.tree.paths[notice.taker] if notice.taker >= 0 else None,
            "deadline": format_instant(notice.deadline),
            "reason": notice.reason,
        }
        for notice in notices
    ]
