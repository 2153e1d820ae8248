"""Pods under a policy of slots: each on one node, however many slots it takes; none start together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from tests.engines.kubernetes.pretended import Pretended

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """
fairhold: 1
resource_groups: {all: {nodes: {}, slot: {nvidia.com/gpu: 1}}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {reclaim_grace: 0s}, trading: {reclaim_grace: 0s}}
policies: [{policy: hybrid, resource_groups: [all], consumers: {/trading: {owned: 8}}}]
"""


def test_the_slots_of_a_pod_are_on_one_node(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PLAN, {"n1": 4, "n2": 4})
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


def test_pods_do_not_start_together(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PLAN, {"n1": 8})
    for number in range(2):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "2", names.GANG: "g"})
    cluster.settle()
    for number in range(2):
        assert cluster.why(f"p{number}").startswith("GangOfSlots: `all` is shared in slots")
    assert cluster.running() == []
