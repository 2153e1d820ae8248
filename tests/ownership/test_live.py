"""`ownership` in a live cluster: loans and pinned notices are in the log, in a snapshot, and come back exactly."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.model.state import REASONS, State
from fairhold.orchestrator.events import JobSubmitted
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import frozen, take_up
from fairhold.store.opening import open_store
from tests.orchestrator.batch import Demands, play
from tests.orchestrator.drive import InventedEngine
from tests.orchestrator.house import House
from tests.windows.test_live import NINE, Hour

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan

TREE = {"A": {"reclaim_grace": "2s"}, "B": {"reclaim_grace": "5s"}, "C": {"rank": 1}}
LISTS: dict[str, Any] = {
    "/A": {"owned": 3, "lend_to": [{"consumer": "/B"}]},
    "/B": {"owned": 1, "borrow_from": [{"consumer": "/A"}]},
}
OWNED: dict[str, Any] = {"/C": {"owned": 2}}


def document(*entries: dict[str, Any], group: dict[str, Any] | None = None) -> str:
    whole = {"resource_groups": ["compute"], "policy": "ownership", "consumers": LISTS | OWNED}
    more = [{"resource_groups": ["compute"], **entry} for entry in entries]
    named = {"compute": group or {"hosts": [{"name": "h", "slots": 6}]}}
    return json.dumps({"fairhold": 1, "resource_groups": named, "consumers": TREE, "policies": more or [whole]})


def plan_of(*entries: dict[str, Any], group: dict[str, Any] | None = None) -> Plan:
    return parse_plan(document(*entries, group=group), "plan")[0]


MIXED = ({"policy": "ownership", "consumers": LISTS}, {"policy": "hybrid", "consumers": OWNED})
SWITCHED = (
    {"policy": "ownership", "consumers": LISTS | OWNED, "window": "Thu 09:00-09:02"},
    {"policy": "hybrid", "consumers": {path: {"owned": each["owned"]} for path, each in (LISTS | OWNED).items()}},
)


def test_the_cluster_knows_who_has_borrowed_of_whom() -> None:
    """R-LEND-4, and what is lent survives a document and another plan."""
    plan = plan_of()
    house = House(plan=plan, h=6)
    house.take(JobSubmitted("j1", "/B", "compute", 3))
    books = house.live.books["compute"]
    one, other = books.rows.by_path["/B"], books.rows.by_path["/A"]
    assert books.borrowed == {(one, other): 2}
    written = json.loads(json.dumps(freeze(house.live.cluster)))
    assert written["borrowed"] == {"compute": [["/B", "/A", 2]]}
    again = thaw(written, open_books(plan, State(now=house.now)), forgets=False, own="")
    assert again.books["compute"].borrowed == books.borrowed
    assert freeze(again) == written


@pytest.mark.parametrize("plan", [plan_of(), plan_of(*MIXED)], ids=["alone", "mixed"])
@pytest.mark.parametrize("seed", range(6))
def test_both_drivers_take_the_same_decisions(plan: Plan, seed: int) -> None:
    def fresh() -> Any:
        return open_books(plan, State(now=0))["compute"]

    dice, leaves = Random(seed), fresh().rows.leaves
    demands = Demands(
        name=[f"job{number}" for number in range(25)],
        submit=sorted(dice.randrange(20_000_000) for _ in range(25)),
        leaf=[dice.choice(leaves) for _ in range(25)],
        tasks=[dice.randint(1, 6) for _ in range(25)],
        duration=[dice.randrange(1, 6_000_000) for _ in range(25)],
    )
    engine = InventedEngine(fresh(), demands)
    engine.run()
    assert engine.decisions == play(fresh(), demands)


@pytest.mark.parametrize("is_snapshot", [False, True])
def test_a_start_goes_on_with_loans_and_pinned_notices(tmp_path: Path, *, is_snapshot: bool) -> None:
    """R-SWITCH-1: at 09:02 what /B has borrowed is under notice; the log says so, and a start reads it back."""
    office = Hour(tmp_path, NINE, document(*SWITCHED, group={"slots": 6}))
    office.desk.round([])
    office.submit(3, consumer="/B")
    office.pass_to(NINE + 60 * 1_000_000)
    books = office.core.orchestrator.books["compute"]
    assert sum(books.borrowed.values()) == 2
    office.pass_to(NINE + 121 * 1_000_000)
    notices = books.notices
    live = [notice for mine in notices.by_allocation.values() for notice in mine]
    assert [REASONS[notices.reason[notice]] for notice in live] == ["window", "window"]
    assert books.borrowed == {}
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
