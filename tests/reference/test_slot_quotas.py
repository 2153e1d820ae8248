"""Quotas of slots: the numbers of the cases. Those of random plans are in `test_slot_cycles.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.reference.quotas import entitled_in
from fairhold.reference.situation import read_situation
from tests.reference import cases as told

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def numbers(plan: Plan, state: State, group: str) -> dict[str, dict[str, Any]]:
    """Path → what the reference says that a consumer is entitled to, in the words of a result."""
    situation = read_situation(plan, state, group)
    found = entitled_in(situation)
    return {
        path: {
            "need": found.need[path],
            "reserve": found.reserve[path],
            "allocated": situation.held[path],
            "quota": found.quota[path],
        }
        | ({"planned": str(found.planned[path])} if found.planned and path != "/" else {})
        for path in plan.tree.paths
    }


@pytest.mark.parametrize("name", ["hybrid", "share_ratio"])
def test_expected_quotas(name: str) -> None:
    for key, case in told.cases(name).items():
        plan, state = told.read(case)
        found = numbers(plan, state, "compute")
        for path, row in case["expected"].items():
            assert {each: found[path][each] for each in row if each in found[path]} == {
                each: row[each] for each in row if each in found[path]
            }, (key, path)


def test_the_rule_and_not_the_order_of_asking_decides_a_tie() -> None:
    """R-ROUND-1: 10 by 1:2 is 3 and 7 where the second ranks better."""
    case = {
        "plan": {
            "fairhold": 1,
            "resource_groups": {"g": {"slots": 10, "configured_slots": 3}},
            "consumers": {"A": {"rank": 1}, "B": {}},
            "policies": [
                {"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/A": {"owned": 1}, "/B": {"owned": 2}}}
            ],
        },
        "state": {
            "fairhold_state": 1,
            "now": "2026-01-05T09:00:00Z",
            "demand": {"/A": {"g": 99}, "/B": {"g": 99}},
        },
    }
    found = numbers(*told.read(case), "g")
    assert (found["/A"]["quota"], found["/B"]["quota"]) == (3, 7)
