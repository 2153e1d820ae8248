"""What is read of the objects of pods and nodes, whole, partial and odd ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes import names, writes
from fairhold.engines.kubernetes.constraints import Taint
from fairhold.engines.kubernetes.pods import Owner, node_of, pod_of

META = {"uid": "u1", "namespace": "ml", "name": "p1", "resourceVersion": "7"}
LEAST = {"metadata": META}


def pod(meta: dict[str, Any] | None = None, spec: Any = None, status: Any = None) -> dict[str, Any]:
    return {"metadata": META | (meta or {}), "spec": spec, "status": status}


WHOLE = pod(
    {
        "labels": {"queue": "risk", "batch.kubernetes.io/controller-uid": "j1"},
        "annotations": {
            names.CONSUMER: "/a",
            names.ATTEMPT: "12",
            names.NOTICE: "{}",
            names.INDEX: "3",
            "other": "x",
        },
        "ownerReferences": [
            {"kind": "ConfigMap", "name": "c", "uid": "c1"},
            {"kind": "Job", "name": "j", "uid": "j1", "controller": True},
        ],
        "finalizers": [names.FINALIZER, "batch.kubernetes.io/job-tracking"],
        "deletionTimestamp": "2026-01-05T09:00:00Z",
    },
    {
        "serviceAccountName": "trader",
        "schedulingGates": [{"name": "other/gate"}, {"name": names.GATE}],
        "nodeName": "n1",
        "nodeSelector": {names.HOSTNAME: "h1"},
        "priority": -5,
        "terminationGracePeriodSeconds": 0,
        "containers": [{"resources": {"requests": {"cpu": "2"}}}],
    },
    {
        "phase": "Running",
        "containerStatuses": [{"state": {"running": {}}}],
        "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": names.RECLAIMED}],
    },
)


def test_a_whole_pod() -> None:
    read = pod_of(WHOLE)
    assert (read.uid, read.namespace, read.name, read.version) == ("u1", "ml", "p1", "7")
    assert read.annotations == {names.CONSUMER: "/a", names.NOTICE: "{}"}
    assert (read.service_account, read.node, read.pinned, read.place) == ("trader", "n1", "h1", "n1")
    assert (read.attempt, read.index, read.priority, read.grace) == (12, "3", -5, 0)
    assert read.owner == Owner("Job", "j", "j1")
    assert read.family == ("ml.j1", "3")
    assert read.amounts == (("cpu", Fraction(2)), ("pods", Fraction(1)))
    assert all((read.is_gated, read.is_kept, read.is_of_job, read.is_deleting, read.is_running))
    assert (read.is_disrupted, read.is_marked, read.is_daemon) == (True, True, False)
    assert (read.notice, read.end) == ("{}", None)


@pytest.mark.parametrize("document", [LEAST, pod(), pod(spec={}, status={}), pod({"labels": None, "finalizers": None})])
def test_a_pod_with_nothing_but_a_name(document: dict[str, Any]) -> None:
    read = pod_of(document)
    assert (read.service_account, read.node, read.place, read.attempt, read.grace) == ("default", "", "", 0, 30)
    assert (read.owner, read.family, read.end, read.trouble, read.gates) == (None, None, None, "", ())
    assert not any((read.is_gated, read.is_kept, read.is_of_job, read.is_deleting, read.is_running, read.is_daemon))
    assert not any((read.is_disrupted, read.is_marked, read.is_released))


@pytest.mark.parametrize("said", ["x", "", "-1", "1.5", " 1", "1e3", "\u0661", "9" * 16, "\u00b2", None])
def test_an_attempt_that_is_no_number_is_none(said: str | None) -> None:
    read = pod_of(pod({"annotations": {names.ATTEMPT: said}}, {"nodeSelector": {names.HOSTNAME: "h1"}}))
    assert (read.attempt, read.place) == (0, "")


def test_a_pod_that_was_let_go_is_where_it_is_pinned() -> None:
    selector = {"nodeSelector": {names.HOSTNAME: "h1"}}
    assert pod_of(pod({"annotations": {names.ATTEMPT: "1"}}, selector)).place == "h1"
    assert pod_of(pod({"annotations": {names.ATTEMPT: "1"}}, selector | {"nodeName": "n1"})).place == "n1"


def test_a_pod_that_its_job_let_go_has_its_family_still() -> None:
    labels = {"labels": {names.JOB_SELECTORS[0]: "j1"}}
    reference = {"ownerReferences": [{"kind": "Job", "name": "j", "uid": "j1", "controller": True}]}
    index = {"annotations": {names.INDEX: "3"}}
    before = pod_of(pod(labels | reference | index))
    patch = writes.release(before).body["metadata"]
    after = pod_of(pod({"annotations": index["annotations"] | patch["annotations"]}))
    assert after.family == before.family
    assert after.is_released
    assert not after.is_of_job
    assert pod_of(pod({"annotations": {names.OWNER: "odd"}})).family is None


@pytest.mark.parametrize(("kind", "is_daemon"), [("DaemonSet", True), ("Node", True), ("ReplicaSet", False)])
def test_pods_that_belong_to_a_node(kind: str, *, is_daemon: bool) -> None:
    owner = {"kind": kind, "name": "n1", "uid": "o1", "controller": True}
    assert pod_of(pod({"ownerReferences": [owner]})).is_daemon is is_daemon
    assert not pod_of(pod({"ownerReferences": [owner | {"controller": False}]})).is_daemon


@pytest.mark.parametrize(
    ("status", "reason", "is_disrupted", "is_marked"),
    [
        ("True", "ReclaimedByFairhold", True, True),
        ("True", "EvictionByEvictionAPI", True, False),
        ("True", None, True, False),
        ("False", "ReclaimedByFairhold", False, False),
        ("Unknown", "ReclaimedByFairhold", False, False),
        (None, None, False, False),
    ],
)
def test_who_says_that_a_pod_is_to_give_way(
    status: str | None, reason: str | None, *, is_disrupted: bool, is_marked: bool
) -> None:
    condition = {"type": names.DISRUPTION, "status": status, "reason": reason}
    read = pod_of(pod(status={"conditions": [{"type": "Ready"}, {}, condition]}))
    assert (read.is_disrupted, read.is_marked) == (is_disrupted, is_marked)


def test_what_is_written_is_read_back_as_ours() -> None:
    written = writes.disrupt(pod_of(LEAST), "why", 0, is_disrupted=True).body["status"]
    assert pod_of(pod(status=written)).is_marked
    written = writes.disrupt(pod_of(LEAST), "why", 0, is_disrupted=False).body["status"]
    assert not pod_of(pod(status=written)).is_disrupted


@pytest.mark.parametrize(
    ("condition", "trouble"),
    [
        ({"status": "False", "reason": "Unschedulable", "message": "0/3 nodes\n fit"}, "0/3 nodes fit"),
        ({"status": "False", "reason": "Unschedulable"}, "kube-scheduler found no node"),
        ({"status": "False", "reason": "SchedulingGated", "message": "waits"}, ""),
        ({"status": "True"}, ""),
        ({}, ""),
    ],
)
def test_why_a_pod_is_not_bound(condition: dict[str, str], trouble: str) -> None:
    assert pod_of(pod(status={"conditions": [{"type": "PodScheduled"} | condition]})).trouble == trouble


def test_an_init_container_runs_too() -> None:
    waiting = [{"state": {"waiting": {"reason": "PodInitializing"}}}]
    found = {"phase": "Pending", "containerStatuses": waiting, "initContainerStatuses": [{"state": {"running": {}}}]}
    assert pod_of(pod(status=found)).is_running
    assert not pod_of(pod(status={"containerStatuses": [{"state": None}, {}]})).is_running


parts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "conditions": st.lists(
            st.sampled_from([{}, {"type": "Ready"}, {"type": "DisruptionTarget", "status": "True"}])
        ),
        "containerStatuses": st.none()
        | st.lists(st.sampled_from([{}, {"state": None}, {"state": {"terminated": None}}, {"state": {"waiting": {}}}])),
        "initContainerStatuses": st.none()
        | st.lists(st.sampled_from([{}, {"state": {"terminated": {"exitCode": 1}}}])),
        "phase": st.sampled_from(["", "Pending", "Running", "Failed", "Succeeded", "Other", None]),
        "reason": st.none() | st.text(max_size=5),
        "message": st.none() | st.text(max_size=5),
    },
)
specs: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "nodeName": st.sampled_from(["", "n1", None]),
        "priority": st.none() | st.integers(-10, 10),
        "containers": st.none() | st.lists(st.sampled_from([{}, {"resources": {}}])),
        "initContainers": st.none() | st.lists(st.sampled_from([{}, {"restartPolicy": "Always"}])),
        "tolerations": st.none() | st.lists(st.sampled_from([{}, {"key": "a"}])),
        "affinity": st.sampled_from([None, {}, {"nodeAffinity": None}, {"nodeAffinity": {}}]),
        "schedulingGates": st.none() | st.just([{}]),
    },
)
metas: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "annotations": st.none() | st.dictionaries(st.sampled_from([names.ATTEMPT, names.OWNER]), st.text(max_size=4)),
        "ownerReferences": st.none() | st.just([{"controller": True}]) | st.just([{}]),
        "deletionTimestamp": st.none() | st.just("2026-01-05T09:00:00Z"),
    },
)


@given(metas, specs, parts)
def test_what_is_missing_stops_nothing(meta: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> None:
    read = pod_of(pod(meta, spec, status))
    assert (read.uid, read.node) == ("u1", spec.get("nodeName") or "")
    assert read.end is None or not read.is_running


def test_a_whole_node() -> None:
    read = node_of(
        {
            "metadata": {"name": "n1", "labels": {"zone": "a"}},
            "spec": {
                "unschedulable": True,
                "taints": [
                    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
                    {"key": "team", "value": "x", "effect": "NoSchedule"},
                    {"key": "soft", "effect": "PreferNoSchedule"},
                ],
            },
            "status": {
                "capacity": {"cpu": "8"},
                "allocatable": {"memory": "1Gi", "cpu": "7910m", "pods": "110", "odd": "x"},
                "nodeInfo": {"bootID": "b1"},
                "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
            },
        }
    )
    assert (read.name, read.labels, read.boot) == ("n1", {"zone": "a"}, "b1")
    assert read.amounts == (("cpu", Fraction(791, 100)), ("memory", Fraction(2**30)), ("pods", Fraction(110)))
    assert read.taints == (Taint("team", "x", "NoSchedule"),)
    assert (read.is_ready, read.is_closed, read.is_lost) == (True, True, False)


@pytest.mark.parametrize("status", ["False", "Unknown", None, "true"])
def test_a_node_that_is_not_ready(status: str | None) -> None:
    found = node_of({"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": status}, {}]}})
    assert not found.is_ready


def test_a_node_with_nothing_but_a_name() -> None:
    for rest in ({}, {"spec": None, "status": None}, {"spec": {"taints": None}, "status": {"nodeInfo": None}}):
        read = node_of({"metadata": {"name": "n1"}} | rest)
        assert (read.labels, read.amounts, read.taints, read.boot) == ({}, (), (), "")
        assert not any((read.is_ready, read.is_closed, read.is_lost))
    assert node_of({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": 8}}}).amounts == (("cpu", Fraction(8)),)


def test_a_node_that_goes_is_closed_and_one_that_is_out_of_service_lost() -> None:
    assert node_of({"metadata": {"name": "n", "deletionTimestamp": "2026-01-05T09:00:00Z"}}).is_closed
    for effect in ("NoExecute", "NoSchedule"):
        taint = {"key": names.OUT_OF_SERVICE, "value": "nodeshutdown", "effect": effect}
        read = node_of({"metadata": {"name": "n"}, "spec": {"taints": [taint]}})
        assert read.is_lost
        assert read.taints == ()
