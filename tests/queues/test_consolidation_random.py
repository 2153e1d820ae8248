"""Random clusters in pieces: what moves has a place, nobody holds less, the check agrees, and it ends (R-CONTEST-6)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.strategies import read
from tests.pools.test_verify import cycle_of
from tests.pools.truths import MOVES, not_conserved, second_cycle, too_full
from tests.queues.strategies import NOW, stand

if TYPE_CHECKING:
    from fairhold.model.state import State

Json = dict[str, Any]


@st.composite
def in_pieces(draw: st.DrawFn) -> tuple[Json, Json]:
    """Hosts of which each has some idle, and requests larger than that."""
    hosts: list[Json] = [{"name": f"h{at}", "gpu": draw(st.integers(2, 5))} for at in range(draw(st.integers(2, 4)))]
    queues: Json = {path: {"reclaim_grace": "5s"} for path in draw(st.sampled_from((["/A"], ["/A", "/B"])))}
    if draw(st.booleans()):
        queues["/A"]["deserved"] = {"gpu": draw(st.integers(0, 6))}
    packing = draw(st.sampled_from(("stacked", "balanced", "exclusive")))
    entry: Json = {"resource_groups": ["g"], "policy": "fair_share", "consumers": queues}
    entry["settings"] = {"consolidation": True, "packing": packing}
    plan: Json = {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"g": {"hosts": hosts}},
        "policies": [entry],
    }
    plan["consumers"] = {path: {} for path in queues}
    idle = {host["name"]: {"gpu": host["gpu"] - draw(st.integers(0, 2))} for host in hosts}
    requests: list[Json] = []
    allocations: list[Json] = []
    for at in range(draw(st.integers(2, 6))):
        size, count = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        request: Json = {"id": f"r{at}", "consumer": draw(st.sampled_from(list(queues))), "unit": {"gpu": size}}
        request |= {"count": count, "priority": draw(st.sampled_from((0, 0, 0, 50, 100)))}
        request["min_count"] = draw(st.sampled_from((0, 0, count)))
        held = stand(dict(draw(st.permutations(list(idle.items())))), {"gpu": size}, count)
        request["min_count"] = min(request["min_count"], sum(held.values()))
        requests.append(request)
        started = "2026-01-05T08:00:00Z"
        allocations += [
            {"request": f"r{at}", "host": name, "units": units, "started": started} for name, units in held.items()
        ]
    for at in range(draw(st.integers(1, 2))):
        request = {"id": f"large{at}", "consumer": draw(st.sampled_from(list(queues)))}
        request |= {"unit": {"gpu": draw(st.integers(2, 5))}, "count": draw(st.integers(1, 2))}
        request["min_count"] = draw(st.sampled_from((0, request["count"])))
        requests.append(request)
    return plan, {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": allocations}


def held(state: State) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in state.allocations:
        found[each.request] += each.units
    return found


@FEWER
@given(in_pieces())
def test_whoever_moves_holds_as_much_as_before(story: tuple[Json, Json]) -> None:
    plan, state = read(*story)
    for _ in range(30):
        cycle = run_cycle(plan, state, check=True)
        assert cycle.untrue == ()
        assert [*too_full(plan, cycle.after), *not_conserved(state, cycle), *second_cycle(plan, cycle)] == []
        assert verify(plan, state, cycle_of(plan, state)) == ()
        moved = [row for row in cycle.document["reclaims"] if row["reason"] == "consolidation"]
        if moved and len(moved) == len(cycle.document["reclaims"]):
            then = run_cycle(plan, replace(cycle.after, now=state.now + 5 * SECOND))
            # Others may take of what has just moved, and of its place: of a better priority, or of another queue.
            if all(row["reason"] == "consolidation" for row in then.document["reclaims"]):
                assert all(held(then.after)[row["request"]] >= held(cycle.after)[row["request"]] for row in moved)
                assert held(then.after).total() > held(cycle.after).total()
        if not any(cycle.document[kind] for kind in MOVES):
            return
        after = json.dumps(state_document(plan, cycle.after))
        state = replace(parse_state(after, plan, "state.json"), now=state.now + 5 * SECOND)
    raise AssertionError("it comes to no rest")
