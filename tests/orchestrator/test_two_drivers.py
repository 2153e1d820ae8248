"""One state, two drivers: the live orchestrator and the batch loop take the same decisions."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.ledger.books import Books
from fairhold.model.state import State
from fairhold.planio.plan import parse_plan
from tests.orchestrator.batch import Demands, play
from tests.orchestrator.drive import InventedEngine

GROUP = "compute"
HOSTS = {"hosts": [{"name": "a[1-3]", "slots": 5}, {"name": "b", "slots": 4}, {"name": "c", "slots": 1}]}
TREE = {
    "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
    "B": {"reclaim_grace": "0s"},
    "C": {"reclaim_grace": "1s"},
}
OWNED = {"/A": {"owned": 10, "reserved": 2}, "/A/a1": {"owned": 4}, "/B": {"owned": 10}, "/C": {"limit": 12}}
FLAT = {"A": {"reclaim_grace": "3s"}, "B": {"rank": 2}, "C": {"rank": 1, "reclaim_grace": "100ms"}}


def plan_document(
    group: dict[str, Any], tree: dict[str, Any], consumers: dict[str, Any], **settings: object
) -> dict[str, Any]:
    return {
        "fairhold": 1,
        "resource_groups": {GROUP: group},
        "consumers": tree,
        "policies": [{"resource_groups": [GROUP], "policy": "hybrid", "settings": settings, "consumers": consumers}],
    }


PLANS = (
    plan_document({"slots": 20}, TREE, OWNED),
    plan_document(HOSTS, TREE, OWNED, victims="oldest"),
    plan_document(HOSTS, TREE, OWNED, victims="lowest_priority", within="fifo"),
    plan_document(HOSTS, FLAT, {"/A": {"owned": 3, "reserved": 3}, "/C": {"limit": 9}}, distribute_evenly=True),
    plan_document({"slots": 7, "configured_slots": 10}, FLAT, {"/A": {"owned": 5}, "/B": {"owned": 5}}),
    plan_document(HOSTS, FLAT, {"/B": {"owned": 12, "reserved": 1}}, disable_reclaim_own=True),
)


def fresh_books(plan: int = 0) -> Books:
    return open_books(parse_plan(json.dumps(PLANS[plan]), "plan")[0], State(now=0))[GROUP]


def demands_of(seed: int, jobs: int = 30, plan: int = 0, *, graded: bool = False) -> Demands:
    random = Random(seed)
    leaves = fresh_books(plan).rows.leaves
    return Demands(
        name=[f"job{number}" for number in range(jobs)],
        submit=sorted(random.randrange(30_000_000) for _ in range(jobs)),
        leaf=[random.choice(leaves) for _ in range(jobs)],
        tasks=[random.randint(1, 25) for _ in range(jobs)],
        duration=[random.randint(10_000, 5_000_000) for _ in range(jobs)],
        priority=[random.choice((-1, 0, 0, 7)) for _ in range(jobs)] if graded else (),
        user=[random.choice(("", "ann", "bob", "cid")) for _ in range(jobs)] if graded else (),
    )


@given(st.integers(0, 2**32), st.integers(0, len(PLANS) - 1), st.booleans())
def test_both_drivers_take_the_same_decisions_to_the_last_row(seed: int, plan: int, graded: bool) -> None:  # noqa: FBT001
    demands = demands_of(seed, plan=plan, graded=graded)
    live = InventedEngine(fresh_books(plan), demands)
    live.run()
    assert play(fresh_books(plan), demands) == live.decisions


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
