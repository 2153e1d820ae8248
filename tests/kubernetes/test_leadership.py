"""Two services that govern one cluster: one leads, the other takes over, and nothing is granted twice."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

import fairhold
from fairhold.engines.kubernetes import names
from tests.faults.house import House
from tests.kubernetes.control_plane import ADMINISTRATOR, SERVICE
from tests.kubernetes.estate import PLAN, Estate, state_of, waits_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

DURATION = 5.0
LATER = 5.0
"""Seconds for what a busy machine needs to take over."""
LOST = 3
"""Exit status of a service that leads no more."""


class Pair:
    """An estate with a second service."""

    def __init__(self, cluster: ControlPlane, place: Path) -> None:
        self.estate = Estate(cluster, place / "a", "--lease-duration", f"{DURATION:g}s")
        self.first = self.estate.house
        self.second = House(place / "b", self.estate.plan, *self.estate.words)

    def close(self) -> None:
        for house in (self.first, self.second):
            if house.service.poll() is None:
                house.service.send_signal(signal.SIGCONT)
                house.service.send_signal(signal.SIGTERM)
                house.service.wait(30)
        self.second.close()
        self.estate.close()

    def until_leads(self, house: House, patience: float = 30.0) -> float:
        """Wait until a service leads; how many seconds. No node ever has more than it can hold."""
        began = time.monotonic()

        def leads() -> bool:
            assert all(gpus <= 4 for gpus in self.estate.used().values())
            return house.is_up()

        self.estate.until(leads, patience)
        took = time.monotonic() - began
        house.client = fairhold.connect(f"unix:{house.state}/api.sock")
        return took

    def running(self) -> set[str]:
        """Uids of the pods of the first namespace that run."""
        return {each["metadata"]["uid"] for each in self.estate.pods(self.estate.risk) if state_of(each) == "running"}

    def until_counted(self, house: House, number: int) -> None:
        """Wait until a service counts so many running jobs."""
        self.estate.until(lambda: sum(job.state == "running" for job in house.client.jobs()) == number)

    def holder(self) -> str:
        path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/fairhold"
        return str(self.estate.api.request("GET", path)["spec"].get("holderIdentity") or "")


@pytest.fixture
def pair(cluster: ControlPlane, tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        made = Pair(cluster, tmp_path)
        stack.callback(made.close)
        made.first.launch()
        made.until_leads(made.first)
        made.second.launch()
        made.estate.until(lambda: f"waiting: {made.holder()} leads" in made.second.said)
        yield made


def test_a_killed_leader_is_followed_and_pods_run_on_there_and_back(pair: Pair) -> None:
    estate = pair.estate
    estate.job(estate.risk, "work", 10)
    estate.until_states(estate.risk, running=8, gated=2)
    pods = pair.running()
    assert not pair.second.is_up()
    pair.first.kill()
    assert DURATION - 2 < pair.until_leads(pair.second) < DURATION + LATER
    pair.until_counted(pair.second, 8)
    assert pair.running() == pods
    pair.first.launch()
    estate.until(lambda: f"waiting: {pair.holder()} leads" in pair.first.said)
    assert pair.second.kill(signal.SIGTERM) == 0
    assert pair.until_leads(pair.first) < 3
    pair.until_counted(pair.first, 8)
    time.sleep(1)
    assert pair.running() == pods
    estate.job(estate.trading, "owner", 4)
    estate.until_states(estate.trading, running=4)
    estate.until_states(estate.risk, running=4, gated=6)
    assert pair.running() < pods


def test_a_gang_is_adopted_whole_by_another_leader_each_pod_on_its_node(pair: Pair) -> None:
    estate = pair.estate
    estate.pod(estate.risk, "before", runs_for=0)  # the numbers of attempts are others in each state
    estate.until_states(estate.risk, succeeded=1)
    estate.job(estate.risk, "gang", 5, notes={names.GANG_SIZE: "all"})
    estate.until_states(estate.risk, running=5)
    pods = pair.running()
    assert pair.first.kill(signal.SIGTERM) == 0
    pair.until_leads(pair.second)
    pair.until_counted(pair.second, 1)

    there = {each["metadata"]["name"]: each["spec"]["nodeName"] for each in estate.pods(estate.risk)}

    def adopted() -> dict[str, str]:
        [job] = [each for each in pair.second.client.jobs() if each.state == "running"]
        pods_of = job.labels["pod"].split(",")
        tasks = pair.second.client.tasks(job.name)
        return {pods_of[task.index]: task.attempts[-1].host for task in tasks if task.state == "running"}

    estate.until(lambda: len(adopted()) == 5)
    assert adopted().items() <= there.items()
    estate.job(estate.trading, "owner", 3)
    estate.until_states(estate.trading, running=3)
    time.sleep(12)  # what cannot be bound is made anew after ten seconds
    assert pair.running() == pods


def test_a_leader_that_was_stopped_for_long_writes_nothing_more_and_ends(pair: Pair) -> None:
    estate = pair.estate
    estate.job(estate.risk, "work", 6)
    estate.until_states(estate.risk, running=6)
    pods = pair.running()
    pair.first.service.send_signal(signal.SIGSTOP)
    estate.job(estate.risk, "more", 4)  # which the first is told as soon as it goes on
    assert pair.until_leads(pair.second) < DURATION + LATER
    estate.until_states(estate.risk, running=8, gated=2)
    pair.until_counted(pair.second, 8)
    estate.until(lambda: sum(waits_for(each).startswith("False") for each in estate.pods(estate.risk)) == 2)
    written = {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in estate.pods(estate.risk)}
    leader = pair.holder()
    pair.first.service.send_signal(signal.SIGCONT)
    assert pair.first.service.wait(10) == LOST
    assert "leadership is lost" in pair.first.said.splitlines()[-1]
    assert pair.holder() == leader
    assert {
        each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in estate.pods(estate.risk)
    } == written
    assert pods < pair.running()


def test_who_takes_over_has_the_plan_as_its_file_says_then(pair: Pair) -> None:
    pair.second.plan.write_text(f"# another\n{pair.estate.plan}")
    assert pair.first.kill(signal.SIGTERM) == 0
    pair.until_leads(pair.second)
    assert (pair.second.client.plan().text or "").startswith("# another")


def test_a_follower_ends_when_it_is_asked_to(pair: Pair) -> None:
    pair.second.service.send_signal(signal.SIGTERM)
    assert pair.second.service.wait(5) == 0
    assert "Traceback" not in pair.second.said
    assert pair.first.is_up()


def test_a_lease_that_cannot_be_is_told_at_the_start(cluster: ControlPlane, tmp_path: Path) -> None:
    wrong = (
        ("nowhere", ADMINISTRATOR, "there is no namespace `nowhere` for the lease [lease-namespace]"),
        ("default", SERVICE, "get, create, update leases in default"),
    )
    for namespace, user, said in wrong:
        words = ("--kubernetes", "--kubeconfig", str(cluster.kubeconfig(user)), "--lease-namespace", namespace)
        house = House(tmp_path / namespace, PLAN.format(pool="p", grace="1s", each=1), *words)
        house.launch()
        assert house.service.wait(20) == 1
        assert said in house.said
