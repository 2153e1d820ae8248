"""Cycles of slots: the numbers of the cases, the product on random plans, and results that are wrong by one thing."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from fairhold.reference.check import cycle, not_judged, violations
from fairhold.units import SECOND
from tests.budgets.strategies import bounded
from tests.gangs.strategies import gangs
from tests.ownership.strategies import owning
from tests.packing.strategies import packed
from tests.properties.strategies import GROUP, Case, cases, sharing
from tests.reference import cases as told
from tests.reference.mutants import mutants
from tests.restraint.strategies import restrained

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairhold.reference.slots.cycle import SlotCycle


def without_holding(case: Case) -> Case:
    """The case without units that are held for gangs, which the reference does not judge."""
    plan, state = deepcopy(case.plan_document), deepcopy(case.state_document)
    state.pop("held", None)
    for entry in plan["policies"]:
        entry.get("settings", {}).pop("hold_after", None)
    return Case(plan, state)


KINDS: dict[str, SearchStrategy[Case]] = {
    "hybrid": cases(),
    "share_ratio": sharing(),
    "ownership": owning(),
    "switched": owning(switched=True, requested=False),
    "budgets": bounded(),
    "gangs": gangs(shared=False),
    "controls": restrained(),
    "whole hosts": packed(),
}
CASES = [(name, key) for name in ("cycles", "ownership") for key in told.cases(name)]


def by_leaf(found: SlotCycle, rows: Counter[tuple[str, str]]) -> dict[str, int]:
    """Leaf → units of some rows."""
    units: Counter[str] = Counter()
    for (wish, _), number in rows.items():
        units[found.before.wishes[wish].leaf] += number
    return dict(+units)


@pytest.mark.parametrize(("name", "key"), CASES)
def test_expected_cycle(name: str, key: str) -> None:
    case = told.cases(name)[key]
    plan, state = told.read(case)
    found = cycle(plan, state)["compute"]
    expected = case["expected"]
    assert {path: found.entitled.quota[path] for path in expected["quotas"]} == expected["quotas"]
    assert by_leaf(found, found.grants) == expected["grants"]
    assert by_leaf(found, found.withdrawn) == expected["withdrawn"]
    assert by_leaf(found, found.new) == {path: row["units"] for path, row in expected["reclaims"].items()}
    for path, row in expected["reclaims"].items():
        assert found.deadlines[path] == state.now + row["grace_s"] * SECOND
    if "idle" in expected:
        assert found.idle == expected["idle"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_product_breaks_no_rule(kind: str) -> None:
    @given(KINDS[kind].map(without_holding))
    def check(case: Case) -> None:
        assert violations(case.plan, case.state, told.told_cycle(case.plan, case.state)) == []

    check()


def rejected(kind: str, states: int, each: int) -> tuple[int, list[str]]:
    """How many mutants of results are found to be wrong, and what was changed in those that are not."""
    dice = Random(4711)
    found, missed = 0, []

    @settings(
        max_examples=states, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(KINDS[kind].map(without_holding))
    def look(case: Case) -> None:
        nonlocal found
        if not_judged(case.plan, case.state, GROUP):
            return
        result = told.told_cycle(case.plan, case.state)
        for what, wrong in mutants(result, dice, each):
            if violations(case.plan, case.state, wrong):
                found += 1
            else:
                missed.append(what)

    look()
    return found, missed


@pytest.mark.parametrize("kind", ["hybrid", "share_ratio", "ownership"])
def test_a_result_that_is_wrong_by_one_thing_is_rejected(kind: str) -> None:
    found, missed = rejected(kind, 25, 3)
    assert found > 25
    assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_results_that_are_wrong_by_one_thing_are_rejected(kind: str) -> None:
    found, missed = rejected(kind, 220, 5)
    assert found > 400
    assert missed == []


def test_a_group_whose_rules_are_not_looked_at_is_named() -> None:
    """R-SITE-4: what labels claim is not judged."""
    plan, state = told.read(
        {
            "plan": {
                "fairhold": 1,
                "resource_groups": {"g": {"hosts": [{"name": "h0", "slots": 1, "labels": ["ssd"]}]}},
                "consumers": {"A": {}},
                "policies": [{"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/A": {"owned": 1}}}],
            },
            "state": {
                "fairhold_state": 1,
                "now": "2026-01-05T09:00:00Z",
                "requests": [{"id": "r", "consumer": "/A", "count": 1, "need": "ssd"}],
            },
        }
    )
    assert not_judged(plan, state, "g") == "R-SITE-4"
