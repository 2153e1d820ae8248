"""Cases with expected numbers, and the product as a black box."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
FOLDER = Path(__file__).parent.parent / "cases"


@cache
def cases(name: str) -> dict[str, Json]:
    """id → case of a file, but those that are about faults."""
    every = json.loads((FOLDER / f"{name}.json").read_text())["cases"]
    return {each["id"]: each for each in every if _is_good(each)}


def read(case: Json) -> tuple[Plan, State]:
    """The plan and the state of a case."""
    plan = parse_plan(json.dumps(case["plan"]), "plan.json")[0]
    return plan, parse_state(json.dumps(case["state"]), plan, "state.json")


def _is_good(case: Json) -> bool:
    try:
        read(case)
    except (InputError, KeyError):
        return False
    return True


def told_quotas(plan: Plan, state: State) -> Json:
    """What `fairhold quota --json` prints."""
    return quota_document(plan, state)


def told_cycle(plan: Plan, state: State) -> Json:
    """What `fairhold cycle --json` prints, but for the warnings of the plan."""
    found = run_cycle(plan, state)
    return found.document | {"state": state_document(plan, found.after)}
