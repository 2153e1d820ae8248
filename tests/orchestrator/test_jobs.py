"""What users ask of jobs: order, gangs, throttle, tries, holds, dependencies."""

from dataclasses import replace
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.plan import ConsumerSettings
from fairhold.orchestrator.ending import MOST_SUPERVISORS
from fairhold.orchestrator.events import (
    Dependency,
    HostJoined,
    HostLost,
    JobCancelled,
    JobChanged,
    JobHeld,
    JobReleased,
    JobRequeued,
    JobSubmitted,
    Woken,
)
from fairhold.orchestrator.freeze import freeze
from fairhold.orchestrator.instructions import JobOver, Start
from tests.orchestrator.house import SECOND, House, places, plan_of, starts, stops
from tests.orchestrator.storm import check_cluster

HOUR = 3600 * SECOND


def state(house: House, job: str) -> tuple[int, int, int, int, int, int]:
    """Waiting, running, finished, failed, cancelled, dropped."""
    found = house.live.jobs[job]
    check_cluster(house.live.cluster)
    return found.waiting, found.running, found.finished, found.failed, found.cancelled, found.dropped


def test_r_grant_3_users_of_a_leaf_are_served_in_turn() -> None:
    house = House(h1=4)
    house.submit(count=9, user="ann", is_held=True)
    house.submit(count=9, user="bob", is_held=True)
    house.live.handle(JobReleased("j1"), 5 * SECOND)
    house.live.handle(JobReleased("j2"), 5 * SECOND)
    out = house.take(Woken(), 10 * SECOND)
    assert sorted(job for job, _, _ in starts(out)) == ["j1", "j1", "j2", "j2"]


def test_a_user_who_comes_later_gets_the_next_slots_of_a_leaf() -> None:
    house = House(h1=4)
    house.submit(count=9, user="ann")
    house.submit(count=2, user="bob")
    assert starts(house.end(1)) == [("j2", 0, 1)]
    assert starts(house.end(2)) == [("j2", 1, 1)]
    assert starts(house.end(3)) == [("j1", 4, 1)]


def test_a_higher_priority_goes_first_and_can_be_changed() -> None:
    house = House(h1=1)
    for priority in (0, 0, 5):
        house.submit(priority=priority)
    assert starts(house.end(1)) == [("j3", 0, 1)]
    house.submit()
    house.take(JobChanged("j4", priority=1))
    assert starts(house.end(2)) == [("j4", 0, 1)]


def test_a_gang_starts_whole_on_one_host_or_over_several() -> None:
    house = House(h1=2, h2=3)
    assert places(house.submit(count=2, units=3)) == [{"h1": 2, "h2": 1}]
    assert state(house, "j1")[:2] == (1, 1)
    out = house.end(1)
    assert places(out) == [{"h1": 2, "h2": 1}]
    assert house.live.attempts[2].units == 3
    house.end(2)
    assert not any(house.live.books["c"].hosts.used)


def test_a_gang_that_does_not_fit_keeps_nobody_else_waiting() -> None:
    house = House(h1=2, h2=2)
    house.take(HostLost("c", "h2"))
    assert starts(house.submit(units=3)) == []
    assert len(starts(house.submit(count=2))) == 2


def test_a_task_that_could_never_start_is_refused() -> None:
    limits: dict[str, Any] = {"A": {}, "B": {"consumers": {"b": {}, "c": {}}}}
    plan = plan_of({"h1": 2, "h2": 2}, limits)
    entry = replace(plan.policies[0], consumers={plan.tree.rows["/B"]: ConsumerSettings(limit=3)})
    house = House(plan=replace(plan, policies=(entry,)))
    for leaf, most in (("/A", 4), ("/B/b", 3)):
        with pytest.raises(InputError, match=f"can never start: .* {most}"):
            house.submit(leaf, units=most + 1)
        house.submit(leaf, units=most)
    with pytest.raises(InputError, match="can never start"):
        house.take(JobChanged("j2", consumer="/B/c"))


def test_a_gang_gives_all_its_units_back_at_once() -> None:
    house = House(h1=2, h2=2)
    house.submit(units=4)
    out = house.submit("/A", count=1)
    assert [type(each).__name__ for each in out].count("Notify") == 1
    assert house.live.books["c"].noticed[house.live.cluster.leaf_of(house.live.jobs["j1"])] == 4
    assert stops(house.wait(2 * SECOND)) == [(1, "reclaim")]
    assert starts(house.end(1, "reclaim")) == [("j2", 0, 1)]
    assert state(house, "j1")[:2] == (1, 0)


def test_gangs_of_jobs_of_one_instant_keep_apart() -> None:
    house = House(h1=1, h2=8)
    house.take(HostLost("c", "h2"), 0)
    for name in ("a", "b", "c"):
        house.live.handle(JobSubmitted(name, "/B", "c", 2, units=2), SECOND)
    house.now = SECOND
    house.take(JobCancelled("b"))
    check_cluster(house.live.cluster)
    out = house.take(HostJoined("c", "h2", 8))
    assert [job for job, _, _ in starts(out)] == ["a", "a", "c", "c"]


