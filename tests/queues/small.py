"""Small clusters of queues, written in a few words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"


class Cluster:
    """A plan and a state that goes on from cycle to cycle.

    hosts  : GPUs of each, or amounts
    queues : path → what the entry says of it
    """

    def __init__(self, hosts: list[Any], queues: Json, **settings: object) -> None:
        names = ["gpu", "cpu"]
        amounts = [each if isinstance(each, dict) else {"gpu": each} for each in hosts]
        paths = list(queues)
        self.plan_document: Json = {
            "fairhold": 1,
            "cluster": "c",
            "resources": {name: {} for name in names},
            "resource_groups": {"g": {"hosts": [{"name": f"h{at}", **each} for at, each in enumerate(amounts)]}},
            "consumers": {path: {} for path in paths},
            "policies": [{"resource_groups": ["g"], "policy": "fair_share", "settings": settings, "consumers": queues}],
        }
        self.plan, _ = parse_plan(json.dumps(self.plan_document), "plan.json")
        self.document: Json = {"fairhold_state": 1, "now": NOW, "requests": [], "allocations": []}
        self.last: Cycle | None = None

    def ask(self, name: str, queue: str, count: int = 1, gpu: float = 1, **more: object) -> Cluster:
        """A request; `on` says where units of it run: host → units."""
        on, started = more.pop("on", {}), more.pop("started", "2026-01-05T08:00:00Z")
        minute = len(self.document["requests"])
        request = {"id": name, "consumer": queue, "unit": {"gpu": gpu}, "count": count}
        request["submitted"] = f"2026-01-05T07:{minute:02}:00Z"
        self.document["requests"].append(request | more)
        assert isinstance(on, dict)
        for host, units in on.items():
            self.document["allocations"].append({"request": name, "host": host, "units": units, "started": started})
        return self

    def shares(self) -> dict[str, float]:
        """Queue → fair share of GPUs."""
        state = parse_state(json.dumps(self.document), self.plan, "state.json")
        consumers = quota_document(self.plan, state)["resource_groups"]["g"]["consumers"]
        return {path: each["fair_share"]["gpu"] for path, each in consumers.items() if path != "/"}

    def cycle(self, seconds: int = 0) -> Cycle:
        """A cycle, so many seconds after the one before."""
        state = parse_state(json.dumps(self.document), self.plan, "state.json")
        state = replace(state, now=state.now + seconds * SECOND)
        self.last = run_cycle(self.plan, state, check=True)
        assert self.last.untrue == ()
        self.document = state_document(self.plan, self.last.after)
        return self.last

    def reclaims(self) -> dict[str, int]:
        """Request → units that the last cycle asked for."""
        assert self.last is not None
        found: dict[str, int] = {}
        for row in self.last.document["reclaims"]:
            found[row["request"]] = found.get(row["request"], 0) + row["units"]
        return found

    def held(self) -> dict[str, int]:
        """Request → units that it holds."""
        found: dict[str, int] = {}
        for row in self.document.get("allocations", []):
            found[row["request"]] = found.get(row["request"], 0) + row["units"]
        return found
