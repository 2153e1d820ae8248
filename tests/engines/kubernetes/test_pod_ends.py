"""How a pod ended, by the statuses that a kubelet and the controllers write."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.engines.kubernetes.pods import end_of
from fairhold.orchestrator.events import Exit

RUNS: dict[str, Any] = {"running": {"startedAt": "2026-01-05T09:00:00Z"}}
WAITS: dict[str, Any] = {"waiting": {"reason": "ContainerCreating"}}
HELD_UP: dict[str, Any] = {"waiting": {"reason": "PodInitializing"}}
BACK_OFF: dict[str, Any] = {"waiting": {"reason": "CrashLoopBackOff"}}
NO_IMAGE: dict[str, Any] = {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}
UNKNOWN: dict[str, Any] = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown"}}


def ended(code: int = 0, **more: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", **more}}


def status(phase: str, *states: dict[str, Any], first: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    """A status with the states of containers, and `first` of init containers; who did not wait has an id."""

    def row(state: dict[str, Any]) -> dict[str, Any]:
        was = {"containerID": "containerd://1"} if "waiting" not in state or state == BACK_OFF else {}
        return {"name": "c", "state": state} | was

    found: dict[str, Any] = {"phase": phase} | more
    if states:
        found["containerStatuses"] = [row(state) for state in states]
    if first:
        found["initContainerStatuses"] = [row(state) for state in first]
    return found


def disrupted(reason: str) -> list[dict[str, str]]:
    return [{"type": "Ready", "status": "False"}, {"type": "DisruptionTarget", "status": "True", "reason": reason}]


def end(
    found: dict[str, Any], *, policy: str = "Never", node: str = "n1", deleting: bool = False, noticed: bool = False
) -> Exit | None:
    spec = {"restartPolicy": policy} | ({"nodeName": node} if node else {})
    return end_of(spec, found, is_deleting=deleting, is_noticed=noticed)


BY_GC = disrupted("DeletionByPodGC")


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"phase": None, "containerStatuses": None},
        status("Pending"),
        status("Pending", WAITS),
        status("Pending", NO_IMAGE),
        status("Pending", NO_IMAGE, RUNS),
        status("Pending", NO_IMAGE, ended()),
        status("Pending", HELD_UP, first=(ended(1),)),
        status("Running", RUNS),
        status("Running", RUNS, ended(1)),
        status("Running", BACK_OFF),
        status("Running", ended()),
        status("Running", ended(1)),
        status("Running", ended(), first=(RUNS,)),
        status("Unknown", RUNS),
        status("Unknown", ended()),
        status("Failed", RUNS),
        status("Failed", RUNS, ended(1)),
        status("Failed", ended(), first=(RUNS,)),
        status("Failed", HELD_UP, first=(RUNS,)),
        status("Failed", BACK_OFF),
        status("Failed", ended(), BACK_OFF),
        status("Failed", RUNS, conditions=BY_GC),
        status("Failed", WAITS, conditions=BY_GC),
        status("Failed", conditions=BY_GC),
        status("Failed", ended(), WAITS, conditions=BY_GC),
    ],
)
@pytest.mark.parametrize("deleting", [False, True])
@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never"])
def test_what_may_run_has_no_end(found: dict[str, Any], policy: str, *, deleting: bool) -> None:
    assert end(found, policy=policy, deleting=deleting) is None


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
def test_a_kubelet_not_there_may_start_a_container_anew(policy: str) -> None:
    found = status("Failed", ended(1), conditions=BY_GC)
    assert end(found, policy=policy, deleting=True) is None
    assert end(found, deleting=True) == Exit("failed", 1)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (status("Succeeded", ended()), Exit("finished", 0)),
        (status("Succeeded", ended(), ended()), Exit("finished", 0)),
        (status("Succeeded", ended(message="  done\n well ")), Exit("finished", 0, detail="done well")),
        (status("Succeeded", ended(), first=(ended(), ended(143))), Exit("finished", 0)),
        (status("Failed", ended(1)), Exit("failed", 1)),
        (status("Failed", ended(), ended(3), ended(4)), Exit("failed", 3)),
        (status("Failed", ended(1, message="no such file")), Exit("failed", 1, detail="no such file")),
        (status("Failed", ended(137)), Exit("failed", 137, 9)),
        (status("Failed", ended(143)), Exit("failed", 143, 15)),
        (status("Failed", ended(0, signal=6)), Exit("failed", 0, 6)),
        (status("Failed", ended(128)), Exit("failed", 128)),
        (status("Failed", ended(192)), Exit("failed", 192, 64)),
        (status("Failed", ended(193)), Exit("failed", 193)),
        (status("Failed", ended(255)), Exit("failed", 255)),
        (status("Failed", ended(137, reason="OOMKilled")), Exit("memory", 137, 9)),
        (status("Failed", ended(), ended(137, reason="OOMKilled")), Exit("memory", 137, 9)),
        (status("Failed", ended(75)), Exit("failed", 75)),
        (status("Failed", UNKNOWN), Exit("failed", 137, 9)),
        (status("Failed", {"terminated": {}}), Exit("failed", -1)),
        (status("Failed", {"terminated": None}), Exit("failed", -1)),
    ],
)
@pytest.mark.parametrize("deleting", [False, True])
def test_ends(found: dict[str, Any], expected: Exit, *, deleting: bool) -> None:
    assert end(found, deleting=deleting) == expected


@pytest.mark.parametrize("reason", ["StartError", "ContainerCannotRun"])
def test_a_command_that_is_not_there_was_not_started(reason: str) -> None:
    said = "exec: no such file"
    found = status("Failed", ended(128, reason=reason, message=said))
    assert end(found) == Exit("not_started", 128, detail=said)


@pytest.mark.parametrize("code", [0, 1, 137, 143])
def test_a_pod_that_ran_for_too_long(code: int) -> None:
    said = "Pod was active on the node longer than the specified deadline"
    found = end(status("Failed", ended(code), reason="DeadlineExceeded", message=said))
    assert found is not None
    assert (found.reason, found.code, found.detail) == ("time_limit", code, said)


@pytest.mark.parametrize("code", [0, 1, 137, 143])
@pytest.mark.parametrize(
    ("reason", "expected"), [("Evicted", "failed"), ("Terminated", "host_lost"), ("Preempting", "host_lost")]
)
def test_whether_a_pod_that_its_node_ended_is_at_fault(reason: str, expected: str, code: int) -> None:
    word = "The node was low on resource: memory."
    by_node = disrupted("TerminationByKubelet")
    said = end(status("Failed", ended(code), reason=reason, message=word, conditions=by_node))
    assert said is not None
    assert (said.reason, said.code, said.detail) == (expected, code, word)


def test_a_pod_that_used_more_disk_than_it_may_is_at_fault() -> None:
    said = 'Container c exceeded its local ephemeral storage limit "1Gi".'
    found = end(status("Failed", ended(137), reason="Evicted", message=said))
    assert found == Exit("failed", 137, 9, said)


def test_saved_work_is_saved_whoever_ends_the_pod() -> None:
    found = status("Failed", ended(75), reason="Terminated", conditions=disrupted("TerminationByKubelet"))
    assert end(found, noticed=True) == Exit("yielded", 75)


def test_what_finished_in_time_is_finished_where_its_node_ends_it() -> None:
    found = status("Succeeded", ended(), conditions=disrupted("TerminationByKubelet"))
    assert end(found) == Exit("finished", 0)


def test_saved_work_under_notice() -> None:
    for found in (status("Failed", ended(75)), status("Failed", ended(), ended(75))):
        assert end(found, noticed=True) == Exit("yielded", 75)
        assert end(found, noticed=True, deleting=True) == Exit("yielded", 75)
        assert end(found) == Exit("failed", 75)
    assert end(status("Failed", ended(74)), noticed=True) == Exit("failed", 74)
    assert end(status("Succeeded", ended()), noticed=True) == Exit("finished", 0)


def test_a_pod_that_its_node_does_not_admit() -> None:
    said = "Pod was rejected: Node didn't have enough resource: cpu"
    assert end(status("Failed", reason="OutOfcpu", message=said)) == Exit("not_started", detail=said)
    assert end(status("Failed", reason="OutOfcpu")) == Exit("not_started", detail="OutOfcpu")
    assert end(status("Failed")) == Exit("not_started", detail="no container started")


@pytest.mark.parametrize("waiting", [WAITS, NO_IMAGE, HELD_UP])
def test_a_pod_that_was_deleted_before_it_started(waiting: dict[str, Any]) -> None:
    assert end(status("Pending", waiting), deleting=True) is None
    assert end(status("Failed", waiting), deleting=True) == Exit("not_started", detail="no container started")
    assert end(status("Failed", UNKNOWN), deleting=True) == Exit("failed", 137, 9)


def test_an_init_container_that_failed() -> None:
    assert end(status("Failed", HELD_UP, HELD_UP, first=(ended(), ended(2)))) == Exit("failed", 2)
    killed = ended(137, reason="OOMKilled", message="big")
    assert end(status("Failed", HELD_UP, first=(killed, HELD_UP))) == Exit("memory", 137, 9, "big")
    assert end(status("Failed", HELD_UP, first=(ended(143),)), deleting=True) == Exit("failed", 143, 15)
    found = status("Failed", HELD_UP, first=(ended(),))
    assert end(found, deleting=True) == Exit("not_started", detail="no container started")


def test_sidecars_end_last() -> None:
    assert end(status("Running", ended(), first=(RUNS,))) is None
    assert end(status("Succeeded", ended(), first=(ended(137),))) == Exit("finished", 0)
    assert end(status("Failed", ended(5), first=(ended(),))) == Exit("failed", 5)


def test_what_is_not_bound_runs_nowhere() -> None:
    assert end({}, node="") is None
    assert end(status("Pending"), node="") is None
    assert end(status("Pending"), node="", deleting=True) == Exit("cancel", detail="it was deleted before it was bound")
    found = end(status("Failed", conditions=BY_GC), node="", deleting=True)
    assert found is not None
    assert found.reason == "cancel"
    assert end(status("Failed", message="by hand"), node="") == Exit("not_started", detail="by hand")
    assert end(status("Failed"), node="") == Exit("not_started", detail="it was over before it was bound")


def test_long_messages_are_cut() -> None:
    found = end(status("Failed", ended(1, message="word " * 1000)))
    assert found is not None
    assert len(found.detail) == 400
