"""Controls of the reclaim in a live cluster: cycles come when they are due, and what waits is in the log."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.open import open_books
from fairhold.model.siting import Siting
from fairhold.model.state import State
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import GroupPaused, TaskRunning, Woken
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.runtime.record import Record
from tests.orchestrator.batch import Demands, play
from tests.orchestrator.drive import InventedEngine
from tests.orchestrator.house import SECOND, House, notices, stops

if TYPE_CHECKING:
    from pathlib import Path

OWNED: dict[str, Any] = {"/A": {"owned": 4}, "/B": {"owned": 2}}


def plan_of(consumers: dict[str, Any] | None = None, **settings: object) -> Any:
    entry = {"resource_groups": ["c"], "policy": "hybrid", "settings": settings, "consumers": consumers or OWNED}
    tree = {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "2s"}}
    groups = {"c": {"hosts": [{"name": "h1", "slots": 6}]}}
    whole = {"fairhold": 1, "resource_groups": groups, "consumers": tree, "policies": [entry]}
    return parse_plan(json.dumps(whole), "plan")[0]


class Logged(House):
    """A house that keeps its log."""

    def __init__(self, plan: Any) -> None:
        self.log: list[tuple[Any, int]] = []
        super().__init__(plan=plan, h1=6)
        handle = self.live.handle

        def handled(event: Any, now: int) -> Any:
            out = handle(event, now)
            self.log += [(change, now) for change in self.live.changes]
            return out

        self.live.handle = handled  # type: ignore[method-assign]


def replayed(house: Logged) -> Cluster:
    """The cluster that comes of a house's log."""
    live = Orchestrator(Cluster(open_books(house.plan, State(now=0))))
    for change, at in house.log:
        live.replay(change, at)
    return live.cluster


def test_so_many_are_told_at_once_and_the_rest_every_second() -> None:
    """R-CONTROL-1."""
    house = Logged(plan_of(max_reclaims=1))
    house.submit("/B", count=6)
    out = house.submit("/A", count=4)
    assert len(notices(out)) == 1
    assert house.live._waking.next(house.now) == house.now + SECOND
    assert [len(notices(house.wait(SECOND))) for _ in range(4)] == [1, 1, 1, 0]
    assert freeze(replayed(house)) == freeze(house.live.cluster)


def test_units_are_taken_back_when_the_ends_have_been_awaited() -> None:
    """R-CONTROL-3: the cycle comes by itself; a snapshot and the log know since when units are missed."""
    house = Logged(plan_of(await_ends="10s"))
    house.submit("/B", count=6)
    out = house.submit("/A", count=4)
    assert (notices(out), house.live._waking.next(house.now)) == ([], house.now + 10 * SECOND)
    written = json.loads(json.dumps(freeze(house.live.cluster)))
    assert written["shortages"] == {"c": [["/A", house.now, False]]}
    assert freeze(replayed(house)) == written
    again = thaw(written, open_books(house.plan, State(now=house.now)), forgets=False, own="")
    assert (freeze(again), again.books["c"].shortages) == (written, house.live.books["c"].shortages)
    assert notices(house.end(1)) == []
    assert len(notices(house.wait(9 * SECOND))) == 3
    assert freeze(house.live.cluster)["shortages"]["c"][0][2] is True
    for name, _ in stops(house.wait(2 * SECOND)):
        house.end(name, "reclaim")
    assert "shortages" not in freeze(house.live.cluster)


def test_young_tasks_are_told_when_they_have_run_long_enough() -> None:
    """R-CONTROL-5."""
    house = Logged(plan_of({"/A": {"owned": 4}, "/B": {"owned": 2, "min_runtime": "60s"}}))
    house.submit("/B", count=6)
    began = house.now
    assert notices(house.submit("/A", count=4)) == []
    assert house.live._waking.next(house.now) == began + 60 * SECOND
    assert notices(house.wait(58 * SECOND)) == []
    assert len(notices(house.wait(SECOND))) == 4
    assert freeze(replayed(house)) == freeze(house.live.cluster)


def test_young_tasks_on_certain_hosts_are_told_when_they_have_run_long_enough() -> None:
    """R-CONTROL-5, R-SITE-4: what nobody can give there yet is missed all the same."""
    plan = plan_of({"/A": {"owned": 4}, "/B": {"owned": 2, "min_runtime": "60s"}})
    house = Logged(plan)
    house.submit("/B", count=6)
    began = house.now
    assert notices(house.submit("/A", count=4, siting=Siting(avoid=("slow",)))) == []
    assert house.live._waking.next(house.now) == began + 60 * SECOND
    assert len(notices(house.wait(60 * SECOND))) == 4


