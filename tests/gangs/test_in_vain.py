"""Cycles in which nobody can use what is idle end before anything is handed out; they decide what they would else."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.rules import granting
from fairhold.sim.experiment import Experiment
from fairhold.sim.play import Simulation
from tests.gangs.strategies import gangs
from tests.sim.scenes import plan_of, played, random_jobs

if TYPE_CHECKING:
    from tests.properties.strategies import Case

LEAVES = ["/A", "/B", "/C"]
PLANS = [
    plan_of({"/A": {"owned": 6}, "/B": {"owned": 3}, "/C": {}}, 9),
    plan_of({path: {"share_ratio": at + 1} for at, path in enumerate(LEAVES)}, 9, policy="share_ratio"),
]


@given(gangs())
def test_a_cycle_is_the_same_with_all_passes_made(case: Case) -> None:
    found = run_cycle(case.plan, case.state).document
    with patch.object(granting, "_may_grant_any", lambda *_: True):
        assert run_cycle(case.plan, case.state).document == found


@pytest.mark.parametrize("plan", range(len(PLANS)))
@pytest.mark.parametrize("seed", range(6))
def test_a_story_is_the_same_with_all_passes_made(seed: int, plan: int) -> None:
    """What is known of a leaf is forgotten with every change of its requests."""
    experiment = Experiment(PLANS[plan], random_jobs(seed, LEAVES, gangs=True), 0)
    found = played(experiment, reopens=True).lines
    with patch.object(granting, "_may_grant_any", lambda *_: True):
        assert played(experiment, reopens=True).lines == found


@given(st.integers(0, 2**32))
def test_fewest_units_of_which_a_leaf_could_use_some(seed: int) -> None:
    """Against all of its requests, after every step of a story."""
    simulation = Simulation(Experiment(PLANS[0], random_jobs(seed, LEAVES, gangs=Random(seed).random() < 0.7), 0))
    books = simulation.live.books["compute"]
    requests, is_any = books.requests, False
    while simulation.step():
        for leaf, queues in requests.lines.of.items():
            waiting = [row for queue in queues.values() for row in queue]
            starts = [max(1, requests.minimum[row] - requests.held[row]) for row in waiting]
            assert requests.lines.least(leaf) == min(starts)
            is_any = True
    assert is_any
