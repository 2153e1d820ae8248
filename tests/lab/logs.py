"""Logs to record from, without a service: what a simulation wrote down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.lab.recording import record
from fairhold.ports import Entry
from fairhold.sim.experiment import Experiment
from fairhold.sim.log import line_of
from fairhold.sim.play import Simulation
from fairhold.sim.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.lab.rebuilding import Saved
    from fairhold.lab.recording import Record


class Written:
    """Lines of a log as a source of records; plan: text of the plan that it begins with."""

    name = "log"

    def __init__(self, lines: Iterable[tuple[int, Any]], plan: str, start: int, *, saved: Saved | None = None) -> None:
        self._plan, self._saved = plan, saved
        bodies = [(start, json.dumps(["PlanApplied", 1, {}, [], {}]))]
        bodies += [(at, json.dumps([type(change).__name__, *change])) for at, change in lines]
        self.all = [Entry(number, at, body) for number, (at, body) in enumerate(bodies, 1)]

    def snapshot(self, until: int) -> Saved | None:
        return self._saved if self._saved is not None and self._saved.at <= until else None

    def entries(self, after: int) -> Iterable[Entry]:
        return [entry for entry in self.all if entry.seq > after]

    def plan(self, version: int) -> str:
        assert version == 1
        return self._plan

    def is_running(self) -> bool:
        return True


class Lines:
    """All changes of a run, in order; cycles among them where that is wanted."""

    def __init__(self) -> None:
        self.all: list[tuple[int, Any]] = []

    def note(self, now: int, changes: Any) -> None:
        self.all += [(now, change) for change in changes]

    def lost(self, now: int, attempt: int, work: int) -> None: ...

    def cycled(self, now: int, result: Any) -> None: ...

    def cycled_vectors(self, now: int, result: Any) -> None: ...

    def without_cycles(self) -> list[tuple[int, Any]]:
        return [each for each in self.all if type(each[1]).__name__ != "CycleRan"]

    def told(self) -> list[str]:
        return [line_of(*each) for each in self.without_cycles()]


def lines_of(experiment: Experiment) -> Lines:
    lines = Lines()
    Simulation(experiment, [lines]).run()
    return lines


def replayed(found: Record, experiment: Experiment) -> list[str]:
    """The log of a record that is played again."""
    lines = Lines()
    story = found.event_trace
    again = Experiment(
        experiment.plan,
        experiment.workload,
        story.begin,
        story.end,
        min_gap=experiment.min_gap,
        max_interval=experiment.max_interval,
        event_trace=story,
        is_replay=True,
    )
    Replay(again, [lines]).run()
    return lines.told()


def recorded(lines: Iterable[tuple[int, Any]], plan: str, start: int, since: int = 0) -> Record:
    return record(Written(lines, plan, start), since)
