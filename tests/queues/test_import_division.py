"""Queues that are imported share as KAI's own code does: its answers, asked of the plan (R-QUEUE-5)."""

from __future__ import annotations

import json

import pytest

from fairhold.cycle.document import quota_document
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.planio.importing import Json, imported, queue, stream
from tests.planio.support import cases, swapped

ANSWERS = [case for case in cases("kai_division") if not case["k"]]
FREE = {"cpu": {"limit": -1}, "memory": {"limit": -1}}


def shares(case: Json) -> Json:
    """Queue → fair share under the plan that its objects come to, with the GPUs of the case."""
    queues = [
        queue(
            each["id"],
            priority=each["priority"],
            resources={
                "gpu": {
                    "quota": -1 if each["deserved"] in {None, "unlimited"} else each["deserved"],
                    "limit": -1 if each["limit"] is None else each["limit"],
                    "overQuotaWeight": each["weight"],
                }
            },
        )
        for each in case["queues"]
    ]
    text = imported("kai", stream(*queues)).text
    capacity = next(line for line in text.splitlines() if line.startswith("  cluster: {capacity:"))
    there = f"  cluster: {{capacity: {{cpu: 1, memory: 1, gpu: {case['total']}}}}}"
    plan, _ = parse_plan(swapped(text, capacity, there), "plan.yaml")
    demand = {f"/{each['id']}": {"cluster": {"gpu": each["request"]}} for each in case["queues"]}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": demand}
    found = quota_document(plan, parse_state(json.dumps(state), plan, "state.json"))
    consumers = found["resource_groups"]["cluster"]["consumers"]
    return {each["id"]: consumers[f"/{each['id']}"]["fair_share"]["gpu"] for each in case["queues"]}


@pytest.mark.parametrize("part", range(4))
def test_imported_queues_share_as_kai_does(part: int) -> None:
    for case in ANSWERS[part::4]:
        assert shares(case) == pytest.approx(case["expected"], abs=1e-9), case
