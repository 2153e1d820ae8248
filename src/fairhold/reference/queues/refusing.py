"""Requests that could get nothing on these hosts, were they empty (R-POOL-3, R-GANG-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.siting import label_set
from fairhold.model.vector import amounts_document
from fairhold.reference.queues.opening import room_at_once, room_of_limits, user_limit
from fairhold.reference.vectors import beyond, units_in

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.reference.queues.cluster import Ask
    from fairhold.reference.queues.cycle import QueueCycle

Json = dict[str, Any]


def refused_rows(plan: Plan, cycle: QueueCycle) -> list[Json]:
    """In the order of the state."""
    rows = (_refused(plan, cycle, ask) for ask in cycle.cluster.asks.values())
    return [row for row in rows if row]


def _refused(plan: Plan, cycle: QueueCycle, ask: Ask) -> Json:
    cluster = cycle.cluster
    open_ones = [host for host in cluster.hosts.values() if ask.siting.fits(host.labels)]
    if ask.request.count > cluster.held(ask) and not any(units_in(ask.unit, host.total) for host in open_ones):
        return {"request": ask.id, "reason": "unplaceable"} | _why_unplaceable(plan, cycle, ask)
    return _why_never(plan, cycle, ask)


def _why_unplaceable(plan: Plan, cycle: QueueCycle, ask: Ask) -> Json:
    """`down`: all that could are down; `labels`: large ones have other labels; else the nearest host."""
    cluster = cycle.cluster
    down = _down(plan, cycle)
    large = [
        labels
        for labels, total in [*down, *((h.labels, h.total) for h in cluster.hosts.values())]
        if units_in(ask.unit, total)
    ]
    if any(ask.siting.fits(labels) for labels in large):
        return {"because": "down"}
    found: Json = {"because": "labels"} if large else {}
    best: tuple[Fraction, Fraction, int] | None = None
    for host in cluster.hosts.values():
        if not ask.siting.fits(host.labels):
            continue
        parts = [
            Fraction(miss, need) for miss, need in zip(beyond(ask.unit, host.total), ask.unit, strict=True) if need
        ]
        mine = max(parts), sum(parts, Fraction(0)), host.place
        if best is None or mine < best:
            best = mine
            missing = amounts_document(plan.resources, beyond(ask.unit, host.total))
            found["nearest"] = {"host": host.name, "missing": missing}
    return found


def _down(plan: Plan, cycle: QueueCycle) -> list[tuple[frozenset[str], tuple[int, ...]]]:
    """Labels and amounts of hosts that are down."""
    return [
        (
            label_set(host.labels),
            tuple(int(a * r.overcommit) for a, r in zip(host.amounts, plan.resources, strict=True)),
        )
        for group in cycle.share.groups
        for host in plan.resource_groups[group].hosts
        if host.name not in cycle.cluster.hosts
    ]


def _why_never(plan: Plan, cycle: QueueCycle, ask: Ask) -> Json:
    because = cycle.never.get(ask)
    if because is None:
        return {}
    cluster, missing = cycle.cluster, cycle.short[ask]
    rooms = room_at_once(cluster, ask)
    if because == "hosts":
        down = [units_in(ask.unit, total) for labels, total in _down(plan, cycle) if ask.siting.fits(labels)]
        is_stuck = ask.packs and cluster.held(ask)
        all_of_them = max([rooms, *down]) if ask.packs else rooms + sum(down)
        because = "down" if all_of_them >= missing and not is_stuck else "hosts"
    if because == "user limit":
        rooms = max(0, user_limit(plan, cycle.share, ask) - cluster.held(ask))
    if because == "share limit":
        rooms = min(rooms, room_of_limits(plan, cycle.share, ask, cluster.held(ask)))
    return {"request": ask.id, "reason": "never-fits", "because": because, "units": missing, "room": rooms}
