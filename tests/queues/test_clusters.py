"""Whole clusters of KAI before and after: who runs in the end, and how many were asked to go (S4.1-S4.23)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.planio.support import cases
from tests.queues.differences import PAGE, listed

if TYPE_CHECKING:
    from fairhold.model.state import State

Json = dict[str, Any]
CLUSTERS = [case for case in cases("kai") if case["kind"] == "cycle"]
OTHERWISE = listed("Whole clusters")
SCALES = (("gpu", 1), ("cpu", 1000), ("memory", 1))
CYCLES = 8


def plan_of(case: Json) -> tuple[Json, dict[str, str]]:
    """The plan of a case, and queue → path."""
    queues = {queue["id"]: queue for queue in case["queues"]}

    def path(name: str) -> str:
        parent = queues[name]["parent"]
        return f"{path(parent) if parent in queues else ''}/{name}"

    stated: Json = {}
    for name, queue in queues.items():
        mine: Json = {"priority": 100 if queue["priority"] is None else queue["priority"]}
        for resource, scale in SCALES:
            said = {key: number(value) for key, value in queue.get(resource, {}).items()}
            if said:
                mine.setdefault("deserved", {})[resource] = bound(said["quota"], scale, "unlimited")
                mine.setdefault("limit", {})[resource] = bound(said["limit"], scale, "none")
                mine.setdefault("over_quota_weight", {})[resource] = abs(said["weight"])
        stated[path(name)] = mine
    hosts = [
        {
            "name": name,
            "gpu": node.get("gpus", 0),
            "cpu": node.get("cpu_milli", 1_000_000),
            "memory": node.get("memory", 10**6),
        }
        for name, node in case["nodes"].items()
    ]
    return {
        "fairhold": 1,
        "cluster": "kai",
        "resources": {resource: {} for resource, _ in SCALES},
        "resource_groups": {"nodes": {"hosts": hosts}},
        "consumers": {path(name): {} for name in queues},
        "policies": [
            {
                "resource_groups": ["nodes"],
                "policy": "fair_share",
                "settings": {"consolidation": "consolidation" in case["actions"]},
                "consumers": stated,
            }
        ],
    }, {name: path(name) for name in queues}


def number(said: Any) -> Any:
    return said["args"][0] if isinstance(said, dict) else said


def bound(amount: float, scale: int, unbounded: str) -> float | str:
    return unbounded if amount == -1 else amount / scale if scale > 1 else amount


def state_of(case: Json, paths: dict[str, str]) -> Json:
    older = sorted(range(len(case["jobs"])), key=lambda at: -case["jobs"][at]["priority"])
    age = {at: f"2026-01-05T08:00:{place:02}Z" for place, at in enumerate(older)}
    requests, allocations = [], []
    for at, job in enumerate(case["jobs"]):
        unit = {each: job[f"{key}_per_pod"] for each, key in (("gpu", "gpus"), ("cpu", "cpu"), ("memory", "memory"))}
        pods = len(job["pods"])
        requests.append(
            {
                "id": job["id"],
                "consumer": paths[job["queue"]],
                "unit": {name: amount for name, amount in unit.items() if amount},
                "count": pods,
                "min_count": pods if pods > 1 else 0,
                "priority": job["priority"],
                "preemptible": job["preemptible"],
                "submitted": age[at],
            }
        )
        for host, units in Counter(pod["node"] for pod in job["pods"] if pod["state"] == "running").items():
            started = "2026-01-05T08:30:00Z"
            allocations.append({"request": job["id"], "host": host, "units": units, "started": started})
    return {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": requests, "allocations": allocations}


def expected(case: Json) -> dict[str, bool]:
    """Job → whether it runs in the end, of those of which the case says it."""
    told = dict(case["expected"]["jobs"])
    pods = told.pop("pods", {})
    runs = {name: each["status"] in {"running", "pipelined"} for name, each in told.items()}
    for name, pod in pods.items():
        job = name.rpartition("-")[0]
        if job not in {each["id"] for each in case["jobs"]}:
            continue  # one case calls a pod otherwise than its job
        runs[job] = runs.get(job, False) or pod["status"] in {"running", "pipelined"}
    return runs


@pytest.mark.parametrize("case", CLUSTERS, ids=lambda case: case["id"])
def test_a_cluster_ends_as_in_kai_or_we_say_why_not(case: Json) -> None:
    document, paths = plan_of(case)
    plan, _ = parse_plan(json.dumps(document), "plan.json")
    state = parse_state(json.dumps(state_of(case, paths)), plan, "state.json")
    evictions = 0
    for _ in range(CYCLES):
        cycle = run_cycle(plan, state)
        evictions += sum(row["units"] for row in cycle.document["reclaims"])
        state = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
        state = replace(state, now=state.now + SECOND)
    found, told = runs_in(state, case), expected(case)
    is_alike = all(found[name] is runs for name, runs in told.items()) and evictions <= case["expected"].get(
        "evictions_at_most", 99
    )
    assert is_alike is (case["id"] not in OTHERWISE)


def test_the_page_counts_them() -> None:
    assert {case["id"] for case in CLUSTERS} >= OTHERWISE
    assert f"{len(CLUSTERS) - len(OTHERWISE)} of {len(CLUSTERS)} end as in KAI" in PAGE


def runs_in(state: State, case: Json) -> dict[str, bool]:
    held = {allocation.request for allocation in state.allocations}
    return {job["id"]: job["id"] in held for job in case["jobs"]}
