"""Random stories of lending for the oracles: few hosts with parcels of several owners, and more wanted than fits.

Drawn with a seed: every second of them takes something back, which small examples that shrink well do not.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import state_document
from fairhold.units import SECOND, format_instant, parse_instant
from tests.pools.strategies import NOW, made_right, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
GRACES = (None, None, None, None, "5s", "30s")


class EventTrace(NamedTuple):
    """What happens: the requests of two cycles, and which allocations end in between."""

    plan: Json
    first: list[Json]
    then: list[Json]
    ends: list[int]
    turns: list[tuple[int, list[int]]]
    """Of cycles that follow with what is under notice by then: seconds from one to the next, and which end there."""

    def cycles(self) -> Iterator[tuple[Json, Cycle]]:
        """The state document before each cycle, and the cycle; the second one where nothing is under notice.

        It is a second later: at one instant nobody takes what a cycle before has granted (R-SERVE-3).
        """
        state: Json = {"fairhold_state": 1, "now": NOW, "requests": self.first, "allocations": []}
        for _ in range(2):
            plan, parsed = read(self.plan, state)
            cycle = run_cycle(plan, parsed)
            yield state, cycle
            state = state_document(plan, cycle.after) | {"requests": self.then}
            state["now"] = format_instant(parsed.now + SECOND)
            if "reclaims" in state or "held" in state:
                return
            held: list[Json] = state.get("allocations", [])
            for end in self.ends[: len(held)]:
                held.pop(end % len(held))

    def later(self) -> Iterator[tuple[Json, Cycle]]:
        """The same of cycles that begin with what is under notice and held."""
        state: Json = {"fairhold_state": 1, "now": NOW, "requests": self.first, "allocations": []}
        for seconds, ends in [(1, []), *self.turns]:
            plan, parsed = read(self.plan, state)
            cycle = run_cycle(plan, parsed)
            if "previous_cycle" in state:
                yield state, cycle
            state = state_document(plan, cycle.after) | {"requests": self.then}
            state["now"] = format_instant((parse_instant(state["now"]) or 0) + seconds * SECOND)
            told = {(row["request"], row["host"]) for row in state.get("reclaims", [])}
            held: list[Json] = state.setdefault("allocations", [])
            for end in ends:
                free = [row for row in held if (row["request"], row["host"]) not in told]
                if free:
                    held.remove(free[end % len(free)])


def stories(*, gangs: bool = True, limits: bool = True) -> st.SearchStrategy[EventTrace]:
    return st.integers(0, 10**9).map(lambda seed: story(Random(seed), gangs=gangs, limits=limits))


def story(rng: Random, *, gangs: bool, limits: bool) -> EventTrace:
    plan, leaves = lent(rng, limits=limits)
    requests = asked(rng, plan, leaves, gangs=gangs)
    first = rng.randint(1, len(requests) - 1)
    ends = [rng.randrange(9) for _ in range(rng.choice((0, 0, 0, 1)))]
    turns = [
        (rng.choice((0, 3, 5, 5, 30)), [rng.randrange(9) for _ in range(rng.choice((0, 0, 1, 2)))]) for _ in range(4)
    ]
    return EventTrace(plan, requests[:first], requests, ends, turns)


def lent(rng: Random, *, limits: bool) -> tuple[Json, list[str]]:
    """A plan in which names and parts say who owns what, and its leaves."""
    resources = rng.choice((["cpu"], ["cpu", "gpu"]))
    hosts: list[Json] = [
        {"name": f"h{at}", **{key: rng.randint(2, 8) for key in resources}} for at in range(rng.randint(1, 3))
    ]
    tree: dict[str, Json] = {}
    grow(rng, tree, "", [host["name"] for host in hosts])
    for word in tree.values():
        if limits and not rng.randrange(6):
            word["share_limit"] = {rng.choice(resources): rng.randint(0, 8)}
    switches = {
        "packing": rng.choice(("stacked", "stacked", "balanced")),
        "victims": rng.choice(("youngest", "oldest", "lowest_priority")),
        "public_pool_grace": rng.choice(GRACES),
    }
    entry = {
        "resource_groups": ["all"],
        "policy": "multidimensional",
        "settings": {key: each for key, each in switches.items() if each},
        "consumers": tree,
    }
    plan = {
        "fairhold": 1,
        "resources": {name: {} for name in resources},
        "resource_groups": {"all": {"hosts": hosts}},
        "consumers": {path: {} for path in tree},
        "policies": [entry],
    }
    leaves = [path for path in tree if not any(each.startswith(f"{path}/") for each in tree)]
    return made_right(json.loads(json.dumps(plan))), leaves


def grow(rng: Random, tree: dict[str, Json], above: str, hosts: list[str]) -> None:
    """Children of a consumer, which divide hosts between them, and theirs."""
    depth = above.count("/")
    names = ("ABC"[: rng.randint(2, 3)], "xyz"[: rng.choice((0, 0, 2, 3))], "xy"[: rng.choice((0, 0, 2))], "")[depth]
    left = list(hosts)
    for name in names:
        mine = [host for host in left if rng.randrange(3) == 0]
        left = [host for host in left if host not in mine]
        path = f"{above}/{name}"
        word: Json = {
            "share_priority": rng.choice((0, 0, 0, 1)),
            "share_ratio": rng.choice((1, 1, 1, 1, 2, 2, 3, 0)),
            "rank": rng.randrange(3),
            "reclaim_grace": rng.choice(GRACES),
            "own": [owning(rng, mine)] if mine or rng.randrange(3) == 0 else None,
        }
        tree[path] = {key: each for key, each in word.items() if each is not None}
        grow(rng, tree, path, mine or hosts)
        if any(each.startswith(f"{path}/") for each in tree) and (grace := rng.choice(GRACES)):
            tree[path]["private_pool_grace"] = grace


def owning(rng: Random, hosts: list[str]) -> Json:
    found = {
        "resource_group": "all",
        **({"hosts": hosts} if hosts and rng.randrange(3) else {"per_host": {"cpu": rng.randint(1, 4)}}),
        "preference": rng.choice((None, None, 1, 9)),
        "reserved": rng.choice((None, None, None, None, True)),
        "lend_grace": rng.choice(GRACES),
    }
    return {key: each for key, each in found.items() if each is not None}


def asked(rng: Random, plan: Json, leaves: list[str], *, gangs: bool) -> list[Json]:
    found = []
    for at in range(rng.randint(2, 6)):
        unit = {key: rng.choice((0, 1, 1, 2, 3)) for key in plan["resources"]}
        count = rng.choice((1, 3, 9, 12))
        row = {
            "id": f"r{at}",
            "consumer": rng.choice(leaves),
            "unit": {key: amount for key, amount in (unit | {"cpu": max(1, unit["cpu"])}).items() if amount},
            "count": count,
            "priority": rng.randrange(2),
            "submitted": f"2026-01-05T08:0{rng.randrange(6)}:00Z",
        }
        found.append(row | ({"min_count": min(count, rng.choice((2, 3)))} if gangs and not rng.randrange(3) else {}))
    return found
