"""Dense random clusters of queues: much is wanted, much is held, and all settings are mixed; the same for one seed."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.queues.strategies import NOW, STARTED

Json = dict[str, Any]
SITINGS: tuple[Json, ...] = (
    *({}, {}, {}, {"need": ["zone"]}, {"need": ["zone=b"], "place": "spread"}),
    *({"avoid": ["zone=a"], "prefer": ["ssd"]}, {"place": "pack"}, {"place": "pack"}, {"place": "spread"}),
)
LABELS: tuple[Json, ...] = ({}, {}, {"labels": {"zone": "a"}}, {"labels": {"zone": "b", "ssd": "yes"}})
SWITCHES: tuple[tuple[str, float, tuple[Any, ...]], ...] = (
    ("reclaimer_utilization_multiplier", 0.3, (1.2, 2)),
    ("division", 0.15, ("kai",)),
    ("packing", 1, ("stacked", "stacked", "balanced", "exclusive")),
    ("k", 0.2, (0.5, 1, 3)),
    ("consolidation", 0.3, (True,)),
    ("max_reclaims", 0.2, (1, 2, 3, 5)),
    ("dead_zone", 0.15, (1, 2)),
    ("await_ends", 0.15, ("3s", "40s")),
)
OF_QUEUE: tuple[tuple[str, float, tuple[Any, ...]], ...] = (
    ("priority", 0.3, (50, 200)),
    ("over_quota_weight", 0.5, (1, 2, 3, 0.5, 0)),
    ("reclaim_min_runtime", 0.12, ("1m", "20s", "57m", "0s")),
    ("preempt_min_runtime", 0.12, ("1m", "20s", "57m", "0s")),
    ("preemption_delay", 0.12, ("1m", "20s", "57m")),
    ("reclaim_grace", 0.5, ("0s", "5s", "30s")),
    ("user_limit", 0.08, (1, 2, 3)),
)


def some(dice: Random, rows: tuple[tuple[str, float, tuple[Any, ...]], ...]) -> Json:
    """Of (key, how often, values) some keys with a value."""
    return {key: dice.choice(values) for key, often, values in rows if dice.random() < often}


class Clusters:
    """One cluster of a seed: its plan, its state, and what changes between cycles."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.resources = ["gpu", "cpu", "memory"][: self.dice.choice((1, 1, 2, 3))]
        self.paths: list[str] = []
        self.leaves: list[str] = []
        for name in "ABC"[: self.dice.randint(1, 3)]:
            self._grow(f"/{name}", 1)
        self.plan = self._plan()
        self.state = self._state()
        hosts = [None] * 6 + [host["name"] for host in self.hosts]
        self.turns = [
            {
                "seconds": self.dice.choice((0, 1, 5, 30, 31)),
                "counts": [self.dice.randint(0, 6) for _ in self.state["requests"]]
                if self.dice.random() < 0.5
                else None,
                "down": self.dice.choice(hosts),
                "closed": self.dice.choice(hosts),
            }
            for _ in range(5)
        ]

    @property
    def hosts(self) -> list[Json]:
        """What the plan says of hosts."""
        found: list[Json] = self.plan["resource_groups"]["g"]["hosts"]
        return found

    def _grow(self, path: str, depth: int) -> None:
        self.paths.append(path)
        below = self.dice.choice((0, 0, 2, 3)) if depth < 3 else 0
        self.leaves += [] if below else [path]
        for name in "xyz"[:below]:
            self._grow(f"{path}/{name}", depth + 1)

    def _plan(self) -> Json:
        dice = self.dice
        hosts = [
            {"name": f"g{at}", **{key: dice.randint(1, 8) for key in self.resources}, **dice.choice(LABELS)}
            for at in range(dice.randint(1, 5))
        ]
        resources = {key: dice.choice(({}, {}, {}, {"step": 0.5}, {"step": 2})) for key in self.resources}
        if dice.random() < 0.1:
            resources["gpu"] = resources["gpu"] | {"overcommit": 1.5}
        entry = {"resource_groups": ["g"], "policy": "fair_share", "settings": some(dice, SWITCHES)}
        return {
            "fairhold": 1,
            "cluster": "c",
            "resources": resources,
            "resource_groups": {"g": {"hosts": hosts}},
            "consumers": {path: {} for path in self.paths},
            "policies": [entry | {"consumers": {path: self._queue() for path in self.paths}}],
        }

    def _queue(self) -> Json:
        dice = self.dice
        found = some(dice, OF_QUEUE)
        if dice.random() < 0.6:
            amounts = (0, 1, 2, 3, 4, 6, 0.5, "unlimited")
            found["deserved"] = {key: dice.choice(amounts) for key in self.resources if dice.random() < 0.7}
        if dice.random() < 0.2:
            key = dice.choice(self.resources)
            least = found.get("deserved", {}).get(key, 0)
            found["limit"] = {key: dice.randint(0, 8) + (0 if least == "unlimited" else least)}
        if dice.random() < 0.05:
            then = dice.choice(("wait", "borrow_only", "lowest_rank"))
            found["budget"] = {"hours": {"gpu": 1}, "period": "day", "then": then}
        return found

    def _state(self) -> Json:
        dice, requests, held = self.dice, [], list[Json]()
        idle = {host["name"]: {key: host[key] for key in self.resources} for host in self.hosts}
        for at in range(dice.randint(2, 8)):
            request = self._request(at)
            requests.append(request)
            if dice.random() < 0.75:
                held += self._stand(request, idle)
        state: Json = {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": held}
        names = list(idle)
        if dice.random() < 0.1:
            state["hosts_down"] = [dice.choice(names)]
        if dice.random() < 0.1:
            state["hosts_closed"] = [name for name in [dice.choice(names)] if name not in state.get("hosts_down", [])]
        entry = self.plan["policies"][0]
        if entry["settings"].get("k"):
            state["usage"] = {path: {key: dice.choice((0, 0.1, 0.5)) for key in self.resources} for path in self.leaves}
        budgets = [path for path, stated in entry["consumers"].items() if "budget" in stated]
        if budgets:
            state["spent_resources"] = {path: {"gpu": dice.choice((0, 0.5, 1, 2))} for path in budgets}
        return state

    def _request(self, at: int) -> Json:
        dice = self.dice
        unit = {key: amount for key in self.resources if (amount := dice.choice((0, 1, 1, 2, 3, 0.5)))}
        request: Json = {
            "id": f"r{at}",
            "consumer": dice.choice(self.leaves),
            "unit": unit or {"gpu": 1},
            "count": dice.randint(1, 6),
            "submitted": f"2026-01-05T08:{dice.randint(0, 59):02}:00Z",
            "priority": dice.choice((0, 0, 10, 50, 90, 100)),
            **dice.choice(SITINGS),
        }
        if dice.random() < 0.4:
            request["min_count"] = dice.randint(1, request["count"])
        if dice.random() < 0.15:
            request["preemptible"] = dice.random() < 0.5
        if dice.random() < 0.3:
            request["user"] = dice.choice(("ann", "bob"))
        return request

    def _stand(self, request: Json, idle: dict[str, dict[str, float]]) -> list[Json]:
        """Units of it on hosts with room: nothing of a gang for which there is none; a gang that packs on one host."""
        dice, unit, wanted = self.dice, request["unit"], self.dice.randint(0, request["count"])
        there: dict[str, int] = {}
        for name in dice.sample(list(idle), len(idle)):
            if there and request.get("place") == "pack" and request.get("min_count"):
                break
            room = int(min(idle[name][key] / need for key, need in unit.items()))
            if units := min(room, wanted):
                there[name], wanted = units, wanted - units
        if sum(there.values()) < request.get("min_count", 0):
            return []
        for name, units in there.items():
            for key, need in unit.items():
                idle[name][key] -= need * units
        return [
            {"request": request["id"], "host": name, "units": units, "started": dice.choice(STARTED)}
            for name, units in there.items()
        ]
