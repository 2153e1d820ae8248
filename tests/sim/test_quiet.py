"""Cycles of queues that are passed over decide nothing: a story is the same with every cycle made whole."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.orchestrator.quiet import Quiet
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Outage, Scene
from tests.sim.scenes import SECOND, played, random_jobs

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.workload import Workload
    from fairhold.orchestrator.handle import Orchestrator

LEAVES = ["/A/a1", "/A/a2", "/B", "/C"]
TREE = {
    "A": {"reclaim_grace": "2s", "consumers": {"a1": {}, "a2": {"reclaim_grace": "500ms"}}},
    "B": {"reclaim_grace": "1s"},
    "C": {},
}
DESERVED: dict[str, dict[str, Any]] = {
    "/A": {"deserved": {"gpu": 4}},
    "/A/a1": {"deserved": {"gpu": 3}, "over_quota_weight": {"gpu": 2}},
    "/B": {"deserved": {"gpu": 3}},
    "/C": {"priority": 200},
}
SEEDS = int(os.environ.get("QUIET_SEEDS", "3"))


def plan_of(more: dict[str, Any], **settings: Any) -> Plan:
    """Ten GPUs, and cores that seldom bound anything."""
    consumers = {path: DESERVED.get(path, {}) | more.get(path, {}) for path in {**DESERVED, **more}}
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}, "cpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h[1-4]", "gpu": 2, "cpu": 8}, {"name": "x", "gpu": 2}]}},
        "consumers": TREE,
        "policies": [
            {"resource_groups": ["compute"], "policy": "fair_share", "settings": settings, "consumers": consumers}
        ],
    }
    return parse_plan(json.dumps(document), "plan")[0]


PLANS = {
    "plain": plan_of({}),
    "limits": plan_of({"/A": {"limit": {"gpu": 6}}, "/C": {"limit": {"gpu": 1, "cpu": 2}}}, packing="balanced"),
    "runtimes": plan_of({"/A": {"min_runtime": "3s"}, "/B": {"reclaim_min_runtime": "1s"}}),
    "delays": plan_of({"/A": {"preemption_delay": "4s"}}),
    "history": plan_of({}, k=2, half_life="20s"),
    "few at once": plan_of({}, max_reclaims=1),
    "late": plan_of({}, await_ends="2s", dead_zone=1),
    "users": plan_of({"/B": {"user_limit": 4}}),
    "moves": plan_of({}, consolidation=True),
    "as kai": plan_of({}, division="kai", packing="exclusive"),
}


def crowded(seed: int) -> Workload:
    """More than there is room for, in few kinds: gangs, users, priorities, and some that are never taken back."""
    random = Random(seed)
    jobs = random_jobs(seed, LEAVES, jobs=70, most=4, gangs=seed % 2 > 0)
    many = range(len(jobs))
    return replace(
        jobs,
        unit=[random.choice((0, 0, 0, 1)) for _ in many],
        units=((("gpu", "1"),), (("gpu", "1"), ("cpu", "3"))),
        user=[random.randrange(3) for _ in many],
        users=("", "ann", "bob"),
        preemptible=[0 if random.random() < 0.03 else 1 for _ in many],
    )


def scene_of(plan: str, seed: int) -> Scene:
    outages = (Outage("h2", 20 * SECOND, 30 * SECOND, 0),) if seed % 3 == 2 else ()
    return Scene(PLANS[plan], crowded(seed), 0, outages=outages)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("plan", PLANS)
def test_a_story_is_the_same_with_every_cycle_whole(plan: str, seed: int) -> None:
    scene = scene_of(plan, seed)
    assert played(scene).lines == played(scene, is_brief=False).lines


def test_many_cycles_are_passed_over_but_for_those_that_controls_and_history_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[tuple[bool, bool]] = []
    whole, stay = Quiet.holds, Quiet._shares_stay
    asked: list[bool] = []

    def shares_stay(quiet: Quiet, came: Any) -> bool:
        asked.append(stay(quiet, came))
        return asked[-1]

    def holds(quiet: Quiet, live: Orchestrator) -> bool:
        asked.clear()
        found = whole(quiet, live)
        counted.append((found, bool(asked)))
        return found

    monkeypatch.setattr(Quiet, "_shares_stay", shares_stay)
    monkeypatch.setattr(Quiet, "holds", holds)
    played(scene_of("plain", 0))
    assert counted.count((True, True)) > 5  # one more waits
    assert counted.count((True, False)) > 5  # nobody does
    assert counted.count((False, False)) > 20
    for plan in ("delays", "history", "late"):
        counted.clear()
        played(scene_of(plan, 0))
        assert (True, True) not in counted
