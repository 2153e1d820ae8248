"""Conditions that a result must satisfy by itself, checked without recomputing it (SPEC §10).

They use the numbers of the result, and only plain values of the plan and the state. A result may differ
from the recomputation in one number and violate several conditions: they explain the difference.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.books import open_books, settle, shut
from fairhold.cycle.verify.finding import Finding
from fairhold.cycle.verify.sheet import TOP, Sheet, make_sheet, planned_groups
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Table = dict[str, dict[str, Any]]
"""Path → field → number of the result."""


def check_conditions(plan: Plan, state: State, said: Mapping[str, Any]) -> Iterator[Finding]:
    """Check all conditions. said: a result that has the agreed form."""
    for name in planned_groups(plan):
        sheet = make_sheet(plan, state, name)
        books = open_books(plan, state, sheet)
        if "grants" in said:
            settle(books, state, sheet)
        sheet = shut(books, sheet)
        table: Table = said["resource_groups"][name]["consumers"]
        yield from quotas_are_within_bounds(sheet, table)
        yield from children_sum_to_their_parent(sheet, table)
        yield from alike_differ_by_one(sheet, table)
        if "grants" not in said:
            continue
        units = {kind: _by_leaf(said[kind], name) for kind in ("grants", "reclaims", "withdrawn")}
        yield from grants_fit(sheet, table, units["grants"])
        after = [row for row in said["state"].get("reclaims", []) if row.get("reason") == "window"]
        units["switched"] = _by_leaf([row for row in after if "consumer" in row], name)
        yield from losers_are_above_quota(plan, state, sheet, table, units)
        yield from graces_are_the_holders(state, sheet, said["reclaims"])
        yield from hosts_hold_what_they_have(sheet, said["state"])


def _by_leaf(rows: list[dict[str, Any]], group: str) -> Counter[str]:
    units: Counter[str] = Counter()
    for row in rows:
        if row["resource_group"] == group:
            units[row["consumer"]] += row["units"]
    return units


def quotas_are_within_bounds(sheet: Sheet, table: Table) -> Iterator[Finding]:
    """Reserve ≤ quota ≤ need ≤ limit; a leaf's quota at least what it owns and needs (R-QUOTA-3)."""
    for path in sheet.paths:
        row = table[path]
        low, high, limit = row["reserve"], row["need"], UNLIMITED if row["limit"] is None else row["limit"]
        if sheet.policies[path].owns_exactly and path != TOP:
            low = 0  # its reserve is not scaled: with too few slots its quota is below it
        elif not sheet.children[path] and path != TOP:
            slots, configured = sheet.slots, sheet.configured
            if sheet.is_mixed:
                slots, configured = max(0, slots - sheet.apart), configured - sheet.apart
            scaled = sheet.owned[path] * slots // configured if configured else 0
            low = max(low, min(row["need"], sheet.owned[path], scaled))
        bounded = path == TOP or low <= row["quota"] <= high
        if not bounded or high > limit:
            text = "the quota is outside of reserve, need and limit"
            yield Finding("R-QUOTA-3", f"{sheet.group} {path}", row["quota"], f"{low} to {min(high, limit)}", text)


def children_sum_to_their_parent(sheet: Sheet, table: Table) -> Iterator[Finding]:
    """Children sum to their parent's quota, or to their need where that is less (R-ROUND-1)."""
    for path, children in sheet.children.items():
        below = [child for child in children if not sheet.policies[child].owns_exactly]
        if below:
            whole = max(0, sheet.slots - sheet.apart) if sheet.is_mixed else sheet.slots
            amount = whole if path == TOP else table[path]["quota"]
            wanted = sum(table[child]["need"] for child in below)
            expected = table[path]["quota"] if sheet.is_fixed else min(amount, wanted)
            total = sum(table[child]["quota"] for child in below)
            if total != expected:
                text = "the children's quotas do not sum to what is divided"
                yield Finding("R-ROUND-1", f"{sheet.group} {path}", total, expected, text)


