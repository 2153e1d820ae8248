"""Small random plans and states of `multidimensional`, as documents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
GRACES = (None, None, "0s", "5s", "30s")
FEW = st.integers(0, 2)
LABELS: tuple[Json, ...] = ({"labels": {"zone": "a"}}, {"labels": {"zone": "b", "ssd": "yes"}})
SITINGS: tuple[Json, ...] = (
    {"need": ["zone"]},
    {"need": ["zone=b"], "place": "spread"},
    {"avoid": ["zone=a"], "prefer": ["ssd"]},
    {"place": "pack"},
)
RESTRAINTS: dict[str, tuple[Any, ...]] = {
    "max_reclaims": (1, 2, 4),
    "dead_zone": (1, 2),
    "await_ends": ("3s", "40s"),
    "observe_only": (True, False),
}


@st.composite
def settings(draw: st.DrawFn, resources: list[str], group: list[str], hosts: list[str], *, is_leaf: bool) -> Json:
    """What an entry says of one consumer."""
    found: Json = {
        "share_priority": draw(FEW),
        "share_ratio": draw(st.sampled_from((1, 1, 1, 2, 3, 0))),
        "rank": draw(FEW),
        "reclaim_grace": draw(st.sampled_from(GRACES)),
    }
    if draw(FEW) == 2:
        found["min_runtime"] = draw(st.sampled_from(("1m", "57m", "0s")))
    if draw(st.integers(0, 3)) == 3:
        found["user_limit"] = draw(st.sampled_from((1, 2, 3, 5, "none")))
    if draw(FEW) == 0:
        found["share_limit"] = {draw(st.sampled_from(resources)): draw(st.integers(0, 8))}
    if not is_leaf:
        found["private_pool_grace"] = draw(st.sampled_from(GRACES))
    if draw(st.booleans()):
        found["own"] = [draw(owning(resources, name, hosts)) for name in draw(st.sampled_from((group, group[:1])))]
    return {key: value for key, value in found.items() if value is not None}


@st.composite
def owning(draw: st.DrawFn, resources: list[str], group: str, hosts: list[str]) -> Json:
    """An entry of `own`."""
    mine = [host for host in hosts if host.startswith(group)]
    way: Json = draw(
        st.one_of(
            st.builds(lambda number: {"hosts": number}, st.integers(1, 2)),
            st.sampled_from(({"hosts": "40%"}, {"hosts": "50%"}, {"hosts": "remaining"})),
            st.builds(lambda name: {"hosts": [name]}, st.sampled_from(mine)),
            st.builds(
                lambda key, part: {"per_host": {key: part}},
                st.sampled_from(resources),
                st.sampled_from(("50%", "30%", 1, 2)),
            ),
            st.builds(lambda key, part: {"total": {key: part}}, st.sampled_from(resources), st.integers(1, 6)),
        )
    )
    found = {
        "resource_group": group,
        **way,
        "preference": draw(st.sampled_from((None, None, 1, 9))),
        "reserved": draw(st.sampled_from((None, None, None, True))),
        "lend_grace": draw(st.sampled_from(GRACES)),
        "reclaim_before_next_level": draw(st.sampled_from((None, None, True))),
    }
    return {key: value for key, value in found.items() if value is not None}


def tree_of(widths: list[int], deep: list[int]) -> tuple[Json, list[str]]:
    """Consumers by path, at most three levels, and the leaves."""
    paths: list[str] = []
    leaves: list[str] = []
    for at, width in enumerate(widths):
        top = f"/{'ABC'[at]}"
        paths.append(top)
        for child in range(width):
            below = f"{top}/{'xy'[child]}"
            paths.append(below)
            more = [f"{below}/{name}" for name in "12"[: deep[at] if child == 0 else 0]]
            paths += more
            leaves += more or [below]
        if not width:
            leaves.append(top)
    return {path: {} for path in paths}, leaves


@st.composite
def plans(draw: st.DrawFn) -> tuple[Json, list[str]]:
    """A plan that is right, and its leaves."""
    resources = draw(st.sampled_from((["cpu", "gpu"], ["cpu", "memory", "gpu"])))
    groups = draw(st.sampled_from((["m"], ["m", "n"])))
    names = [f"{groups[at % len(groups)]}{at}" for at in range(draw(st.integers(2, 4)))]
    tree, leaves = tree_of(draw(st.lists(FEW, min_size=2, max_size=3)), draw(st.lists(FEW, min_size=3, max_size=3)))
    plan: Json = {
        "fairhold": 1,
        "resources": {name: {} for name in resources},
        "resource_groups": {
            group: {
                "hosts": [
                    {
                        "name": name,
                        **{key: draw(st.integers(2, 8)) for key in resources},
                        **draw(st.sampled_from(({}, *LABELS))),
                    }
                    for name in names
                    if name.startswith(group)
                ]
            }
            for group in groups
        },
        "consumers": tree,
        "policies": [draw(entries(resources, names, tree, leaves))],
    }
    return made_right(plan), leaves


@st.composite
def entries(draw: st.DrawFn, resources: list[str], hosts: list[str], tree: Json, leaves: list[str]) -> Json:
    """A policy entry for all consumers of a tree; hosts begin with the name of their group."""
    groups = list(dict.fromkeys(host[0] for host in hosts))
    stated = {path: draw(settings(resources, groups, hosts, is_leaf=path in leaves)) for path in tree}
    switches: Json = {
        "packing": draw(st.sampled_from(("stacked", "stacked", "balanced"))),
        "victims": draw(st.sampled_from(("youngest", "oldest", "lowest_priority"))),
    }
    grace = draw(st.sampled_from(GRACES))
    if grace is not None:
        switches["public_pool_grace"] = grace
    if draw(FEW) == 1:
        switches["rebalance_interval"] = draw(st.sampled_from(("10s", "10m")))
    switches |= {key: draw(st.sampled_from(some)) for key, some in RESTRAINTS.items() if draw(FEW) == 2}
    return {"resource_groups": groups, "policy": "multidimensional", "settings": switches, "consumers": stated}


def made_right(plan: Json) -> Json:
    """The plan, without what children own beyond their parents, level by level from below."""
    stated = plan["policies"][0]["consumers"]
    for depth in (3, 2, 1):
        try:
            parse_plan(json.dumps(plan), "plan.json")
        except InputError:
            for path, mine in stated.items():
                if path.count("/") >= depth:
                    mine.pop("own", None)
        else:
            break
    return plan


@st.composite
def changed(draw: st.DrawFn, plan: Json, leaves: list[str], used: set[str]) -> Json:
    """Another plan of the same consumers: the entry is another one, and hosts that nobody uses may be gone.

    used : hosts that stay
    """
    after: Json = json.loads(json.dumps(plan))
    for group in after["resource_groups"].values():
        stays = [host for host in group["hosts"] if host["name"] in used or draw(st.integers(0, 3))]
        group["hosts"] = stays or group["hosts"]
    hosts = [host["name"] for group in after["resource_groups"].values() for host in group["hosts"]]
    after["policies"] = [draw(entries(list(plan["resources"]), hosts, plan["consumers"], leaves))]
    return made_right(after)


@st.composite
def requests(draw: st.DrawFn, resources: list[str], leaves: list[str]) -> list[Json]:
    found = []
    for at in range(draw(st.integers(1, 5))):
        unit = {key: draw(st.integers(0, 3)) for key in resources}
        unit["cpu"] = max(1, unit["cpu"])
        count = draw(st.integers(1, 8))
        found.append(
            {
                "id": f"r{at}",
                "consumer": draw(st.sampled_from(leaves)),
                "unit": {key: amount for key, amount in unit.items() if amount},
                "count": count,
                "min_count": min(count, draw(st.sampled_from((0, 0, 0, 2, 3)))),
                "priority": draw(st.integers(0, 1)),
                "user": draw(st.sampled_from(("ann", "bob", ""))),
                "submitted": f"2026-01-05T08:0{draw(st.integers(0, 5))}:00Z",
                **draw(st.sampled_from(({}, {}, {}, *SITINGS))),
            }
        )
    return found


@st.composite
def states(draw: st.DrawFn, plan: Json, leaves: list[str]) -> Json:
    """A state with units placed at random where there is room; a host may be down with what it has."""
    asked = draw(requests(list(plan["resources"]), leaves))
    hosts = [host for group in plan["resource_groups"].values() for host in group["hosts"]]
    room = {host["name"]: dict(host) for host in hosts}
    held = []
    for request in asked:
        left = request["count"] if draw(st.booleans()) else 0
        for host in draw(st.permutations(sorted(room))):
            unit = request["unit"]
            most = min(left, *(room[host][key] // amount for key, amount in unit.items()))
            units = draw(st.integers(0, most))
            if units:
                left -= units
                for key, amount in unit.items():
                    room[host][key] -= units * amount
                held.append({"request": request["id"], "host": host, "units": units, "started": request["submitted"]})
    state = {"fairhold_state": 1, "now": NOW, "requests": asked, "allocations": held}
    if len(hosts) > 1 and draw(st.integers(0, 4)) == 4:
        state["hosts_down"] = [draw(st.sampled_from(sorted(room)))]
    return state


def read(plan: Json, state: Json) -> tuple[Plan, State]:
    parsed = parse_plan(json.dumps(plan), "plan.json")[0]
    return parsed, parse_state(json.dumps(state), parsed, "state.json")


def after(state: State, turn: Json) -> State:
    """A state when some time has passed: other demands, and perhaps a host is down, or closed."""
    wanted = turn["counts"] or [request.count for request in state.requests]
    requests = tuple(
        replace(request, count=max(count, request.min_count, 1))
        for request, count in zip(state.requests, wanted, strict=True)
    )
    down, closed = (frozenset([turn[key]] if turn.get(key) else []) for key in ("down", "closed"))
    state = replace(state, hosts_down=down, hosts_closed=closed - down)
    return replace(state, now=state.now + turn["seconds"] * SECOND, requests=requests)
