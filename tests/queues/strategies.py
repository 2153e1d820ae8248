"""Small random plans and states of `fair_share`, as documents."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.pools.strategies import LABELS, SITINGS

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
FEW = st.integers(0, 2)
STARTED = ("2026-01-05T08:00:00Z", "2026-01-05T08:59:30Z", "2026-01-05T08:59:45Z")
GRACES = (None, None, "0s", "5s", "30s")


@st.composite
def queue(draw: st.DrawFn, resources: list[str], division: str) -> Json:
    """What an entry says of one queue; as KAI divides, a limit may be below what is deserved."""
    found: Json = {"priority": draw(st.sampled_from((100, 100, 100, 50, 200)))}
    if draw(st.booleans()):
        found["deserved"] = {
            name: draw(st.sampled_from((0, 1, 2, 3, 4, 0.5, "unlimited"))) for name in resources if draw(st.booleans())
        }
    if draw(st.integers(0, 3)) == 3:
        deserved = found.get("deserved", {})
        name = draw(st.sampled_from(resources))
        least = deserved.get(name, 0) if division == "exact" else 0
        found["limit"] = {name: draw(st.integers(0, 6)) + (least if least != "unlimited" else 0)}
    if draw(st.booleans()):
        weights = {name: draw(st.sampled_from((0, 1, 5))) for name in resources}
        found["over_quota_weight"] = draw(st.sampled_from((1, 2, 3, 0.5, 0, weights)))
    for key in ("reclaim_min_runtime", "preempt_min_runtime", "preemption_delay"):
        if draw(st.integers(0, 5)) == 5:
            found[key] = draw(st.sampled_from(("1m", "20s", "57m")))
    grace = draw(st.sampled_from(GRACES))
    if grace:
        found["reclaim_grace"] = grace
    return found


@st.composite
def trees(draw: st.DrawFn) -> tuple[Json, list[str], list[str]]:
    """Queues on one to three levels: the tree, all paths, and those of leaves."""
    paths: list[str] = []
    leaves: list[str] = []

    def below(path: str, names: list[str]) -> Json:
        found: Json = {}
        for name in names:
            mine = f"{path}/{name}"
            paths.append(mine)
            most = 2 if not path else draw(st.sampled_from((0, 0, 0, 2)))
            under = [f"{name}{at}" for at in range(draw(st.integers(0, most)))]
            found[name] = {"consumers": below(mine, under)} if under else {}
            leaves.extend([] if under else [mine])
        return found

    return below("", list("AB"[: draw(st.integers(1, 2))])), paths, leaves


STEPS: tuple[Json, ...] = ({}, {}, {}, {"step": 0.5}, {"step": 2})


@st.composite
def plans(draw: st.DrawFn) -> tuple[Json, list[str]]:
    """A plan with queues on one to three levels, and its leaves."""
    resources = ["gpu", "cpu", "memory"][: draw(st.sampled_from((1, 1, 1, 2, 2, 3)))]
    tree, paths, leaves = draw(trees())
    hosts = [
        {
            "name": f"h{at}",
            **{name: draw(st.integers(1, 6)) for name in resources},
            **draw(st.sampled_from(({}, {}, *LABELS))),
        }
        for at in range(draw(st.integers(1, 3)))
    ]
    settings: Json = {}
    if draw(st.integers(0, 3)) == 3:
        settings["reclaimer_utilization_multiplier"] = draw(st.sampled_from((1.2, 2)))
    if draw(st.integers(0, 4)) == 4:
        settings["division"] = "kai"
    if draw(st.integers(0, 3)) == 3:
        settings["packing"] = "balanced"
    if draw(st.integers(0, 3)) == 3:
        settings["k"] = draw(st.sampled_from((0.5, 1, 3)))
    if draw(st.integers(0, 2)) == 2:
        settings["consolidation"] = True
    return {
        "fairhold": 1,
        "cluster": "c",
        "resources": {name: draw(st.sampled_from(STEPS)) for name in resources},
        "resource_groups": {"g": {"hosts": hosts}},
        "consumers": tree,
        "policies": [
            {
                "resource_groups": ["g"],
                "policy": "fair_share",
                "settings": settings,
                "consumers": {path: draw(queue(resources, settings.get("division", "exact"))) for path in paths},
            }
        ],
    }, leaves


@st.composite
def requests(draw: st.DrawFn, at: int, resources: list[str], leaves: list[str]) -> Json:
    """What somebody asks for."""
    unit = {name: draw(st.sampled_from((0, 1, 1, 2, 3, 0.5))) for name in resources}
    if not any(unit.values()):
        unit[resources[0]] = 1
    request: Json = {
        "id": f"r{at}",
        "consumer": draw(st.sampled_from(leaves)),
        "unit": {name: amount for name, amount in unit.items() if amount},
        "count": draw(st.integers(1, 5)),
        "submitted": f"2026-01-05T08:{draw(st.integers(0, 59)):02}:00Z",
        "priority": draw(st.sampled_from((0, 0, 10, 50, 100))),
    }
    if draw(st.booleans()):
        request["min_count"] = draw(st.integers(1, request["count"]))
    request |= draw(st.sampled_from(({}, {}, *SITINGS, {"place": "pack"})))
    if draw(st.integers(0, 4)) == 4:
        request["preemptible"] = draw(st.booleans())
    return request


def stand(idle: dict[str, dict[str, float]], unit: dict[str, float], wanted: int) -> dict[str, int]:
    """Host → units that stand there, as many of those wanted as fit; idle shrinks."""
    held: dict[str, int] = {}
    for name, room in idle.items():
        while wanted and all(room[each] >= need for each, need in unit.items()):
            for each, need in unit.items():
                room[each] -= need
            held[name] = held.get(name, 0) + 1
            wanted -= 1
    return held


@st.composite
def states(draw: st.DrawFn, plan: Json, leaves: list[str]) -> Json:
    """Requests that hold some units on some hosts."""
    resources, hosts = list(plan["resources"]), plan["resource_groups"]["g"]["hosts"]
    idle: dict[str, dict[str, float]] = {host["name"]: {name: host[name] for name in resources} for host in hosts}
    mine, allocations = [], []
    for at in range(draw(st.integers(1, 6))):
        request = draw(requests(at, resources, leaves))
        mine.append(request)
        held = stand(idle, request["unit"], draw(st.integers(0, request["count"])))
        is_whole = sum(held.values()) >= request.get("min_count", 0)
        for name, units in held.items():
            if is_whole:
                started = draw(st.sampled_from(STARTED))
                allocations.append({"request": request["id"], "host": name, "units": units, "started": started})
            else:
                for each, need in request["unit"].items():
                    idle[name][each] += need * units
    state: Json = {"fairhold_state": 1, "now": NOW, "requests": mine, "allocations": allocations}
    if draw(st.integers(0, 4)) == 4:
        state["reclaims"] = draw(notices(mine, allocations))
    if draw(st.integers(0, 6)) == 6:
        kept = draw(st.sampled_from(mine))
        there = [name for name, room in idle.items() if all(room[each] >= need for each, need in kept["unit"].items())]
        state["held"] = [{"request": kept["id"], "host": name, "units": 1} for name in there]
    if plan["policies"][0]["settings"].get("k"):
        paths = plan["policies"][0]["consumers"]
        used = st.fixed_dictionaries({name: st.sampled_from((0, 0.1, 0.5)) for name in resources})
        state["usage"] = {path: draw(used) for path in paths if path in leaves or draw(st.booleans())}
    if draw(st.integers(0, 5)) == 5:
        state["hosts_down"] = [draw(st.sampled_from(hosts))["name"]]
    return state


@st.composite
def notices(draw: st.DrawFn, asked: list[Json], allocations: list[Json]) -> list[Json]:
    """Some units are under notice, for somebody else."""
    found = []
    for row in allocations:
        taker = draw(st.sampled_from(asked))["id"]
        if taker != row["request"] and draw(st.booleans()):
            deadline = draw(st.sampled_from(("2026-01-05T09:00:20Z", "2026-01-05T09:00:30Z")))
            units = draw(st.integers(1, row["units"]))
            notice = {"request": row["request"], "host": row["host"], "units": units, "for": taker}
            found.append(notice | {"deadline": deadline})
    return found


@st.composite
def stories(draw: st.DrawFn) -> tuple[Json, Json, list[Json]]:
    """A plan, a state, and what changes between cycles."""
    plan, leaves = draw(plans())
    state = draw(states(plan, leaves))
    hosts = [host["name"] for host in plan["resource_groups"]["g"]["hosts"]]
    turns = [
        {
            "seconds": draw(st.sampled_from((1, 5, 30))),
            "counts": [draw(st.integers(0, 6)) for _ in state["requests"]] if draw(st.booleans()) else None,
            "down": draw(st.sampled_from((None, None, None, *hosts))),
            "closed": draw(st.sampled_from((None, None, None, *hosts))),
        }
        for _ in range(3)
    ]
    down = state.get("hosts_down", [])
    state["hosts_closed"] = [
        each for each in draw(st.sampled_from(([], [], hosts[:1], hosts[-2:]))) if each not in down
    ]
    return plan, state, turns
