"""One state, two drivers: the live orchestrator and the batch loop take the same decisions."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.ledger.books import Books
from fairhold.model.state import State
from fairhold.planio.plan import parse_plan
from fairhold.sim.batch import Demands, play
from tests.orchestrator.drive import InventedEngine

PLAN = {
    "fairhold": 1,
    "resource_groups": {"compute": {"slots": 20}},
    "consumers": {
        "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
        "B": {"reclaim_grace": "0s"},
        "C": {"reclaim_grace": "1s"},
    },
    "policies": [
        {
            "resource_groups": ["compute"],
            "policy": "hybrid",
            "consumers": {
                "/A": {"owned": 10, "reserved": 2},
                "/A/a1": {"owned": 4},
                "/B": {"owned": 10},
                "/C": {"limit": 12},
            },
        }
    ],
}


def fresh_books() -> Books:
    plan, _ = parse_plan(json.dumps(PLAN), "plan")
    return open_books(plan, State(now=0))["compute"]


def demands_of(seed: int, jobs: int = 30) -> Demands:
    random = Random(seed)
    leaves = fresh_books().rows.leaves
    return Demands(
        name=[f"job{number}" for number in range(jobs)],
        submit=sorted(random.randrange(30_000_000) for _ in range(jobs)),
        leaf=[random.choice(leaves) for _ in range(jobs)],
        tasks=[random.randint(1, 25) for _ in range(jobs)],
        duration=[random.randint(10_000, 5_000_000) for _ in range(jobs)],
    )


@given(st.integers(0, 2**32))
def test_both_drivers_take_the_same_decisions_to_the_last_row(seed: int) -> None:
    demands = demands_of(seed)
    live = InventedEngine(fresh_books(), demands)
    live.run()
    batch = play(fresh_books(), demands)
    assert batch == live.decisions


@pytest.mark.parametrize("seed", range(5))
def test_a_run_reclaims_and_every_task_is_finished_once(seed: int) -> None:
    demands = demands_of(seed)
    engine = InventedEngine(fresh_books(), demands)
    engine.run()
    jobs = engine.orchestrator.jobs
    assert [jobs[name].finished for name in demands.name] == list(demands.tasks)
    assert sum(len(decision.notices) for _, decision in engine.decisions) > 0
    assert sum(job.reclaimed for job in jobs.values()) > 0
    books = engine.orchestrator.books["compute"]
    assert books.held[0] == 0
    assert not any(books.held)
    assert not any(books.demand)
    assert not any(books.noticed)