def test_hosts_that_join_let_every_gang_start_that_fits() -> None:
    house = House(h1=1, h2=8)
    house.take(HostLost("c", "h2"))
    house.submit(count=9, units=2)
    assert len(starts(house.take(HostJoined("c", "h2", 8)))) == 4


def test_a_million_gangs_are_not_in_the_books() -> None:
    house = House(h1=4)
    house.submit(count=1_000_000, units=2)
    assert len(house.live.jobs["j1"].gangs or ()) <= 3


def test_a_throttle_bounds_what_runs_at_once() -> None:
    house = House(h1=4)
    assert len(starts(house.submit(count=5, throttle=2))) == 2
    assert len(starts(house.end(1))) == 1
    assert state(house, "j1")[:3] == (2, 2, 1)


def test_a_failed_task_is_tried_again_later_and_later_until_its_tries_are_used_up() -> None:
    house = House(h1=1)
    house.submit(retries=3, backoff=10 * SECOND)
    for attempt, pause in ((1, 10), (2, 20), (3, 40)):
        house.end(attempt, "failed")
        assert starts(house.wait(pause * SECOND - 1)) == []
        assert starts(house.wait(1)) == [("j1", 0, attempt + 1)]
    assert JobOver("j1") in house.end(4, "failed")
    assert state(house, "j1") == (0, 0, 0, 1, 0, 0)


@pytest.mark.parametrize("reason", ["failed", "time_limit", "memory", "not_started"])
def test_every_failure_uses_up_a_try(reason: str) -> None:
    house = House(h1=1)
    house.submit(retries=1, backoff=SECOND)
    house.end(1, reason)
    assert starts(house.wait(SECOND)) == [("j1", 0, 2)]
    assert JobOver("j1") in house.end(2, reason)
    assert state(house, "j1") == (0, 0, 0, 1, 0, 0)


