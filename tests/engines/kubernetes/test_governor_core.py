"""The governor without I/O, where what was ordered is not done yet and its node goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.pods import node_of, pod_of
from fairhold.orchestrator.events import MachineGone, MachineReported, TaskEnded
from fairhold.orchestrator.instructions import Start
from fairhold.planio.plan import parse_plan
from fairhold.ports.governor import Appeared
from tests.kubernetes.estate import GPU, PLAN, template
from tests.kubernetes.nodes import fake_node

if TYPE_CHECKING:
    from fairhold.ports.governor import Report

PLAN_OF_POOL = parse_plan(PLAN.format(pool="p", grace="1s", each=2), "plan")[0]


class Scene:
    """A governor that sees a node and a pod at the gate, which has the job `1`."""

    def __init__(self) -> None:
        self.governor = Governor(PLAN_OF_POOL, "cluster", lambda: 1_000_000)
        self.node = fake_node("n1", {"cpu": "8", GPU: "4", "pods": "9"}, {"pool": "p"})
        self.governor.see_namespace(Namespace("p-risk", {names.GOVERNED: "true"}, {}))
        self.governor.see_node(node_of(self.node))
        made = template()
        made["metadata"] |= {"name": "a", "namespace": "p-risk", "uid": "u", "resourceVersion": "1"}
        self.governor.see_pod(pod_of(made))
        self.governor.all_seen()
        self.look()

    def look(self) -> list[Report]:
        found: list[Report] = []
        for report in self.governor.reports():
            found.append(report)
            if isinstance(report, Appeared):
                self.governor.accepted("u", ("1", 0))
        return found

    def see_node(self, **status: Any) -> None:
        self.node["status"] |= status
        self.governor.see_node(node_of(self.node))


def test_a_start_that_waits_for_the_cluster_is_reported_as_held_and_done_once() -> None:
    scene = Scene()
    scene.governor.stale()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.look()
    assert scene.governor.writes() == []
    scene.governor.all_seen()
    scene.see_node(nodeInfo={"bootID": "another"})  # where it started anew meanwhile: nothing of it ran there
    (report,) = [each for each in scene.look() if isinstance(each, MachineReported)]
    assert [(held.attempt, held.is_alive, held.exit) for held in report.held] == [(1, False, None)]
    (write,) = scene.governor.writes()
    assert write.what == "grant"


@pytest.mark.parametrize("is_under_way", [False, True])
def test_nothing_is_let_go_to_a_node_that_is_lost(*, is_under_way: bool) -> None:
    scene = Scene()
    scene.governor.stale()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.look()
    if is_under_way:  # the request was made, and has no answer yet
        scene.governor.all_seen()
        assert len(scene.governor.writes()) == 1
        scene.governor.stale()
    scene.node["spec"] = {"taints": [{"key": names.OUT_OF_SERVICE, "effect": "NoExecute"}]}
    scene.see_node(conditions=[{"type": "Ready", "status": "Unknown"}])
    scene.governor.all_seen()
    told = scene.look()
    assert MachineGone("n1") in told
    if is_under_way:
        assert scene.governor.writes() == []
        scene.governor.wrote("u", scene.governor.works.of["u"].pod, is_done=False)
        told += scene.look()
    assert [each.attempt for each in told if isinstance(each, TaskEnded)] == [1]
    assert not [write for write in scene.governor.writes() if write.what == "grant"]
    assert scene.governor.waiting("1") == ["u"]
