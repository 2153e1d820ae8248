"""The loop with a clock and an engine that only play: what is fed when."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.model.job import Job
from fairhold.model.state import State
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Outcome, TaskEnded
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Start, Stop
from fairhold.runtime.lines import PlainView
from fairhold.runtime.loop import Ending, Loop
from fairhold.runtime.record import RECORD, Record
from fairhold.runtime.tally import Tally
from fairhold.units import SECOND
from tests.runtime.support import plan_document, read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fairhold.orchestrator.instructions import Notify, Withdraw

START = 1_767_603_600 * SECOND
MS = SECOND // 1000
TWO = {"/A": {"owned": 1}, "/B": {"owned": 1}}


class Time:
    """Stands still, or goes on by a little whenever it is looked at."""

    def __init__(self, tick: int) -> None:
        self.instant, self.tick = START, tick

    def now(self) -> int:
        self.instant += self.tick
        return self.instant


class Plays:
    """An engine whose tasks take as long as is said for their job, 10 s else; who waits for it moves the time."""

    def __init__(self, time: Time, lengths: dict[str, int]) -> None:
        self.time, self.lengths = time, lengths
        self.ends: dict[int, int] = {}
        self.over: list[TaskEnded] = []

    def execute(self, instructions: Iterable[Start | Notify | Withdraw | Stop]) -> None:
        for order in instructions:
            if isinstance(order, Start):
                self.ends[order.attempt] = self.time.instant + self.lengths.get(order.job, 10 * SECOND)
            elif isinstance(order, Stop) and self.ends.pop(order.attempt, 0):
                self.over.append(TaskEnded(order.attempt, Outcome.STOPPED))

    def events(self, timeout: float) -> Sequence[TaskEnded]:
        until = self.time.instant + round(timeout * SECOND)
        if not self.over:
            self.time.instant = max(self.time.instant, min([until, *self.ends.values()]))
        for attempt in [attempt for attempt, end in self.ends.items() if end <= self.time.instant]:
            del self.ends[attempt]
            self.over.append(TaskEnded(attempt, Outcome.FINISHED))
        over, self.over = self.over, []
        return over

    def how(self, attempt: int) -> str:
        return f"attempt {attempt}"

    def wake(self) -> None: ...

    def close(self) -> None: ...


def play(folder: Path, jobs: Sequence[Job], tick: int = 0, **lengths: int) -> list[dict[str, Any]]:
    """Run jobs on two slots, one owned by /A and one by /B; returns the lines of the record."""
    plan = read_document(plan_document(2, TWO, "1s"))
    books = open_books(plan, State(now=START))
    complaints: list[str] = []
    cluster = Cluster(books)
    record = Record(plan, cluster, folder, complaints.append)
    orchestrator = Orchestrator(cluster, on_cycle=record.cycle)
    tally, time = Tally(orchestrator), Time(tick)
    loop = Loop(
        orchestrator,
        Plays(time, lengths),
        time,
        tally=tally,
        record=record,
        view=PlainView(lambda _: None),
        say=complaints.append,
    )
    assert loop.run(jobs, plan.tree.paths) is Ending.DONE
    record.close()
    assert complaints == []
    return [json.loads(line) for line in (folder / RECORD).read_text().splitlines()]


def job(name: str, row: int, count: int, submit: int = 0) -> Job:
    return Job(name, row, "compute", ("true",), count, submit)


def notices(lines: Sequence[dict[str, Any]]) -> int:
    return sum(order["kind"] == "Notify" for line in lines for order in line.get("instructions", ()))


@pytest.mark.parametrize("submit", [0, 70 * MS])
@pytest.mark.parametrize("tick", [0, 3])
def test_jobs_due_at_the_same_instant_cause_one_cycle_and_no_reclaim(tmp_path: Path, submit: int, tick: int) -> None:
    lines = play(tmp_path, [job("a", 1, 2, submit), job("b", 2, 2, submit)], tick)
    assert notices(lines) == 0
    assert [line["kind"] for line in lines[:4]] == ["JobSubmitted", "JobSubmitted", "Woken", "cycle"]
    assert sorted(row["request"] for row in lines[3]["grants"]) == ["a", "b"]


def test_what_is_due_with_a_cycle_comes_before_it(tmp_path: Path) -> None:
    # The first cycle is at 0, so that the next is due at 50 ms; then a task ends and a job of /B is due, too.
    jobs = [job("short", 1, 1), job("a", 1, 2, 10 * MS), job("b", 2, 1, 50 * MS)]
    lines = play(tmp_path, jobs, short=50 * MS)
    assert notices(lines) == 0
    at = next(at for at, line in enumerate(lines) if line["kind"] == "TaskEnded")
    assert [line["kind"] for line in lines[at : at + 4]] == ["TaskEnded", "JobSubmitted", "Woken", "cycle"]
    assert len({line["now"] for line in lines[at : at + 4]}) == 1


def test_a_run_without_jobs_is_over_at_once(tmp_path: Path) -> None:
    assert play(tmp_path, []) == []


def test_rows_of_a_cycle_that_differ_in_units_alone_are_one(tmp_path: Path) -> None:
    lines = play(tmp_path, [job("a", 1, 2), job("b", 2, 1, 100 * MS)])
    first, second = [line for line in lines if line["kind"] == "cycle"][:2]
    assert first["grants"] == [{"consumer": "/A", "request": "a", "units": 2}]
    assert [(row["request"], row["units"], row["for"]) for row in second["reclaims"]] == [("a", 1, "/B")]