def alike_differ_by_one(sheet: Sheet, table: Table) -> Iterator[Finding]:
    """Leaf siblings with equal settings and need differ by at most one unit; the one that comes first has more (S1.20).

    A policy of another package may divide differently.
    """
    if sheet.policy.division:
        return
    # Gangs that never fit leave less of a fixed share, and all of the need (R-GANG-1).
    lowered = {sheet.holder[key] for key, each in sheet.requests.items() if each.min_count and sheet.is_fixed}
    for path, below in sheet.children.items():
        alike: dict[tuple[object, ...], list[str]] = {}
        for child in below:
            if not sheet.children[child] and not sheet.policies[child].owns_exactly and child not in lowered:
                key = (
                    sheet.owned[child],
                    sheet.ratio[child],
                    table[child]["reserve"],
                    table[child]["need"],
                    table[child]["limit"],
                )
                alike.setdefault(key, []).append(child)
        for group in alike.values():
            first, last = table[group[0]]["quota"], table[group[-1]]["quota"]
            if not 0 <= first - last <= 1:
                text = f"{group[0]} and {group[-1]} are alike and their quotas are not"
                yield Finding("R-ROUND-1", f"{sheet.group} {path}", f"{first} and {last}", "at most one apart", text)


def grants_fit(sheet: Sheet, table: Table, grants: Counter[str]) -> Iterator[Finding]:
    """Nothing is granted beyond what is idle, wanted, and allowed by quota and limits (R-GRANT-1, R-GRANT-2)."""
    idle = max(0, sheet.slots - table[TOP]["allocated"])
    if sum(grants.values()) > idle:
        yield Finding("R-GRANT-1", sheet.group, sum(grants.values()), idle, "more is granted than is idle")
    for leaf, units in grants.items():
        row = table[leaf]
        most = min(row["need"] if sheet.is_fixed else row["quota"], row["demand"])
        if row["allocated"] + units > most:
            text = "a leaf is granted more than quota and demand allow"
            yield Finding("R-GRANT-1", f"{sheet.group} {leaf}", row["allocated"] + units, most, text)
    for path, units in sheet.summed(grants).items():
        limit = table[path]["limit"]
        if units and limit is not None and table[path]["allocated"] + units > limit:
            text = "grants lead above a limit"
            yield Finding("R-GRANT-2", f"{sheet.group} {path}", table[path]["allocated"] + units, limit, text)


def losers_are_above_quota(
    plan: Plan, state: State, sheet: Sheet, table: Table, units: Mapping[str, Counter[str]]
) -> Iterator[Finding]:
    """New notices leave their holder its quota, except where a gang stops whole or windows switch (§10, §9)."""
    if any(request.min_count for request in sheet.requests.values()):
        return
    before: Counter[str] = Counter()
    settles = state.previous_cycle is None or state.previous_cycle < state.now
    for notice in state.notices:
        if notice.resource_group == sheet.group and not (settles and notice.deadline <= state.now):
            before[plan.tree.paths[notice.consumer]] += notice.units
    for leaf, new in units["reclaims"].items():
        held = table[leaf]["allocated"] + units["grants"][leaf]
        most = max(0, held - table[leaf]["quota"], units["switched"][leaf])
        going = before[leaf] + new - units["withdrawn"][leaf]
        if going > most:
            text = "a leaf is to lose units that it is entitled to"
            yield Finding("R-RECLAIM-1", f"{sheet.group} {leaf}", going, most, text)


def graces_are_the_holders(state: State, sheet: Sheet, reclaims: list[dict[str, Any]]) -> Iterator[Finding]:
    """A new notice runs as long as its holder's grace (R-GRACE-1, S1.62)."""
    for row in reclaims:
        if row["resource_group"] == sheet.group:
            expected = format_instant(max(state.now + sheet.grace[row["consumer"]], sheet.opens))
            if row["deadline"] != expected:
                where = f"{sheet.group} {row['consumer']}"
                yield Finding("R-GRACE-1", where, row["deadline"], expected, "is not now and the holder's grace")


def hosts_hold_what_they_have(sheet: Sheet, after: Mapping[str, Any]) -> Iterator[Finding]:
    """A host on which this cycle starts units holds no more units than it has slots (R-PLACE-1)."""
    used: Counter[str] = Counter()
    started: set[str] = set()
    for row in after.get("allocations", []):
        host = row.get("host", "")
        used[host] += row["units"]
        if row["started"] == after["now"]:
            started.add(host)
    for host, slots in sheet.hosts:
        if host in started and used[host] > slots:
            yield Finding("R-PLACE-1", f"{sheet.group} {host}", used[host], slots, "a host holds more than it has")
