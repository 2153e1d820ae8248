"""Two services of one store: whatever happens to the one that leads, the other takes over, and nothing is lost."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import httpx
import pytest

import fairhold
from fairhold.client.errors import ServiceError
from tests.failover.pair import Pair
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path, is_file=request.param == "sqlite")
    try:
        yield made.open()
    finally:
        made.close()


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Pair]:
    """Over PostgreSQL, which a service can be cut off from."""
    made = Pair(tmp_path, is_file=False)
    try:
        yield made.open()
    finally:
        made.close()


def test_a_leader_that_is_killed_is_followed_by_the_other(pair: Pair) -> None:
    one, two = pair.members
    running, waiting = pair.submit(8, seconds=3), pair.submit(8)
    until(lambda: pair.ran() == 8)
    one.kill()
    pair.await_takeover(two)
    pair.submit(2)
    assert pair.client.wait(waiting, 60).state == "done"
    assert [len(each.attempts) for each in pair.client.tasks(running)] == [1] * 8  # they ran on
    one.launch()
    until(one.stands_by)
    pair.check()
    assert two.health()["term"] == 2
    assert pair.store_is_whole() == ""


def test_a_leader_that_stood_still_is_refused_and_stands_by(pair: Pair) -> None:
    one, two = pair.members
    pair.submit(4, seconds=6)
    until(lambda: pair.ran() == 4)
    one.signal(signal.SIGSTOP)
    pair.await_takeover(two)
    later = pair.submit(4)
    one.signal(signal.SIGCONT)
    until(lambda: "leadership is lost" in one.said or not one.lives())
    if one.lives():
        until(one.stands_by)
        assert "it stands by" in one.said
    else:  # stopped in the middle of a commit to a file, where nothing but its end lets others in
        assert "it is killed" in two.said
    assert two.leads()
    pair.client.wait(later, 60)
    pair.check()


def test_a_hand_over_is_noticed_by_no_task(pair: Pair) -> None:
    one, two = pair.members
    running = pair.submit(4, seconds=4)
    until(lambda: pair.ran() == 4)
    for before, after in ((one, two), (two, one)):
        began = time.monotonic()
        pair.client.stop("failover")
        until(after.leads)
        assert time.monotonic() - began < 30  # a bound against waiting for a lease; how fast it is says the benchmark
        until(before.stands_by)
        assert before.lives()
        pair.submit(2)
    pair.check()
    assert [len(each.attempts) for each in pair.client.tasks(running)] == [1] * 4
    assert one.health()["term"] == 3


def test_what_stands_by_says_who_leads_and_refuses_the_rest(pair: Pair) -> None:
    one, two = pair.members
    with fairhold.connect(two.url, pair.token) as alone, pytest.raises(ServiceError) as caught:
        alone.submit("/A", ["/bin/true"])
    assert caught.value.code == "standby"
    assert one.url in str(caught.value)
    stranger = httpx.get(f"{two.url}/v1/health")
    assert (stranger.status_code, stranger.json()["code"]) == (503, "standby")
    two.kill()
    pair.submit(1)  # the other address is asked
    pair.check()


def test_a_leader_without_its_store_gives_way_and_comes_back(shared: Pair) -> None:
    one, two = shared.members
    shared.submit(4, seconds=8)
    until(lambda: shared.ran() == 4)
    assert one.to_store is not None
    one.to_store.cut()
    shared.await_takeover(two)
    assert not one.leads()
    shared.submit(4)
    one.to_store.mend()
    until(one.stands_by)
    shared.check()


def test_a_leader_without_its_agents_loses_none_of_their_work(shared: Pair) -> None:
    one, _ = shared.members
    shared.submit(4, seconds=3)
    until(lambda: shared.ran() == 4)
    one.to_agents.cut()
    waiting = shared.submit(4)
    time.sleep(5)
    one.to_agents.mend()
    shared.settle()
    shared.client.wait(waiting, 90)
    shared.check()


def test_a_leader_without_both_is_followed_by_the_other(shared: Pair) -> None:
    one, two = shared.members
    shared.submit(4, seconds=5)
    until(lambda: shared.ran() == 4)
    assert one.to_store is not None
    one.to_store.cut()
    one.to_agents.cut()
    shared.await_takeover(two)
    shared.submit(6)
    until(lambda: all(each.document["connected"] for each in shared.client.hosts()))
    one.to_store.mend()
    one.to_agents.mend()
    until(one.stands_by)
    shared.check()
