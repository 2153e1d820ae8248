"""Small written plans and states of `multidimensional`, and what one cycle makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import Cycle, quota_document, run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.units import SECOND, parse_instant

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
HOSTS = {"h0": 4, "h1": 4}


def own(**stated: Any) -> Json:
    """`own` with one entry, of the group of all hosts."""
    return {"own": [{"resource_group": "all", **stated}]}


def inputs(
    consumers: Json,
    requests: list[Json],
    stands: list[Json] | None = None,
    *,
    hosts: dict[str, Any] | None = None,
    **state: Any,
) -> tuple[Plan, State]:
    """A plan and a state.

    consumers : path → what the entry says of it
    requests  : `of(…)`; stands: `on(…)`
    hosts     : name → CPUs, or amounts
    state     : other sections, and `settings` of the entry
    """
    settings, resources = state.pop("settings", {}), state.pop("resources", {"cpu": {}, "gpu": {}})
    mine = {} if state.get("ownership") is None else {"ownership": [_parcel(*row) for row in state["ownership"]]}
    amounts = {name: each if isinstance(each, dict) else {"cpu": each} for name, each in (hosts or HOSTS).items()}
    plan = {
        "fairhold": 1,
        "resources": resources,
        "resource_groups": {"all": {"hosts": [{"name": name, **each} for name, each in amounts.items()]}},
        "consumers": {path: {} for path in consumers},
        "policies": [
            {
                "resource_groups": ["all"],
                "policy": "multidimensional",
                "settings": settings,
                "consumers": {path: each for path, each in consumers.items() if each},
            }
        ],
    }
    document = {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": stands or [], **state, **mine}
    parsed = parse_plan(json.dumps(plan), "plan.json")[0]
    return parsed, parse_state(json.dumps(document), parsed, "state.json")


def _parcel(host: str, consumer: str, has: int | Json) -> Json:
    return {"host": host, "consumer": consumer, "amounts": {"cpu": has} if isinstance(has, int) else has}


def of(consumer: str, count: int, unit: int | Json = 1, *, name: str = "", **more: Any) -> Json:
    """A request; without a name it is called as the last part of its consumer's path."""
    size = {"cpu": unit} if isinstance(unit, int) else unit
    return {"id": name or consumer.rpartition("/")[2], "consumer": consumer, "unit": size, "count": count, **more}


def on(host: str, request: str, units: int, pool: str = "/", **lenders: int) -> Json:
    """Units of a request on a host, and on whose parcels: first-level consumers by name."""
    found = {"request": request, "host": host, "units": units, "started": NOW, "pool": pool}
    return found | ({"lenders": {f"/{name}": each for name, each in lenders.items()}} if lenders else {})


def placed(*args: Any, **more: Any) -> list[tuple[Any, ...]]:
    """(request, host, units, pool) of what a cycle grants, in the order of placing."""
    rows = run(*args, **more).document["grants"]
    return [(row["request"], row["host"], row["units"], row["pool"]) for row in rows]


def taken(*args: Any, **more: Any) -> list[tuple[Any, ...]]:
    """(request, host, units, for, seconds of grace) of what a cycle reclaims."""
    rows = run(*args, **more).document["reclaims"]
    now = parse_instant(NOW) or 0
    return [
        (row["request"], row["host"], row["units"], row["for"], ((parse_instant(row["deadline"]) or 0) - now) // SECOND)
        for row in rows
    ]


def owned(*args: Any, **more: Any) -> dict[str, list[str]]:
    """Consumer → hosts of which it owns something after a cycle."""
    found: dict[str, list[str]] = {}
    for row in run(*args, **more).document["ownership"]:
        found.setdefault(row["consumer"], []).append(row["host"])
    return found


def run(*args: Any, **more: Any) -> Cycle:
    return run_cycle(*inputs(*args, **more))


def public(*args: Any, **more: Any) -> Json:
    """What `quota` says of the public pool."""
    found: Json = quota_document(*inputs(*args, **more))["pools"]["/"]["consumers"]
    return found
