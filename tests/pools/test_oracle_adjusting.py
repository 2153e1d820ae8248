"""Who owns which hosts against the slow oracle, after hosts, plans and demands have changed (SPEC §6.7)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.examples import FEWER
from tests.oracles.adjusting import Owning
from tests.pools.strategies import NOW, made_right

Json = dict[str, Any]
RESOURCES = ["cpu", "gpu"]


def owning(rng: Random, names: list[str]) -> Json:
    ways: list[Json] = [
        {"hosts": rng.randint(1, 3)},
        {"hosts": rng.choice(("25%", "40%", "50%", "100%"))},
        {"hosts": "remaining"},
        {"hosts": rng.sample(names, rng.randint(1, 2))},
        {"per_host": {rng.choice(RESOURCES): rng.choice(("50%", "30%", 1, 2))}},
        {"total": {rng.choice(RESOURCES): rng.randint(1, 8)}},
        {"total": {name: rng.randint(1, 6) for name in RESOURCES}},
    ]
    more = {"preference": rng.randint(1, 3)} if rng.randrange(3) == 0 else {}
    return {"resource_group": "all", **rng.choice(ways[:4] if rng.randrange(3) == 0 else ways), **more}


def owned(rng: Random, names: list[str]) -> list[Json]:
    """One entry, or some."""
    return [owning(rng, names) for _ in range(rng.choice((1, 1, 2, 3)))]


def planned(rng: Random, hosts: list[Json]) -> Json:
    """A plan whose consumers own in one way or another."""
    tree: dict[str, Json] = {}
    for top in ("/A", "/B", "/C"):
        for path in (top, *(f"{top}/{name}" for name in "xy"[: rng.choice((0, 2))])):
            tree[path] = {"rank": rng.randrange(3)}
            if rng.randrange(4) and (path == top or "own" in tree[top]):
                tree[path]["own"] = owned(rng, [host["name"] for host in hosts])
    entry = {"resource_groups": ["all"], "policy": "multidimensional", "consumers": tree}
    if rng.randrange(4) == 0:
        entry["settings"] = {"rebalance_interval": rng.choice(("5s", "10m"))}
    return made_right(
        {
            "fairhold": 1,
            "resources": {name: {} for name in RESOURCES},
            "resource_groups": {"all": {"hosts": hosts}},
            "consumers": {
                path: {} for path in ("/A", "/A/x", "/A/y", "/B", "/B/x", "/B/y", "/C", "/C/x", "/C/y") if path in tree
            },
            "policies": [json.loads(json.dumps(entry))],
        }
    )


def changed(rng: Random, plan: Json) -> Json:
    """The same consumers with other ranks and other ways to own."""
    after: Json = json.loads(json.dumps(plan))
    for path, word in after["policies"][0]["consumers"].items():
        if rng.randrange(3) == 0:
            word["rank"] = rng.randrange(3)
        if rng.randrange(3) == 0 and "own" in word:
            word["own"] = owned(rng, [host["name"] for host in plan["resource_groups"]["all"]["hosts"]])
        elif rng.randrange(5) == 0 and path.count("/") == 1:
            word.pop("own", None)
    return made_right(after)


def resized(rng: Random, plan: Json) -> Json:
    """The same plan with a host that has more of everything; of what is owned by it nothing is known yet."""
    after: Json = json.loads(json.dumps(plan))
    host = rng.choice(after["resource_groups"]["all"]["hosts"])
    host["cpu"], host["gpu"] = host["cpu"] + rng.randint(1, 4), host["gpu"] + rng.randint(0, 2)
    return after


def wanted(rng: Random, plan: Json) -> list[Json]:
    tree = plan["consumers"]
    leaves = [path for path in tree if not any(each.startswith(f"{path}/") for each in tree)]
    unit = {"cpu": rng.randint(1, 3), "gpu": rng.randint(0, 1)}
    return [
        {
            "id": leaf[1:].replace("/", ""),
            "consumer": leaf,
            "unit": {key: each for key, each in unit.items() if each},
            "count": rng.randint(1, 6),
        }
        for leaf in leaves
        if rng.randrange(3)
    ] or [{"id": "r", "consumer": leaves[0], "unit": {"cpu": 1}, "count": 1}]


@FEWER
@given(st.integers(0, 10**9))
def test_who_owns_what_is_what_the_oracle_says(seed: int) -> None:
    rng = Random(seed)
    hosts = [
        {"name": f"h{at}", "cpu": rng.choice((4, 4, 6)), "gpu": rng.choice((2, 2, 3))}
        for at in range(rng.randint(2, 5))
    ]
    document = planned(rng, hosts)
    state: Json = {"fairhold_state": 1, "now": NOW, "requests": wanted(rng, document), "allocations": []}
    last: tuple[int, Json, list[str]] | None = None
    for at in range(4):
        state["now"] = f"2026-01-05T09:00:{4 * at:02}Z"
        plan = parse_plan(json.dumps(document), "plan.json")[0]
        try:
            parsed = parse_state(json.dumps(state), plan, "state.json")
        except InputError:
            return
        cycle = run_cycle(plan, parsed)
        interval = {None: 0, "5s": 5, "10m": 600}[document["policies"][0].get("settings", {}).get("rebalance_interval")]
        down = state.get("hosts_down", [])
        keeps = last is not None and last[1:] == (document, down) and last[0] + interval > 4 * at
        oracle = Owning(document, state).adjust(keeps=keeps)
        last = last if keeps else (4 * at, json.loads(json.dumps(document)), down)
        rows = cycle.document["ownership"]
        said = {
            (row["consumer"], row["host"]): tuple(row["amounts"].get(name, 0) for name in RESOURCES) for row in rows
        }
        assert oracle == said
        state = state_document(plan, cycle.after)
        document = resized(rng, document) if rng.randrange(4) == 0 else document
        document = changed(rng, document) if rng.randrange(2) else document
        state["hosts_down"] = [host["name"] for host in hosts if rng.randrange(5) == 0]
        held = [row for row in state.get("allocations", []) if rng.randrange(2)]
        state = {key: each for key, each in state.items() if key not in {"reclaims", "held"}} | {"allocations": held}
