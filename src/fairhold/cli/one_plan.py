"""The one plan of a scenario that a command uses, known before any job is read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.errors import UsageError
from fairhold.lab.scenario import Asked, plan_names, read_scenario
from fairhold.planio.report import listed, shown

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.expecting import Expectation
    from fairhold.lab.scenario import Scenario


def read_of_one_plan(path: Path, only: str, draw: int, expect: tuple[Expectation, ...] = ()) -> Scenario:
    """The scenario with one plan, which is named where it has several.

    expect : what is asked of it

    Raises UsageError where it is not clear which, and InputError as `read_scenario`.
    """
    known = plan_names(path)
    if only and known and only not in known:
        raise UsageError(f"the scenario has no plan `{shown(only)}`; use {listed(known)}")
    if not only and len(known) > 1:
        raise UsageError(f"the scenario has several plans: choose one by --plan, of {listed(known)}")
    name = only or next(iter(known), "")
    scenario = read_scenario(path, draw, asked=Asked(name, expect))
    return replace(scenario, experiments={name: scenario.experiments[name]})
