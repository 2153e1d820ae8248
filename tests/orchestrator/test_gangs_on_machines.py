"""Gangs whose units are on several machines: every place counts, and what is told goes to the first."""

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.orchestrator.events import (
    Exit,
    JobCancelled,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
)
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Instruction
from tests.orchestrator.house import SECOND, House, notices, places, starts, stops, withdrawn
from tests.orchestrator.storm import check_cluster
from tests.orchestrator.test_machines import alive

ALL = {"h1": 2, "h2": 2}


def gang() -> House:
    """One gang runs on all slots of both hosts, on `h1` in front, and another waits."""
    house = House(own="h1", h1=2, h2=2)
    for machine in ("", "h2"):
        house.take(MachineReported(machine, "b1", last=0, spool="s"))
    assert places(house.submit(count=2, units=4)) == [ALL]
    house.run(1)
    assert house.live.attempts[1].machines == ("", "h2")
    return house


def _used(house: House) -> int:
    return sum(house.live.books["c"].hosts.used)


def back(house: House, boot: str = "b1") -> list[Instruction]:
    """The second host has come back."""
    return house.take(MachineReported("h2", boot, last=0, spool="s"))


def test_a_drain_of_any_of_its_hosts_stops_a_gang_whole_and_its_slots_come_back_then() -> None:
    house = gang()
    out = house.take(MachineClosed("h2", "new memory", drain=True))
    assert notices(out) == [(1, house.now + 2 * SECOND, "host")]
    assert stops(house.wait(2 * SECOND)) == [(1, "reclaim")]
    assert _used(house) == 4
    house.end(1, "reclaim")
    assert (_used(house), house.live.jobs["j1"].waiting) == (0, 2)
    assert places(house.take(MachineOpened("h2"))) == [ALL]
    check_cluster(house.live.cluster)


def test_a_gang_stays_when_the_last_of_its_hosts_that_is_drained_is_opened() -> None:
    house = gang()
    house.take(MachineClosed("h2", "", drain=True))
    house.take(MachineClosed("", "", drain=True))
    house = _thawed(house)
    assert withdrawn(house.take(MachineOpened("h2"), 0)) == []
    assert withdrawn(house.take(MachineOpened(""), 0)) == [1]
    assert stops(house.wait(60 * SECOND)) == []


def test_a_gang_that_loses_one_of_its_hosts_is_stopped_and_waits_again_for_no_fault_of_its_own() -> None:
    house = gang()
    house.take(MachineSilent("h2"))
    assert house.live.attempts[1].is_unknown
    assert stops(house.take(MachineGone("h2"))) == [(1, "host_lost")]
    assert stops(house.take(MachineGone("h2"))) == []
    assert _used(house) == 4  # until it has ended
    house.end(1, "host_lost")
    job = house.live.jobs["j1"]
    assert (_used(house), job.waiting, job.failed, job.failures) == (0, 2, 0, None)
    assert [(each.name, each.number) for each in house.live.attempts.values()] == []
    assert starts(back(house)) == [("j1", 0, 2)]
    check_cluster(house.live.cluster)


def test_a_gang_is_over_with_the_lease_of_the_host_where_it_runs() -> None:
    house = House(own="", h1=2, h2=2)
    for machine in ("h1", "h2"):
        house.take(MachineReported(machine, "b1", last=0))
    house.submit(count=1, units=4)
    for machine in ("h2", "h1"):
        house.take(MachineSilent(machine))
    assert stops(house.take(MachineGone("h2"))) == [(1, "host_lost")]
    house.take(MachineGone("h1"))
    assert (_used(house), house.live.jobs["j1"].waiting) == (0, 1)


def test_a_gang_goes_on_when_a_connection_is_back_and_stops_where_a_host_was_started_anew() -> None:
    house = gang()
    house.take(MachineSilent("h2"))
    house.take(MachineSilent(""))
    assert stops(back(house)) == []
    assert house.live.attempts[1].is_unknown  # where it runs is silent
    house.take(MachineReported("", "b1", last=1, held=(alive(1),)))
    assert not house.live.attempts[1].is_unknown
    house.take(MachineSilent("h2"))
    assert stops(back(house, "b2")) == [(1, "host_lost")]


def test_a_gang_whose_stop_was_lost_is_told_again() -> None:
    house = gang()
    house.take(MachineSilent(""))
    house.take(MachineGone("h2"))
    assert stops(house.take(MachineReported("", "b1", last=1, held=(alive(1),)))) == [(1, "host_lost")]


def test_a_cancel_is_stronger_than_a_lost_host() -> None:
    house = gang()
    house.take(JobCancelled("j1"))
    assert stops(house.take(MachineGone("h2"))) == []
    house.take(TaskEnded(1, Outcome.STOPPED, Exit("cancel")))
    assert house.live.jobs["j1"].cancelled == 1


def _thawed(house: House) -> House:
    document = freeze(house.live.cluster)
    again = House(own="h1", h1=2, h2=2)
    cluster = thaw(document, open_books(house.plan, State(now=0)), forgets=False, own="h1")
    assert freeze(cluster) == document
    again.live = Orchestrator(cluster)
    again.now = house.now
    return again
