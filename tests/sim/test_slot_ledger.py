"""A cycle on marks decides what a whole cycle does."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.slot_ledger import grants_where_all_fits, leaves_nothing, settled_after
from fairhold.ledger import transitions
from fairhold.ledger.decision import apply
from fairhold.model.state import State
from fairhold.model.workload import Workload
from fairhold.sim.experiment import Experiment, Work
from tests.sim.scenes import SECOND, plan_of, played, random_jobs

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

TREE = {
    "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}, "a3": {"rank": 2}}},
    "B": {"consumers": {"b1": {}, "b2": {}}},
    "C": {},
}
LEAVES = ["/A/a1", "/A/a2", "/A/a3", "/B/b1", "/B/b2", "/C"]
OWNED = {"/A": {"owned": 10}, "/A/a1": {"owned": 4}, "/B": {"owned": 7}, "/C": {"owned": 3}}
RATIOS = {"/A": {"share_ratio": 5}, "/A/a1": {"share_ratio": 2}, "/B": {"share_ratio": 2}, "/C": {"share_ratio": 3}}
HOSTS = {"hosts": [{"name": "h[1-4]", "slots": 4}, {"name": "x", "slots": 4}]}
PLANS = (
    plan_of(OWNED, tree=TREE),
    plan_of(OWNED, tree=TREE, distribute_evenly=True),
    plan_of(OWNED | {"/A": {"owned": 10, "limit": 12}, "/B/b1": {"limit": 2}}, tree=TREE, within="fifo"),
    plan_of(OWNED, tree=TREE, group=HOSTS),
    plan_of(OWNED, tree=TREE, group=HOSTS, packing="balanced"),
    plan_of(OWNED, tree=TREE, group={"slots": 15, "configured_slots": 20}),
    plan_of(RATIOS, tree=TREE, policy="share_ratio"),
    plan_of(RATIOS, tree=TREE, policy="share_ratio", enforce="parent", entitlement="workload"),
    plan_of(RATIOS | {"/B": {"share_ratio": 2, "limit": 6}}, tree=TREE, policy="share_ratio", entitlement="planned"),
    plan_of(RATIOS | {"/B/b2": {"share_ratio": 0}}, tree=TREE, policy="share_ratio"),
)
LISTS = {
    "/A/a1": {"owned": 8, "lend_to": [{"consumer": "/B/b1"}, {"consumer": "/C"}]},
    "/B/b1": {"owned": 4, "borrow_from": [{"consumer": "/A/a1"}]},
    "/C": {"owned": 3, "borrow_from": [{"consumer": "/A/a1"}]},
    "/A": {"owned": 9},
    "/B": {"owned": 4},
}
CROWDED = (
    PLANS[0],
    PLANS[2],
    *PLANS[6:],
    plan_of(LISTS, tree=TREE, policy="ownership"),
    plan_of({"/A": {"owned": 9}, "/A/a1": {"owned": 9}, "/C": {"owned": 6}}, tree=TREE, policy="ownership"),
)
"""Plans of one host each."""


def crowd_of_seconds(random: Random) -> Workload:
    """More than fits, at whole seconds, so that much happens at one instant."""
    jobs = random.choice((15, 60))
    tasks = [random.choice((1, 1, 1, 2, 3, 5, 9)) for _ in range(jobs)]
    return Workload(
        [f"j{at}" for at in range(jobs)],
        sorted(random.randrange(15) * SECOND for _ in tasks),
        [random.randrange(len(LEAVES)) for _ in tasks],
        tasks,
        [random.randint(1, 9) * SECOND for _ in tasks],
        min_count=[random.choice((0, count, (count + 1) // 2)) if count > 1 else 0 for count in tasks],
        priority=[random.choice((0, 0, 0, 5)) for _ in tasks],
        user=[random.randrange(3) for _ in tasks],
        users=("", "ann", "bob"),
        consumers=tuple(LEAVES),
    )


def random_books(random: Random, plan: int) -> Books:
    books = open_books(PLANS[plan], State(now=0))["compute"]
    for at in range(random.randint(0, 8)):
        leaf = books.rows.by_path[random.choice(LEAVES)]
        gang = random.choice((0, 0, 0, 2))
        count = gang or random.randint(1, 5)
        user = random.choice(("", "ann", "bob"))
        request = transitions.submit(books, leaf, count, name=f"r{at}", minimum=gang, priority=at % 2, user=user)
        held = random.choice((0, count)) if gang else random.randint(0, count)
        for host in range(len(books.hosts.name)):
            units = min(held, books.hosts.slots[host] - books.hosts.used[host])
            if units and not gang:
                transitions.grant(books, request, host, units, 0)
                held -= units
    return books


@given(st.integers(0, 2**32), st.integers(0, len(PLANS) - 1))
def test_it_decides_what_a_whole_cycle_does(seed: int, plan: int) -> None:
    books = random_books(Random(seed), plan)
    found = grants_where_all_fits(books)
    if found is not None:
        decision, quota = found
        whole = run(books, 1_000_000)
        assert decision == whole.decision
        assert all(quota[leaf] == whole.draft.quota[leaf] for leaf in books.rows.leaves)


def test_where_all_fits_nobody_is_looked_at_else_the_cycle_is_whole() -> None:
    books = open_books(PLANS[0], State(now=0))["compute"]
    leaf = books.rows.by_path["/C"]
    transitions.submit(books, leaf, 20, name="r")
    assert grants_where_all_fits(books) is not None
    transitions.submit(books, leaf, 1, name="one more")
    assert grants_where_all_fits(books) is None


@pytest.mark.parametrize(
    "stated",
    [
        {"/A": {"owned": 10, "reserved": 1}},
        {"/B": {"user_limit": 3}},
        {"/A": {"owned": 10, "budget": {"unit_hours": 1, "period": "day"}}},
    ],
)
def test_what_could_keep_something_from_somebody_is_left_to_a_whole_cycle(stated: dict[str, Any]) -> None:
    plan = plan_of(OWNED | stated, tree=TREE)
    assert grants_where_all_fits(open_books(plan, State(now=0))["compute"]) is None


@pytest.mark.parametrize("plan", range(len(PLANS)))
@pytest.mark.parametrize("gangs", [False, True])
def test_a_story_is_the_same_with_every_cycle_whole(plan: int, gangs: bool) -> None:  # noqa: FBT001
    experiment = Experiment(PLANS[plan], random_jobs(plan, LEAVES, gangs=gangs), 0)
    assert played(experiment).lines == played(experiment, reopens=True).lines


@given(st.integers(0, 2**32), st.sampled_from(range(len(CROWDED))))
def test_a_crowded_story_is_the_same_with_every_cycle_whole(seed: int, plan: int) -> None:
    experiment = Experiment(CROWDED[plan], crowd_of_seconds(Random(seed)), 0, work=Work(stop_delay=300_000))
    assert played(experiment).lines == played(experiment, reopens=True).lines


def test_after_a_cycle_that_has_happened_the_next_one_decides_nothing() -> None:
    books = open_books(PLANS[0], State(now=0))["compute"]
    transitions.submit(books, books.rows.by_path["/C"], 30, name="r")
    first = run(books, 1)
    assert first.decision.grants
    assert leaves_nothing(first)
    undone = settled_after(first, is_over=True)
    assert undone is not None
    assert not undone.holds(books, 1)
    apply(books, first.decision, 1)
    second = settled_after(first, is_over=True)
    assert second is not None
    assert second.holds(books, 3)
    transitions.submit(books, books.rows.by_path["/A/a1"], 1, name="owner")
    assert not second.holds(books, 4)


def test_where_a_gang_starts_something_may_be_left_to_decide() -> None:
    books = open_books(PLANS[0], State(now=0))["compute"]
    transitions.submit(books, books.rows.by_path["/C"], 4, name="gang", minimum=4)
    first = run(books, 1)
    assert first.decision.grants
    assert not leaves_nothing(first)
