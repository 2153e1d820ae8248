"""A cluster of equal hosts, and cycles on it until nothing moves any more."""

from __future__ import annotations

import json
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND, format_instant, parse_instant

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"


def plan_of(
    packing: str, hosts: dict[str, int], owned: dict[str, int], policy: str = "hybrid", **settings: object
) -> Json:
    """A plan of leaves below the root that own so much each."""
    stated = {path: {"owned" if policy != "share_ratio" else "share_ratio": units} for path, units in owned.items()}
    entry = {"resource_groups": ["g"], "policy": policy, "settings": {"packing": packing, **settings}}
    return {
        "fairhold": 1,
        "resource_groups": {"g": {"hosts": [{"name": name, "slots": slots} for name, slots in hosts.items()]}},
        "consumers": {path: {} for path in owned},
        "policies": [entry | {"consumers": stated}],
    }


def state_of(wants: dict[str, int], holds: dict[str, dict[str, int]]) -> Json:
    """One request a leaf, named as the leaf is, and what it holds by host."""
    requests = [{"id": path[1:], "consumer": path, "count": count} for path, count in wants.items()]
    allocations = [
        {"request": path[1:], "host": host, "units": units, "started": NOW}
        for path, there in holds.items()
        for host, units in there.items()
    ]
    return {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": allocations}


def one_cycle(plan: Json, state: Json) -> Json:
    """A cycle's result, in which `verify` finds nothing."""
    read, _ = parse_plan(json.dumps(plan), "plan")
    before = parse_state(json.dumps(state), read, "state")
    cycle = run_cycle(read, before, check=True)
    assert not cycle.untrue
    document = cycle.document | {"state": state_document(read, cycle.after)}
    findings = verify(read, before, json.loads(json.dumps(document)))
    assert not findings, [*map(str, findings)]
    return document


def later(state: Json) -> Json:
    """The same state a minute on: what is under notice is stopped then."""
    now = parse_instant(state["now"])
    assert now is not None
    return state | {"now": format_instant(now + 60 * SECOND)}


def at_rest(plan: Json, state: Json, most: int = 12) -> Json:
    """The result of the last of so many cycles that still moved something, a minute after each other."""
    document = one_cycle(plan, state)
    for _ in range(most):
        if not any(document[kind] for kind in ("grants", "reclaims", "withdrawn", "stops")):
            return document
        state = later(document["state"])
        document = one_cycle(plan, state)
    raise AssertionError(f"still moving after {most} cycles: {document}")


def held(document: Json) -> dict[str, dict[str, int]]:
    """Request → host → units, after a cycle."""
    found: dict[str, dict[str, int]] = {}
    for row in document["state"].get("allocations", []):
        there = found.setdefault(row["request"], {})
        there[row["host"]] = there.get(row["host"], 0) + row["units"]
    return found
