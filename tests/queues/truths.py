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


def alike(plan: Plan, one: int, other: int) -> bool:
    """Whether two leaves are in one queue, or are the same."""
    return bool({*up(plan, one)} & {*up(plan, other)})


def needless_notices(plan: Plan, cycle: Cycle) -> Iterator[str]:
    """Without each notice that the cycle gave somebody would lack what he was told (R-CONTEST-7).

    Left out is what the order of queues, or a limit, may keep.
    """
    requests = {request.id: request for request in cycle.after.requests}
    new = [row for row in cycle.document["reclaims"] if row["for"] and row["reason"] == "quota"]
    takers = {requests[row["for"]].consumer for row in new}
    goes = Counter[str]()
    for notice in cycle.after.notices:
        goes[notice.request] += notice.units
    has = Counter[str]()
    for each in cycle.after.allocations:
        has[each.request] += each.units
    for row in new:
        gang = requests[row["request"]]
        mine = [row | {"units": 1}]
        if gang.min_count > 1 and goes[gang.id] == has[gang.id]:
            mine = [each for each in new if each["request"] == gang.id]
            if sum(each["units"] for each in mine) < goes[gang.id]:
                continue  # some of it was to go before
        is_told_of_queue = any(alike(plan, gang.consumer, taker) for taker in takers)
        is_whole_host = plan.policies[0].settings.packing == "exclusive"
        if is_told_of_queue or is_whole_host or is_limited(plan, gang.consumer):
            continue
        if _still_fit(plan, cycle, mine):
            yield f"{mine} is not needed"


def is_limited(plan: Plan, leaf: int) -> bool:
    """Whether a leaf, or a queue above it, has a limit."""
    width = range(len(plan.resources))
    return any(bound(plan, row, at, "limit") < UNLIMITED for row in up(plan, leaf) for at in width)


def _still_fit(plan: Plan, cycle: Cycle, without: list[Json]) -> bool:
    """Whether all that space is held for still has it if some stay."""
    requests = {request.id: request for request in cycle.after.requests}
    sizes = {host.name: host.amounts for group in plan.resource_groups.values() for host in group.hosts}
    for name in {row["host"] for row in without}:
        idle = Counter(dict(enumerate(sizes[name])))
        for each in cycle.after.allocations:
            if each.host == name:
                idle.subtract({at: need * each.units for at, need in enumerate(requests[each.request].unit)})
        for held in cycle.after.held:
            if held.host == name:
                lacks = Counter({at: need * held.units for at, need in enumerate(requests[held.request].unit)})
                for notice in cycle.after.notices:
                    if notice.host == name and notice.taker_request == held.request:
                        unit = requests[notice.request].unit
                        lacks.subtract({at: need * notice.units for at, need in enumerate(unit)})
                for row in without:
                    if row["host"] == name and row["for"] == held.request:
                        unit = requests[row["request"]].unit
                        lacks.update({at: need * row["units"] for at, need in enumerate(unit)})
                idle.subtract(+lacks)
        if any(left < 0 for left in idle.values()):
            return False
    return True


def given_to_others(plan: Plan, before: State, cycle: Cycle) -> Iterator[str]:
    """Who had units on their way has them, or they still are on their way (R-SERVE-3); limits are left out."""
    was, now = (Counter[str]() for _ in range(2))
    for found, state in ((was, before), (now, cycle.after)):
        for each in state.allocations:
            found[each.request] += each.units
    for row in cycle.document["stops"]:
        was[row["request"]] -= row["units"]
    told, still = (Counter[str]() for _ in range(2))
    for found, rows in ((told, before.held), (still, cycle.after.held)):
        for held in rows:
            if held.host not in before.hosts_down and held.host not in before.hosts_closed:
                found[held.request] += held.units
    for request in before.requests:
        wanted = min(told[request.id], request.count - was[request.id])
        came, coming = now[request.id] - was[request.id], still[request.id]
        if came + coming < wanted and not is_limited(plan, request.consumer):
            yield f"{request.id} was told {wanted}, got {came}, and {coming} are on their way"
