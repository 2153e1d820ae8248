"""What Kueue's `preemption` comes to: who takes from whom under the plan that an import makes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import parse_state
from tests.planio.importing import PREEMPTS, cluster_queue, imported, plan_of, quotas, stream
from tests.planio.test_import_nodes import node

Json = dict[str, Any]
WITHIN, RECLAIM = "withinClusterQueue", "reclaimWithinCohort"


def taken_for(preemption: Json, *requests: Json) -> list[str]:
    """Requests that others are stopped for: 8 CPUs, of which `/t/a` and `/t/b` have 4 each."""
    queues = [
        cluster_queue("a", "t", resourceGroups=quotas(nominalQuota=4), preemption=preemption),
        cluster_queue("b", "t", resourceGroups=quotas(nominalQuota=4), preemption=PREEMPTS),
    ]
    plan = plan_of(imported("kueue", stream(*queues, node("n1", cpu="8"))))
    old, new = "2026-01-05T08:00:00Z", "2026-01-05T08:30:00Z"
    rows = [{"unit": {"cpu": 1}, "submitted": old if each.pop("on", 0) else new} | each for each in requests]
    held = [
        {"request": row["id"], "host": "n1", "units": row["count"], "started": old}
        for row in rows
        if row["submitted"] == old
    ]
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": rows, "allocations": held}
    cycle = run_cycle(plan, parse_state(json.dumps(state), plan, "state.json", places=True))
    return [row["for"] for row in (*cycle.document["reclaims"], *cycle.document["stops"])]


@pytest.mark.parametrize(
    ("stated", "takes_back"),
    [
        (PREEMPTS, True),
        ({RECLAIM: "Any"}, True),
        ({}, False),
        ({WITHIN: "Never", RECLAIM: "Never"}, False),
    ],
)
def test_a_queue_takes_back_what_it_deserves_where_kueue_lets_it(stated: Json, *, takes_back: bool) -> None:
    borrower = {"id": "b", "consumer": "/t/b", "count": 8, "on": 1}
    assert bool(taken_for(stated, borrower, {"id": "a", "consumer": "/t/a", "count": 4})) == takes_back


@pytest.mark.parametrize(
    ("stated", "preempts"),
    [(PREEMPTS, True), ({WITHIN: "LowerPriority"}, True), ({RECLAIM: "Any"}, False), ({}, False)],
)
def test_important_work_preempts_inside_its_queue_where_kueue_lets_it(stated: Json, *, preempts: bool) -> None:
    others = {"id": "b", "consumer": "/t/b", "count": 4, "on": 1}
    low = {"id": "low", "consumer": "/t/a", "count": 4, "on": 1, "priority": 10}
    high = {"id": "high", "consumer": "/t/a", "count": 2, "priority": 50}
    assert bool(taken_for(stated, others, low, high)) == preempts
