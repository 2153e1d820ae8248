"""Gangs in a live cluster: slots are held, small tasks fill in, log and snapshot say the same (R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.orchestrator.events import GroupPaused, JobCancelled, JobHeld, JobReleased
from fairhold.orchestrator.freeze import freeze, thaw
from tests.orchestrator.house import SECOND, House, plan_of, starts

if TYPE_CHECKING:
    import pytest

    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster

MINUTE = 60 * SECOND


def a_house(**hosts: int) -> House:
    """Leaf /B may hold all; units are held for gangs after ten minutes."""
    return House(plan=plan_of(hosts or {"h1": 4}, hold_after="10m"))


def kept(house: House) -> dict[str, int]:
    """Host → units that are held."""
    books = house.live.books["c"]
    return {books.hosts.name[host]: units for host, units in enumerate(books.hosts.kept) if units}


def again(house: House) -> Cluster:
    """The cluster of a snapshot."""
    books = open_books(house.plan, State(now=house.now))
    return thaw(json.loads(json.dumps(freeze(house.live.cluster))), books, forgets=False, own="")


def busy(**terms: Any) -> House:
    """Two small tasks run, a gang of four waits, and two more small tasks wait behind it."""
    house = a_house(h1=2, h2=2)
    house.submit(count=2)
    house.submit(units=4)
    house.submit(count=2, **terms)
    assert len(house.live.attempts) == 4
    return house


def test_a_gang_collects_slots_once_it_has_waited_long_enough() -> None:
    house = busy()
    house.submit(count=8)
    assert starts(house.end(1)) == [("j4", 0, 1)]
    house.wait(10 * MINUTE)
    assert starts(house.end(2)) == []
    assert sum(kept(house).values()) == 1
    assert freeze(again(house)) == freeze(house.live.cluster)
    for attempt in (3, 4):
        assert starts(house.end(attempt)) == []
    assert sum(kept(house).values()) == 3
    assert starts(house.end(5)) == [("j2", 0, 1)]
    assert kept(house) == {}


def test_a_replay_of_the_log_holds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    house = busy()
    house.wait(9 * MINUTE)
    copy, do = again(house), house.live.do

    def decided(change: Change) -> None:
        copy.apply(change, house.live.now)
        do(change)

    monkeypatch.setattr(house.live, "do", decided)
    house.wait(2 * MINUTE)
    for attempt in (2, 3):
        house.end(attempt)
        assert sum(kept(house).values()) == attempt - 1
        assert freeze(copy) == freeze(house.live.cluster)


def test_the_house_wakes_when_a_gang_has_waited_long_enough() -> None:
    house = a_house(h1=4)
    house.submit("/A", count=3, time_limit=60 * MINUTE)
    house.submit("/A", units=4)
    house.wait(10 * MINUTE)
    assert kept(house) == {"h1": 1}


def test_units_are_held_in_time_while_reclaims_are_paused() -> None:
    house = a_house(h1=4)
    house.submit("/A", count=3, time_limit=60 * MINUTE)
    house.submit("/A", units=4)
    house.take(GroupPaused("c", grants=False, reclaims=True))
    assert house.live._waking.next(house.now) == 10 * MINUTE + 2 * SECOND
    house.wait(10 * MINUTE)
    assert kept(house) == {"h1": 1}


def test_only_tasks_that_end_in_time_use_what_is_held() -> None:
    house = a_house(h1=4)
    house.submit("/A", count=3, time_limit=60 * MINUTE)
    house.submit("/A", units=4)
    house.wait(10 * MINUTE)
    assert starts(house.submit("/A", time_limit=50 * MINUTE)) == []
    assert starts(house.submit("/A")) == []
    assert starts(house.submit("/A", time_limit=40 * MINUTE)) == [("j5", 0, 1)]


def test_a_gang_whose_job_is_held_or_cancelled_keeps_nothing() -> None:
    house = a_house(h1=4)
    house.submit("/A", count=3)
    house.submit("/A", units=4)
    house.wait(10 * MINUTE)
    assert kept(house) == {"h1": 1}
    house.take(JobHeld("j2", "later"))
    assert kept(house) == {}
    house.take(JobReleased("j2"))
    house.wait(9 * MINUTE)
    assert kept(house) == {}
    house.wait(2 * MINUTE)
    assert kept(house) == {"h1": 1}
    house.take(JobCancelled("j2"))
    assert kept(house) == {}
