"""Small plans and states, written short, for the examples of the source document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import Cycle, quota_document, run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
LATER = "2026-01-05T09:05:00Z"


def plan_of(slots: int | Json, consumers: Json, *, default_rank: int | None = None, **switches: Any) -> Plan:
    """A plan of one group `g`; consumers by path with `owned`, `reserved`, `limit`, `rank`, `reclaim_grace`."""
    paths: Json = {path: {} for path in consumers}
    entry = {"resource_groups": ["g"], "policy": "hybrid", "settings": switches, "consumers": consumers}
    group = {"slots": slots} if isinstance(slots, int) else slots
    document: Json = {"fairhold": 1, "resource_groups": {"g": group}, "consumers": paths, "policies": [entry]}
    if default_rank is not None:
        document["default_rank"] = default_rank
    return parse_plan(json.dumps(document), "plan.json")[0]


def state_of(
    plan: Plan, demand: Json, allocated: Json | None = None, *, slots: int | None = None, **more: Any
) -> State:
    """A state of plain counts at NOW."""
    document: Json = {
        "fairhold_state": 1,
        "now": NOW,
        "demand": {path: {"g": units} for path, units in demand.items()},
        "allocated": {path: {"g": units} for path, units in (allocated or {}).items()},
    }
    if slots is not None:
        document["resource_groups"] = {"g": {"slots": slots}}
    return parse_state(json.dumps(document | more), plan, "state.json")


def table(plan: Plan, state: State) -> dict[str, Json]:
    """The quota table."""
    found: dict[str, Json] = quota_document(plan, state)["resource_groups"]["g"]["consumers"]
    return found


def quotas(plan: Plan, demand: Json, *, slots: int | None = None) -> dict[str, int]:
    """Quota of every consumer but the root."""
    rows = table(plan, state_of(plan, demand, slots=slots))
    return {path: row["quota"] for path, row in rows.items() if path != "/"}


def leaves(plan: Plan, demand: Json, *, slots: int | None = None) -> dict[str, int]:
    """Quota of every leaf."""
    found = quotas(plan, demand, slots=slots)
    return {path: units for path, units in found.items() if plan.tree.is_leaf(plan.tree.rows[path])}


def moved(cycle: Cycle, kind: str, key: str = "consumer") -> dict[str, int]:
    """Units of the rows of one kind (grants, reclaims, withdrawn, stops), by consumer."""
    units: dict[str, int] = {}
    for row in cycle.document[kind]:
        units[row[key]] = units.get(row[key], 0) + row["units"]
    return units


def later(plan: Plan, cycle: Cycle, now: str = LATER, **changes: Any) -> State:
    """The state after a cycle, at another instant."""
    document = state_document(plan, cycle.after) | {"now": now} | changes
    return parse_state(json.dumps(document), plan, "later.json")


__all__ = ["Cycle", "run_cycle"]
