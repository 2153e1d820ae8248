"""Full clusters and gangs that want in: every cycle twice, until units are stopped and others stand in their place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.strategies import read
from tests.pools.test_verify import cycle_of
from tests.pools.truths import MOVES, badly_sited, not_conserved, second_cycle, too_full
from tests.queues.strategies import NOW, stand
from tests.queues.truths import (
    beyond_bounds,
    broken_gangs,
    given_to_others,
    needless_notices,
    parts_of_hosts,
    taken_below,
)

Json = dict[str, Any]


@st.composite
def gangs(draw: st.DrawFn, at: int, leaf: str) -> Json:
    """A request, mostly of several units of which some or all start together, often on one host."""
    count = draw(st.integers(1, 4))
    return {
        "id": f"r{at}",
        "consumer": leaf,
        "unit": {"gpu": draw(st.sampled_from((1, 1, 2, 0.5)))},
        "count": count,
        "min_count": draw(st.integers(0, count)),
        "submitted": f"2026-01-05T07:{at:02}:00Z",
        **draw(st.sampled_from(({}, {"place": "pack"}, {"place": "pack"}, {"place": "spread"}))),
    }


@st.composite
def full_clusters(draw: st.DrawFn) -> tuple[Json, Json]:
    """Hosts that one queue has filled, and others that deserve some of them."""
    hosts: list[Json] = [{"name": f"h{at}", "gpu": draw(st.integers(2, 5))} for at in range(draw(st.integers(2, 3)))]
    leaves = draw(st.sampled_from((["/A", "/B"], ["/A", "/B", "/C"], ["/A/x", "/A/y", "/B"])))
    queues: Json = {leaf: {"reclaim_grace": draw(st.sampled_from(("0s", "30s")))} for leaf in leaves}
    for mine in queues.values():
        mine["deserved"] = {"gpu": draw(st.integers(0, 4))}
        mine["over_quota_weight"] = draw(st.sampled_from((0, 1, 0.5)))
    idle = {host["name"]: dict(host) for host in hosts}
    held: list[Json] = []
    asked: list[Json] = []
    for at in range(draw(st.integers(2, 5))):
        request = draw(gangs(at, draw(st.sampled_from(leaves))) if at else gangs(at, leaves[-1]))
        asked.append(request)
        if at < draw(st.integers(1, 2)):
            request |= {"count": 9, "place": "spread"}
            there = stand(idle, request["unit"], 9)
            request["min_count"] = min(request["min_count"], sum(there.values()))
            for host, units in there.items():
                held.append({"request": f"r{at}", "host": host, "units": units, "started": "2026-01-05T08:00:00Z"})
    entry = {"resource_groups": ["g"], "policy": "fair_share", "consumers": queues}
    plan: Json = {
        "fairhold": 1,
        "cluster": "c",
        "resources": {"gpu": {"step": draw(st.sampled_from((1, 0.5)))}},
        "resource_groups": {"g": {"hosts": hosts}},
        "consumers": {path: {} for path in (*(["/A"] if "/A/x" in leaves else []), *leaves)},
        "policies": [entry | {"settings": {"packing": draw(st.sampled_from(("stacked", "balanced", "exclusive")))}}],
    }
    return plan, {"fairhold_state": 1, "now": NOW, "requests": asked, "allocations": held}


@FEWER
@given(full_clusters())
def test_gangs_come_to_where_others_went_for_them_and_a_second_cycle_is_quiet(cluster: tuple[Json, Json]) -> None:
    plan, state = read(*cluster)
    moved: list[Json] = []
    for at in range(12):
        cycle = run_cycle(plan, state, check=True)
        assert cycle.untrue == ()
        if at < 3:
            assert verify(plan, state, cycle_of(plan, state)) == ()
        assert [*too_full(plan, cycle.after), *not_conserved(state, cycle), *badly_sited(plan, state, cycle)] == []
        assert [*beyond_bounds(plan, cycle), *broken_gangs(state, cycle), *taken_below(plan, cycle)] == []
        assert [*needless_notices(plan, cycle), *given_to_others(plan, state, cycle)] == []
        assert list(second_cycle(plan, cycle)) == []
        assert list(parts_of_hosts(plan, cycle)) == []
        moved = [row for kind in MOVES for row in cycle.document[kind]]
        if not moved:
            break
        state = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
        state = replace(state, now=state.now + 31 * SECOND)
    assert moved == []
