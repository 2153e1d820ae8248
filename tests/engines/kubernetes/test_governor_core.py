"""The governor without I/O: nodes that go, also before what was ordered is done, and pods that cannot start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.pods import node_of, pod_of
from fairhold.engines.kubernetes.works import MOST_EXPLAINING
from fairhold.orchestrator.events import MachineGone, MachineReported, MachineSilent, Outcome, TaskEnded
from fairhold.orchestrator.instructions import Start, Stop
from fairhold.planio.plan import parse_plan
from fairhold.ports.governor import Appeared
from fairhold.units import SECOND
from tests.kubernetes.estate import GPU, PLAN, template
from tests.kubernetes.nodes import fake_node

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.ports.governor import Report

PLAN_OF_POOL = parse_plan(PLAN.format(pool="p", grace="1s", each=2), "plan")[0]


class Scene:
    """A governor that sees a node and a pod at the gate, which has the job `1`."""

    def __init__(self, plan: Plan = PLAN_OF_POOL) -> None:
        self.now = SECOND
        self.governor = Governor(plan, "cluster", lambda: self.now)
        self.node = fake_node("n1", {"cpu": "8", GPU: "4", "pods": "9"}, {"pool": "p"})
        self.governor.see_namespace(Namespace("p-risk", {names.GOVERNED: "true"}, {}))
        self.governor.see_node(node_of(self.node))
        self.pod: dict[str, Any] = template()
        self.pod["metadata"] |= {"name": "a", "namespace": "p-risk", "uid": "u", "resourceVersion": "1"}
        self.governor.see_pod(pod_of(self.pod))
        self.governor.all_seen()
        self.look()

    def look(self) -> list[Report]:
        found: list[Report] = []
        for report in self.governor.reports():
            found.append(report)
            if isinstance(report, Appeared):
                self.governor.accepted("u", ("1", 0))
        return found

    def run(self, node: str, status: dict[str, Any] | None = None, notes: dict[str, str] | None = None) -> None:
        """What was written is done, and the pod is on a node."""
        self.pod["metadata"] |= {"finalizers": [names.FINALIZER], "annotations": {names.ATTEMPT: "1"} | (notes or {})}
        self.pod["metadata"]["resourceVersion"] += "0"
        self.pod["spec"] |= {"schedulingGates": [], "nodeName": node, "nodeSelector": {names.HOSTNAME: node}}
        self.pod["status"] = status or {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}
        self.governor.wrote("u", pod_of(self.pod), is_done=True)

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


def test_a_node_whose_object_is_gone_is_lost_after_the_time_that_the_plan_says_and_not_before() -> None:
    text = PLAN.format(pool="p", grace="1s", each=2).replace(
        "kubernetes:", "kubernetes:\n  deleted_nodes_lost_after: 10m"
    )
    scene = Scene(parse_plan(text, "plan")[0])
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    (grant,) = scene.governor.writes()
    assert grant.what == "grant"
    scene.run("n1")
    scene.look()
    scene.governor.lose_node("n1")
    told = scene.look()
    assert MachineSilent("n1") in told
    due = scene.governor.due()
    assert due == scene.now + 600 * SECOND
    scene.now = due - 1
    assert not [each for each in scene.look() if isinstance(each, MachineGone | TaskEnded)]
    scene.governor.stale()  # and while nobody knows whether it is back, it is not lost
    scene.now = due
    assert not [each for each in scene.look() if isinstance(each, MachineGone | TaskEnded)]
    scene.governor.all_seen()
    told = scene.look()
    assert [each.attempt for each in told if isinstance(each, TaskEnded)] == [1]
    assert told.count(MachineGone("n1")) == 1
    assert MachineGone("n1") not in scene.look()
    scene.see_node()
    assert [each.machine for each in scene.look() if isinstance(each, MachineReported)] == ["n1"]


def test_a_node_that_is_back_in_time_is_not_lost_and_none_is_without_a_word_of_the_plan() -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    scene.run("n1")
    scene.look()
    scene.governor.lose_node("n1")
    scene.look()
    scene.now += 10**15
    assert not [each for each in scene.look() if isinstance(each, MachineGone | TaskEnded)]


def test_a_pod_that_cannot_start_is_stopped_when_its_time_is_over_and_says_so_before() -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}
    scene.run("n1", {"phase": "Pending", "containerStatuses": [waiting]})
    scene.look()
    (told,) = scene.governor.writes()
    (condition,) = told.body["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "CannotStart")
    assert condition["message"].endswith("ErrImagePull: no such image")
    scene.run("n1", {"phase": "Pending", "containerStatuses": [waiting], "conditions": [condition]})
    assert scene.governor.writes() == []
    scene.now = scene.governor.due()
    (stop,) = scene.governor.writes()
    assert stop.what == "stop"
    over = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 137}}}]}
    scene.run("n1", over)
    (end,) = [each for each in scene.look() if isinstance(each, TaskEnded)]
    assert end.exit is not None
    assert (end.outcome, end.exit.reason, end.exit.detail) == (
        Outcome.FAILED,
        "not_started",
        "ErrImagePull: no such image",
    )


UNBOUND = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "a port is taken"}


def test_a_bare_pod_that_cannot_be_bound_is_stopped_when_its_time_is_over_and_says_so_before() -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    scene.run("", {"phase": "Pending", "conditions": [UNBOUND]})
    scene.look()
    (told,) = scene.governor.writes()
    (condition,) = told.body["status"]["conditions"]
    assert condition["reason"] == "CannotStart"
    assert condition["message"].endswith(": a port is taken")
    scene.run("", {"phase": "Pending", "conditions": [UNBOUND, condition]})
    assert scene.governor.writes() == []
    scene.now += PLAN_OF_POOL.kubernetes.start_within - 1
    scene.look()
    assert scene.governor.writes() == []
    scene.now += 1
    scene.look()
    (stop,) = scene.governor.writes()
    assert stop.what == "stop"
    scene.pod["metadata"]["deletionTimestamp"] = "2026-01-05T09:00:00Z"
    scene.run("", {"phase": "Pending", "conditions": [UNBOUND, condition]})
    (end,) = [each for each in scene.look() if isinstance(each, TaskEnded)]
    assert (end.outcome, end.exit and end.exit.detail) == (Outcome.FAILED, "a port is taken")


def test_a_bare_pod_that_is_bound_after_all_is_not_stopped() -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    scene.run("", {"phase": "Pending", "conditions": [UNBOUND]})
    scene.look()
    scene.run("n1")
    scene.now += PLAN_OF_POOL.kubernetes.start_within
    scene.look()
    assert not [write for write in scene.governor.writes() if write.what == "stop"]


def test_a_pod_that_starts_after_all_is_not_stopped() -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "wait"}}}
    scene.run("n1", {"phase": "Pending", "containerStatuses": [waiting]})
    due = scene.governor.due()
    (told,) = scene.governor.writes()
    runs = {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}], **told.body["status"]}
    scene.run("n1", runs)
    (told,) = scene.governor.writes()
    assert told.body["status"]["conditions"][0]["status"] == "True"
    scene.now = due
    scene.run("n1", runs | {"conditions": told.body["status"]["conditions"]})
    assert scene.governor.writes() == []


@pytest.mark.parametrize(
    ("code", "stopping", "is_deleted", "is_released", "reason"),
    [
        (0, "reclaim", False, False, "finished"),  # its Job counts it: no other pod comes
        (0, "reclaim", True, False, "finished"),
        (0, "reclaim", True, True, "reclaim"),  # its Job has made another already
        (3, "reclaim", False, False, "failed"),
        (3, "requeue", False, False, "failed"),
        (3, "reclaim", False, True, "reclaim"),
        (143, "reclaim", True, False, "reclaim"),
        (0, "cancel", False, False, "cancel"),
    ],
)
def test_why_a_pod_ends_that_is_to_be_stopped(
    *, code: int, stopping: str, is_deleted: bool, is_released: bool, reason: str
) -> None:
    scene = Scene()
    scene.governor.execute(Start(1, "1", 0, 1, "", "n1"))
    scene.governor.writes()
    scene.run("n1")
    scene.look()
    scene.governor.execute(Stop(1, stopping))
    if is_deleted:
        scene.pod["metadata"]["deletionTimestamp"] = "2026-01-05T09:00:00Z"
    over: dict[str, Any] = {"phase": "Failed" if code else "Succeeded"}
    over["containerStatuses"] = [{"state": {"terminated": {"exitCode": code}}}]
    notes = {names.OWNER: "j/0"} if is_released else {}
    scene.run("n1", over, notes)
    (end,) = [each for each in scene.look() if isinstance(each, TaskEnded)]
    assert end.exit is not None
    assert (end.exit.reason, end.exit.code) == (reason, code)


def test_what_is_granted_does_not_wait_for_what_is_told_to_others() -> None:
    scene = Scene()
    pods = {"u": scene.pod}
    for at in range(9):
        uid = f"v{at}"
        pods[uid] = template()
        pods[uid]["metadata"] |= {"name": uid, "namespace": "p-risk", "uid": uid, "resourceVersion": "1"}
        scene.governor.see_pod(pod_of(pods[uid]))
        scene.governor.accepted(uid, (uid, 0))
    for uid in pods:
        scene.governor.explain(uid, "quota", "it waits")
    assert [write.what for write in scene.governor.writes()] == ["explain"] * MOST_EXPLAINING
    scene.governor.execute(Start(1, "v8", 0, 1, "", "n1"))
    assert [(write.what, write.uid) for write in scene.governor.writes()] == [("grant", "v8")]
    told: set[str] = set()
    for uid in (*pods, *pods):
        scene.governor.wrote(uid, pod_of(pods[uid]), is_done=True)
        told |= {write.uid for write in scene.governor.writes() if write.what == "explain"}
    assert told >= {"v3", "v4", "v5", "v6", "v7"}, "the others are told when these are"
