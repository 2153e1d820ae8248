"""A host that is drained is empty by an instant, where one is given: no grace goes on beyond it."""

from __future__ import annotations

from fairhold.orchestrator.changes import Noticed
from fairhold.orchestrator.events import Held, MachineClosed, MachineOpened, MachineReported
from tests.orchestrator.house import SECOND, House, notices, stops, withdrawn
from tests.orchestrator.storm import check_cluster


def drain(by: int = 0) -> MachineClosed:
    return MachineClosed("h1", "", drain=True, by=by)


def report(house: House) -> MachineReported:
    return MachineReported("h1", "b1", 9, tuple(Held(each, is_alive=True, exit=None) for each in house.live.attempts))


def test_what_still_runs_is_stopped_then() -> None:
    house = House(h1=2)
    house.submit(count=2)
    by = house.now + SECOND
    assert notices(house.take(drain(by), 1)) == [(1, by, "host"), (2, by, "host")]
    assert stops(house.wait(SECOND)) == [(1, "reclaim"), (2, "reclaim")]


def test_a_grace_that_ends_before_is_not_made_longer() -> None:
    house = House(h1=1)
    house.submit()
    out = house.take(drain(house.now + 60 * SECOND))
    assert notices(out) == [(1, house.now + 2 * SECOND, "host")]
    assert notices(house.take(drain(), 1)) == []
    assert notices(house.take(drain(house.now + 90 * SECOND), 1)) == []


def test_an_instant_that_has_passed_is_now() -> None:
    house = House(h1=1)
    house.submit()
    assert stops(house.take(drain(1))) == [(1, "reclaim")]


def test_who_is_leaving_leaves_earlier_where_the_host_is_to_be_empty_earlier() -> None:
    house = House(h1=4)
    house.submit(count=4)
    house.submit("/A", count=1)
    noticed = next(number for number, each in house.live.attempts.items() if each.notice)
    house.take(drain(), 1)
    by = house.now + SECOND // 2
    out = house.take(drain(by), 1)
    assert {number for number, deadline, _ in notices(out) if deadline == by} == set(house.live.attempts)
    check_cluster(house.live.cluster)
    assert {deadline for _, deadline, _ in notices(house.take(report(house), 1))} == {by}
    out = house.take(MachineOpened("h1"), 1)
    (again,) = notices(out)
    assert again[0] == noticed, "its slot is still wanted by another leaf"
    assert again[1] > by
    assert len(withdrawn(out)) == 3


def test_a_notice_after_a_drain_gives_no_more_time() -> None:
    house = House(h1=4)
    house.submit(count=4)
    by = house.now + SECOND
    house.take(drain(by), 1)
    attempt = house.live.attempts[1]
    house.live.do(Noticed(1, by + SECOND, "quota", "/A", 1))
    assert attempt.notice is not None
    assert (attempt.notice.deadline, attempt.told) == (by + SECOND, attempt.notice._replace(deadline=by))
    assert (1, by, "quota") in notices(house.take(report(house), 1))
