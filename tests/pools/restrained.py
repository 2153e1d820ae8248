"""What must hold of a cycle of `multidimensional` that controls hold back (R-CONTROL-1 to R-CONTROL-5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]


def not_restrained(plan: Plan, state: State, cycle: Cycle) -> Iterator[str]:
    """What controls say and a cycle does not obey, one line each."""
    settings = plan.policies[0].settings
    rows = cycle.document["reclaims"]
    if settings.observe_only and rows:
        yield f"reclaims that were to be observed: {rows}"
    elif "observed" in cycle.document and not settings.observe_only:
        yield f"observed though nobody says so: {cycle.document['observed']}"
    yield from too_many(plan, rows)
    yield from too_early(plan, state, cycle)
    yield from too_young(plan, cycle.after, rows)


def too_many(plan: Plan, rows: list[Json]) -> Iterator[str]:
    """More than `most` go only for limits, or first and alone: for one taker.

    What is taken in the first sweep (`reclaim_before_next_level`) comes before limits, all else after them.
    """
    is_early = any(own.reclaim_before_next_level for each in plan.policies[0].consumers.values() for own in each.own)
    forced = 0 if is_early else sum(row["units"] for row in rows if row["reason"] == "limit")
    taken = [row for row in rows if row["reason"] != "limit"]
    units = sum(row["units"] for row in taken)
    most = plan.policies[0].settings.max_reclaims
    is_alone = not forced and len({row["for"] for row in taken}) == 1
    if most is not None and units and forced + units > most and not is_alone:
        yield f"{units} are taken beside {forced} for limits, at most {most}: {taken}"


def too_early(plan: Plan, state: State, cycle: Cycle) -> Iterator[str]:
    """A leaf that takes has missed units for long enough, and more than the dead zone or since a while."""
    settings = plan.policies[0].settings
    if not (settings.await_ends or settings.dead_zone):
        return
    leaf = {request.id: request.consumer for request in state.requests}
    since = {short.consumer: short.since for short in state.shortages}
    taking = {short.consumer for short in cycle.after.shortages if short.is_taking}
    begun = {short.consumer for short in state.shortages if short.is_taking}
    for row in cycle.document["reclaims"]:
        taker = leaf.get(row["for"], -1)
        if taker >= 0 and taker not in taking:
            yield f"{row}, and its taker does not take"
        if taker >= 0 and taker not in begun and since.get(taker, state.now) + settings.await_ends > state.now:
            yield f"{row} does not await ends"


def too_young(plan: Plan, after: State, rows: list[Json]) -> Iterator[str]:
    """Of a request's units on a host no more are noticed for others than have run long enough."""
    leaf = {request.id: request.consumer for request in after.requests}
    old: Counter[tuple[str, str]] = Counter()
    for each in after.allocations:
        row, least = leaf[each.request], None
        while row and least is None:
            stated = plan.policies[0].consumers.get(row)
            least = stated.min_runtime if stated else None
            row = plan.tree.parent[row]
        if each.started + (least or 0) <= after.now:
            old[each.request, each.host] += each.units
    for noticed in rows:
        there = old[noticed["request"], noticed["host"]]
        if noticed["reason"] != "limit" and noticed["units"] > there:
            yield f"{noticed}, and only {there} have run long enough"
