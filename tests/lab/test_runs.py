"""Plans that are played at once: the same as one after the other, in their order, and faults as they are."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import ArgumentError, Fault, InputError
from fairhold.lab.runs import Way, play_at_once, play_plan
from fairhold.lab.scenario import parse_scenario
from fairhold.sim.scene import Resizing
from tests.lab.test_scenario import HOSTS, JOBS, PLAN, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.scenario import Scenario

NAMES = ["one", "two", "three"]


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    for name, text in (("plan.yaml", PLAN), ("hosts.yaml", HOSTS), ("jobs.csv", JOBS)):
        (tmp_path / name).write_text(text)
    plans = {"one": "plan.yaml", "two": "hosts.yaml", "three": "plan.yaml"}
    return parse_scenario(text_of(plans=plans).replace("plan: plan.yaml\n", ""), "s.yaml", tmp_path)


def test_more_plans_than_processes_come_in_their_order(scenario: Scenario) -> None:
    alone = [(name, play_plan(scenario, Way(), name)) for name in NAMES]
    assert list(play_at_once(scenario, Way(), NAMES, 2)) == alone


def test_a_fault_of_one_plan_is_told_as_it_would_be_alone(scenario: Scenario) -> None:
    """That there is no such group is found out while it is played."""
    scenes = dict(scenario.scenes)
    scenes["two"] = replace(scenes["two"], resizings=(Resizing(0, "gone", 1),))
    with pytest.raises(InputError) as alone:
        play_plan(replace(scenario, scenes=scenes), Way(), "two")
    with pytest.raises(type(alone.value)) as at_once:
        list(play_at_once(replace(scenario, scenes=scenes), Way(), NAMES, 2))
    assert str(at_once.value) == str(alone.value)


@pytest.mark.parametrize("kind", [InputError, ArgumentError])
def test_faults_come_from_another_process_as_they_went(kind: type[InputError]) -> None:
    told = kind([Fault("negative", "it is below 0", "write more", ("a", 1), "plan.yaml", 3, 4)])
    again = pickle.loads(pickle.dumps(told))
    assert (type(again), again.faults, str(again)) == (kind, told.faults, str(told))
