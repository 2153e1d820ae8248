"""Pods under a policy of slots: each on one node, however many slots it takes; gangs are of pods of one slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from tests.engines.kubernetes.pretended import Pretended

if TYPE_CHECKING:
    from pathlib import Path

POLICIES = {
    "hybrid": "{/trading: {owned: 8}}",
    "ownership": "{/trading: {owned: 8, lend_to: [{consumer: /risk}]}, /risk: {borrow_from: [{consumer: /trading}]}}",
    "share_ratio": "{/trading: {share_ratio: 100}, /risk: {share_ratio: 1}}",
}
PLAN = """
fairhold: 1
resource_groups: {all: {nodes: {}, slot: {nvidia.com/gpu: 1}}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {reclaim_grace: 0s}, trading: {reclaim_grace: 0s}}
policies: [{policy: POLICY, resource_groups: [all], consumers: CONSUMERS}]
"""
SIZE = {names.GANG_SIZE: "3"}


@pytest.fixture(params=POLICIES)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Pretended:
    plan = PLAN.replace("POLICY", request.param).replace("CONSUMERS", POLICIES[request.param])
    return Pretended(tmp_path, plan, {"n1": 4, "n2": 4})


def test_the_slots_of_a_pod_are_on_one_node(cluster: Pretended) -> None:
    for number in range(4):
        cluster.pod(f"p{number}", gpus=3)
    cluster.settle()
    attempts = cluster.play.core.cluster.attempts.values()
    assert [each.places for each in attempts] == [(("n1", 3),), (("n2", 3),)]
    assert len(cluster.running()) == 2
    cluster.pod("t", namespace="trading", gpus=4)
    cluster.settle()
    assert cluster.running("trading") == ["t"]
    cluster.pod("huge", gpus=5)
    cluster.settle(8)
    assert cluster.why("huge").startswith(("NeverFits", "Site")), cluster.why("huge")


def test_pods_of_one_slot_start_together(cluster: Pretended) -> None:
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", annotations=SIZE, job="j")
    cluster.settle(8)
    assert cluster.running() == []
    assert cluster.why("p0").startswith("Gang: 3 of its pods start together"), cluster.why("p0")
    cluster.delete("t0")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]


def test_a_gang_of_slots_grows_and_shrinks_and_goes_whole(cluster: Pretended) -> None:
    for number in range(5):
        cluster.pod(f"p{number}", annotations=SIZE, job="j")
    cluster.settle()
    assert len(cluster.running()) == 5
    for number in range(5, 8):
        cluster.pod(f"p{number}", annotations=SIZE, job="j")
    cluster.settle()
    assert len(cluster.running()) == 8
    cluster.restart()
    for number in range(4):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2", "p3"]
    for number in range(4, 6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert (cluster.running(), len(cluster.running("trading"))) == ([], 6)


def test_a_pod_of_a_gang_that_ends_hands_its_slot_to_no_half_gang(cluster: Pretended) -> None:
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    for number in range(2):
        cluster.pod(f"s{number}")
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", annotations=SIZE, job="j")
    cluster.settle()
    cluster.finish("s0")
    cluster.settle()
    assert cluster.running() == ["s1"]
    for name in ("t0", "s1"):
        cluster.finish(name)
        cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]


def test_pods_of_several_slots_do_not_start_together(cluster: Pretended) -> None:
    for number in range(3):
        cluster.pod(f"p{number}", annotations=SIZE, job="j", gpus=2)
    cluster.settle()
    for number in range(3):
        assert cluster.why(f"p{number}").startswith("GangOfSlots: its pods take 2 slots of `all` each")
    assert cluster.running() == []
