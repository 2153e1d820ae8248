"""A small cluster in one line, and what one cycle makes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document

NOW = "2026-01-05T09:00:00Z"


@dataclass(frozen=True)
class Seen:
    """One cycle as a user sees it.

    quota, free, numbers : by path; granted, reclaimed, withdrawn, stopped : units by leaf
    """

    document: dict[str, Any]
    after: dict[str, Any]

    @property
    def numbers(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = self.document["resource_groups"]["compute"]["consumers"]
        return found

    @property
    def idle(self) -> int:
        idle: int = self.document["resource_groups"]["compute"]["idle"]
        return idle

    def of(self, value: str, *paths: str) -> tuple[int, ...]:
        return tuple(self.numbers[path][value] for path in paths)

    def quota(self, *paths: str) -> tuple[int, ...]:
        return self.of("quota", *paths)

    def moved(self, what: str, key: str = "consumer") -> dict[str, int]:
        units: dict[str, int] = {}
        for row in self.document[what]:
            units[row[key]] = units.get(row[key], 0) + row["units"]
        return units

    @property
    def granted(self) -> dict[str, int]:
        return self.moved("grants")

    @property
    def reclaimed(self) -> dict[str, int]:
        return self.moved("reclaims")


def tree_of(paths: list[str], settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    in_tree = ("rank", "reclaim_grace")
    return {path: {key: value for key, value in settings[path].items() if key in in_tree} for path in paths}


def cycle(
    slots: int,
    consumers: dict[str, dict[str, Any]],
    *,
    configured: int | None = None,
    now: str = NOW,
    reclaims: list[dict[str, Any]] | None = None,
    state: dict[str, Any] | None = None,
    hosts: list[dict[str, Any]] | None = None,
    default_rank: int = 0,
    **settings: object,
) -> Seen:
    """One cycle on consumers by path: owned, reserved, limit, rank, reclaim_grace; `wants` and `holds`.

    rank and reclaim_grace stand in the tree; under `entry` they stand in the policy entry.
    """
    group: dict[str, Any] = {"hosts": hosts} if hosts else {"slots": slots}
    if configured is not None:
        group["configured_slots"] = configured
    stated = {
        path: {key: value for key, value in row.items() if key in ("owned", "reserved", "limit")} | row.get("entry", {})
        for path, row in consumers.items()
    }
    plan_document = {
        "fairhold": 1,
        "default_rank": default_rank,
        "resource_groups": {"compute": group},
        "consumers": tree_of(list(consumers), consumers),
        "policies": [
            {"resource_groups": ["compute"], "policy": "hybrid", "settings": settings, "consumers": stated},
        ],
    }
    document: dict[str, Any] = {"fairhold_state": 1, "now": now}
    document["demand"] = {path: {"compute": row["wants"]} for path, row in consumers.items() if "wants" in row}
    document["allocated"] = {path: {"compute": row["holds"]} for path, row in consumers.items() if "holds" in row}
    document["reclaims"] = [{"resource_group": "compute"} | row for row in reclaims or []]
    if state is not None:
        document = {"fairhold_state": 1, "now": now} | state
    plan, _ = parse_plan(json.dumps(plan_document), "plan")
    seen = run_cycle(plan, parse_state(json.dumps(document), plan, "state"))
    return Seen(seen.document, state_document(plan, seen.after))
