"""Sweeps: one scenario under many plans that differ in some values, on all cores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.expecting import never_run
from fairhold.lab.parallel import run_all
from fairhold.lab.simulating import simulate
from fairhold.lab.varying import combinations, varied
from fairhold.planio.plan import parse_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.lab.expecting import Expectation
    from fairhold.lab.parallel import Done, OnProgress
    from fairhold.lab.scenario import Scenario
    from fairhold.lab.varying import Values, Variation


class Tried(NamedTuple):
    """One plan of a sweep.

    values  : those of the variations, in their order
    fault   : why there is no such plan, empty = there is
    numbers : what was asked for, in order; none where there is no such plan
    never   : for each of them, how many jobs of its consumer can never run
    """

    values: Values
    fault: str
    numbers: tuple[int, ...]
    never: tuple[int, ...] = ()


def sweep(
    scenario: Scenario,
    plan: Mapping[str, Any],
    variations: Sequence[Variation],
    asked: Sequence[Expectation],
    *,
    count: int = 0,
    seed: int = 0,
    processes: int = 1,
    on_progress: OnProgress | None = None,
) -> Done[Tried]:
    """Play every combination once, or `count` of them drawn by chance; the same on any number of processes.

    plan  : the document of the scenario's only plan
    asked : numbers that are kept of each run; those of the first resource that is shared
    on_progress : is told how many plans were played, and of how many

    Raises InputError where the scenario has several plans, or a variation does not fit.
    """
    if len(scenario.experiments) != 1:
        what, mend = "a sweep varies one plan, and the scenario has several", "choose one by --plan"
        raise InputError([Fault("variation", what, mend)])
    values = list(combinations(variations, count, seed))
    play = partial(_try, scenario, dict(plan), tuple(variations), tuple(asked))
    return run_all(play, values, processes, on_progress)


def _try(
    scenario: Scenario,
    document: Mapping[str, Any],
    variations: tuple[Variation, ...],
    asked: tuple[Expectation, ...],
    values: Values,
) -> Tried:
    text = varied(document, variations, values)
    try:
        plan = parse_plan(text, "the plan", places=True)[0]
    except InputError as error:
        return Tried(values, error.faults[0].what, ())
    ((name, experiment),) = scenario.experiments.items()
    summary = simulate(replace(scenario, experiments={name: experiment.under(plan)}), name)
    shared = summary["shared"][0]
    never = tuple(never_run(each.path, summary) for each in asked)
    return Tried(values, "", tuple(each.found(shared) for each in asked), never)
