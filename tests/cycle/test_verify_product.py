"""The independent check on what the product itself prints: right as it is, wrong wherever it is changed."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = json.loads((Path(__file__).parents[1] / "cases/cycles.json").read_text())["cases"]
INFORMS = {"now", "previous_cycle", "reason"}
"""What only informs, or is the state's own word."""


def changed(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number raised by one, and every row of a list left out."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        if key in INFORMS or (place == ("state",) and key in ("demand", "resource_groups")):
            continue
        if isinstance(value, int):
            yield (*place, key), value + 1
        elif isinstance(value, (dict, list)):
            yield from changed(value, (*place, key))
        if isinstance(document, list):
            yield place, document[:key] + document[key + 1 :]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_every_changed_number_and_every_missing_row_is_found(case: dict[str, Any]) -> None:
    plan, _ = parse_plan(json.dumps(case["plan"]), "plan")
    state = parse_state(json.dumps(case["state"]), plan, "state")
    cycle = run_cycle(plan, state)
    result = cycle.document | {"state": state_document(plan, cycle.after)}
    assert verify(plan, state, result) == ()
    missed = []
    for place, value in changed(result):
        mutant = copy.deepcopy(result)
        at = mutant
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = value
        if not verify(plan, state, mutant):
            missed.append(place)
    assert missed == []
