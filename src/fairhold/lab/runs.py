"""Plans of a scenario, played one after the other or at once, each into a folder of its own or into none."""

from __future__ import annotations

import signal
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.parallel import reacting
from fairhold.lab.results import PlanResults
from fairhold.lab.resuming import made_of
from fairhold.lab.simulating import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from fairhold.lab.scenario import Scenario
    from fairhold.lab.simulating import OnProgress

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """How plans are played.

    folder : where results go, None = nowhere
    check  : every cycle is looked at
    resume : what the folder has of the same run is not played, or not written, again
    """

    folder: Path | None = None
    check: bool = False
    resume: bool = False


class Run(NamedTuple):
    """What came of a plan.

    summary : see `sim.summary`
    is_kept : of an earlier run in the folder: nothing was played
    kept    : parts of the event log that an interrupted run had left, and that are the same
    mended  : numbers of such parts that held something else, and were written anew
    """

    summary: Document
    is_kept: bool = False
    kept: int = 0
    mended: tuple[int, ...] = ()


def play_plan(scenario: Scenario, way: Way, name: str, on_progress: OnProgress | None = None) -> Run:
    """Play one plan; the event log and the summary are the same bytes however it is played."""
    if way.folder is None:
        return Run(simulate(scenario, name, on_progress=on_progress, check=way.check))
    results = results_of(scenario, way, name)
    found = results.kept() if way.resume else None
    if found is not None:
        return Run(found, is_kept=True)
    with results.events(resume=way.resume) as write:
        summary = simulate(scenario, name, write=write, on_progress=on_progress, check=way.check)
    results.keep(summary)
    return Run(summary, kept=len(write.kept), mended=tuple(write.mended))


def results_of(scenario: Scenario, way: Way, name: str) -> PlanResults:
    """The place in the folder for one plan."""
    assert way.folder is not None, "there is a folder"
    return PlanResults(way.folder, name, made_of(scenario, name, check=way.check))


def play_at_once(scenario: Scenario, way: Way, names: Sequence[str], processes: int) -> Iterator[tuple[str, Run]]:
    """Play plans, each in a process, and give them back in their order."""
    # A fork would have locks of threads that are not there: those of Polars, which may have read the jobs.
    with ProcessPoolExecutor(min(processes, len(names)), get_context("spawn")) as pool:
        begun: list[Future[Run]] = []
        given = 0
        while given < len(names):
            free = processes - sum(not each.done() for each in begun)
            for name in names[len(begun) : len(begun) + free]:  # no more wait in line, to be played after an interrupt
                with reacting(signal.SIG_IGN):  # as a process does that begins now, until it has something to play
                    begun.append(pool.submit(_play, way, _of_one(scenario, name), name))
            wait([each for each in begun if not each.done()], return_when=FIRST_COMPLETED)
            runs = [each.result() if each.done() else None for each in begun]
            for name, run in zip(names[given:], runs[given:], strict=False):
                if run is None:
                    break
                given += 1
                yield name, run


def _of_one(scenario: Scenario, name: str) -> Scenario:
    return replace(scenario, experiments={name: scenario.experiments[name]})


def _play(way: Way, scenario: Scenario, name: str) -> Run:
    with reacting(signal.default_int_handler):
        return play_plan(scenario, way, name)
