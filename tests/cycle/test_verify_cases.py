"""The independent recomputation against the worked cases."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.verify import expected_cycle, expected_quota, verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.units import SECOND, parse_instant

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

CASES = Path(__file__).parents[1] / "cases"
GROUP = "compute"


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((CASES / name).read_text())["cases"]
    return cases


def inputs(case: dict[str, Any]) -> tuple[Plan, State]:
    plan, _ = parse_plan(json.dumps(case["plan"]), "plan.json")
    return plan, parse_state(json.dumps(case["state"]), plan, "state.json")


HYBRID, SHARED = load("hybrid.json"), load("share_ratio.json")
CYCLES = [case for case in load("cycles.json") if case["policy"] in {"hybrid", "share_ratio"}]


def by_consumer(rows: list[dict[str, Any]]) -> dict[str, int]:
    units: Counter[str] = Counter()
    for row in rows:
        units[row["consumer"]] += row["units"]
    return dict(units)


@pytest.mark.parametrize("case", HYBRID + SHARED, ids=lambda case: str(case["id"]))
def test_quotas_are_those_of_the_case(case: dict[str, Any]) -> None:
    plan, state = inputs(case)
    result = expected_quota(plan, state)
    table = result["resource_groups"][GROUP]["consumers"]
    for path, numbers in case["expected"].items():
        assert {key: table[path][key] for key in numbers} == numbers, path
    assert verify(plan, state, result) == ()


@pytest.mark.parametrize("case", CYCLES, ids=lambda case: str(case["id"]))
def test_a_cycle_is_that_of_the_case(case: dict[str, Any]) -> None:
    plan, state = inputs(case)
    result = expected_cycle(plan, state)
    expected = case["expected"]
    group = result["resource_groups"][GROUP]
    quotas = {path: row["quota"] for path, row in group["consumers"].items()}
    assert expected["quotas"].items() <= quotas.items()
    free = {path: row["free"] for path, row in group["consumers"].items()}
    assert expected.get("free", {}).items() <= free.items()
    assert by_consumer(result["grants"]) == expected["grants"]
    assert by_consumer(result["withdrawn"]) == expected["withdrawn"]
    assert group["idle"] == expected["idle"]
    units = by_consumer(result["reclaims"])
    assert units == {path: row["units"] for path, row in expected["reclaims"].items()}
    for row in result["reclaims"]:
        deadline = parse_instant(row["deadline"])
        assert deadline is not None
        assert deadline - state.now == expected["reclaims"][row["consumer"]]["grace_s"] * SECOND
    if "reclaimed_requests" in expected:
        requests = [row | {"consumer": row["request"]} for row in result["reclaims"]]
        assert by_consumer(requests) == expected["reclaimed_requests"]
    assert verify(plan, state, result) == ()


@pytest.mark.parametrize("case", CYCLES, ids=lambda case: str(case["id"]))
def test_a_second_cycle_changes_nothing(case: dict[str, Any]) -> None:
    plan, state = inputs(case)
    after = parse_state(json.dumps(expected_cycle(plan, state)["state"]), plan, "after.json")
    second = expected_cycle(plan, after)
    assert [second[kind] for kind in ("stops", "grants", "reclaims", "withdrawn")] == [[], [], [], []]
