"""The worked cases of `hybrid` and `share_ratio`, number by number (S3.1 to S3.15)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND, parse_instant

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
CASES = Path(__file__).parents[1] / "cases"
GROUP = "compute"
POLICIES = ("hybrid", "share_ratio")
MOVES = ("stops", "grants", "reclaims", "withdrawn")
NOTHING: dict[str, list[object]] = {kind: [] for kind in MOVES}


def load(name: str) -> list[Json]:
    cases: list[Json] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case.get("policy", "hybrid") in POLICIES]


def inputs(case: Json) -> tuple[Plan, State]:
    plan, _ = parse_plan(json.dumps(case["plan"]), "plan.json")
    return plan, parse_state(json.dumps(case["state"]), plan, "state.json")


def by(key: str, rows: list[Json]) -> dict[str, int]:
    units: Counter[str] = Counter()
    for row in rows:
        units[row[key]] += row["units"]
    return dict(units)


QUOTAS, CYCLES = load("hybrid") + load("share_ratio"), load("cycles")
every_quota = pytest.mark.parametrize("case", QUOTAS, ids=[case["id"] for case in QUOTAS])
every_cycle = pytest.mark.parametrize("case", CYCLES, ids=[case["id"].split()[0] for case in CYCLES])
every_case = pytest.mark.parametrize("case", QUOTAS + CYCLES, ids=[case["id"].split()[0] for case in QUOTAS + CYCLES])


def test_there_are_cases() -> None:
    assert len(QUOTAS) >= 120
    assert len(CYCLES) >= 40


@every_quota
def test_the_quota_table_is_that_of_the_case(case: Json) -> None:
    plan, state = inputs(case)
    table = quota_document(plan, state)["resource_groups"][GROUP]["consumers"]
    for path, numbers in case["expected"].items():
        assert {key: table[path][key] for key in numbers} == numbers, path


@every_cycle
def test_the_cycle_is_that_of_the_case(case: Json) -> None:
    plan, state = inputs(case)
    document, expected = run_cycle(plan, state).document, case["expected"]
    group = document["resource_groups"][GROUP]
    assert {path: group["consumers"][path]["quota"] for path in expected["quotas"]} == expected["quotas"]
    assert by("consumer", document["grants"]) == expected["grants"]
    assert by("consumer", document["withdrawn"]) == expected["withdrawn"]
    assert group["idle"] == expected["idle"]
    free = expected.get("free", {})
    assert {path: group["consumers"][path]["free"] for path in free} == free
    reclaims = expected["reclaims"]
    assert by("consumer", document["reclaims"]) == {path: row["units"] for path, row in reclaims.items()}
    for row in document["reclaims"]:
        deadline = parse_instant(row["deadline"])
        assert deadline is not None
        assert deadline - state.now == reclaims[row["consumer"]]["grace_s"] * SECOND
    if "reclaimed_requests" in expected:
        assert by("request", document["reclaims"]) == expected["reclaimed_requests"]


@every_case
def test_the_truths_hold_of_the_case(case: Json) -> None:
    plan, state = inputs(case)
    for books in open_books(plan, state).values():
        settle({GROUP: books}, state)
        assert check(run(books, state.now)) == ()


@every_case
def test_a_second_cycle_changes_nothing(case: Json) -> None:
    plan, state = inputs(case)
    after = run_cycle(plan, state).after
    second = run_cycle(plan, after)
    assert {kind: second.document[kind] for kind in MOVES} == NOTHING
    assert second.after == after


@every_case
def test_the_state_after_survives_its_file(case: Json) -> None:
    plan, state = inputs(case)
    for each in (state, run_cycle(plan, state).after):
        assert parse_state(json.dumps(state_document(plan, each)), plan, "after.json") == each