@pytest.mark.parametrize(
    ("young", "settings", "ripe"),
    [({}, {"await_ends": "60s"}, 4), ({"min_runtime": "60s"}, {}, 4), ({}, {"max_reclaims": 1}, 1)],
    ids=str,
)
@pytest.mark.parametrize("paused", [30, 90])
def test_what_waits_for_an_instant_is_taken_back_after_a_pause(
    young: dict[str, str], settings: dict[str, Any], ripe: int, paused: int
) -> None:
    """R-CONTROL-1, R-CONTROL-3, R-CONTROL-5: at that instant, or when the pause ends, whichever is later."""
    house = Logged(plan_of({"/A": {"owned": 4}, "/B": {"owned": 2} | young}, **settings))
    house.submit("/B", count=6)
    house.take(GroupPaused("c", grants=False, reclaims=True))
    assert notices(house.submit("/A", count=4)) == []
    assert notices(house.wait(paused * SECOND)) == []
    out = house.take(GroupPaused("c", grants=False, reclaims=False))
    if paused == 30 and ripe == 4:
        assert notices(out) == []
        instant = house.live._waking.next(house.now)
        assert instant is not None
        out = house.wait(instant - house.now)
        assert 60 * SECOND < house.now <= 63 * SECOND
    assert len(notices(out)) == ripe
    assert freeze(replayed(house)) == freeze(house.live.cluster)


def test_who_is_only_observed_runs_on_and_idle_slots_are_handed_out() -> None:
    """R-CONTROL-4."""
    seen: list[Any] = []
    house = Logged(plan_of(observe_only=True))
    house.live.on_cycle = lambda result, _: seen.append(result.decision)
    house.submit("/B", count=6)
    assert notices(house.submit("/A", count=4)) == []
    assert sum(notice.units for notice in seen[-1].observed) == 4
    house.take(TaskRunning(1))
    house.end(1)
    assert [attempt.job.name for attempt in house.live.attempts.values()].count("j2") == 1


@pytest.mark.parametrize("settings", [{"max_reclaims": 1}, {"observe_only": True}], ids=str)
def test_a_recorded_cycle_can_be_run_again(settings: dict[str, Any], tmp_path: Path) -> None:
    """R-CONTROL-1, R-CONTROL-4: the state kept of it gives the same; what is only observed is kept once."""
    house = House(plan=plan_of(**settings), h1=6)
    record = Record(house.plan, house.live.cluster, tmp_path, lambda _: None)
    house.live.on_cycle = record.cycle
    house.submit("/B", count=6)
    house.submit("/A", count=4)
    house.wait(SECOND)
    house.take(TaskRunning(1))
    record.note(Woken(), (), house.now)
    record.close()
    lines = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    kept = [line for line in lines if "state" in line]
    assert len(kept) == (3 if "max_reclaims" in settings else 1)
    for line in kept:
        state = parse_state((tmp_path / line["state"]).read_text(), house.plan, "state.json")
        document = run_cycle(house.plan, state).document
        for kind in ("reclaims", "observed"):
            found = [{key: row[key] for key in row if key != "resource_group"} for row in document.get(kind, [])]
            assert found == line.get(kind, []), kind


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "settings",
    [{"max_reclaims": 1}, {"dead_zone": 1}, {"await_ends": "2s"}, {"await_ends": "1s", "max_reclaims": 2}],
    ids=str,
)
def test_both_drivers_take_the_same_decisions(settings: dict[str, Any], seed: int) -> None:
    plan = plan_of({"/A": {"owned": 4, "min_runtime": "500ms"}, "/B": {"owned": 2}}, **settings)
    dice = Random(seed)
    demands = Demands(
        name=[f"job{number}" for number in range(30)],
        submit=sorted(dice.randrange(30_000_000) for _ in range(30)),
        leaf=[dice.choice([1, 2]) for _ in range(30)],
        tasks=[dice.randint(1, 6) for _ in range(30)],
        duration=[dice.randrange(1, 6_000_000) for _ in range(30)],
    )
    engine = InventedEngine(open_books(plan, State(now=0))["c"], demands)
    engine.run()
    assert engine.decisions == play(open_books(plan, State(now=0))["c"], demands)
