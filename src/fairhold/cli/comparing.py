"""`compare`: plans over several draws of what chance decides, with what of the difference is more than chance."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cli.advance import INTERRUPTED, Advance
from fairhold.cli.files import print_json, print_text
from fairhold.cli.simulating import number_text
from fairhold.cli.table import table
from fairhold.errors import UsageError
from fairhold.lab.pairing import paired
from fairhold.lab.parallel import run_all
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import simulate
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.pairing import Paired
    from fairhold.lab.parallel import Done
    from fairhold.lab.scenario import Scenario

Document = dict[str, Any]
Task = tuple[int, str]
"""Number of a draw, name of a plan."""
MOST_ROWS = 30


def compare_plans(path: Path, *, draws: int, processes: int, as_json: bool) -> int:
    """Play every plan of a scenario on every draw, and print the differences to the first plan; 0."""
    scenario = read_scenario(path)
    names = list(scenario.experiments)
    if len(names) == 1:
        raise UsageError("the scenario has one plan: name those to be compared under `plans:`")
    for fault in scenario.findings.faults():
        warn(str(fault))
    if draws > 1 and _world(scenario) == _world(read_scenario(path, 1)):
        raise UsageError(
            "every draw is the same: nothing in the scenario is random; use `simulate` to compare its plans"
        )
    tasks = [(draw, name) for draw in range(draws) for name in names]
    results, is_whole = _played(path, tasks, processes)
    of = dict(zip(tasks, results, strict=False))
    if not is_whole:
        draws = len(results) // len(names)
        if not draws:
            raise KeyboardInterrupt
        warn(f"interrupted after {draws} complete draws; fewer than were asked for")
    pairs = {
        name: paired([of[draw, names[0]] for draw in range(draws)], [of[draw, name] for draw in range(draws)])
        for name in names[1:]
    }
    if as_json:
        print_json(
            {name: [each._asdict() | {"is_sure": each.is_sure} for each in rows] for name, rows in pairs.items()}
        )
        return 0 if is_whole else INTERRUPTED
    for name, rows in pairs.items():
        print_text(f"# {name} instead of {names[0]}, {draws} draws: differences beyond chance, the largest first")
        sure = [each for each in rows if each.is_sure]
        print_text(_table(sure[:MOST_ROWS]) if sure else "nothing")
        if len(rows) > len(sure):
            print_text(f"{len(rows) - len(sure)} other differences may be due to chance: --json has all")
    return 0 if is_whole else INTERRUPTED


def _world(scenario: Scenario) -> tuple[object, ...]:
    """What of a scenario may be left to chance."""
    experiment = next(iter(scenario.experiments.values()))
    return experiment.workload, experiment.outages


def _played(path: Path, tasks: list[Task], processes: int) -> Done[Document]:
    """What came of every task; a terminal shows how far it is."""
    advance = Advance()
    try:
        return run_all(
            partial(_play, path),
            tasks,
            processes,
            lambda done, whole: advance.show(f"{done:,} of {whole:,} runs", done, whole),
        )
    finally:
        advance.close()


def _play(path: Path, task: Task) -> Document:
    draw, name = task
    return simulate(read_scenario(path, draw), name)


def _table(rows: list[Paired]) -> str:
    head = ("consumer", "what", "before", "after", "difference, 95 %")
    return table(head, [_row(each) for each in rows])


def _row(each: Paired) -> tuple[str, ...]:
    low, high = (f"{'-' if value < 0 else '+'}{number_text(each.what, abs(value))}" for value in (each.low, each.high))
    before, after = (number_text(each.what, value) for value in (each.before, each.after))
    return each.consumer, each.what, before, after, f"{low} … {high}"
