"""Budgets, longest runs and user limits in a live cluster: due at the right instant, in the log, back after a start."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.events import JobChanged
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.instructions import Start, WakeAt
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import frozen, take_up
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.store.opening import open_store
from tests.orchestrator.batch import Demands, play
from tests.orchestrator.drive import InventedEngine
from tests.orchestrator.house import House, notices, starts
from tests.windows.test_live import NINE, Hour

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def text_of(then: str = "wait", group: str = "c", policy: str = "hybrid", *, plain: bool = False, **more: Any) -> str:
    owned = {} if policy == "share_ratio" else {"owned": 2}
    budget = {"budget": {"unit_hours": more.pop("unit_hours", 1), "period": "day", "then": then}}
    entry = {
        "resource_groups": [group],
        "policy": policy,
        "consumers": {"/A": owned | budget | more, "/B": owned, "/A/a1": {}, "/A/a2": {}},
    }
    tree = {"A": {"consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "2s"}}
    named = {group: {"slots": 4} if plain else {"hosts": [{"name": "h1", "slots": 4}]}}
    return json.dumps({"fairhold": 1, "resource_groups": named, "consumers": tree, "policies": [entry]})


def plan_of(then: str = "wait", **more: Any) -> Plan:
    return parse_plan(text_of(then, **more), "plan")[0]


def wake_of(out: list[Any]) -> int:
    return next(each.instant for each in out if isinstance(each, WakeAt))


def test_a_budget_is_used_up_to_the_microsecond_and_begins_again_at_midnight() -> None:
    """R-BUDGET-1, R-BUDGET-2: four slots use a unit-hour in 15 minutes; what runs goes on, nothing more starts."""
    house = House(plan=plan_of())
    begun = house.submit("/A/a1", 9)
    assert len(starts(begun)) == 4
    assert wake_of(begun) == house.now + 12 * MINUTE  # at 80 %
    assert wake_of(house.wait(12 * MINUTE)) == house.now + 3 * MINUTE
    assert starts(house.wait(3 * MINUTE - 1)) == []
    assert not house.live.books["c"].rows.spent
    assert wake_of(house.wait(1)) == DAY
    assert house.live.books["c"].rows.spent == {house.plan.tree.rows["/A"]}
    assert starts(house.end(1)) == []
    assert notices(house.wait(MINUTE)) == []
    assert len(starts(house.wait(DAY - house.now))) == 1
    assert house.live.books["c"].rows.spent == frozenset()


def test_what_a_budget_waits_for_stands_once_however_much_starts_and_ends() -> None:
    """R-BUDGET-1: an hour of starts and ends leaves a few instants to look at, and the true one comes next."""
    house = House(plan=plan_of(unit_hours=1000))
    spending = house.live.books["c"].spending
    assert spending is not None
    leaf = house.plan.tree.rows["/A/a1"]
    for at in range(1000):
        spending.hold(leaf, 2, at)
        spending.hold(leaf, -1, at)
    assert len(spending._heap) <= 2
    assert spending.next() == min(DAY, 999 + -(-(800 * HOUR - sum(range(1000))) // 1000))  # at 80 %


def test_a_job_that_moves_takes_its_use_with_it_from_then_on() -> None:
    house = House(plan=plan_of())
    house.submit("/A/a1", 4)
    spending = house.live.books["c"].spending
    assert spending is not None
    house.take(JobChanged("j1", consumer="/B"), MINUTE)
    row = house.plan.tree.rows["/A"]
    assert spending.used(house.now + HOUR)[row] == {0: 4 * MINUTE}


@pytest.mark.parametrize("policy", ["hybrid", "ownership"])
def test_who_may_only_borrow_gives_back_what_others_want(policy: str) -> None:
    """R-BUDGET-3."""
    house = House(plan=plan_of("borrow_only", policy=policy))
    house.submit("/A/a1", 2)
    house.wait(30 * MINUTE)
    assert house.live.books["c"].rows.spent
    assert notices(house.wait(1)) == []
    taken = house.submit("/B", 4)
    assert len(starts(taken)) == 2
    assert len(notices(taken)) == (2 if policy == "hybrid" else 0)  # /B owns 2, and nobody lends to it


def test_a_cluster_with_budgets_comes_back_from_its_document() -> None:
    house = House(plan=plan_of())
    house.submit("/A/a1", 9)
    house.wait(20 * MINUTE)
    written = json.loads(json.dumps(freeze(house.live.cluster)))
    assert written["budgets"]["c"][1] == ["/A"]
    again = thaw(written, open_books(house.plan, State(now=house.now)), forgets=False, own="")
    assert freeze(again) == written
    was, new = house.live.books["c"].spending, again.books["c"].spending
    assert was is not None
    assert new is not None
    assert was.used(house.now + HOUR) == new.used(house.now + HOUR)


def test_a_larger_budget_of_another_plan_counts_at_once() -> None:
    house = House(plan=plan_of())
    house.submit("/A/a1", 9)
    house.wait(20 * MINUTE)
    books = open_books(plan_of(unit_hours=2), State(now=house.now))
    assert thaw(freeze(house.live.cluster), books, forgets=False, own="").books["c"].rows.spent == frozenset()


def test_a_budget_that_is_new_in_a_plan_begins_with_what_runs() -> None:
    """R-BUDGET-1: from its start; what has ended before is not known."""
    text = json.loads(text_of())
    del text["policies"][0]["consumers"]["/A"]["budget"]
    house = House(plan=parse_plan(json.dumps(text), "plan")[0])
    house.submit("/A/a1", 4)
    house.end(1)
    house.wait(8 * MINUTE - house.now)
    new = thaw(freeze(house.live.cluster), open_books(plan_of(), State(now=house.now)), forgets=False, own="")
    spending = new.books["c"].spending
    assert spending is not None
    assert spending.used(house.now) == {house.plan.tree.rows["/A"]: {0: 3 * (8 * MINUTE - SECOND)}}


def test_the_log_says_once_that_a_budget_runs_low_and_once_that_it_begins_again() -> None:
    house = House(plan=plan_of())
    house.submit("/A/a1", 9)
    house.wait(12 * MINUTE - 1)
    told: list[tuple[str, ...]] = []

    def wait(micros: int) -> None:
        house.wait(micros)
        told.extend(each.consumers for each in house.live.changes if isinstance(each, say.BudgetsWarned))

    wait(0)
    assert told == []
    wait(1)
    assert told == [("/A",)]
    document = json.loads(json.dumps(freeze(house.live.cluster)))
    again = thaw(document, open_books(house.plan, State(now=house.now)), forgets=False, own="")
    spending = again.books["c"].spending
    assert spending is not None
    assert spending.told == {house.plan.tree.rows["/A"]}
    wait(MINUTE)
    wait(15 * MINUTE)
    assert told == [("/A",)]
    wait(DAY - house.now)
    mine = house.live.books["c"].spending
    assert mine is not None
    assert mine.told == frozenset()


def test_a_budget_that_lasts_says_so_and_another_says_until_when() -> None:
    house = House(plan=plan_of(unit_hours=48))
    house.submit("/A/a1", 1)
    (told,) = budgets_of(house.live.books["c"], HOUR).values()
    assert (told["used"], told["warned"], told["lasts_until"], told["at_this_rate"]) == ("0.02", False, None, None)
    house.submit("/A/a1", 3)
    now = 10 * HOUR
    (told,) = budgets_of(house.live.books["c"], now).values()
    assert (told["used"], told["warned"]) == ("0.833", True)
    assert told["at_this_rate"].startswith("1970-01-01T12:00:0")
    assert told["lasts_until"].startswith("1970-01-01T12:00:0")
    (told,) = budgets_of(house.live.books["c"], 12 * HOUR).values()
    assert told["lasts_until"].startswith("1970-01-01T12:00:0")


def test_the_log_says_whose_budgets_are_used_up() -> None:
    house = House(plan=plan_of())
    house.submit("/A/a1", 9)
    house.now += 15 * MINUTE
    found = []
    house.live.on_cycle = lambda _, cause: found.append(cause)
    house.wait(0)
    assert found == ["BudgetsSpent"]
    assert say.KINDS["BudgetsSpent"] is say.BudgetsSpent


@pytest.mark.parametrize("then", ["wait", "borrow_only", "lowest_rank"])
@pytest.mark.parametrize("seed", range(3))
def test_both_drivers_take_the_same_decisions(then: str, seed: int) -> None:
    def fresh() -> Any:
        return open_books(plan_of(then, user_limit=2), State(now=0))["c"]

    dice, leaves = Random(seed), fresh().rows.leaves
    demands = Demands(
        name=[f"job{number}" for number in range(20)],
        submit=sorted(dice.randrange(2 * DAY) for _ in range(20)),
        leaf=[dice.choice(leaves) for _ in range(20)],
        tasks=[dice.randint(1, 6) for _ in range(20)],
        duration=[dice.randrange(1, HOUR) for _ in range(20)],
        user=[dice.choice(["ann", "bob", ""]) for _ in range(20)],
    )
    engine = InventedEngine(fresh(), demands)
    engine.run()
    assert engine.decisions == play(fresh(), demands)


@pytest.mark.parametrize("is_snapshot", [False, True])
def test_a_service_that_starts_again_counts_on(tmp_path: Path, *, is_snapshot: bool) -> None:
    office = Hour(tmp_path, NINE, text_of(group="compute", plain=True))
    office.desk.round([])
    office.submit(9, consumer="/A/a1")
    office.pass_to(NINE + 16 * MINUTE)
    assert office.core.orchestrator.books["compute"].rows.spent
    if is_snapshot:
        office.desk._since_snapshot = 1
        office.desk._last_snapshot()
    was = frozen(office.core)
    office.store.close()
    store = open_store(tmp_path)
    core = Core(store, office.tick, cycle_min_gap=0)
    take_up(core)
    assert json.loads(frozen(core))["cluster"] == json.loads(was)["cluster"]
    store.close()


def test_what_is_used_of_a_budget_is_told_as_of_now(tmp_path: Path) -> None:
    """R-BUDGET-1: also when nothing has happened since the last cycle."""
    office = Hour(tmp_path, NINE, text_of(group="compute", plain=True))
    office.desk.round([])
    office.submit(4, consumer="/A/a1")
    office.desk.round([])
    books, begun = office.core.orchestrator.books["compute"], office.core.orchestrator.now
    assert sum(books.held) > 0
    office.at = begun + MINUTE - 1
    (budget,) = (each["budget"] for each in _consumers(office) if each["budget"])
    assert float(budget["unit_seconds"]) >= 4 * 60
    office.store.close()


def _consumers(office: Hour) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = consumers_document(office.core)["resource_groups"]["compute"]["consumers"]
    return found


def test_an_attempt_is_told_how_long_it_may_run() -> None:
    """R-RUN-1: the nearest consumer on the way up says it."""
    house = House(plan=plan_of(max_run_time="90s"))
    begun = house.submit("/A/a2")
    assert [each.longest for each in begun if isinstance(each, Start)] == [90_000_000]
    assert [each.longest for each in house.submit("/B") if isinstance(each, Start)] == [0]


def test_a_user_holds_no_more_than_the_limit_and_others_go_on() -> None:
    """R-USER-1: ann's other tasks wait; her slot goes from one of hers to the next, and bob gets what is left."""
    house = House(plan=plan_of(user_limit=1))
    assert len(starts(house.submit("/A/a1", 5, user="ann"))) == 1
    assert len(starts(house.submit("/A/a1", 5, user="bob"))) == 1
    assert house.live.books["c"].slots - sum(house.live.books["c"].held) == 2
    assert starts(house.end(1)) == [("j1", 1, 1)]


def test_a_gang_larger_than_one_user_may_hold_is_refused() -> None:
    house = House(plan=plan_of(user_limit=2))
    with pytest.raises(InputError, match="the user limit of `/A/a1` is 2"):
        house.submit("/A/a1", units=3, user="ann")
    house.submit("/A/a1", units=2, user="ann")
