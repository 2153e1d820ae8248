"""What a run is made of: the same for equal experiments, another for every other one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.lab.resuming import made_of
from fairhold.lab.scenario import read_scenario
from fairhold.orchestrator.events import TaskEnded
from tests.docs.console import ROOT
from tests.lab.logs import lines_of, recorded
from tests.lab.test_recording import story_of

if TYPE_CHECKING:
    from fairhold.lab.scenario import Scenario
    from fairhold.sim.event_trace import EventTrace

FILE = ROOT / "examples/simulation/scenario.yaml"


def made(scenario: Scenario, plan: str = "lent", *, check: bool = False) -> str:
    return made_of(scenario, plan, check=check)


def test_what_is_read_again_is_made_of_the_same() -> None:
    assert made(read_scenario(FILE)) == made(read_scenario(FILE))


def test_all_that_a_run_depends_on_counts() -> None:
    whole = read_scenario(FILE)
    experiment = whole.experiments["lent"]
    workload = experiment.workload
    other_scenes = [
        replace(experiment, end=(experiment.end or 0) + 1),
        replace(experiment, min_gap=1),
        replace(experiment, slot=(("gpu", "1"),)),
        replace(experiment, work=replace(experiment.work, restart=1)),
        replace(experiment, workload=replace(workload, duration=[*workload.duration[:-1], workload.duration[-1] + 1])),
        replace(experiment, workload=replace(workload, consumers=tuple(reversed(workload.consumers)))),
        replace(experiment, plan=replace(experiment.plan, cluster="other")),
    ]
    others = [replace(whole, experiments={"lent": each}) for each in other_scenes]
    found = {made(whole), made(whole, "apart"), made(whole, check=True), *map(made, others)}
    found.add(made(replace(whole, begin=whole.begin + 1)))
    assert len(found) == len(others) + 4


def test_all_that_was_recorded_counts() -> None:
    experiment, text = story_of(1)
    story = recorded(lines_of(experiment).all, text, 0).event_trace
    whole = read_scenario(FILE)

    def made_of_story(other: EventTrace) -> str:
        return made(replace(whole, experiments={"lent": replace(experiment, event_trace=other)}))

    at = next(at for at, line in enumerate(story.lines) if isinstance(line.what, TaskEnded))
    line = story.lines[at]
    ended = replace(line.what, attempt=line.what.attempt + 1)
    others = [
        replace(story, lines=(*story.lines[:at], line._replace(at=line.at + 1), *story.lines[at + 1 :])),
        replace(story, lines=(*story.lines[:at], line._replace(what=ended), *story.lines[at + 1 :])),
        replace(story, decided=(*story.decided, "")),
        replace(story, state={}),
    ]
    assert len({made_of_story(story), *map(made_of_story, others)}) == len(others) + 1


def test_what_is_only_printed_or_expected_does_not() -> None:
    whole = read_scenario(FILE)
    assert made(whole) == made(replace(whole, expect=()))
