"""A cluster as a document: small, the same after a round trip, and able to come under another plan."""

import json
from random import Random
from typing import Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Dependency, HostJoined, JobChanged, JobSubmitted, MachineClosed
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.handle import Orchestrator
from tests.orchestrator.house import SECOND, House, plan_of
from tests.orchestrator.storm import Storm, check_cluster

TREE: dict[str, Any] = {"A": {"consumers": {"a1": {}, "a2": {}}}, "B": {}}


def thawed(house: House, plan: Any, moved: dict[str, str] | None = None) -> Cluster:
    document = json.loads(json.dumps(freeze(house.live.cluster)))
    cluster = thaw(document, open_books(plan, State(now=house.now)), forgets=False, own="", moved=moved)
    check_cluster(cluster)
    return cluster


def busy_house() -> House:
    """On 4 slots: an array of which one failed, a gang under notice, a held job, one that waits for another."""
    house = House(h1=2, h2=2)
    house.submit(count=9, user="ann", retries=2, backoff=600 * SECOND)
    house.end(1, "failed")
    house.end(2, "requeue")
    house.submit(units=2, count=3)
    house.submit("/A", count=2, is_held=True)
    house.submit("/A", count=2, priority=3)
    house.submit(after=(Dependency("j1", "any"), Dependency("j3", "ok")))
    house.take(MachineClosed("h2", "broken", drain=True))
    return house


def test_a_document_gives_the_cluster_back() -> None:
    house = busy_house()
    document = freeze(house.live.cluster)
    assert freeze(thawed(house, house.plan)) == document
    assert json.loads(json.dumps(document)) == document
    assert document["notices"]


def test_an_array_of_a_million_tasks_is_a_few_words() -> None:
    house = House(h1=2)
    house.submit(count=1_000_000)
    house.submit(count=1_000_000, units=2)
    assert len(json.dumps(freeze(house.live.cluster))) < 1000


def test_a_job_that_only_waits_takes_three_entries() -> None:
    house = House(h1=1)
    for number in range(100):
        house.live.handle(JobSubmitted(str(number), "/A", "c", 1), SECOND + number)
    document = freeze(house.live.cluster)
    assert [column[50] for column in document["jobs"]] == ["50", 0, SECOND + 50]
    assert len(document["terms"]) == 1
    assert not document["changed"]


def test_a_consumer_that_is_called_otherwise_takes_its_jobs_along() -> None:
    house = House(plan=plan_of({"h1": 4}, TREE))
    house.submit("/A/a1", count=6)
    house.submit("/B", count=6)
    other = plan_of({"h1": 4}, {"X": {"consumers": {"a1": {}, "new": {}}}, "B": {}})
    cluster = thawed(house, other, {"/A": "/X"})
    assert {name: job.consumer for name, job in cluster.jobs.items()} == {"j1": "/X/a1", "j2": "/B"}
    assert freeze(cluster)["attempts"] == freeze(house.live.cluster)["attempts"]


def test_a_leaf_with_jobs_cannot_go_and_nothing_is_changed() -> None:
    house = House(plan=plan_of({"h1": 1}, TREE))
    for _ in range(7):
        house.submit("/A/a1")
    house.submit("/A/a2")
    house.take(JobChanged("j8", consumer="/B"))
    before = freeze(house.live.cluster)
    other = plan_of({"h1": 1}, {"A": {}})
    with pytest.raises(InputError) as caught:
        thawed(house, other)
    assert [fault.code for fault in caught.value.faults] == ["consumer-in-use"] * 2
    assert "`j1`, `j2`, `j3`, `j4`, `j5` and others" in caught.value.faults[0].what
    assert "`j8`" in caught.value.faults[1].what
    assert freeze(house.live.cluster) == before


def test_a_resource_group_with_jobs_cannot_go() -> None:
    house = House(h1=1)
    house.submit("/A")
    document = freeze(house.live.cluster)
    with pytest.raises(InputError, match="no longer has the resource group `c`"):
        thaw(document, {}, forgets=False, own="")


def test_jobs_that_are_over_hold_no_leaf() -> None:
    house = House(plan=plan_of({"h1": 1}, TREE))
    house.submit("/A/a1")
    house.end(1)
    house.submit("/B")
    assert [*thawed(house, plan_of({"h1": 1}, {"B": {}})).jobs] == ["j2"]


def test_the_plan_says_how_many_slots_a_host_has_where_it_has_changed() -> None:
    house = House(h1=2, h2=2)
    house.take(HostJoined("c", "h2", 3))
    house.take(HostJoined("c", "h3", 1))
    same, other = thawed(house, house.plan), thawed(house, plan_of({"h1": 2, "h2": 5}))
    assert {name: host.slots for (_, name), host in same.hosts.items()} == {"h1": 2, "h2": 3, "h3": 1}
    assert {name: host.slots for (_, name), host in other.hosts.items()} == {"h1": 2, "h2": 5, "h3": 1}


def test_a_host_that_leaves_the_plan_keeps_what_runs_there_and_gets_nothing_new() -> None:
    house = House(h1=1, h2=1, h3=1)
    house.submit(count=2)
    cluster = thawed(house, plan_of({"h1": 1}))
    assert {name: host.slots for (_, name), host in cluster.hosts.items()} == {"h1": 1, "h2": 0}
    assert [each.places for each in cluster.attempts.values()] == [(("h1", 1),), (("h2", 1),)]
    live = House(h1=1)
    live.live, live.now, live.jobs = Orchestrator(cluster), house.now, house.jobs
    live.submit(count=4)
    live.end(2)
    assert not live.live.cluster.on("h2")


def test_a_taker_that_is_gone_is_nobody() -> None:
    house = House(plan=plan_of({"h1": 2}, {"A": {}, "B": {}}))
    house.submit("/B", count=2)
    house.submit("/A", count=1)
    (noticed,) = [each for each in house.live.attempts.values() if each.notice]
    assert noticed.notice is not None
    assert noticed.notice[2] == "/A"
    house.jobs = 0
    cluster = thawed(house, plan_of({"h1": 2}, {"Z": {}, "B": {}}), {"/A": "/Z"})
    found = cluster.attempts[noticed.name].notice
    assert found is not None
    assert found[2] == "/Z"


@pytest.mark.parametrize("seed", range(8))
def test_what_is_frozen_in_slices_is_the_cluster_as_it_was_at_the_beginning(seed: int) -> None:
    storm = Storm(Random(seed), forgets=seed % 2 == 0)
    for _ in range(12):
        storm.run(25)
        expected, slow = freeze(storm.live.cluster), Freezing(storm.live.cluster)
        while slow.step(2):
            storm.run(1)
        assert slow.document() == expected


def test_several_are_frozen_in_slices_at_once_and_a_dropped_one_is_told_nothing() -> None:
    storm = Storm(Random(5), forgets=True)
    storm.run(60)
    cluster = storm.live.cluster
    first, early = freeze(cluster), Freezing(cluster)
    dropped = Freezing(cluster)
    early.step(1)
    storm.run(5)
    second, late = freeze(cluster), Freezing(cluster)
    assert len(cluster.watches) == 3
    del dropped
    assert len(cluster.watches) == 2
    storm.run(20)
    assert early.document() == first
    assert late.document() == second
    assert not cluster.watches
    assert first != second
