"""Cycles of slots: the numbers of the cases, the product on random plans, and results that are wrong by one thing."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from fairhold.reference.check import SlotJudge, not_judged
from fairhold.reference.expected import cycles
from fairhold.units import SECOND
from tests.budgets.strategies import bounded
from tests.gangs.crossed import crossed
from tests.gangs.strategies import gangs
from tests.ownership.strategies import owning
from tests.packing.strategies import packed, sited
from tests.properties.strategies import Case, cases, sharing
from tests.reference import cases as told
from tests.reference.mutants import mutants
from tests.restraint.strategies import restrained

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairhold.reference.slots.cycle import SlotCycle

KINDS: dict[str, SearchStrategy[Case]] = {
    "hybrid": cases(),
    "share_ratio": sharing(),
    "ownership": owning(),
    "switched": owning(switched=True),
    "budgets": bounded(),
    "gangs": gangs(),
    "controls": restrained(switched=None),
    "whole hosts": packed(),
    "labels": sited(),
    "all": crossed(),
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
    found = cycles(plan, state)["compute"]
    expected = case["expected"]
    assert {path: found.entitled.quota[path] for path in expected["quotas"]} == expected["quotas"]
    assert by_leaf(found, found.grants) == expected["grants"]
    assert by_leaf(found, found.withdrawn) == expected["withdrawn"]
    assert by_leaf(found, found.new) == {path: row["units"] for path, row in expected["reclaims"].items()}
    for path, row in expected["reclaims"].items():
        assert found.deadlines[path] == state.now + row["grace_s"] * SECOND
    if "idle" in expected:
        assert found.idle == expected["idle"]
    if "free" in expected:
        assert expected["free"].items() <= found.free.items()


@pytest.mark.parametrize("kind", KINDS)
def test_the_product_breaks_no_rule(kind: str) -> None:
    @given(KINDS[kind])
    def check(case: Case) -> None:
        judge = SlotJudge(case.plan, case.state)
        for result in (told.told_quotas(case.plan, case.state), told.told_cycle(case.plan, case.state)):
            result.pop("hosts", None)
            assert list(judge.findings(json.loads(json.dumps(result)))) == []

    check()


def rejected(kind: str, states: int, each: int) -> tuple[int, list[str]]:
    """How many mutants of results are found to be wrong, and what was changed in those that are not."""
    dice = Random(4711)
    found, missed = 0, []

    @settings(
        max_examples=states, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(KINDS[kind])
    def look(case: Case) -> None:
        nonlocal found
        judge = SlotJudge(case.plan, case.state)
        result = told.told_cycle(case.plan, case.state)
        result.pop("hosts", None)
        if judge.not_judged or any(judge.findings(json.loads(json.dumps(result)))):
            return
        for what, wrong in mutants(result, dice, each):
            if any(judge.findings(wrong)):
                found += 1
            else:
                missed.append(what)

    look()
    return found, missed


@pytest.mark.parametrize("kind", ["hybrid", "share_ratio", "ownership", "all"])
def test_a_result_that_is_wrong_by_one_thing_is_rejected(kind: str) -> None:
    found, missed = rejected(kind, 12, 12)
    assert found > 50
    assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_results_that_are_wrong_by_one_thing_are_rejected(kind: str) -> None:
    """More than 50,000 of all kinds together."""
    found, missed = rejected(kind, 120, 75)
    assert found > 4_500
    assert missed == []


def test_a_group_whose_rules_are_not_looked_at_is_named() -> None:
    """R-GANG-1: no cycle leaves a gang below its minimum."""
    plan, state = told.read(
        {
            "plan": {
                "fairhold": 1,
                "resource_groups": {"g": {"hosts": [{"name": "h0", "slots": 3}]}},
                "consumers": {"A": {}},
                "policies": [{"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/A": {"owned": 1}}}],
            },
            "state": {
                "fairhold_state": 1,
                "now": "2026-01-05T09:00:00Z",
                "requests": [{"id": "r", "consumer": "/A", "count": 3, "min_count": 3}],
                "allocations": [{"request": "r", "host": "h0", "units": 2, "started": "2026-01-05T08:00:00Z"}],
            },
        }
    )
    assert not_judged(plan, state, "g") == "R-GANG-1"
    assert SlotJudge(plan, state).not_judged == {"g": "R-GANG-1"}
