"""Cycles that look at the requests in front alone decide what those decide that look at all."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.pooled import decide, request_lines
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Experiment, Work
from tests.pools.test_pool_ledger import Compared
from tests.sim.scenes import SECOND, played, random_jobs

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.workload import Workload

LEAVES = ["/A/a1", "/A/a2", "/B", "/C"]
TREE = {
    "A": {"reclaim_grace": "2s", "consumers": {"a1": {}, "a2": {"reclaim_grace": "500ms"}}},
    "B": {"reclaim_grace": "1s"},
    "C": {},
}
OWNED: dict[str, dict[str, Any]] = {
    "/A": {"own": [{"resource_group": "compute", "total": {"gpu": 4}}], "private_pool_grace": "3s"},
    "/A/a1": {"own": [{"resource_group": "compute", "total": {"gpu": 2}}], "share_ratio": 2},
    "/B": {"own": [{"resource_group": "compute", "hosts": 1}], "share_ratio": 3},
    "/C": {"share_priority": 1},
}
SEEDS = int(os.environ.get("FRONT_SEEDS", "4"))


def plan_of(more: dict[str, Any], **settings: Any) -> Plan:
    """Ten GPUs on hosts with cores enough for most."""
    consumers = {path: OWNED.get(path, {}) | more.get(path, {}) for path in {**OWNED, **more}}
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}, "cpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h[1-4]", "gpu": 2, "cpu": 8}, {"name": "x", "gpu": 2}]}},
        "consumers": TREE,
        "policies": [
            {"resource_groups": ["compute"], "policy": "multidimensional", "settings": settings, "consumers": consumers}
        ],
    }
    return parse_plan(json.dumps(document), "plan")[0]


def early(path: str) -> dict[str, Any]:
    """What a consumer owns is taken back before a worse level is used."""
    return {path: {"own": [{**OWNED[path]["own"][0], "reclaim_before_next_level": True}]}}


PLANS = {
    "plain": plan_of({}),
    "nobody owns": plan_of({"/A": {"own": []}, "/A/a1": {"own": []}, "/B": {"own": []}}),
    "early": plan_of(early("/A") | early("/A/a1") | early("/B")),
    "balanced": plan_of({"/C": {"share_priority": 0, "share_ratio": 0}}, packing="balanced"),
    "exclusive": plan_of({}, packing="exclusive", victims="lowest_priority"),
    "reserved": plan_of({"/B": {"own": [{"resource_group": "compute", "hosts": 1, "reserved": True}]}}),
}
NEVER = {
    "limits": plan_of({"/A": {"share_limit": {"gpu": 3}}}),
    "users": plan_of({"/B": {"user_limit": 4}}),
    "late": plan_of({}, await_ends="2s", dead_zone=1),
    "few at once": plan_of({}, max_reclaims=1),
    "runtimes": plan_of({"/A": {"min_runtime": "3s"}}),
}


def crowded(seed: int) -> Workload:
    """Far more than there is room for, in few kinds: of two sizes, some gangs, some before others."""
    random = Random(seed)
    jobs = random_jobs(seed, LEAVES, jobs=110, most=2, gangs=seed % 2 > 0)
    many = range(len(jobs))
    return replace(
        jobs,
        unit=[random.choice((0, 0, 0, 1)) for _ in many],
        units=((("gpu", "1"),), (("gpu", "1"), ("cpu", "3"))),
        priority=[random.choice((0, 0, 0, 5)) for _ in many],
    )


def scene_of(plan: Plan, seed: int) -> Experiment:
    return Experiment(plan, crowded(seed), 0, end=90 * SECOND, work=Work(stop_delay=300_000 * (seed % 3)))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of every cycle that looked at the front, whether that was enough; few requests of a kind are in front."""
    found: list[bool] = []
    sweep = decide._sweep_books

    def swept(*words: Any) -> decide.Decided:
        decided = sweep(*words)
        if decided.books.backlog.of:
            found.append(not decided.books.backlog.is_short)
        return decided

    monkeypatch.setattr(decide, "_sweep_books", swept)
    return found


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("plan", PLANS)
def test_a_story_is_the_same_where_cycles_look_at_the_front(
    plan: str, seed: int, depth: int, counted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_lines, "DEPTH", depth)
    experiment = scene_of(PLANS[plan], seed)
    assert played(experiment).lines == played(experiment, reopens=True).lines
    assert counted.count(True) > 10
    assert depth > 1 or counted.count(False) > 5


@pytest.mark.parametrize("plan", PLANS)
def test_books_of_a_front_that_go_on_are_those_opened_anew(
    plan: str, counted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = Compared(monkeypatch)
    monkeypatch.setattr(request_lines, "DEPTH", 1)
    played(scene_of(PLANS[plan], 1))
    assert compared.hosts
    assert counted.count(True) > 10
    assert counted.count(False) > 5


@pytest.mark.parametrize("plan", NEVER)
def test_what_counts_requests_one_by_one_looks_at_all(plan: str, counted: list[bool]) -> None:
    played(scene_of(NEVER[plan], 0))
    assert not counted
