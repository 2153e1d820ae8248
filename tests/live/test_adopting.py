"""Work that ran before the service knew of it: it holds its units, and gives them back like any other."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.kubernetes import Node
from fairhold.model.siting import Siting
from fairhold.orchestrator.events import MachineLabelled, MachineSilent, TaskAdopted
from fairhold.runtime.live import in_force
from tests.live.play import Play

HEAD = """
fairhold: 1
resources: {gpu: {base: 1}, cpu: {}}
resource_groups: {compute: {nodes: {}}}
consumers: {a: {}, b: {}}
"""
QUEUES = (
    HEAD + "policies: [{policy: fair_share, resource_groups: [compute], consumers: {/a: {deserved: {gpu: 4, cpu: 8}}}}]"
)
POOLS = HEAD + (
    "policies: [{policy: multidimensional, resource_groups: [compute],"
    " consumers: {/a: {own: [{resource_group: compute, hosts: 1}]}}}]"
)
SLOTS = """
fairhold: 1
resource_groups: {compute: {nodes: {}, slot: {nvidia.com/gpu: 1}}}
consumers: {a: {}, b: {}}
policies: [{policy: hybrid, resource_groups: [compute], consumers: {/a: {owned: 4}}}]
"""
UNIT: dict[str, Any] = {"group": "", "unit": (("gpu", "1"), ("cpu", "1"))}


def start(directory: Path, text: str) -> tuple[Play, dict[str, Any]]:
    play = Play(directory, text)
    node = Node("n1", (), (("cpu", Fraction(8)), ("nvidia.com/gpu", Fraction(4))))
    in_force.change_nodes(play.core, {"n1": node})
    play.commit()
    return play, {} if text is SLOTS else UNIT


@pytest.mark.parametrize("text", [SLOTS, POOLS, QUEUES])
def test_the_owner_gets_back_what_adopted_work_has_borrowed(tmp_path: Path, text: str) -> None:
    play, unit = start(tmp_path, text)
    jobs = [play.submit("/b", **unit) for _ in range(4)]
    for job in jobs:
        play.feed(TaskAdopted(job, "n1"))
    assert len(play.live()) == 4
    assert all(play.core.cluster.attempts[each].is_running for each in play.live())
    play.report("n1")
    play.pass_time(2_000_000)
    assert len(play.live()) == 4
    play.submit("/a", 3, **unit)
    play.pass_time(2_000_000)
    assert len([each for each in play.core.cluster.attempts.values() if each.stopping]) == 3


@pytest.mark.parametrize("text", [SLOTS, POOLS, QUEUES])
def test_a_start_finds_what_was_adopted(tmp_path: Path, text: str) -> None:
    play, unit = start(tmp_path, text)
    job = play.submit("/b", 2, **unit)
    play.feed(TaskAdopted(job, "n1", is_running=False))
    held = play.live()
    play.restart(snapshot=False)
    assert play.live() == held
    play.restart(snapshot=True)
    assert play.live()[:1] == held


def test_what_cannot_be_adopted_is_refused(tmp_path: Path) -> None:
    play, unit = start(tmp_path, SLOTS)
    job = play.submit("/b", **unit)
    for wrong, code in ((TaskAdopted(job, "n2"), "unknown-host"), (TaskAdopted("9", "n1"), "unknown-job")):
        with pytest.raises(InputError) as refused:
            play.feed(wrong)
        assert [fault.code for fault in refused.value.faults] == [code]
    play.feed(TaskAdopted(job, "n1"))
    with pytest.raises(InputError):
        play.feed(TaskAdopted(job, "n1"))
    assert len(play.live()) == 1


def test_labels_that_a_connected_machine_gets_let_work_start(tmp_path: Path) -> None:
    play, unit = start(tmp_path, QUEUES)
    with pytest.raises(InputError):
        play.submit("/b", siting=Siting(need=("ssd",)), **unit)
    play.feed(MachineLabelled("n1", ("ssd",)))  # it is not connected: nothing is known of it
    with pytest.raises(InputError):
        play.submit("/b", siting=Siting(need=("ssd",)), **unit)
    play.report("n1")
    play.feed(MachineLabelled("n1", ("ssd",)))
    play.submit("/b", siting=Siting(need=("ssd",)), **unit)
    play.pass_time(1_000_000)
    assert len(play.live()) == 1
    play.feed(MachineSilent("n1"))
    play.restart(snapshot=False)
    assert play.core.cluster.machines["n1"].labels == ()  # it reports anew at every start
