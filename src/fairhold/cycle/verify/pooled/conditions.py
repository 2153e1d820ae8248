"""Conditions that every cycle of pools must satisfy, checked in its documents without recomputing it (SPEC §10).

They explain a difference: a host that is too full, a unit from nowhere, a victim of a consumer that is at or
below its quota.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import Amounts, fits, scaled, summed
from fairhold.cycle.verify.pooled.force import shares_now
from fairhold.cycle.verify.pooled.terms import OWN, TOP, Terms, make_terms
from fairhold.reference.document import instant
from fairhold.reference.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from fairhold.cycle.verify.pooled.force import Share
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.model.vector import Owning

Json = dict[str, Any]


def check_pools(plan: Plan, state: State, said: Json) -> Iterator[Finding]:
    """Check all conditions of a result whose pools have the agreed form."""
    shares = shares_now(plan, state)
    of_pools = [share for share in shares if not share.entry.policy.has_queues]
    for share in of_pools:
        terms = make_terms(plan, share.entry)
        tables = said["pools"] if len(of_pools) == 1 else said["pools"][share.name]
        yield from quotas_divide_usage(terms, tables)
        if "grants" in said:
            reclaims = [row for row in said["reclaims"] if row["resource_group"] in share.groups]
            yield from graces_are_kept(terms, state, reclaims)
            yield from losers_are_above_quota(terms, state, tables[TOP]["consumers"], reclaims)
            yield from limits_are_kept(plan, state, terms, said)
    if "grants" in said:
        yield from hosts_hold_what_they_have(plan, state, said["state"])
        yield from units_are_conserved(state, said)
        yield from parcels_lie_in_hosts(plan, said["ownership"])
        for share in of_pools:
            yield from owners_have_what_is_planned(plan, state, share, said["ownership"])


def _units(rows: Iterable[Json], *keys: str) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        found[tuple(row[key] for key in keys)] += row["units"]
    return found


def quotas_divide_usage(terms: Terms, tables: Json) -> Iterator[Finding]:
    """Children together have no more quota than their parent, and nobody more than its demand (R-USAGE-3)."""
    for pool, table in tables.items():
        quota = {path: Fraction(row["usage_quota"]) for path, row in table["consumers"].items()}
        for path, row in table["consumers"].items():
            where = f"pools {pool} {path} usage_quota"
            demand = Fraction(row["usage_demand"])
            if path != pool and quota[path] > demand:
                yield Finding("R-USAGE-3", where, str(quota[path]), str(demand), "is more than is wanted")
            below = sum((quota.get(child, Fraction(0)) for child in terms.children[path]), Fraction(0))
            if below > quota[path]:
                yield Finding("R-USAGE-3", where, str(quota[path]), str(below), "is less than its children have")


def graces_are_kept(terms: Terms, state: State, rows: Iterable[Json]) -> Iterator[Finding]:
    """No notice is longer than the grace of its holder (R-LEND-6)."""
    for row in rows:
        most, grace = terms.grace[row["consumer"]], instant(row["deadline"]) - state.now
        if not 0 <= grace <= most:
            where = f"reclaims {row['request']} {row['host']} deadline"
            text = "is not within the holder's grace, in microseconds"
            yield Finding("R-LEND-6", where, grace, f"0 to {most}", text)


def losers_are_above_quota(terms: Terms, state: State, table: Json, rows: Iterable[Json]) -> Iterator[Finding]:
    """Where nothing is owned and no gang can break, only consumers above their quota of the public pool lose units."""
    if any(terms.own.values()) or terms.limit or any(request.min_count for request in state.requests):
        return
    for request, leaf in dict.fromkeys((row["request"], row["consumer"]) for row in rows):
        row = table[leaf]
        usage, quota = Fraction(row["usage"]), Fraction(row["usage_quota"])
        if usage <= quota:
            where = f"reclaims {request}"
            yield Finding("R-TAKE-1", where, str(usage), f"more than {quota}", "its leaf is not above its quota")


def limits_are_kept(plan: Plan, state: State, terms: Terms, said: Json) -> Iterator[Finding]:
    """No unit is placed in a pool that breaks a share limit (R-LIMIT-1)."""
    unit = {request.id: request.unit for request in state.requests if request.unit}
    leaf = {request.id: plan.tree.paths[request.consumer] for request in state.requests if request.unit}
    held = [row for row in said["state"].get("allocations", []) if row["host"] not in state.hosts_down]
    for path, limit in terms.limit.items():
        for at, most in limit.items():
            mine = [row for row in held if row["pool"] != OWN and path in terms.up[leaf[row["request"]]]]
            used = sum(row["units"] * unit[row["request"]][at] for row in mine)
            new = [row for row in said["grants"] if row["pool"] != OWN and path in terms.up[leaf[row["request"]]]]
            if used > most and any(unit[row["request"]][at] for row in new):
                where = f"grants {path} {plan.resources[at].name}"
                yield Finding("R-LIMIT-1", where, used, most, "is more than the share limit, in base units")


def hosts_hold_what_they_have(plan: Plan, state: State, after: Json) -> Iterator[Finding]:
    """Units on a host need no more than it has (R-POOL-1)."""
    unit = {request.id: request.unit for request in state.requests if request.unit}
    uses: dict[str, list[Amounts]] = {}
    for row in after.get("allocations", []):
        if row["request"] in unit:
            uses.setdefault(row["host"], []).append(scaled(unit[row["request"]], row["units"]))
    for group in plan.resource_groups.values():
        for host in group.hosts if any(host.amounts for host in group.hosts) else ():
            used = summed(uses.get(host.name, ()), len(plan.resources))
            pairs = zip(host.amounts, plan.resources, strict=True)
            has: Amounts = tuple(int(amount * resource.overcommit) for amount, resource in pairs)
            if fits(used, has):
                continue
            before = [each for each in state.allocations if each.host == host.name and each.request in unit]
            was = summed((scaled(unit[each.request], each.units) for each in before), len(plan.resources))
            if not fits(used, was):
                yield Finding("R-POOL-1", f"state {host.name}", str(used), str(has), "more is held than the host has")


def units_are_conserved(state: State, said: Json) -> Iterator[Finding]:
    """Held units after the cycle are those before, plus the grants, minus the stops (R-GRANT-1)."""
    mine = {request.id for request in state.requests if request.unit}
    right: Counter[tuple[str, ...]] = Counter()
    for each in state.allocations:
        if each.request in mine:
            right[each.request, each.host] += each.units
    right.update(_units(said["grants"], "request", "host"))
    right.subtract(_units(said["stops"], "request", "host"))
    after = _units(said["state"].get("allocations", []), "request", "host")
    for key in sorted(right.keys() | after.keys()):
        if right[key] != after[key]:
            where = f"state allocations {' '.join(key)}"
            yield Finding("R-SWEEP-1", where, after[key], right[key], "units come from nowhere or are lost")
    noticed = _units(said["state"].get("reclaims", []), "request", "host")
    for key, units in noticed.items():
        if units > after[key]:
            text = "more is under notice than is held"
            yield Finding("R-NOTICE-2", f"state reclaims {' '.join(key)}", units, after[key], text)


def owners_have_what_is_planned(plan: Plan, state: State, share: Share, rows: Iterable[Json]) -> Iterator[Finding]:
    """No subtree owns more of a group than its entries ask for (R-ADJUST-0, R-ADJUST-2)."""
    terms = make_terms(plan, share.entry)
    hosts = [(host.name, group) for group in share.groups for host in plan.resource_groups[group].hosts]
    group_of = {name: group for name, group in hosts if name not in state.hosts_down}
    place = {resource.name: (at, resource.base) for at, resource in enumerate(plan.resources)}
    has: dict[str, dict[str, Counter[int]]] = {TOP: {name: Counter() for name in group_of}}
    for row in rows:
        if row["host"] in group_of:
            for path in terms.up.get(row["consumer"], ())[:-1]:
                part = has.setdefault(path, {}).setdefault(row["host"], Counter())
                for name, amount in row["amounts"].items():
                    part[place[name][0]] += int(Fraction(str(amount)) * place[name][1])
    for path, entries in terms.own.items():
        for group in dict.fromkeys(entry.resource_group for entry in entries):
            mine = {name: amounts for name, amounts in has.get(path, {}).items() if group_of[name] == group}
            asked = [entry for entry in entries if entry.resource_group == group]
            there = [name for name in has.get(terms.up[path][1], {}) if group_of[name] == group]
            if state.ownership is not None and share.entry.settings.rebalance_interval:
                continue  # it may be as it was before (R-ADJUST-5)
            most = sum(_most_hosts(entry, there) for entry in asked)
            if len(mine) > most:
                yield Finding("R-ADJUST-2", f"ownership {path} {group}", len(mine), most, "owns too many hosts")
            for at, total in asked[0].total if len(asked) == 1 else ():
                owned = sum(amounts[at] for amounts in mine.values())
                if owned > total:
                    where = f"ownership {path} {group} {plan.resources[at].name}"
                    yield Finding("R-ADJUST-2", where, owned, total, "owns too much, in base units")


def _most_hosts(entry: Owning, there: Collection[str]) -> int:
    """The largest number of hosts of which an entry may own a part."""
    if entry.names:
        return sum(name in entry.names for name in there)
    if entry.percent is not None:
        return entry.percent.numerator * len(there) // entry.percent.denominator
    return len(there) if entry.hosts is None else entry.hosts


def parcels_lie_in_hosts(plan: Plan, rows: Iterable[Json]) -> Iterator[Finding]:
    """The parcels of a host sum to no more than the host has (R-POOL-1)."""
    place = {resource.name: resource for resource in plan.resources}
    has = {host.name: host.amounts for group in plan.resource_groups.values() for host in group.hosts}
    owned: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for name, amount in row["amounts"].items():
            owned[row["host"], name] += int(Fraction(str(amount)) * place[name].base)
    for (host, name), units in owned.items():
        most = has[host][plan.resources.index(place[name])]
        if units > most:
            yield Finding("R-POOL-1", f"ownership {host} {name}", units, most, "more is owned than the host has")
