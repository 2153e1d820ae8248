"""The worked cases of `ownership`, of mixing it with `hybrid`, and of windows, number by number.

S1.2, S1.5, S1.7, S1.11, S1.12, S1.14, S1.22, S1.23, S1.25, S1.26, S1.36, S1.40, S1.43, S1.44, S1.56, S1.57, S1.61,
S1.62, S1.83, S1.84, S1.85, S1.86, S1.87, S1.88, S1.89, S1.90, S1.91, S1.92, S1.93.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND, parse_instant
from tests.cycle.test_cases import GROUP, MOVES, NOTHING, Json, by, inputs

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

CASES = Path(__file__).parents[1] / "cases" / "ownership.json"
ALL: list[Json] = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
GOOD = [case for case in ALL if "faults" not in case["expected"]]
every_case = pytest.mark.parametrize("case", GOOD, ids=[case["id"] for case in GOOD])


def loans(plan: Plan, state: State) -> dict[tuple[str, str], int]:
    paths = plan.tree.paths
    return {(paths[each.borrower], paths[each.lender]): each.units for each in state.borrowed}


def test_there_are_cases() -> None:
    assert len(ALL) == 21


@every_case
def test_the_cycle_is_that_of_the_case(case: Json) -> None:
    plan, state = inputs(case)
    cycle, expected = run_cycle(plan, state), case["expected"]
    document, group = cycle.document, cycle.document["resource_groups"][GROUP]
    assert {path: group["consumers"][path]["quota"] for path in expected["quotas"]} == expected["quotas"]
    assert by("consumer", document["grants"]) == expected["grants"]
    assert by("consumer", document["withdrawn"]) == expected["withdrawn"]
    assert group["idle"] == expected["idle"]
    if "borrowed" in expected:
        assert loans(plan, cycle.after) == {
            (row["borrower"], row["lender"]): row["units"] for row in expected["borrowed"]
        }
    reclaims = expected["reclaims"]
    assert by("consumer", document["reclaims"]) == {path: row["units"] for path, row in reclaims.items()}
    for row in document["reclaims"]:
        deadline = parse_instant(row["deadline"])
        assert deadline is not None
        assert deadline - state.now == reclaims[row["consumer"]]["grace_s"] * SECOND


@every_case
def test_a_second_cycle_changes_nothing(case: Json) -> None:
    plan, state = inputs(case)
    after = run_cycle(plan, state).after
    second = run_cycle(plan, after)
    assert {kind: second.document[kind] for kind in MOVES} == NOTHING
    assert second.after == after
    assert parse_state(json.dumps(state_document(plan, after)), plan, "after.json") == after


@every_case
def test_truths_and_the_independent_check_agree(case: Json) -> None:
    plan, state = inputs(case)
    for books in open_books(plan, state).values():
        assert check(run(books, state.now)) == ()
    cycle = run_cycle(plan, state)
    assert verify(plan, state, quota_document(plan, state)) == ()
    assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_faults_and_warnings_name_who_they_are_about(case: Json) -> None:
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    try:
        warnings = tuple(map(str, parse_plan(json.dumps(case["plan"]), "plan.json")[1]))
    except InputError as error:
        faults = tuple(map(str, error.faults))
    for said, named in ((faults, "faults"), (warnings, "warnings")):
        paths = case["expected"].get(named, [])
        assert len(said) == len(paths)
        for path in paths:
            assert any(f"`{path}`" in text for text in said), path


def test_a_switch_tells_its_reason_and_nobody_waits_for_its_units() -> None:
    """R-SWITCH-1: notices of a switch have no taker; those given before count for it and cannot be withdrawn."""
    case = next(case for case in GOOD if case["id"] == "cyc-win-own-to-hybrid")
    plan, state = inputs(case)
    cycle = run_cycle(plan, state)
    assert {(row["consumer"], row["for"], row["reason"]) for row in cycle.document["reclaims"]} == {
        ("/Lab/X", None, "window"),
        ("/FX", None, "window"),
    }
    assert {(plan.tree.paths[each.consumer], each.units, each.reason) for each in cycle.after.notices} == {
        ("/Lab/X", 2, "window"),
        ("/Lab/X", 4, "window"),
        ("/FX", 3, "window"),
    }
    assert cycle.after.borrowed == ()
