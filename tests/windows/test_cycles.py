"""Cycles under windows: both drivers, the independent check, books that go on in other columns (R-WINDOW-2, S1.87)."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.open import close_books, open_books
from fairhold.cycle.verify import verify
from fairhold.ledger.relay import relay
from fairhold.ledger.rows import in_other_window
from fairhold.ledger.transitions import submit
from fairhold.model.state import Allocation, Request, State
from fairhold.orchestrator.changes import WindowOpened
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.planio.statewrite import state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.orchestrator.batch import Demands, play
from tests.orchestrator.drive import InventedEngine
from tests.windows.plans import DAY, GROUP, NIGHT, entry, plan_of, random_plan

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan

MINUTE = 60 * SECOND


def books_of(plan: Plan) -> Books:
    return open_books(plan, State(now=0))[GROUP]


def demands_of(dice: Random, plan: Plan, jobs: int = 30) -> Demands:
    leaves = books_of(plan).rows.leaves
    return Demands(
        name=[f"job{number}" for number in range(jobs)],
        submit=sorted(dice.randrange(300 * SECOND) for _ in range(jobs)),
        leaf=[dice.choice(leaves) for _ in range(jobs)],
        tasks=[dice.randint(1, 25) for _ in range(jobs)],
        duration=[dice.randint(100_000, 50 * SECOND) for _ in range(jobs)],
        priority=[dice.choice((-1, 0, 0, 7)) for _ in range(jobs)],
        user=[dice.choice(("", "ann", "bob", "cid")) for _ in range(jobs)],
    )


@FEWER
@given(st.integers(0, 2**32))
def test_both_drivers_take_the_same_decisions_through_windows(seed: int) -> None:
    dice = Random(seed)
    plan = random_plan(dice)
    demands = demands_of(dice, plan)
    live = InventedEngine(books_of(plan), demands)
    live.run()
    assert play(books_of(plan), demands) == live.decisions
    jobs = live.orchestrator.jobs
    assert [jobs[name].finished for name in demands.name] == list(demands.tasks)


def random_state(dice: Random, plan: Plan, now: int) -> State:
    leaves = [row for row in range(1, len(plan.tree)) if plan.tree.is_leaf(row)]
    group = plan.resource_groups[GROUP]
    requests, allocations = [], []
    room = {host.name: host.slots for host in group.hosts} or {"": group.slots}
    for number in range(dice.randint(1, 8)):
        count = dice.randint(1, 20)
        row = Request(f"r{number}", dice.choice(leaves), GROUP, count, 0, dice.randint(0, 1), dice.randint(0, 9))
        requests.append(row)
        for host, slots in room.items():
            units = min(dice.randint(0, slots), count)
            if units:
                room[host] -= units
                count -= units
                allocations.append(Allocation(row.id, host, units, dice.randint(0, 9)))
    return State(now=now, requests=tuple(requests), allocations=tuple(allocations))


@given(st.integers(0, 2**32))
def test_the_independent_check_agrees_cycle_after_cycle(seed: int) -> None:
    dice = Random(seed)
    plan = random_plan(dice)
    state = random_state(dice, plan, dice.randrange(20 * MINUTE))
    for _ in range(4):
        cycle = run_cycle(plan, state, check=True)
        assert cycle.untrue == ()
        assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()
        again = run_cycle(plan, cycle.after)
        moved = {kind: again.document[kind] for kind in ("stops", "grants", "reclaims", "withdrawn")}
        assert moved == {kind: [] for kind in moved}
        state = replace(cycle.after, now=state.now + dice.choice((SECOND, 30 * SECOND, MINUTE)))


@given(st.integers(0, 2**32))
def test_books_in_other_columns_say_the_same(seed: int) -> None:
    dice = Random(seed)
    plan = random_plan(dice)
    state = random_state(dice, plan, 0)
    books = open_books(plan, state)
    here = books[GROUP].rows
    there = in_other_window(here, (1 - here.force[0],))
    relay(books[GROUP], there)
    assert books[GROUP].before == here.force
    fresh = open_books(plan, state, {GROUP: there.force})
    assert close_books(books, state) == close_books(fresh, state)
    for name in ("demand", "held", "noticed", "kept"):
        assert getattr(books[GROUP], name) == getattr(fresh[GROUP], name)
    assert books[GROUP].requests.used_by == fresh[GROUP].requests.used_by
    assert books[GROUP].requests.lines.of == fresh[GROUP].requests.lines.of
    relay(books[GROUP], here)
    assert books[GROUP].rows is here
    assert books[GROUP].before == ()


def test_what_was_known_of_a_leaf_is_not_taken_for_another_in_other_columns() -> None:
    books = books_of(plan_of(entry({"/B": {"rank": 1}}, "Thu 00:01-00:03"), entry({"/C": {"rank": 1}})))
    gangs, singles = books.rows.by_path["/B"], books.rows.by_path["/C"]
    submit(books, gangs, 3, name="gang", minimum=3)
    submit(books, singles, 3, name="singles")
    assert [books.requests.lines.least(leaf) for leaf in (gangs, singles)] == [3, 1]
    relay(books, in_other_window(books.rows, (1 - books.rows.force[0],)))
    now = [books.rows.by_path[path] for path in ("/B", "/C")]
    assert now == [singles, gangs]
    assert [books.requests.lines.least(leaf) for leaf in now] == [3, 1]


def test_a_log_of_switches_gives_the_same_cluster() -> None:
    plan = plan_of(entry(DAY, "Thu 00:01-00:03", lead="auto"), entry(NIGHT))
    demands = demands_of(Random(7), plan)
    engine = InventedEngine(books_of(plan), demands)
    copy = Cluster({GROUP: books_of(plan)})
    told = engine.orchestrator.handle
    switches = []

    def handle(event: object, now: int) -> object:
        out = told(event, now)  # type: ignore[arg-type]
        for change in engine.orchestrator.changes:
            copy.apply(change, now)
            if isinstance(change, WindowOpened):
                switches.append((now, change.entries))
        assert freeze(copy) == freeze(engine.orchestrator.cluster)
        return out

    engine.orchestrator.handle = handle  # type: ignore[method-assign, assignment]
    engine.run()
    assert switches[:2] == [(58 * SECOND, (0,)), (180 * SECOND, (1,))]
    force = {GROUP: switches[-1][1]}
    again = thaw(freeze(copy), open_books(plan, State(now=0), force), forgets=False, own="")
    assert freeze(again) == freeze(copy)


def test_a_lead_takes_back_in_time() -> None:
    """R-WINDOW-3: a window that opens with a lead finds its slots idle; else they come when graces have ended."""
    waits = {}
    for lead in ("0s", "auto"):
        plan = plan_of(entry({"/A": {"owned": 20}}, "Thu 00:01-00:03", lead=lead), entry({"/C": {"owned": 20}}))
        rows = books_of(plan).rows.by_path
        demands = Demands(
            name=["c", "a"],
            submit=[0, 30 * SECOND],
            leaf=[rows["/C"], rows["/A/a1"]],
            tasks=[20, 20],
            duration=[600 * SECOND, 10 * SECOND],
        )
        decisions = play(books_of(plan), demands)
        first = next(now for now, decision in decisions if decision.grants and now >= MINUTE)
        waits[lead] = first - MINUTE
    assert waits == {"0s": SECOND, "auto": 0}
