"""Random plans and states, as documents that the readers take: what a failing example prints is a file to keep.

Every plan obeys SPEC §3.6 and every state the readers' checks; otherwise nothing is spared: ranks, graces, reserves,
limits, groups larger and smaller than configured or empty, held units beyond what there is, notices, gangs, hosts that
are down, kept units.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.units import LARGEST, SECOND, parse_instant

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
GROUP = "g"
NOW = "2026-01-05T09:00:00Z"
DEADLINES = ("2026-01-05T08:59:59Z", NOW, "2026-01-05T09:00:10Z", "2026-01-05T09:00:20Z", "2026-01-05T09:01:00Z")
GRACES = ("0s", "5s", "20s", "1m")
FEW = 24
LONGEST_GRACE = 60 * SECOND


def instant(text: str) -> int:
    found = parse_instant(text)
    assert found is not None
    return found


@dataclass(frozen=True)
class Case:
    """A plan and a state as documents."""

    plan_document: Json
    state_document: Json

    @cached_property
    def plan(self) -> Plan:
        return parse_plan(json.dumps(self.plan_document), "plan.json")[0]

    @cached_property
    def state(self) -> State:
        return parse_state(json.dumps(self.state_document), self.plan, "state.json")

    def __repr__(self) -> str:
        return f"Case(\n  {json.dumps(self.plan_document)},\n  {json.dumps(self.state_document)},\n)"


def whole(most: int) -> SearchStrategy[int]:
    return st.integers(0, max(0, most))


def now_and_then(odds: int) -> SearchStrategy[bool]:
    """True once in `odds`; shrinks to False."""
    return st.integers(1, odds).map(lambda number: number == odds)


@st.composite
def trees(draw: DrawFn, most: int = FEW, depth: int = 3, width: int = 4) -> tuple[Json, Json, int]:
    """Consumers, their settings by path, and what the first level owns together."""
    settings: Json = {}

    def branch(path: str, owned: int, level: int) -> Json:
        names = "abcdefgh"[: draw(st.integers(1, width))]
        below: Json = {}
        left = owned
        for name in names:
            here = f"{path}/{name}"
            own = draw(st.sampled_from([0, left, left // len(names), None]))
            own = draw(whole(left)) if own is None else own
            left -= own
            node: Json = {}
            if draw(now_and_then(3)):
                node["rank"] = draw(whole(2))
            if draw(now_and_then(3)):
                node["reclaim_grace"] = draw(st.sampled_from(GRACES))
            stated: Json = {"owned": own}
            settings[here] = stated
            if own and draw(now_and_then(3)):
                stated["reserved"] = draw(whole(own))
            if draw(now_and_then(4)):
                stated["limit"] = min(LARGEST, own + draw(whole(max(2, most // 3))))
            if draw(now_and_then(8)):
                stated |= {"rank": draw(whole(2)), "reclaim_grace": draw(st.sampled_from(GRACES))}
            if level < depth and draw(now_and_then(3)):
                node["consumers"] = branch(here, own, level + 1)
            below[name] = node
        return below

    first_level = draw(whole(most))
    consumers = branch("", first_level, 1)
    return consumers, settings, sum(settings[f"/{name}"]["owned"] for name in consumers)


@st.composite
def plans(
    draw: DrawFn,
    *,
    hosts: bool | None = False,
    most: int = FEW,
    depth: int = 3,
    evenly: bool | None = None,
    aged: bool = True,
) -> Json:
    """A plan; `hosts` None draws whether the group has any, `evenly` None the mode; aged: victims may go by age."""
    consumers, settings, owned = draw(trees(most, depth))
    if draw(st.booleans()) if hosts is None else hosts:
        count = draw(st.integers(1, 4))
        group: Json = {
            "hosts": [{"name": f"h{n}", "slots": draw(st.integers(1, max(1, most // 3)))} for n in range(count)]
        }
    else:
        group = {"slots": draw(whole(min(LARGEST, most + most // 2)))}
    if draw(st.booleans()):
        group["configured_slots"] = min(LARGEST, owned + draw(whole(most // 3)))
    switches: Json = {
        "distribute_evenly": draw(st.booleans()) if evenly is None else evenly,
        "disable_reclaim_own": draw(st.booleans()),
    }
    if "hosts" in group and aged:
        switches["victims"] = draw(st.sampled_from(["youngest", "oldest", "lowest_priority"]))
        switches["within"] = draw(st.sampled_from(["users", "fifo"]))
    entry = {"resource_groups": [GROUP], "policy": "hybrid", "settings": switches, "consumers": settings}
    document = {"fairhold": 1, "cluster": "c", "resource_groups": {GROUP: group}, "consumers": consumers}
    return document | {"policies": [entry]} | ({"default_rank": 1} if draw(now_and_then(4)) else {})


def leaves_of(document: Json) -> list[str]:
    found: list[str] = []

    def walk(consumers: Json, path: str) -> None:
        for name, node in consumers.items():
            if node.get("consumers"):
                walk(node["consumers"], f"{path}/{name}")
            else:
                found.append(f"{path}/{name}")

    walk(document["consumers"], "")
    return found


@st.composite
def counts(draw: DrawFn, plan: Json, *, notices: bool = True, crowded: bool = True) -> Json:
    """A state of plain counts; crowded: more may be held than there is, and more than is wanted."""
    leaves = leaves_of(plan)
    group = plan["resource_groups"][GROUP]
    slots = group.get("slots", sum(host["slots"] for host in group.get("hosts", [])))
    state: Json = {"fairhold_state": 1, "now": NOW, "demand": {}, "allocated": {}, "reclaims": []}
    if draw(now_and_then(4)):
        if "slots" in group:
            slots = draw(whole(2 * slots))
            state["resource_groups"] = {GROUP: {"slots": slots}}
        else:
            state["hosts_down"] = [draw(st.sampled_from(group["hosts"]))["name"]]
    left = slots + (draw(st.sampled_from([0, 0, 0, 3])) if crowded else 0)
    for leaf in draw(st.permutations(leaves)):
        held = draw(whole(min(left, max(4, slots // 2))))
        left -= held
        extra = draw(st.sampled_from([0, 1, None, None]))
        extra = draw(whole(slots + 4)) if extra is None else extra
        wanted = draw(whole(held)) if crowded and draw(now_and_then(4)) else held + extra
        state["demand"][leaf] = {GROUP: wanted}
        state["allocated"][leaf] = {GROUP: held}
        while notices and held and draw(now_and_then(3)):
            units = draw(st.integers(1, held))
            held -= units
            row = {"consumer": leaf, "units": units, "deadline": draw(st.sampled_from(DEADLINES))}
            more: Json = draw(st.sampled_from([{}, {"for": leaves[0]}, {"for": leaves[-1]}, {"reason": "limit"}]))
            state["reclaims"].append(row | more)
    if draw(now_and_then(4)):
        state["previous_cycle"] = draw(st.sampled_from([NOW, "2026-01-05T08:59:00Z"]))
    return state


@st.composite
def requests(draw: DrawFn, plan: Json, *, notices: bool = True, gangs: bool = True, kept: bool = True) -> Json:
    """A state of requests with ages, priorities, gangs; on hosts where the plan has any."""
    leaves = leaves_of(plan)
    group = plan["resource_groups"][GROUP]
    room = {host["name"]: host["slots"] for host in group.get("hosts", [])} or {"": group.get("slots", 0)}
    state: Json = {"fairhold_state": 1, "now": NOW, "requests": [], "allocations": [], "reclaims": [], "held": []}
    for number in range(draw(st.integers(1, 7))):
        name, count = f"r{number}", draw(whole(9))
        gang = draw(whole(count)) if gangs and draw(now_and_then(3)) else 0
        request: Json = {"id": name, "consumer": draw(st.sampled_from(leaves)), "count": count, "min_count": gang}
        submitted = f"2026-01-05T08:{draw(st.integers(10, 13))}:00Z"
        user = draw(st.sampled_from(("", "ann", "bob")))
        state["requests"].append(request | {"priority": draw(whole(1)), "submitted": submitted, "user": user})
        wanted = draw(st.integers(gang, count)) if draw(st.booleans()) else 0
        for host, idle in room.items():
            units = min(idle, wanted)
            if units:
                started = f"2026-01-05T08:{draw(st.integers(20, 22))}:00Z"
                place = {"host": host} if host else {}
                state["allocations"].append({"request": name, "units": units, "started": started} | place)
                room[host] = idle - units
                wanted -= units
                while notices and units and draw(now_and_then(4)):
                    given = draw(st.integers(1, units))
                    row = {"request": name, "units": given, "deadline": draw(st.sampled_from(DEADLINES))}
                    state["reclaims"].append(row | place)
                    units -= given
    for host, units in room.items():
        if kept and units and host and draw(now_and_then(6)):
            taker = draw(st.sampled_from(state["requests"]))["id"]
            state["held"].append({"request": taker, "host": host, "units": draw(st.integers(1, units))})
    if "hosts" in group and draw(now_and_then(5)):
        state["hosts_down"] = [draw(st.sampled_from(group["hosts"]))["name"]]
    return state


@st.composite
def cases(
    draw: DrawFn, *, requested: bool | None = None, notices: bool = True, gangs: bool = True, kept: bool = True
) -> Case:
    """A plan with a state; `requested` None draws whether the state has requests or counts."""
    if draw(now_and_then(3)) if requested is None else requested:
        plan = draw(plans(hosts=None))
        return Case(plan, draw(requests(plan, notices=notices, gangs=gangs, kept=kept)))
    plan = draw(plans(hosts=None, aged=False))
    return Case(plan, draw(counts(plan, notices=notices)))


@st.composite
def sharing(draw: DrawFn, *, requested: bool | None = None, enforce: str = "", entitlement: str = "") -> Case:
    """A plan of `share_ratio` with a state: ratios 0 included, limits at leaves and branches."""
    asks = draw(now_and_then(3)) if requested is None else requested
    plan = draw(plans(hosts=None, aged=asks))
    entry = plan["policies"][0]
    for key in ("distribute_evenly", "disable_reclaim_own"):
        del entry["settings"][key]
    entry["settings"]["enforce"] = enforce or draw(st.sampled_from(["leaf", "parent"]))
    entry["settings"]["entitlement"] = entitlement or draw(st.sampled_from(["planned", "workload", "fixed"]))
    entry["policy"] = "share_ratio"
    for stated in entry["consumers"].values():
        del stated["owned"]
        stated.pop("reserved", None)
        if draw(st.booleans()):
            stated["share_ratio"] = draw(st.sampled_from([1, 0, 2, 3, 5, 7919]))
    return Case(plan, draw(requests(plan) if asks else counts(plan)))
