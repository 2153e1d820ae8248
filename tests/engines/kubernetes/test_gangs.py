"""Pods that start together: which they are, when they start, how they grow and shrink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.gangs import COSCHEDULING, JOBS, NATIVE
from tests.engines.kubernetes.pretended import Pretended
from tests.engines.kubernetes.test_gang_objects import job_spec

if TYPE_CHECKING:
    from pathlib import Path

LABELLED = {"scheduling.x-k8s.io/pod-group": "g"}


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path)


def test_pods_of_a_pod_group_wait_for_it_and_for_each_other(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    for number in range(3):
        cluster.pod(f"p{number}", labels=LABELLED)
    cluster.settle()
    assert cluster.why("p0") == "GangUnknown: its PodGroup `g` is not there; create it; the pod waits"
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 4}})
    cluster.settle()
    assert cluster.why("p0").startswith("GangIncomplete: 4 pods of its PodGroup `g` start together")
    assert cluster.running() == []
    cluster.pod("p3", labels=LABELLED)
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2", "p3"]


def test_a_pod_group_that_the_cluster_does_not_know_is_no_gang(cluster: Pretended) -> None:
    cluster.pod("p0", labels=LABELLED)
    cluster.settle()
    assert cluster.running() == ["p0"]


def test_pods_start_by_themselves_when_the_cluster_has_no_pod_groups_any_more(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    cluster.pod("p0", labels=LABELLED)
    cluster.settle()
    assert cluster.running() == []
    cluster.lack(COSCHEDULING)
    cluster.settle()
    assert cluster.running() == ["p0"]


@pytest.mark.parametrize("spec", [{"minMember": 1}, {"minMember": 0}])
def test_pods_of_a_group_of_one_start_by_themselves(cluster: Pretended, spec: dict[str, Any]) -> None:
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "g", {"spec": spec})
    cluster.pod("p0", labels=LABELLED)
    cluster.pod("p1", labels=LABELLED, gpus=2)
    cluster.settle()
    assert cluster.running() == ["p0", "p1"]


def test_a_smaller_minimum_starts_what_waits_and_a_larger_one_holds_it(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 3}})
    busy = [cluster.pod(f"b{number}", namespace="trading") for number in range(6)]
    assert busy
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", labels=LABELLED)
    cluster.settle()
    assert (len(cluster.running("trading")), cluster.running()) == (6, [])
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 4}})
    cluster.delete("b0")
    cluster.settle(8)
    assert cluster.running() == []
    assert "3 of the 4 pods of its PodGroup `g` are there" in cluster.why("p0")
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 2}})
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]


def test_a_group_that_is_deleted_holds_its_pods_until_it_is_back(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 2}})
    for number in range(8):
        cluster.pod(f"b{number}", namespace="trading")
    cluster.settle()
    for number in range(2):
        cluster.pod(f"p{number}", labels=LABELLED)
    cluster.settle()
    cluster.lose_group(COSCHEDULING, "g")
    cluster.delete("b0")
    cluster.delete("b1")
    cluster.settle(8)
    assert cluster.running() == []
    assert "its PodGroup `g` is not there any more" in cluster.why("p0")
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 2}})
    cluster.settle()
    assert cluster.running() == ["p0", "p1"]
    cluster.lose_group(COSCHEDULING, "g")
    cluster.settle()
    assert cluster.running() == ["p0", "p1"]


def test_the_most_valuable_pods_start_first_and_go_last(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 2}})
    for number, cost in enumerate(("-5", "0", "10", "3", "x")):
        cluster.pod(f"p{number}", labels=LABELLED, annotations={names.DELETION_COST: cost})
    cluster.settle()
    assert len(cluster.running()) == 5
    for gone, number in (("p0", 4), ("p4", 1), ("p1", 1)):
        before = set(cluster.running())
        for each in range(number):
            cluster.pod(f"{gone}-{each}", namespace="trading")
            cluster.settle()
        assert before - set(cluster.running()) == {gone}


def test_a_gang_gives_one_by_one_down_to_its_minimum_and_then_whole(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "3", names.GANG: "g"}
    for number in range(6):
        cluster.pod(f"p{number}", annotations=notes)
    cluster.settle()
    assert len(cluster.running()) == 6
    for number, left in ((4, 4), (5, 3), (6, 0)):
        for each in range(number if number == 4 else 1):
            cluster.pod(f"t{number}-{each}", namespace="trading")
        cluster.settle()
        assert len(cluster.running()) == left, number
    assert cluster.jobs() == [job for job in cluster.jobs() if job.consumer == "/trading"]


def test_pods_that_come_later_join_and_start_when_there_is_room(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "2"}
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for number in range(4):
        cluster.pod(f"p{number}", annotations=notes, job="j")
        cluster.settle()
    assert cluster.running() == ["p0", "p1"]
    [job] = [each for each in cluster.jobs() if each.consumer == "/risk"]
    assert (job.terms.tasks, job.terms.min_count, job.running) == (4, 2, 2)
    cluster.delete("t0")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]
    cluster.restart()
    cluster.delete("t1")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2", "p3"]
    for number in range(4):
        cluster.finish(f"p{number}")
    cluster.settle()
    assert not [each for each in cluster.jobs() if each.consumer == "/risk"]
    cluster.pod("p9", annotations=notes, job="j")
    cluster.settle()
    assert cluster.why("p9").startswith("GangIncomplete")


def test_a_pod_that_its_user_deletes_takes_no_other_with_it(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "3"}
    for number in range(3):
        cluster.pod(f"p{number}", annotations=notes, job="j")
    cluster.settle()
    cluster.delete("p1")
    cluster.settle()
    assert cluster.running() == ["p0", "p2"]
    cluster.pod("p3", annotations=notes, job="j")
    cluster.settle()
    assert cluster.running() == ["p0", "p2", "p3"]
    assert len(cluster.jobs()) == 1


def test_a_gang_at_the_gate_that_loses_a_pod_waits_for_another(cluster: Pretended) -> None:
    for number in range(8):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    notes = {names.GANG_SIZE: "3"}
    for number in range(3):
        cluster.pod(f"p{number}", annotations=notes, job="j")
    cluster.settle()
    cluster.delete("p0")
    for number in range(3):
        cluster.delete(f"t{number}")
    cluster.settle(8)
    assert cluster.running() == []
    assert "2 of the 3 pods of its gang are there" in cluster.why("p1")
    cluster.pod("p3", annotations=notes, job="j")
    cluster.settle()
    assert cluster.running() == ["p1", "p2", "p3"]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_whole_gang_that_was_reclaimed_starts_again_together(cluster: Pretended, *, restarts: bool) -> None:
    notes = {names.GANG_SIZE: "all"}
    cluster.group(JOBS, "j", {"spec": job_spec(parallelism=3)})
    for number in range(3):
        cluster.pod(f"p{number}", annotations=notes, job="j", gpus=2)
    cluster.settle()
    assert len(cluster.running()) == 3
    for number in range(8):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    assert (cluster.running(), len(cluster.running("trading"))) == ([], 8)
    if restarts:
        cluster.restart()
    [job] = [each for each in cluster.jobs() if each.consumer == "/risk"]
    for number in range(3, 6):
        assert cluster.running() == []
        cluster.pod(f"p{number}", annotations=notes, job="j", gpus=2)
        cluster.settle()
    for number in range(6):
        cluster.delete(f"t{number}")
    cluster.settle()
    assert cluster.running() == ["p3", "p4", "p5"]
    assert [each.name for each in cluster.jobs() if each.consumer == "/risk"] == [job.name]


def test_what_is_beyond_the_minimum_and_comes_back_late_is_not_waited_for(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "2"}
    for number in range(4):
        cluster.pod(f"p{number}", annotations=notes, job="j", gpus=2)
    cluster.settle()
    cluster.pod("t", namespace="trading", gpus=4)
    cluster.settle()
    assert cluster.running() == ["p0", "p1"]
    [job] = [each for each in cluster.jobs() if each.consumer == "/risk"]
    assert (job.hold, job.waiting, job.reclaimed + job.cancelled) == (None, 0, 2)
    cluster.pod("p4", annotations=notes, job="j", gpus=2)
    cluster.delete("t")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p4"]


def test_pods_that_differ_do_not_start_and_say_why(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "2", names.GANG: "g"}
    cluster.pod("launcher", annotations=notes)
    cluster.pod("worker", annotations=notes, gpus=4)
    cluster.settle()
    for name in ("launcher", "worker"):
        assert cluster.why(name).startswith(
            "GangDiffers: `launcher` and `worker` of its gang ask for different resources; make them alike"
        )
    cluster.delete("launcher")
    cluster.pod("worker-2", annotations=notes, gpus=4)
    cluster.settle()
    assert cluster.running() == ["worker", "worker-2"]
    cluster.pod("late", annotations=notes, gpus=1)
    cluster.settle()
    assert cluster.why("late").startswith("GangDiffers")


def test_a_gang_that_can_never_fit_says_so(cluster: Pretended) -> None:
    for number in range(3):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "3", names.GANG: "g"}, gpus=4)
    cluster.settle()
    for number in range(3):
        assert cluster.why(f"p{number}").startswith("NeverFits: 3 pods at once can never start: all nodes")


def test_a_gang_whose_minimum_can_never_fit_any_more_says_so(cluster: Pretended) -> None:
    cluster.serve(COSCHEDULING)
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 2}})
    for number in range(8):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", labels=LABELLED, gpus=4)
    cluster.settle()
    cluster.group(COSCHEDULING, "g", {"spec": {"minMember": 3}})
    cluster.settle(8)
    assert "3 pods at once can never start" in cluster.why("p0")


@pytest.mark.parametrize("size", ["", "x", "all"])
def test_a_size_that_is_no_number_is_told(cluster: Pretended, size: str) -> None:
    cluster.pod("p", annotations={names.GANG_SIZE: size})
    cluster.settle()
    assert cluster.why("p").startswith(f"GangSize: its annotation `{names.GANG_SIZE}` is no number of pods")


def test_pods_that_ran_before_are_adopted_as_a_gang(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path)
    notes = {names.GANG_SIZE: "3"}
    for number in range(4):
        cluster.pod(f"p{number}", annotations=notes, job="j", nodeName="n1", schedulingGates=[])
        cluster.named(f"p{number}")["status"] = {"containerStatuses": [{"containerID": "c", "state": {"running": {}}}]}
    cluster.begin()
    [job] = cluster.jobs()
    assert (job.running, job.terms.min_count) == (4, 3)


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_gang_at_the_gate_is_the_same_job_after_a_start(cluster: Pretended, *, snapshot: bool) -> None:
    for number in range(8):
        cluster.pod(f"t{number}", namespace="trading")
    for number in range(3):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "3", names.GANG: "g"})
    cluster.settle()
    before = [job.name for job in cluster.jobs()]
    cluster.restart(snapshot=snapshot)
    assert [job.name for job in cluster.jobs()] == before
    for number in range(3):
        cluster.delete(f"t{number}")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]


@pytest.mark.parametrize("policy", [{"gang": {"minCount": 2}}, {"basic": {}}])
def test_all_pods_of_a_group_of_kubernetes_itself_start_together(cluster: Pretended, policy: dict[str, Any]) -> None:
    cluster.serve(NATIVE)
    cluster.group(NATIVE, "w", {"spec": {"schedulingPolicy": policy}})
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for number in range(3):
        cluster.pod(f"p{number}", schedulingGroup={"podGroupName": "w"})
    cluster.settle()
    assert cluster.running() == []
    cluster.delete("t0")
    cluster.settle()
    assert cluster.running() == ["p0", "p1", "p2"]
    [job] = [each for each in cluster.jobs() if each.consumer == "/risk"]
    cluster.settle()
    assert job.terms.min_count == (2 if "gang" in policy else 1)
    cluster.pod("p3", schedulingGroup={"podGroupName": "w"})
    cluster.settle()
    assert (job.terms.tasks, job.terms.min_count) == (4, 4)


def test_pods_that_wait_start_by_their_worth_whoever_came_first(cluster: Pretended) -> None:
    notes = {names.GANG_SIZE: "2"}
    for number in range(6):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle()
    for index in (1, 0, 10, 9, 2):
        cluster.pod(f"p-{index}", annotations=notes | {names.INDEX: str(index)}, job="j")
        cluster.settle()
    assert cluster.running() == ["p-0", "p-1"]
    for number, index in enumerate((2, 9, 10)):
        cluster.restart()
        cluster.delete(f"t{number}")
        cluster.settle()
        assert f"p-{index}" in cluster.running()
        assert len(cluster.running()) == 3 + number
    cluster.pod("t9", namespace="trading")
    cluster.settle()
    assert cluster.running() == ["p-0", "p-1", "p-2", "p-9"]


def test_what_a_pod_says_of_its_gang_may_be_mended_while_it_waits(cluster: Pretended) -> None:
    cluster.pod("p", annotations={names.GANG_SIZE: "x"})
    cluster.settle()
    cluster.named("p")["metadata"]["annotations"][names.GANG_SIZE] = "1"
    cluster.see(cluster.named("p"))
    cluster.settle()
    assert cluster.running() == ["p"]


def test_pods_that_come_as_their_gang_ends_are_another_one(cluster: Pretended) -> None:
    for number in range(2):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "2"}, job="j")
    cluster.settle()
    for number in range(2):
        cluster.finish(f"p{number}")
    cluster.pod("p2", annotations={names.GANG_SIZE: "2"}, job="j")  # seen in the same round
    cluster.settle()
    assert cluster.running() == []
    cluster.pod("p3", annotations={names.GANG_SIZE: "2"}, job="j")
    cluster.settle()
    assert cluster.running() == ["p2", "p3"]


def test_a_gang_that_cannot_be_bound_is_placed_again_whole_and_fails_no_job(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, nodes={"n1": 4, "n2": 4})
    for number in range(2):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "2"}, job="j")
    cluster.settle()
    assert {cluster.named(f"p{number}")["spec"]["nodeName"] for number in range(2)} == {"n1"}
    document = cluster.named("p0")
    del document["spec"]["nodeName"]
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "a port is taken"}
    document["status"] = {"conditions": [condition]}
    cluster.see(document)
    cluster.settle(16)
    cluster.see(document)
    cluster.settle()
    assert cluster.jobs() == []
    assert not any(set(names.JOB_SELECTORS) & set(each["metadata"]["labels"]) for each in cluster.released)
    assert len(cluster.released) == 2
    for number in range(2, 4):
        cluster.pod(f"p{number}", annotations={names.GANG_SIZE: "2"}, job="j")
    cluster.settle()
    assert {cluster.named(f"p{number}")["spec"]["nodeName"] for number in range(2, 4)} == {"n2"}
