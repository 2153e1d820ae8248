"""Divisions that are known, and other counts that are kept, change nothing: each beside the way without it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.cycle.run import CycleDivisions, CycleResult, quotas, run
from fairhold.ledger import transitions
from fairhold.ledger.decision import apply
from fairhold.ledger.divisions import Divisions
from fairhold.ledger.snapshot import take_snapshot
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import State
from fairhold.model.workload import Workload
from fairhold.rules.choosing import Choice
from fairhold.rules.gangs import count_usable, usable
from fairhold.rules.victims import choose_victims, victim_order
from fairhold.sim.experiment import Experiment, Work
from fairhold.sim.play import Simulation
from tests.examples import FEWER
from tests.sim.scenes import SECOND, plan_of, random_jobs
from tests.sim.test_slot_ledger import LEAVES, OWNED, PLANS, RATIOS, TREE

if TYPE_CHECKING:
    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.model.plan import Plan

RESERVED = OWNED | {"/A": {"owned": 10, "reserved": 2}, "/B/b1": {"limit": 3}}
LISTS: dict[str, dict[str, Any]] = {
    "/A/a1": {"owned": 8, "lend_to": [{"consumer": "/B/b1"}, {"consumer": "/C"}]},
    "/B/b1": {"owned": 4, "borrow_from": [{"consumer": "/A/a1"}]},
    "/C": {"owned": 3, "borrow_from": [{"consumer": "/A/a1"}]},
    "/A": {"owned": 9},
    "/B": {"owned": 4},
}
CIRCLES: dict[str, dict[str, Any]] = LISTS | {
    "/A/a1": {
        "owned": 8,
        "lend_to": [{"consumer": "/B/b1"}, {"consumer": "/C"}],
        "borrow_from": [{"consumer": "/B/b1"}, {"consumer": "/C", "limit": 2}],
    },
    "/B/b1": {
        "owned": 4,
        "lend_to": [{"consumer": "/A/a1", "limit": 3}, {"consumer": "/C"}],
        "borrow_from": [{"consumer": "/A/a1"}],
    },
    "/C": {
        "owned": 3,
        "lend_to": [{"consumer": "/A/a1"}],
        "borrow_from": [{"consumer": "/B/b1"}, {"consumer": "/A/a1"}],
    },
}
"""Two pairs that lend to each other, and three that lend round."""
MORE_PLANS: tuple[Plan, ...] = (
    *PLANS,
    plan_of(RESERVED, tree=TREE),
    plan_of(LISTS, tree=TREE, policy="ownership"),
    plan_of(CIRCLES, tree=TREE, policy="ownership"),
    plan_of(RATIOS, tree=TREE, policy="share_ratio", entitlement="fixed"),
    plan_of(OWNED, tree=TREE, disable_reclaim_own=True),
)


class Twin:
    """Runs every cycle once more with nothing known, and compares."""

    def __init__(self) -> None:
        self.cycles = 0

    def note(self, now: int, changes: object) -> None: ...

    def lost(self, now: int, attempt: int, work: int) -> None: ...

    def cycled_vectors(self, now: int, result: object) -> None: ...

    def cycled(self, now: int, result: SlotCycle) -> None:
        assert isinstance(result, CycleResult)
        books = result.books
        lines, known = books.requests.lines, books.divisions
        books.divisions = Divisions()
        answers, lines.answers = lines.answers, {}
        alone = run(books, now)
        books.divisions, lines.answers = known, answers
        self.cycles += 1
        assert alone.decision == result.decision
        assert alone.draft.quota == result.draft.quota
        assert alone.draft.balance == result.draft.balance
        assert alone.draft.protected == result.draft.protected


def crowd(seed: int, *, gangs: bool) -> Workload:
    """Many short jobs at once, of one priority: queues are long, and most events change nothing."""
    random = Random(seed)
    tasks = [random.choice((1, 1, 1, 2, 3, 5)) for _ in range(90)]
    return Workload(
        [f"j{at}" for at in range(90)],
        sorted(random.randrange(12 * SECOND) for _ in tasks),
        [random.randrange(len(LEAVES)) for _ in tasks],
        tasks,
        [random.randint(10_000, 9 * SECOND) for _ in tasks],
        min_count=[count if random.random() < 0.5 else 0 for count in tasks] if gangs else [],
        consumers=tuple(LEAVES),
    )


@pytest.mark.parametrize("plan", range(len(MORE_PLANS)))
@pytest.mark.parametrize("gangs", [False, True])
def test_cycles_decide_the_same_with_nothing_known(plan: int, gangs: bool) -> None:  # noqa: FBT001
    for workload in (crowd(plan, gangs=gangs), random_jobs(plan, LEAVES, gangs=gangs)):
        twin = Twin()
        Simulation(Experiment(MORE_PLANS[plan], workload, 0, work=Work(stop_delay=300_000)), [twin], reopens=True).run()
        assert twin.cycles > 20


@given(st.integers(0, 2**32), st.integers(0, len(MORE_PLANS) - 1))
def test_quotas_that_are_known_are_those_of_a_division(seed: int, plan: int) -> None:
    random = Random(seed)
    books = open_books(MORE_PLANS[plan], State(now=0))["compute"]
    requests = {}
    for leaf in LEAVES:
        row = books.rows.by_path[leaf]
        requests[leaf] = transitions.submit(books, row, random.randint(0, 12), name=leaf)
    for _ in range(12):
        leaf = random.choice(LEAVES)
        transitions.want(books, requests[leaf], max(0, books.requests.count[requests[leaf]] + random.randint(-4, 5)))
        known = quotas(books, 0).draft
        kept, books.divisions = books.divisions, Divisions()
        assert quotas(books, 0).draft.quota == known.quota
        books.divisions = kept


BOUNDED = LISTS | {
    "/A": {"owned": 11, "limit": 13, "reserved": 2},
    "/A/a1": LISTS["/A/a1"] | {"reserved": 1, "limit": 9},
    "/B": {"owned": 5, "limit": 7},
    "/B/b1": LISTS["/B/b1"] | {"limit": 6},
    "/C": LISTS["/C"] | {"share_ratio": 3},
}


@given(st.integers(0, 2**32), st.sampled_from([*MORE_PLANS, plan_of(BOUNDED, tree=TREE, policy="ownership")]))
def test_a_division_that_is_known_is_the_one_that_would_be_made(seed: int, plan: Plan) -> None:
    random = Random(seed)
    books = open_books(plan, State(now=0))["compute"]
    wants = {leaf: random.randint(0, 14) for leaf in books.rows.leaves}
    found = 0
    for _ in range(60):
        snapshot = take_snapshot(books, 0)
        for leaf, units in wants.items():
            snapshot.usable[leaf] = units
        known = books.divisions.known(snapshot)
        kept, books.divisions = books.divisions, Divisions()
        alone = CycleDivisions(snapshot).divide().quota
        books.divisions = kept
        assert known is None or known == alone
        found += known is not None
        CycleDivisions(snapshot).divide()
        wants[random.choice(list(wants))] = random.randint(0, 14)
    assert found or not (books.rows.is_filled or books.rows.is_listed) or sum(wants.values()) <= books.slots


@given(st.integers(0, 2**32), st.integers(0, len(MORE_PLANS) - 1))
def test_a_cycle_that_is_as_one_before_moves_what_it_would_alone(seed: int, plan: int) -> None:
    random = Random(seed)
    books = open_books(MORE_PLANS[plan], State(now=0))["compute"]
    requests, idle = {}, books.slots
    for leaf in LEAVES:
        held = random.randint(0, min(9, idle))
        idle -= held
        request = requests[leaf] = transitions.submit(books, books.rows.by_path[leaf], held, name=leaf)
        for host in range(len(books.hosts.name)):
            units = min(held, books.hosts.slots[host] - books.hosts.used[host])
            if units:
                transitions.grant(books, request, host, units, 0)
                held -= units
        transitions.want(books, request, max(0, books.requests.held[request] + random.randint(-1, 4)))
    for now in range(1, 9):
        found = run(books, now)
        kept, books.divisions = books.divisions, Divisions()
        alone = run(books, now)
        books.divisions = kept
        assert found.decision == alone.decision
        assert found.draft.balance == alone.draft.balance
        apply(books, found.decision, now)
        leaf = random.choice(LEAVES)
        want = books.requests.held[requests[leaf]] + random.randint(-2, 5)
        transitions.want(books, requests[leaf], max(0, want))


@given(st.integers(0, 2**32))
def test_what_gangs_could_use_is_what_is_counted_one_by_one(seed: int) -> None:
    random = Random(seed)
    books = open_books(PLANS[0], State(now=0))["compute"]
    leaf, now = books.rows.by_path["/C"], 5
    ranks = random.choice(((0,), (0, 1)))
    for at in range(random.randint(1, 12)):
        gang = random.choice((0, 1, 2, 3, 5))
        count = gang + random.choice((0, 0, 2)) if gang else random.randint(1, 4)
        request = transitions.submit(
            books, leaf, count, name=f"r{at}", minimum=gang, priority=random.choice(ranks), submitted=at // 2
        )
        held = random.choice((0, 0, count, random.randint(gang, count)))
        if held:
            transitions.grant(books, request, 0, held, random.choice((1, 2, now)))
        if random.random() < 0.1:
            transitions.want(books, request, max(0, count - 1))
    demand = books.demand[leaf]
    for quota in range(demand + 2):
        for wanted in (demand, demand + 3):
            if wanted > quota:
                for instant in (now, now + 1, now):
                    counted = count_usable(books, leaf, instant, wanted, quota)
                    assert usable(books, leaf, instant, wanted, quota) == counted


@FEWER
@given(st.integers(0, 2**32))
def test_the_first_victims_are_those_of_the_whole_order(seed: int) -> None:
    random = Random(seed)
    order = random.choice(("youngest", "oldest", "lowest_priority"))
    books = open_books(plan_of(OWNED, tree=TREE, victims=order), State(now=0))["compute"]
    leaf = books.rows.by_path["/C"]
    for at in range(random.randint(2, 10)):
        count, priority, submitted = random.randint(1, 4), at % 3, random.randint(0, 4)
        request = transitions.submit(books, leaf, count, name=f"r{at}", priority=priority, submitted=submitted)
        for _ in range(random.randint(0, count)):
            allocation = transitions.grant(books, request, 0, 1, random.randint(0, 3))
            if random.random() < 0.3:
                transitions.give_notice(books, allocation, 1, NOBODY, 9, 0)
    mine = [row for each in books.allocations.by_request.values() for row in each]
    for units in range(1, len(mine) + 3):
        choice = Choice(books, victim_order(books, mine), set(), {})
        choice.take(units)
        chosen = [each for each in choose_victims(books, leaf, units) if each[1]]
        assert chosen == [*choice.chosen.items()]
