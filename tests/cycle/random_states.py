"""Random plans and states of slots."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

NOW = "2026-01-05T09:00:00Z"


def random_plan(dice: Random, *, hosts: bool) -> dict[str, Any]:
    """A plan of up to three levels that obeys SPEC §3.6."""
    settings: dict[str, dict[str, Any]] = {}

    def branch(path: str, owned: int, depth: int) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        left = owned
        for name in "abcd"[: dice.randint(1, 4)]:
            own = left if not path and dice.random() < 0.3 else dice.randint(0, left)
            left -= own
            here = f"{path}/{name}"
            reserved = dice.choice([0, 0, dice.randint(0, own)])
            node: dict[str, Any] = {"rank": dice.randint(0, 2)} if dice.random() < 0.5 else {}
            if dice.random() < 0.4:
                node["reclaim_grace"] = dice.choice(["0s", "5s", "20s"])
            if depth < 3 and dice.random() < 0.5:
                node["consumers"] = branch(here, own, depth + 1)
            settings[here] = {"owned": own, "reserved": reserved}
            if dice.random() < 0.25:
                settings[here]["limit"] = own + dice.randint(0, 8)
            tree[name] = node
        return tree

    configured = dice.randint(0, 24)
    consumers = branch("", configured, 1)
    group: dict[str, Any] = {"slots": dice.randint(0, 24)} | ({"configured_slots": configured + dice.randint(0, 5)})
    if hosts:
        group = {"hosts": [{"name": f"h{n}", "slots": dice.randint(1, 8)} for n in range(1, 4)]}
    switches = {key: dice.random() < 0.4 for key in ("distribute_evenly", "disable_reclaim_own")}
    victims = dice.choice(["youngest", "oldest", "lowest_priority"]) if hosts else "youngest"
    entry = {
        "resource_groups": ["g"],
        "policy": "hybrid",
        "settings": switches | {"victims": victims, "within": dice.choice(["users", "fifo"])},
    }
    return {
        "fairhold": 1,
        "cluster": "c",
        "resource_groups": {"g": group},
        "consumers": consumers,
        "policies": [entry | {"consumers": settings}],
    }


def counts_state(dice: Random, plan: Plan) -> dict[str, Any]:
    leaves = [path for row, path in enumerate(plan.tree.paths) if plan.tree.is_leaf(row)]
    demand = {leaf: {"g": dice.choice([0, dice.randint(0, 30)])} for leaf in leaves}
    left = plan.resource_groups["g"].slots + dice.choice([0, 0, 3])
    allocated: dict[str, dict[str, int]] = {}
    notices = []
    for leaf in dice.sample(leaves, len(leaves)):
        held = dice.randint(0, min(left, 12))
        left -= held
        allocated[leaf] = {"g": held}
        if held and dice.random() < 0.4:
            due = dice.choice(["08:59:59", "09:00:00", "09:00:10", "09:00:20"])
            row = {"consumer": leaf, "units": dice.randint(1, held), "deadline": f"2026-01-05T{due}Z"}
            notices.append(row | dice.choice([{}, {"for": dice.choice(leaves)}, {"reason": "limit"}]))
    state = {"fairhold_state": 1, "now": NOW, "demand": demand, "allocated": allocated, "reclaims": notices}
    return state | dice.choice([{}, {"previous_cycle": NOW}, {"previous_cycle": "2026-01-05T08:59:00Z"}])


def requests_state(dice: Random, plan: Plan) -> dict[str, Any]:
    leaves = [path for row, path in enumerate(plan.tree.paths) if plan.tree.is_leaf(row)]
    free = {host.name: host.slots for host in plan.resource_groups["g"].hosts}
    rows: dict[str, list[dict[str, Any]]] = {"requests": [], "allocations": [], "reclaims": [], "held": []}
    for number in range(dice.randint(1, 8)):
        count, name = dice.randint(0, 9), f"r{number}"
        gang = dice.choice([0, 0, dice.randint(0, count)])
        request = {"id": name, "consumer": dice.choice(leaves), "count": count, "priority": dice.randint(0, 1)}
        minute = dice.randint(10, 14)
        request |= {"min_count": gang, "user": dice.choice(["", "ann", "bob"])}
        rows["requests"].append(request | {"submitted": f"2026-01-05T08:{minute}:00Z"})
        wanted = dice.randint(gang, count) if dice.random() < 0.6 else 0
        for host, slots in free.items():
            units = min(slots, wanted)
            if units:
                started = f"2026-01-05T08:{dice.randint(20, 22)}:00Z"
                rows["allocations"].append({"request": name, "host": host, "units": units, "started": started})
                free[host] -= units
                wanted -= units
                if dice.random() < 0.25:
                    due = dice.choice(["08:59:59", "09:00:10", "09:00:20"])
                    notice = {"request": name, "host": host, "units": dice.randint(1, units)}
                    rows["reclaims"].append(notice | {"deadline": f"2026-01-05T{due}Z"})
    for host, slots in free.items():
        if slots and dice.random() < 0.2:
            rows["held"].append({"request": dice.choice(rows["requests"])["id"], "host": host, "units": 1})
    state = {"fairhold_state": 1, "now": NOW} | {key: found for key, found in rows.items() if found}
    return state | ({"hosts_down": ["h2"]} if dice.random() < 0.2 else {})


def random_case(seed: int) -> tuple[Plan, State]:
    dice = Random(seed)
    hosts = seed % 2 == 1
    plan, _ = parse_plan(json.dumps(random_plan(dice, hosts=hosts)), "plan.json")
    made = requests_state(dice, plan) if hosts else counts_state(dice, plan)
    return plan, parse_state(json.dumps(made), plan, "state.json")
