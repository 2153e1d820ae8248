"""What books of vectors that go on have to hear of: jobs that change entries, names that are used again, windows."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from fairhold.ledger.pools import PendingRequest
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobCancelled, JobChanged, JobSubmitted, MachineClosed
from fairhold.planio.plan import parse_plan
from fairhold.rules.queues.request_classes import RequestClass
from tests.orchestrator.house import SECOND, House, places, starts

WINDOW = "Mon-Sun 00:00-00:01"
UNIT = (("cpu", "2"),)


def entry(policy: str, group: str, consumer: str, **more: Any) -> dict[str, Any]:
    return {"resource_groups": [group], "policy": policy, "consumers": {consumer: {}}, **more}


def house_of(policies: list[dict[str, Any]]) -> House:
    """Two hosts of 4 cores, each its own resource group."""
    document = {
        "fairhold": 1,
        "time_zone": "UTC",
        "resources": {"cpu": {}},
        "resource_groups": {name: {"hosts": [{"name": f"{name}1", "cpu": 4}]} for name in "xy"},
        "consumers": {"A": {}, "B": {}},
        "policies": policies,
    }
    return House(plan=parse_plan(json.dumps(document), "plan")[0], forgets=True)


def job(name: str, consumer: str, count: int = 1, **more: Any) -> JobSubmitted:
    return JobSubmitted(name, consumer, POOLED, count, **{"unit": UNIT, **more})


def two(policy: str) -> list[dict[str, Any]]:
    return [entry(policy, "x", "/A"), entry(policy, "y", "/B")]


@pytest.mark.parametrize("policy", ["multidimensional", "fair_share"])
def test_a_job_that_waits_goes_to_the_books_of_another_entry(policy: str) -> None:
    house = house_of(two(policy))
    assert places(house.take(job("first", "/A", 2))) == [{"x1": 1}, {"x1": 1}]
    house.take(job("second", "/B", 2))
    assert starts(house.take(job("moves", "/A"))) == []
    assert starts(house.take(JobChanged("moves", None, "/B"))) == []
    assert starts(house.end(1)) == []  # it waits for the other host now
    assert places(house.end(3)) == [{"y1": 1}]


@pytest.mark.parametrize("policy", ["multidimensional", "fair_share"])
def test_a_job_takes_what_it_holds_to_the_books_of_another_entry(policy: str) -> None:
    """Its host is closed already, so that nothing but its move says that hosts are to be seen otherwise."""
    house = house_of(two(policy))
    house.take(job("moves", "/A"))
    house.take(MachineClosed("x1", "out of order", drain=False))
    assert starts(house.take(JobChanged("moves", None, "/B"))) == []
    assert starts(house.wait(60 * SECOND)) == []
    assert len(house.live.jobs["moves"].attempts) == 1


def test_a_host_is_open_again_when_an_entry_comes_that_knows_who_is_there() -> None:
    both = {"resource_groups": ["x", "y"], "policy": "multidimensional", "consumers": {}}
    day = [each | {"window": WINDOW} for each in two("multidimensional")]
    house = house_of([*day, both])
    house.now = 61 * SECOND
    assert len(places(house.take(job("night", "/A", 3)))) == 3
    house.wait(86_400 * SECOND - house.now + SECOND)  # by day /A is a stranger on one of the hosts
    assert starts(house.take(job("waits", "/B"))) == []
    assert [name for name, _, _ in starts(house.wait(60 * SECOND))] == ["waits"]


def test_a_name_that_is_used_again_is_another_job() -> None:
    house = house_of([{"resource_groups": ["x", "y"], "policy": "fair_share", "consumers": {}}])
    house.take(job("runs", "/A", 4))
    for name in ("again", "other", "third"):
        house.take(job(name, "/A"))
    house.now += SECOND
    house.live.handle(JobCancelled("again"), house.now)
    house.take(job("again", "/A"), 0)
    started = [name for attempt in (1, 2, 3) for name, _, _ in starts(house.end(attempt))]
    assert started == ["other", "third", "again"]


def _known() -> int:
    """Requests, and classes of them, that are still there."""
    gc.collect()
    return sum(isinstance(each, (PendingRequest, RequestClass)) for each in gc.get_objects())


@pytest.mark.parametrize("policy", ["multidimensional", "fair_share"])
def test_jobs_that_are_over_are_forgotten(policy: str) -> None:
    """Whoever has run, and who has waited, each of a kind of its own."""
    house = house_of(two(policy))
    house.take(job("first", "/A", 2))
    before = _known()
    for number in range(30):
        house.take(job(f"waits{number}", "/A", priority=number))
        house.take(job(f"runs{number}", "/B"))
        house.take(JobCancelled(f"waits{number}"))
        house.end(3 + number)
    assert _known() - before < 6
