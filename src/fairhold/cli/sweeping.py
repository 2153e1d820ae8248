"""`sweep`: plays a scenario under many plans and prints what comes of which values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.advance import INTERRUPTED, Advance
from fairhold.cli.files import print_json, print_text
from fairhold.cli.one_plan import read_of_one_plan
from fairhold.cli.table import table
from fairhold.errors import Fault, InputError
from fairhold.lab.expecting import parse_expectation
from fairhold.lab.places import nearest
from fairhold.lab.scenario import plan_document
from fairhold.lab.sweeping import sweep
from fairhold.lab.varying import parse_variation
from fairhold.planio.report import shown
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.lab.expecting import Expectation
    from fairhold.lab.sweeping import Tried
    from fairhold.lab.varying import Variation
    from fairhold.model.plan import Plan

_ANY = " >= 0"


def run_sweep(
    path: Path,
    only: str,
    vary: Sequence[str],
    show: Sequence[str],
    *,
    count: int,
    seed: int,
    processes: int,
    as_json: bool,
    ignores_never_run: bool = False,
) -> int:
    """Play and print, the best first by what is asked for first; 1 where no plan keeps what the scenario expects."""
    variations = [parse_variation(text) for text in vary]
    asked = [parse_expectation(text + _ANY) for text in show]
    scenario = read_of_one_plan(path, only, 0, tuple(asked))
    ((name, experiment),) = scenario.experiments.items()
    _refuse_nobody(variations, experiment.plan)
    document = plan_document(path, name)
    wanted = [*asked, *scenario.expect]
    advance = Advance()
    try:
        played = sweep(
            scenario,
            document,
            variations,
            wanted,
            count=count,
            seed=seed,
            processes=processes,
            on_progress=lambda done, whole: advance.show(f"{done:,} of {whole:,} plans", done, whole),
        )
    finally:
        advance.close()
    tried = played.results
    if not played.is_whole:
        warn(f"interrupted: {len(tried):,} plans were simulated, and not all that were asked for")
    if ignores_never_run:
        tried = [each._replace(never=(0,) * len(each.never)) for each in tried]
    tried = [each._replace(never=each.never[len(asked) :]) for each in tried]  # what is only shown may be of anybody
    tried.sort(key=lambda each: (bool(each.fault), not _keeps(each, wanted), each.numbers, str(each.values)))
    if as_json:
        print_json([_document(each, variations, wanted) for each in tried])
    else:
        _print(tried, variations, asked, wanted)
    if not played.is_whole:
        return INTERRUPTED
    return 0 if any(not each.fault and _keeps(each, wanted) for each in tried) else 1


def _refuse_nobody(variations: Sequence[Variation], plan: Plan) -> None:
    """Raise InputError where values of consumers are varied that the plan does not have."""
    faults = [
        Fault(
            "variation",
            f"`{shown(each.name)}`: there is no consumer `{shown(each.where)}`",
            nearest(each.where, plan.tree.paths, "consumer"),
        )
        for each in variations
        if each.where.startswith("/") and each.where not in plan.tree.rows
    ]
    if faults:
        raise InputError(faults)


def _keeps(each: Tried, wanted: Sequence[Expectation]) -> bool:
    return all(one.is_kept(number) for one, number in zip(wanted, each.numbers, strict=False)) and not any(each.never)


def _document(each: Tried, variations: Sequence[Variation], wanted: Sequence[Expectation]) -> dict[str, Any]:
    return {
        "values": {one.name: value for one, value in zip(variations, each.values, strict=True)},
        "fault": each.fault or None,
        "numbers": {one.number: number for one, number in zip(wanted, each.numbers, strict=False)},
        "keeps": not each.fault and _keeps(each, wanted),
    }


def _print(
    tried: Sequence[Tried],
    variations: Sequence[Variation],
    asked: Sequence[Expectation],
    wanted: Sequence[Expectation],
) -> None:
    rows = [
        (
            *map(str, each.values),
            *(one.words(number) for one, number in zip(asked, each.numbers, strict=False)),
            "yes" if _keeps(each, wanted) else "no, jobs can never run" if any(each.never) else "no",
        )
        for each in tried
        if not each.fault
    ]
    print_text(table((*(each.name for each in variations), *(each.number for each in asked), "as expected"), rows))
    for each in tried:
        if each.fault:
            values = ", ".join(f"{one.name}={value}" for one, value in zip(variations, each.values, strict=True))
            print_text(f"no plan: {values}: {each.fault}")
