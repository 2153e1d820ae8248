"""What must hold of every cycle of `fair_share` (SPEC §10), told from the plan, the states and the documents."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State

Json = dict[str, Any]
BORDER = 100
"""From this priority on a request is not preemptible, where it does not say so."""


def is_fixed(request: Request) -> bool:
    said = request.preemptible
    return request.priority >= BORDER if said is None else not said


def up(plan: Plan, row: int) -> Iterator[int]:
    """A row and those above it, the root left out."""
    while row:
        yield row
        row = plan.tree.parent[row]


def held(plan: Plan, state: State, *, fixed: bool = False) -> Counter[tuple[int, int]]:
    """(row, place of the resource) → base units on hosts that are up."""
    requests = {request.id: request for request in state.requests}
    found: Counter[tuple[int, int]] = Counter()
    for each in state.allocations:
        request = requests[each.request]
        if each.host not in state.hosts_down and (is_fixed(request) or not fixed):
            for row in up(plan, request.consumer):
                for at, need in enumerate(request.unit):
                    found[row, at] += need * each.units
    return found


def bound(plan: Plan, row: int, at: int, name: str) -> int:
    mine = plan.policies[0].consumers.get(row)
    default = 0 if name == "deserved" else UNLIMITED
    return dict(getattr(mine.queue, name)).get(at, default) if mine else default


def beyond_bounds(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """Who was granted something holds no more than its limit, and for good no more than it deserves, at any level."""
    requests = {request.id: request for request in cycle.after.requests}
    for name, fixed in (("limit", False), ("deserved", True)):
        holds = held(plan, cycle.after, fixed=fixed)
        for row in cycle.document["grants"]:
            request = requests[row["request"]]
            for above in up(plan, request.consumer) if is_fixed(request) or not fixed else ():
                for at, need in enumerate(request.unit):
                    most = bound(plan, above, at, name)
                    if need and holds[above, at] > most:
                        yield f"{plan.tree.paths[above]} holds {holds[above, at]} after {row}, {name} is {most}"


def staying(state: State) -> Counter[str]:
    """Request → units under no notice."""
    found: Counter[str] = Counter()
    for each in state.allocations:
        found[each.request] += each.units
    for notice in state.notices:
        found[notice.request] -= notice.units
    return found


def broken_gangs(before: State, cycle: Cycle) -> Iterator[str]:
    """No gang that was whole is left below its minimum by notices."""
    if before.hosts_down:
        return
    was, stays = staying(before), staying(cycle.after)
    for request in before.requests:
        if was[request.id] >= request.min_count > stays[request.id] > 0:
            yield f"{request.id} stays with {stays[request.id]}, at least {request.min_count}"


def taken_below(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """Nobody who gives to others, of one resource alone, ends below what it deserves."""
    requests = {request.id: request for request in cycle.after.requests}
    rows = cycle.document["reclaims"]
    pairs = [(requests[row["request"]], requests[row["for"]]) for row in rows if row["for"]]
    inside = {row for giver, taker in pairs if giver.consumer == taker.consumer for row in up(plan, giver.consumer)}
    stays = held(plan, cycle.after)
    for notice in cycle.after.notices:
        request = requests[notice.request]
        for row in up(plan, request.consumer) if notice.host not in cycle.after.hosts_down else ():
            for at, need in enumerate(request.unit):
                stays[row, at] -= need * notice.units
    for each in cycle.after.held:
        for row in up(plan, requests[each.request].consumer):
            for at, need in enumerate(requests[each.request].unit):
                stays[row, at] += need * each.units
    was = held(plan, cycle.after)
    for giver, taker in pairs:
        asked = [at for at, need in enumerate(taker.unit) if need]
        for row in up(plan, giver.consumer) if len(asked) == 1 else ():
            if row in up(plan, taker.consumer) or row in inside:
                continue
            least = min(bound(plan, row, asked[0], "deserved"), was[row, asked[0]])
            if stays[row, asked[0]] < least:
                yield f"{plan.tree.paths[row]} stays with {stays[row, asked[0]]}, and deserves {least}"


def parts_of_hosts(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """Where hosts go whole to one leaf, on hosts that somebody is to have units of others stay."""
    if plan.policies[0].settings.packing != "exclusive":
        return
    leaf = {request.id: request.consumer for request in cycle.after.requests}
    told = Counter[tuple[str, str]]()
    for notice in cycle.after.notices:
        told[notice.request, notice.host] += notice.units
    for held in cycle.after.held:
        mine = leaf[held.request]
        stays = Counter[tuple[str, str]]()
        for row in cycle.after.allocations:
            if row.host == held.host and leaf[row.request] != mine:
                stays[row.request, row.host] += row.units
        if stays - told:
            yield f"{held.request} waits for {held.host}, and there stay {stays - told}"
