"""A live service through a switch of windows, and a start after one: the log says which entries are in force."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from fairhold.orchestrator.events import MachineReported
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.recovery import Frozen, frozen, take_up
from fairhold.store.opening import open_store
from fairhold.units import EPOCH, SECOND
from tests.live.test_desk import FakeAgents, Office
from tests.windows.plans import DAY, GROUP, NIGHT, TREE, entry

if TYPE_CHECKING:
    from pathlib import Path

NINE = ((EPOCH.replace(year=2026) - EPOCH) // timedelta(microseconds=1)) + 9 * 3600 * SECOND
"""2026-01-01T09:00:00Z, a Thursday."""
PLAN = json.dumps(
    {
        "fairhold": 1,
        "resource_groups": {GROUP: {"slots": 20}},
        "consumers": TREE,
        "policies": [entry(DAY, "Thu 09:01-09:03"), entry(NIGHT)],
    }
)


class Hour(Office):
    """A desk whose clock the test sets."""

    def __init__(self, directory: Path, now: int, plan: str = PLAN) -> None:
        self.at = now
        self.store = open_store(directory)
        self.core = Core(self.store, self.tick, cycle_min_gap=0)
        self.core.open(plan, "plan.yaml", "ann")
        self.agents = FakeAgents()
        self.desk = Desk(self.core, self.agents)

    def tick(self) -> int:
        self.at += 1
        return self.at

    def pass_to(self, instant: int) -> None:
        while self.core.due is not None and self.core.due <= instant:
            self.at = max(self.at, self.core.due)
            books = self.core.orchestrator.books[GROUP]
            force = books.rows.force
            self.desk.round([])
            if books.rows.force != force:  # nobody sees a switch without its cycle
                assert self.core.orchestrator.quotas_of(GROUP) is not None
        self.at = max(self.at, instant)


def test_a_switch_takes_place_and_is_in_the_log(tmp_path: Path) -> None:
    office = Hour(tmp_path, NINE)
    office.desk.round([])
    office.submit(30, consumer="/B")
    office.submit(30, consumer="/A/a1")
    office.pass_to(NINE + 30 * SECOND)
    rows = office.core.orchestrator.books[GROUP].rows
    assert rows.force == (1,)
    before = office.core.orchestrator.books[GROUP].held[rows.by_path["/B"]]
    office.pass_to(NINE + 61 * SECOND)
    books = office.core.orchestrator.books[GROUP]
    assert books.rows.force == (0,)
    assert books.rows.tree.path != rows.tree.path  # another order of siblings, the same rows
    log = [each.body for each in office.store.entries(0, limit=10_000)]
    opened = [body for body in log if body.startswith('["WindowOpened"')]
    assert opened == [f'["WindowOpened","{GROUP}",[0]]']
    assert books.held[books.rows.by_path["/B"]] == before  # nothing ends by a switch alone
    told = [order for order in office.agents.told if getattr(order, "reason", "") == "reclaim"]
    assert told  # the cycle after it has taken back what /A owns now; /B has no grace


def test_a_snapshot_that_is_gathered_through_a_switch_says_how_it_was_before(tmp_path: Path) -> None:
    office = Hour(tmp_path, NINE)
    office.desk.round([])
    for leaf in ("/B", "/A/a1", "/A/a2"):
        office.submit(30, consumer=leaf)
    office.pass_to(NINE + 30 * SECOND)
    was, slow = frozen(office.core), Frozen(office.core)
    assert slow.step(1)
    office.pass_to(NINE + 61 * SECOND)
    assert office.core.orchestrator.books[GROUP].rows.force == (0,)
    slow.end()
    assert slow.text() == was
    assert frozen(office.core) != was


@pytest.mark.parametrize("is_snapshot", [False, True])
def test_a_start_goes_on_with_the_entries_of_the_log(tmp_path: Path, *, is_snapshot: bool) -> None:
    office = Hour(tmp_path, NINE)
    office.desk.round([])
    office.submit(30, consumer="/A/a1")
    office.submit(30, consumer="/B")
    office.pass_to(NINE + 62 * SECOND)
    if is_snapshot:
        office.desk._since_snapshot = 1
        office.desk._last_snapshot()
    was = frozen(office.core)
    office.store.close()

    later = Hour.__new__(Hour)
    later.at = NINE + 200 * SECOND  # the window has closed meanwhile
    later.store = open_store(tmp_path)
    core = later.core = Core(later.store, later.tick, cycle_min_gap=0)
    take_up(core)
    assert json.loads(frozen(core))["cluster"] == json.loads(was)["cluster"]
    assert core.orchestrator.books[GROUP].rows.force == (0,)
    later.agents = FakeAgents()
    later.agents.news = [MachineReported("", "boot", 99)]
    later.desk = Desk(core, later.agents)
    later.desk.round([])
    later.pass_to(later.at + 2 * SECOND)
    assert core.orchestrator.books[GROUP].rows.force == (1,)
    later.store.close()
