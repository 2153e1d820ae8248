"""Whole runs with every check: hosts fail or are closed, groups change, budgets are used up, reclaims are bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import BrokenRuleError
from fairhold.lab.resuming import made_of
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import simulate
from fairhold.sim.account import Account
from fairhold.sim.verifying import Recomputed

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.scenario import Scenario

OUTAGES = [
    {"hosts": "h1", "down": "1h", "up": "2h"},
    {"hosts": "h2", "down": "3h", "up": "4h", "lead": "30m"},
]
SLOTS = {"hosts": [{"name": "h[1-4]", "slots": 4}]}
VECTORS = {"hosts": [{"name": "h[1-4]", "gpu": 4}]}
QUEUES = {"/A": {"deserved": {"gpu": 10}, "over_quota_weight": 2}, "/B": {"deserved": {"gpu": 6}}}
OWN: dict[str, dict[str, Any]] = {
    "/A": {"own": [{"resource_group": "compute", "total": {"gpu": 10}}]},
    "/B": {"own": [{"resource_group": "compute", "total": {"gpu": 6}}]},
}
OWNED = {"/A": {"owned": 10}, "/B": {"owned": 6}}
BUDGETS = {
    "/A": {"owned": 10},
    "/B": {"owned": 6, "budget": {"unit_hours": 12, "period": "day", "then": "borrow_only"}},
}


def with_budget(consumers: dict[str, dict[str, Any]], then: str) -> dict[str, dict[str, Any]]:
    """The same, with a budget of /B."""
    budget = {"hours": {"gpu": 12, "dominant_share": 2}, "period": "day", "then": then}
    return consumers | {"/B": consumers["/B"] | {"budget": budget}}


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "slots": ("hybrid", SLOTS, OWNED, {"outages": OUTAGES}),
    "queues": ("fair_share", VECTORS, QUEUES, {"outages": OUTAGES}),
    "vectors": ("multidimensional", VECTORS, OWN, {"outages": OUTAGES}),
    "resized": ("hybrid", {"slots": 16}, OWNED, {"slots": [{"at": "2h", "resource_group": "compute", "slots": 11}]}),
    "max_reclaims": ("hybrid", {"slots": 16}, OWNED, {"settings": {"max_reclaims": 1}}),
    "budgets": ("hybrid", {"slots": 16}, BUDGETS, {}),
    "budgets of vectors": ("multidimensional", VECTORS, with_budget(OWN, "borrow_only"), {"outages": OUTAGES}),
    "budgets of queues": ("fair_share", VECTORS, with_budget(QUEUES, "wait"), {"outages": OUTAGES}),
}
"""Policy, resource group, settings of consumers, and more of the scenario."""


def tenant_of(unit: dict[str, Any]) -> dict[str, Any]:
    """Bursts of gangs and of single tasks."""
    lengths = {"shape": "lognormal", "median": "12m", "p90": "1h"}
    return {
        "jobs_per_day": 180,
        "bursts": {"share": 0.5, "jobs": 8, "within": "5m"},
        "jobs": [
            {"weight": 3, "duration": lengths, "tasks": {"sizes": [1, 4], "weights": [3, 1]}, **unit},
            {"weight": 1, "duration": "20m", "tasks": 6, "gang": False, "priority": 2, **unit},
        ],
    }


def scenario_of(folder: Path, case: str) -> Scenario:
    """Two tenants who take back from each other for six hours."""
    policy, group, consumers, told = CASES[case]
    more = {**told}
    settings = more.pop("settings", {})
    is_vector = group is VECTORS
    tenant = tenant_of({"unit": {"gpu": 1}} if is_vector else {})
    documents = {
        "plan": {
            "fairhold": 1,
            **({"resources": {"gpu": {}}} if is_vector else {}),
            **({"time_zone": "UTC"} if "budget" in json.dumps(consumers) else {}),
            "resource_groups": {"compute": group},
            "consumers": {"A": {"reclaim_grace": "2m"}, "B": {"reclaim_grace": "4m"}},
            "policies": [
                {"resource_groups": ["compute"], "policy": policy, "settings": settings, "consumers": consumers}
            ],
        },
        "tenants": {
            "fairhold_tenants": 1,
            "seed": 5,
            "begin": "2026-01-05T08:00:00Z",
            "length": "5h",
            "tenants": {"/A": tenant, "/B": tenant},
        },
        "scenario": {
            "fairhold_scenario": 1,
            "plan": "plan.yaml",
            "workload": {"kind": "tenants", "file": "tenants.yaml"},
            "warm_up": "30m",
            "end": "6h",
            "work": {"start_delay": "5s", "stop_delay": "7s", "checkpoint": "10m"},
            **more,
        },
    }
    for name, document in documents.items():
        (folder / f"{name}.yaml").write_text(json.dumps(document))
    return read_scenario(folder / "scenario.yaml")


@pytest.mark.parametrize("case", CASES)
def test_a_run_holds_against_every_check(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[frozenset[str]] = []
    verify = Recomputed._verify

    def counted(self: Recomputed, now: int, *told: Any) -> None:
        computed.append(told[-1].hosts_closed)
        verify(self, now, *told)

    monkeypatch.setattr(Recomputed, "_verify", counted)
    scenario = scenario_of(tmp_path, case)
    (name,) = scenario.experiments
    document = simulate(scenario, name, check=True)
    found = document["shared"][0]["consumers"]["/"]
    assert found["stopped"] > 0 < found["notified"]
    assert document == simulate(scenario, name)
    assert len(computed) > 40
    assert ({"h2"} in computed) == ("outages" in CASES[case][3])
    assert made_of(scenario, name, check=True) != made_of(scenario, name, check=False)


def test_a_run_whose_measures_do_not_keep_littles_law_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenario_of(tmp_path, "budgets")
    advance = Account.advance

    def forgets(self: Account, now: int) -> None:
        before = self.demand
        advance(self, now)
        self.demand = self.demand - 1 if self.demand > before else before

    monkeypatch.setattr(Account, "advance", forgets)
    (name,) = scenario.experiments
    with pytest.raises(BrokenRuleError, match=r"what waits of slots over time is \d+, and the sum of all waits \d+ "):
        simulate(scenario, name, check=True)
    assert simulate(scenario, name)["shared"]
