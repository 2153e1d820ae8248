"""What must hold of every cycle of `multidimensional` (SPEC §10), told from the plan, the states and the documents."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import Cycle, run_cycle
from fairhold.model.siting import label_set
from fairhold.planio.state import parse_state, state_document
from fairhold.units import parse_instant
from tests.pools.restrained import not_restrained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
MOVES = ("stops", "grants", "reclaims", "withdrawn")


def untrue(plan: Plan, state: State, cycle: Cycle) -> Iterator[str]:
    """What does not hold, one line each."""
    yield from too_full(plan, cycle.after)
    yield from not_conserved(state, cycle)
    yield from too_long(plan, state, cycle)
    yield from above_limits(plan, cycle)
    yield from owned_twice(plan, cycle.after)
    yield from not_restrained(plan, state, cycle)
    yield from badly_sited(plan, state, cycle)
    yield from too_many_of_a_user(plan, cycle)
    yield from placed_in_vain(cycle)


def too_full(plan: Plan, after: State) -> Iterator[str]:
    unit = {request.id: request.unit for request in after.requests}
    for group in plan.resource_groups.values():
        for host in group.hosts:
            held = [each for each in after.allocations if each.host == host.name]
            used = [sum(each.units * unit[each.request][at] for each in held) for at in range(len(plan.resources))]
            if any(a > b for a, b in zip(used, host.amounts, strict=True)):
                yield f"{host.name} has {host.amounts} and holds {used}"


def not_conserved(state: State, cycle: Cycle) -> Iterator[str]:
    units: Counter[tuple[str, str]] = Counter()
    for each in state.allocations:
        units[each.request, each.host] += each.units
    for sign, kind in ((1, "grants"), (-1, "stops")):
        for row in cycle.document[kind]:
            units[row["request"], row["host"]] += sign * row["units"]
    after: Counter[tuple[str, str]] = Counter()
    for each in cycle.after.allocations:
        after[each.request, each.host] += each.units
    if +units != +after:
        yield f"units are not conserved: {units - after} less, {after - units} more"
    noticed: Counter[tuple[str, str]] = Counter()
    for notice in cycle.after.notices:
        noticed[notice.request, notice.host] += notice.units
    if noticed - after:
        yield f"more under notice than is held: {noticed - after}"


def second_cycle(plan: Plan, cycle: Cycle) -> Iterator[str]:
    document = state_document(plan, cycle.after)
    text = json.dumps(document)
    again = run_cycle(plan, parse_state(text, plan, "state.json"))
    moved = {kind: again.document[kind] for kind in MOVES if again.document[kind]}
    if moved:
        yield f"a second cycle moves: {moved}"
    if again.document["ownership"] != cycle.document["ownership"]:
        yield f"a second cycle owns otherwise: {again.document['ownership']}, not {cycle.document['ownership']}"
    elif not moved and without_lenders(state_document(plan, again.after)) != without_lenders(document):
        yield f"a second cycle leaves another state: {state_document(plan, again.after)}, not {text}"


def without_lenders(document: Json) -> Json:
    """A state where it does not matter on whose parcels of a host units are booked, nor who is noted as short.

    Who would take what goes for nobody by now, above a share limit, is short of it only in the cycle that gives notice.
    """
    units: Counter[tuple[str, ...]] = Counter()
    for row in document.get("allocations", []):
        units[row["request"], row["host"], row["started"], row["pool"]] += row["units"]
    return {key: each for key, each in document.items() if key != "shortages"} | {"allocations": units}


def stated(plan: Plan, row: int, name: str) -> Any:
    mine = plan.policies[0].consumers.get(row)
    return getattr(mine, name) if mine is not None else None


def grace(plan: Plan, row: int) -> int:
    while row:
        mine = stated(plan, row, "grace")
        if mine is not None:
            return int(mine)
        row = plan.tree.parent[row]
    return 0


def bounds(plan: Plan, state: State, row: Json) -> Iterator[int | None]:
    """Bounds on units that leave a host: those of its lenders and of the pool; the smallest of those that may hold.

    Units of one request on one host may stand in different pools: a bound counts where all of them have it.
    """
    held = [each for each in state.allocations if (each.request, each.host) == (row["request"], row["host"])]
    if all(each.pool != "own" for each in held):
        for lender, _ in [pair for each in held for pair in each.lenders]:
            if all(dict(each.lenders).get(lender) == each.units for each in held):
                graces = {own.lend_grace for own in stated(plan, lender, "own")}
                if len(graces) == 1 and all(each.pool != plan.tree.paths[lender] for each in held):
                    yield graces.pop()
        if all(each.pool == "/" and not each.lenders for each in held):
            yield plan.policies[0].settings.public_pool_grace


def too_long(plan: Plan, state: State, cycle: Cycle) -> Iterator[str]:
    """Who borrows lets go within his grace, and within what is allowed for what he uses."""
    now = state.now
    for row in cycle.document["reclaims"]:
        holder = plan.tree.rows[row["consumer"]]
        most = [grace(plan, holder), *(bound for bound in bounds(plan, cycle.after, row) if bound is not None)]
        told = parse_instant(row["deadline"])
        if told is None or told - now > min(most):
            yield f"{row} may last longer than {min(most)}"
    for row in cycle.document["grants"]:
        holder = plan.tree.rows[row["consumer"]]
        if row["pool"] == "/" and "lenders" not in row:
            bound = plan.policies[0].settings.public_pool_grace
            if bound is not None and grace(plan, holder) > bound:
                yield f"{row} may not borrow"


def badly_sited(plan: Plan, state: State, cycle: Cycle) -> Iterator[str]:
    """New units stand on hosts that will do; gangs that pack are on one host."""
    labels = {host.name: label_set(host.labels) for group in plan.resource_groups.values() for host in group.hosts}
    siting = {request.id: request.siting for request in state.requests}
    for row in cycle.document["grants"]:
        if not siting[row["request"]].fits(labels[row["host"]]):
            yield f"{row} stands where it may not"
    for request in state.requests:
        held, after = (
            {each.host for each in of.allocations if each.request == request.id} for of in (state, cycle.after)
        )
        if request.min_count and request.siting.place == "pack" and len(held) <= 1 < len(after):
            yield f"{request.id} packs, and stands on {after}"


def above_limits(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """New grants in share pools break no share limit."""
    requests = {request.id: request for request in cycle.after.requests}
    for row in range(1, len(plan.tree)):
        for at, most in stated(plan, row, "share_limit") or ():
            granted = [
                grant
                for grant in cycle.document["grants"]
                if grant["pool"] != "own"
                and is_below(plan, requests[grant["request"]].consumer, row)
                and requests[grant["request"]].unit[at]
            ]
            used = sum(
                each.units * requests[each.request].unit[at]
                for each in cycle.after.allocations
                if each.pool != "own"
                and each.host not in cycle.after.hosts_down  # those are in no pool
                and is_below(plan, requests[each.request].consumer, row)
            )
            if granted and used > most:
                yield f"{plan.tree.paths[row]} has {used} of {plan.resources[at].name}, at most {most}"


def placed_in_vain(cycle: Cycle) -> Iterator[str]:
    """Nothing that a cycle places is told to go by it (R-SWEEP-3)."""
    for _, entry in cycle.pooled:
        for unit in entry.sweeps.placed:
            if unit.notice is not None:
                yield f"{unit.asked.model.id} is placed on {unit.host.name} and told to go at once"


def too_many_of_a_user(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """No user is granted a unit beyond the limit of a leaf."""
    requests = {request.id: request for request in cycle.after.requests}
    held: Counter[tuple[int, str]] = Counter()
    for each in cycle.after.allocations:
        held[requests[each.request].consumer, requests[each.request].user] += each.units
    for row in cycle.document["grants"]:
        leaf, user = requests[row["request"]].consumer, requests[row["request"]].user
        most = user_limit(plan, leaf)
        if user and most is not None and held[leaf, user] > most:
            yield f"{row} leaves {user} with {held[leaf, user]}, at most {most}"


def user_limit(plan: Plan, row: int) -> int | None:
    while row:
        most = stated(plan, row, "user_limit")
        if most is not None:
            return int(most)
        row = plan.tree.parent[row]
    return None


def is_below(plan: Plan, row: int, above: int) -> bool:
    while row and row != above:
        row = plan.tree.parent[row]
    return row == above


def owned_twice(plan: Plan, after: State) -> Iterator[str]:
    for group in plan.resource_groups.values():
        for host in group.hosts:
            mine = [parcel.amounts for parcel in after.ownership or () if parcel.host == host.name]
            owned = [sum(column) for column in zip(*mine, strict=True)]
            if any(a > b for a, b in zip(owned, host.amounts, strict=False)) or any(min(each) < 0 for each in mine):
                yield f"{host.name} has {host.amounts} and {owned} are owned"
