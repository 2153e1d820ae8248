"""Quotas of slots: the numbers of the cases, and the product on random plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from fairhold.reference.quotas import entitled_in
from fairhold.reference.situation import read_situation
from tests.budgets.strategies import bounded
from tests.gangs.strategies import gangs
from tests.ownership.strategies import owning
from tests.packing.strategies import packed, sited
from tests.properties.strategies import Case, cases, sharing
from tests.reference import cases as told

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

KINDS: dict[str, SearchStrategy[Case]] = {
    "hybrid": cases(),
    "share_ratio": sharing(),
    "ownership": owning(switched=None),
    "budgets": bounded(),
    "gangs": gangs(),
    "whole hosts": packed(),
    "labels": sited(),
}


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


@pytest.mark.parametrize("kind", KINDS)
def test_as_the_product(kind: str) -> None:
    @given(KINDS[kind])
    def check(case: Case) -> None:
        document = told.told_quotas(case.plan, case.state)
        for group, told_of in document["resource_groups"].items():
            for path, mine in numbers(case.plan, case.state, group).items():
                row = told_of["consumers"][path]
                assert mine == {each: str(row[each]) if each == "planned" else row[each] for each in mine}, path

    check()


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