@pytest.mark.parametrize(
    ("backoff", "pauses"), [(HOUR // 4, (HOUR // 4, HOUR // 2, HOUR, HOUR)), (2 * HOUR, (2 * HOUR, 2 * HOUR))]
)
def test_a_pause_is_doubled_up_to_an_hour_and_never_shorter_than_asked(backoff: int, pauses: tuple[int, ...]) -> None:
    house = House(h1=1)
    house.submit(retries=9, backoff=backoff)
    for attempt, pause in enumerate(pauses, start=1):
        house.end(attempt, "failed")
        assert starts(house.wait(pause - 1)) == []
        assert starts(house.wait(1)) == [("j1", 0, attempt + 1)]


def test_what_is_cancelled_is_not_tried_again() -> None:
    house = House(h1=1)
    house.submit(count=2, retries=3, backoff=SECOND)
    house.end(1, "failed")
    out = house.take(JobCancelled("j1"))
    assert stops(out) == [(2, "cancel")]
    assert JobOver("j1") in house.end(2, "cancel")
    assert state(house, "j1") == (0, 0, 0, 0, 1, 1)
    assert house.wait(HOUR) == []


@pytest.mark.parametrize("reason", ["reclaim", "requeue", "yielded", "host_lost", "supervisor_lost"])
def test_who_is_taken_away_waits_in_front_and_uses_up_no_try(reason: str) -> None:
    house = House(h1=1)
    house.submit(count=3)
    assert starts(house.end(1, reason)) == [("j1", 0, 2)]


def test_a_task_that_loses_its_supervisor_again_and_again_fails() -> None:
    house = House(h1=1)
    house.submit(count=2, retries=9)
    for number in range(1, MOST_SUPERVISORS):
        assert starts(house.end(number, "supervisor_lost")) == [("j1", 0, number + 1)]
    assert house.live.jobs["j1"].progress()["supervisors_lost"] == [[0, MOST_SUPERVISORS - 1]]
    assert starts(house.end(MOST_SUPERVISORS, "supervisor_lost")) == [("j1", 1, 1)]
    assert starts(house.end(MOST_SUPERVISORS + 1, "supervisor_lost")) == [("j1", 1, 2)]  # counted for each task
    assert state(house, "j1") == (0, 1, 0, 1, 0, 0)


def test_a_failure_under_notice_is_a_reclaim_but_for_its_own_faults() -> None:
    for reason, again in (("failed", True), ("time_limit", False)):
        house = House(h1=4)
        house.submit(count=4)
        house.submit("/A", count=2)
        noticed = [number for number, each in house.live.attempts.items() if each.notice]
        house.end(noticed[0], reason)
        assert house.live.jobs["j1"].failed == (0 if again else 1)
        assert house.live.jobs["j1"].waiting == (1 if again else 0)


def test_a_held_job_starts_nothing_until_it_is_released() -> None:
    house = House(h1=2)
    assert starts(house.submit(count=3, is_held=True)) == []
    assert len(starts(house.take(JobReleased("j1")))) == 2
    house.take(JobHeld("j1", "wait for the data"))
    assert starts(house.end(1)) == []
    assert starts(house.take(JobReleased("j1"))) == [("j1", 2, 1)]


def test_requeued_tasks_wait_in_front_with_their_attempts_counted() -> None:
    house = House(h1=2)
    house.submit(count=4)
    assert stops(house.take(JobRequeued("j1"))) == [(1, "requeue"), (2, "requeue")]
    assert stops(house.take(JobRequeued("j1"))) == []
    assert starts(house.end(1, "requeue")) == [("j1", 0, 2)]
    assert starts(house.end(2, "requeue")) == [("j1", 1, 2)]


def test_a_job_moves_with_all_that_waits_and_runs() -> None:
    house = House(h1=2)
    house.submit(count=4)
    house.submit(units=2, count=2)
    house.take(JobChanged("j1", consumer="/A"))
    house.take(JobChanged("j2", consumer="/A"))
    books = house.live.books["c"]
    assert [(books.demand[row], books.held[row]) for row in (books.rows.by_path[path] for path in ("/A", "/B"))] == [
        (8, 2),
        (0, 0),
    ]
    check_cluster(house.live.cluster)


@pytest.mark.parametrize(
    ("on", "end", "starts_then"),
    [
        ("ok", "finished", True),
        ("ok", "failed", False),
        ("fail", "failed", True),
        ("fail", "finished", False),
        ("any", "finished", True),
        ("any", "failed", True),
    ],
)
def test_a_job_waits_for_the_end_of_another_that_it_names(on: str, end: str, starts_then: bool) -> None:  # noqa: FBT001
    house = House(h1=2)
    house.submit()
    assert starts(house.submit(after=(Dependency("j1", on),))) == []
    out = house.end(1, end)
    assert starts(out) == ([("j2", 0, 1)] if starts_then else [])
    assert (JobOver("j2") in out) is not starts_then
    late = house.submit(after=(Dependency("j1", on),))
    assert starts(late) == ([("j3", 0, 1)] if starts_then else [])
    assert (JobOver("j3") in late) is not starts_then


def test_a_cancelled_job_counts_as_failed_for_who_waits() -> None:
    house = House(h1=2)
    house.submit(is_held=True)
    for on in ("ok", "fail", "any"):
        house.submit(after=(Dependency("j1", on),))
    out = house.take(JobCancelled("j1"))
    assert [job for job, _, _ in starts(out)] == ["j3", "j4"]
    assert {each.job for each in out if isinstance(each, JobOver)} == {"j1", "j2"}


def test_a_dependency_named_twice_is_one() -> None:
    house = House(h1=2)
    house.submit()
    house.submit(after=(Dependency("j1", "ok"), Dependency("j1", "any")))
    assert starts(house.end(1)) == [("j2", 0, 1)]


def test_a_long_chain_that_can_never_start_ends_at_once() -> None:
    house = House(h1=2)
    house.submit(is_held=True)
    for number in range(1, 3000):
        before = Dependency(f"k{number - 1}" if number > 1 else "j1", "ok")
        house.live.handle(JobSubmitted(f"k{number}", "/B", "c", 1, after=(before,)), SECOND)
    out = house.take(JobCancelled("j1"))
    assert len([each for each in out if isinstance(each, JobOver)]) == 3000
    assert not house.live.cluster.dependents


def test_a_job_that_is_over_is_not_cancelled_again_and_no_other_suffers() -> None:
    house = House(h1=1)
    house.submit()
    house.end(1)
    house.submit(count=3)
    before = freeze(house.live.cluster)
    assert [each for each in house.take(JobCancelled("j1")) if isinstance(each, Start | JobOver)] == []
    after = freeze(house.live.cluster)
    assert (after["jobs"], after["changed"]) == (before["jobs"], before["changed"])
    assert state(house, "j2")[:2] == (2, 1)


@pytest.mark.parametrize(
    "terms",
    [
        {"count": 2**40 + 1},
        {"count": 0},
        {"priority": 2**63},
        {"units": 0},
        {"units": 2**70},
        {"throttle": -1},
        {"retries": 2**41},
        {"backoff": -1},
        {"after": (Dependency("nobody", "ok"),)},
        {"after": (Dependency("j1", "perhaps"),)},
        {"after": (Dependency("new", "ok"),)},
    ],
)
def test_terms_out_of_range_are_refused_with_nothing_changed(terms: dict[str, Any]) -> None:
    house = House(h1=1)
    house.submit()
    before = freeze(house.live.cluster)
    with pytest.raises(InputError):
        house.take(JobSubmitted("new", "/A", "c", **({"count": 1} | terms)))
    assert freeze(house.live.cluster) == before
    assert house.live.changes == []


@pytest.mark.parametrize(
    "event",
    [
        JobChanged("j1", priority=2**50),
        JobChanged("j1", consumer="/nobody"),
        JobChanged("nobody", priority=1),
        JobHeld("nobody"),
        JobReleased("nobody"),
        JobRequeued("nobody"),
        HostJoined("c", "h9", 2**50),
    ],
)
def test_what_names_nothing_is_refused_with_nothing_changed(event: Any) -> None:
    house = House(h1=1)
    house.submit()
    before = freeze(house.live.cluster)
    with pytest.raises(InputError):
        house.take(event)
    assert freeze(house.live.cluster) == before
