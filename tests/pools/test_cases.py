"""The worked cases of `multidimensional`: quotas, orders of placing, whole cycles (S0.20-S0.47, S2.1-S2.30)."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND, parse_instant
from tests.planio.support import cases

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
MOVES = ("stops", "grants", "reclaims", "withdrawn")
QUOTAS, LENDING = cases("multidimensional"), cases("lending")
of_quotas = pytest.mark.parametrize(
    "case", [each for each in QUOTAS if "expected" in each], ids=lambda case: case["id"]
)
of_orders = pytest.mark.parametrize(
    "case", [each for each in QUOTAS if "expected_order" in each], ids=lambda case: case["id"]
)
of_lending = pytest.mark.parametrize("case", LENDING, ids=lambda case: case["id"])
of_all = pytest.mark.parametrize("case", QUOTAS + LENDING, ids=lambda case: case["id"])


def inputs(case: Json) -> tuple[Plan, State]:
    plan, _ = parse_plan(json.dumps(case["plan"]), "plan.json")
    return plan, parse_state(json.dumps(case["state"]), plan, "state.json")


def as_text(values: Json) -> Json:
    """Numbers of a case as the text that documents have."""
    return {key: str(value) for key, value in values.items()}


def test_there_are_cases() -> None:
    assert len(QUOTAS) >= 60
    assert len(LENDING) >= 43


@of_quotas
def test_r_usage_3_the_pool_is_that_of_the_case(case: Json) -> None:
    expected = case["expected"]
    public = quota_document(*inputs(case))["pools"]["/"]["consumers"]
    for path, numbers in expected.get("consumers", expected).items():
        assert {key: public[path][key] for key in numbers} == as_text(numbers), path


@of_orders
def test_r_turn_1_the_order_of_placing_is_that_of_the_case(case: Json) -> None:
    """The order of the assignment loop alone: what would take back in the same cycle could change it (R-SWEEP-3)."""
    quiet = deepcopy(case)
    quiet["plan"]["policies"][0].setdefault("settings", {})["observe_only"] = True
    grants = run_cycle(*inputs(quiet)).document["grants"]
    placed = [[row["request"], row["host"]] for row in grants for _ in range(row["units"])]
    assert placed == case["expected_order"]


def test_r_sweep_3_what_was_placed_and_would_go_is_its_takers_in_the_same_cycle() -> None:
    (case,) = (each for each in QUOTAS if each["id"] == "assignment-018")
    document = run_cycle(*inputs(case)).document
    units: Counter[str] = Counter()
    for row in document["grants"]:
        units[row["request"]] += row["units"]
    assert units["r3"] == Counter(request for request, _ in case["expected_order"])["r3"] + 1
    assert document["reclaims"] == []


def with_lenders(rows: list[Json]) -> Counter[tuple[str, ...]]:
    """Units per request, host and pool, and of those that stand on what each lender owns."""
    units: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        place = row["request"], row["host"], row["pool"]
        units[place] += row["units"]
        for lender, number in row.get("lenders", {}).items():
            units[*place, lender] += number
    return units


def told(rows: list[Json], now: int) -> Counter[tuple[str, str, str | None, int]]:
    """Units per holder, host and taker, with the seconds of grace."""
    units: Counter[tuple[str, str, str | None, int]] = Counter()
    for row in rows:
        grace = row["grace_s"] if "grace_s" in row else ((parse_instant(row["deadline"]) or 0) - now) // SECOND
        units[row["request"], row["host"], row["for"], grace] += row["units"]
    return units


def placed_units(rows: list[Json]) -> Counter[tuple[str, str]]:
    units: Counter[tuple[str, str]] = Counter()
    for row in rows:
        units[row["request"], row["host"]] += row["units"]
    return units


def parcels(rows: list[Json]) -> list[tuple[str, str, Json]]:
    found = [
        (row["host"], row["consumer"], {key: each for key, each in row["amounts"].items() if each}) for row in rows
    ]
    return sorted(found, key=lambda row: row[:2])


@of_lending
def test_r_sweep_2_the_cycle_is_that_of_the_case(case: Json) -> None:
    plan, state = inputs(case)
    document, expected = run_cycle(plan, state).document, case["expected"]
    if "grants" in expected:
        assert with_lenders(document["grants"]) == with_lenders(expected["grants"])
    if "reclaims" in expected:
        assert told(document["reclaims"], state.now) == told(expected["reclaims"], state.now)
    if "withdrawn" in expected:
        assert placed_units(document["withdrawn"]) == placed_units(expected["withdrawn"])
    if "ownership" in expected:
        assert parcels(document["ownership"]) == parcels(expected["ownership"])
    said = [{name: row[name] for name in row if name != "nearest"} for row in document["refused"]]
    assert said == expected.get("refused", said)
    for pool, values in expected.get("pools", {}).items():
        consumers = document["pools"][pool]["consumers"]
        for path, numbers in values["consumers"].items():
            assert {key: consumers[path][key] for key in numbers} == as_text(numbers), (pool, path)


@of_all
def test_r_sweep_2_a_second_cycle_on_the_file_of_the_state_changes_nothing(case: Json) -> None:
    plan, state = inputs(case)
    cycle = run_cycle(plan, state)
    text = json.dumps(state_document(plan, cycle.after))
    again = parse_state(text, plan, "state.json")
    assert again == cycle.after
    second = run_cycle(plan, again)
    assert {kind: second.document[kind] for kind in MOVES} == {kind: [] for kind in MOVES}
    assert second.document["ownership"] == cycle.document["ownership"]
    assert json.dumps(state_document(plan, second.after)) == text
