"""Hosts that are nodes of a Kubernetes cluster: they come, change and go while jobs wait and run."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.kubernetes import Node
from fairhold.orchestrator.events import MachineSilent
from fairhold.runtime.live import in_force
from fairhold.runtime.live.core import Core
from fairhold.store.opening import open_store
from tests.live.play import Clock, Play

SLOTS = """
fairhold: 1
resource_groups: {compute: {nodes: {}, slot: {cpu: 1}}}
consumers: {a: {}, b: {}}
policies: [{policy: hybrid, resource_groups: [compute], consumers: {/a: {owned: 4}}}]
"""
QUEUES = """
fairhold: 1
resources: {gpu: {base: 1}, cpu: {}}
resource_groups: {compute: {nodes: {}}}
consumers: {a: {}, b: {}}
policies: [{policy: fair_share, resource_groups: [compute], consumers: {/a: {deserved: {gpu: 4, cpu: unlimited}}}}]
"""


def node(name: str, cpu: int, gpu: int = 0) -> Node:
    return Node(name, (("pool", "x"),), (("cpu", Fraction(cpu)), ("nvidia.com/gpu", Fraction(gpu))))


def cluster_of(play: Play) -> Any:
    """Jobs and attempts as a snapshot has them."""
    return [(name, job.waiting, sorted(job.attempts)) for name, job in play.core.cluster.jobs.items()]


def look(play: Play, *nodes: Node, gone: tuple[str, ...] = ()) -> bool:
    changed = in_force.change_nodes(play.core, {each.name: each for each in nodes} | dict.fromkeys(gone))
    for each in nodes:
        play.report(each.name)
    play.commit()
    return changed


def test_the_first_plan_is_durable_when_the_core_is_open(tmp_path: Path) -> None:
    store = open_store(tmp_path / "state", cluster="", node="n1", now=1)
    core = Core(store, Clock())
    core.open(SLOTS, "plan", "ann")
    found = store.plan()
    assert found is not None
    assert found.version == core.version == 1


def test_work_waits_for_nodes_and_starts_when_they_come(tmp_path: Path) -> None:
    play = Play(tmp_path, SLOTS)
    job = play.submit("/a", 3)
    assert play.live() == []
    look(play, node("n1", 2))
    play.pass_time(1_000_000)
    assert len(play.live()) == 2
    look(play, node("n2", 2))
    play.pass_time(1_000_000)
    assert len(play.live()) == 3
    assert play.core.cluster.jobs[job].waiting == 0


def test_the_same_nodes_again_change_nothing(tmp_path: Path) -> None:
    play = Play(tmp_path, SLOTS)
    assert look(play, node("n1", 2))
    before = play.store.last
    assert not in_force.change_nodes(play.core, {"n1": node("n1", 2), "n9": None})
    play.commit()
    assert play.store.last == before


def test_what_runs_on_a_node_that_is_gone_keeps_its_units_until_its_end(tmp_path: Path) -> None:
    play = Play(tmp_path, SLOTS)
    look(play, node("n1", 2))
    play.submit("/a", 3)
    play.pass_time(1_000_000)
    held = play.live()
    look(play, gone=("n1",))
    play.pass_time(1_000_000)
    assert play.live() == held
    for attempt in held:
        play.end(attempt)
    play.pass_time(1_000_000)
    assert play.live() == []
    look(play, node("n1", 1))
    play.pass_time(1_000_000)
    assert len(play.live()) == 1


@pytest.mark.parametrize("text", [SLOTS, QUEUES])
def test_nodes_that_are_gone_are_forgotten_once_nothing_of_them_is_booked(tmp_path: Path, text: str) -> None:
    play = Play(tmp_path, text)
    unit: dict[str, Any] = {"group": "", "unit": (("gpu", "1"), ("cpu", "1"))} if text is QUEUES else {}
    look(play, node("n0", 2, 2))
    play.submit("/a", **unit)
    play.pass_time(1_000_000)
    [attempt] = play.live()
    for number in range(1, 9):
        gone = f"n{number - 1}"
        look(play, node(f"n{number}", 2, 2), gone=(gone,))
        play.feed(MachineSilent(gone))
    assert set(play.core.cluster.machines) - {""} == {"n0", "n7", "n8"}, "n0 runs something, n7 has just gone"
    play.end(attempt)
    look(play, node("n8", 1, 1))
    look(play, node("n8", 2, 2))
    assert set(play.core.cluster.machines) - {""} == {"n8"}
    assert {host for _, host in play.core.cluster.hosts} == {"n8"}
    play.restart(snapshot=False)
    assert set(play.core.cluster.machines) - {""} == {"n8"}


def test_a_smaller_node_takes_its_units_back_from_who_holds_too_many(tmp_path: Path) -> None:
    play = Play(tmp_path, QUEUES)
    look(play, node("n1", 8, 4))
    play.submit("/b", 4, group="", unit=(("gpu", "1"), ("cpu", "1")))
    play.pass_time(1_000_000)
    assert len(play.live()) == 4
    look(play, node("n1", 8, 2))
    play.pass_time(1_000_000)
    play.submit("/b", 1, group="", unit=(("gpu", "1"), ("cpu", "1")))
    play.pass_time(1_000_000)
    assert len([attempt for attempt in play.live() if not play.core.cluster.attempts[attempt].stopping]) <= 4


@pytest.mark.parametrize("text", [SLOTS, QUEUES])
@pytest.mark.parametrize("seed", range(6))
def test_a_start_finds_the_nodes_as_they_were(tmp_path: Path, text: str, seed: int) -> None:
    random, play = Random(seed), Play(tmp_path, text)
    unit: dict[str, Any] = {"group": "", "unit": (("gpu", "1"), ("cpu", "1"))} if text is QUEUES else {}
    for _ in range(40):
        names = [f"n{random.randrange(5)}" for _ in range(random.randrange(3))]
        if random.random() < 0.4:
            look(play, *(node(name, random.randrange(4), random.randrange(4)) for name in dict.fromkeys(names)))
        elif random.random() < 0.3:
            look(play, gone=tuple(names))
        elif random.random() < 0.6:
            with suppress(InputError):  # no node has room for it
                play.submit(random.choice(["/a", "/b"]), random.randrange(1, 4), **unit)
        elif play.live():
            play.end(random.choice(play.live()))
        play.pass_time(random.randrange(2_000_000))
        if random.random() < 0.2:
            nodes, before = dict(play.core.nodes), cluster_of(play)
            play.restart(snapshot=random.random() < 0.5)
            assert play.core.nodes == nodes
            assert cluster_of(play) == before
            hosts = play.core.plan.resource_groups["compute"].hosts
            assert {host.name for host in hosts} == set(nodes)
