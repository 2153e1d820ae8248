"""The governor on a real control plane: lending, reclaim, ends, users who interfere, and starts after a crash."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import Estate, state_of, template, waits_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane


def test_an_idle_half_is_lent_and_comes_back_in_front_without_a_failure(estate: Estate) -> None:
    estate.job(estate.risk, "borrows", 10, term_after=0)
    estate.until_states(estate.risk, running=8, gated=2)
    estate.job(estate.trading, "owner", 4)
    estate.until_states(estate.trading, running=4)
    estate.until_states(estate.risk, running=4, gated=6)
    status = estate.job_status(estate.risk, "borrows")
    assert (status.get("failed", 0), status["active"]) == (0, 10)
    assert max(estate.used().values()) <= 4


def test_all_pods_of_a_job_are_done_though_some_are_reclaimed(estate: Estate) -> None:
    estate.job(estate.risk, "long", 16, runs_for=2)
    estate.until_states(estate.risk, running=8)
    estate.job(estate.trading, "owner", 8, runs_for=1)
    estate.until(lambda: estate.job_status(estate.trading, "owner").get("succeeded") == 8)
    estate.until(lambda: estate.job_status(estate.risk, "long").get("succeeded") == 16)
    assert estate.job_status(estate.risk, "long").get("failed", 0) == 0
    estate.until(lambda: not [pod for pod in estate.pods(estate.risk) if pod["metadata"].get("finalizers")])


def test_a_notice_tells_deadline_and_cause_and_is_withdrawn(cluster: ControlPlane, tmp_path: Path) -> None:
    with ExitStack() as stack:
        estate = Estate(cluster, tmp_path, nodes=1, grace="60s")
        stack.callback(estate.close)
        estate.serve()
        estate.job(estate.risk, "borrows", 4)
        estate.until_states(estate.risk, running=4)
        owner = estate.pod(estate.trading, "owner")

        def noticed() -> list[dict[str, Any]]:
            return [pod for pod in estate.pods(estate.risk) if names.NOTICE in pod["metadata"]["annotations"]]

        told = estate.until(noticed)
        said = json.loads(told[0]["metadata"]["annotations"][names.NOTICE])
        assert said["taker"] == "/trading"
        assert said["reason"]
        conditions = {each["type"]: each["status"] for each in told[0]["status"]["conditions"]}
        assert conditions[names.DISRUPTION] == "True"
        estate.delete(estate.trading, owner["metadata"]["name"])
        estate.until(lambda: not noticed())
        estate.until_states(estate.risk, running=4)

        def is_disrupted() -> bool:
            pods = {pod["metadata"]["name"]: pod for pod in estate.pods(estate.risk)}
            found = pods[told[0]["metadata"]["name"]]["status"]["conditions"]
            return any(each["type"] == names.DISRUPTION and each["status"] == "True" for each in found)

        estate.until(lambda: not is_disrupted())


def test_an_exit_code_is_read_and_a_failed_pod_is_its_jobs_affair(estate: Estate) -> None:
    estate.pod(estate.risk, "fails", runs_for=0.2, exit_code=3)
    estate.until_states(estate.risk, failed=1)
    done = estate.until(lambda: [job for job in estate.house.client.jobs(finished=True) if job.title == "fails"])
    estate.until(lambda: estate.house.client.job(done[0].name).state == "failed")
    pod = estate.pods(estate.risk)[0]
    estate.until(lambda: not estate.pods(estate.risk)[0]["metadata"].get("finalizers"))
    assert pod["metadata"]["annotations"][names.ATTEMPT]


def test_a_pod_that_its_user_deletes_is_cancelled_waiting_or_running(estate: Estate) -> None:
    for number in range(9):
        estate.pod(estate.risk, f"p{number}")
    estate.until_states(estate.risk, running=8, gated=1)
    waiting = next(pod for pod in estate.pods(estate.risk) if state_of(pod) == "gated")["metadata"]["name"]
    estate.delete(estate.risk, waiting)
    running = next(pod for pod in estate.pods(estate.risk) if state_of(pod) == "running")["metadata"]["name"]
    estate.delete(estate.risk, running, grace=1)
    estate.until(lambda: len(estate.pods(estate.risk)) == 7)
    jobs = estate.until(
        lambda: (
            len(found := [each for each in estate.house.client.jobs(finished=True) if each.state == "cancelled"]) == 2
            and found
        )
    )
    assert {each.title for each in jobs} == {waiting, running}


def test_a_cancelled_job_stops_its_pod_waiting_or_running(estate: Estate) -> None:
    for number in range(9):
        estate.pod(estate.risk, f"p{number}")
    estate.until_states(estate.risk, running=8, gated=1)
    jobs = estate.house.client.jobs()
    waiting = next(job for job in jobs if job.state == "waiting")
    running = next(job for job in jobs if job.state == "running")
    estate.house.client.cancel(waiting.name)
    estate.house.client.cancel(running.name)
    estate.until(
        lambda: {pod["metadata"]["name"] for pod in estate.pods(estate.risk)}.isdisjoint({waiting.title, running.title})
    )


def test_a_pod_of_nobody_waits_until_its_namespace_says_whose_it_is(estate: Estate) -> None:
    name = f"{estate.pool}-new"
    estate.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": {names.GOVERNED: "true"}}})
    try:
        estate.pod(name, "p")
        estate.pod(estate.risk, "known")
        estate.until_states(estate.risk, running=1)
        assert estate.states(name)["gated"] == 1
        body = {"metadata": {"annotations": {names.CONSUMER: "/trading"}}}
        estate.api.request("PATCH", f"/api/v1/namespaces/{name}", body, "application/merge-patch+json")
        estate.until_states(name, running=1)
    finally:
        for pod in estate.pods(name):
            estate.patch(pod, {"metadata": {"finalizers": None}})
        estate.api.request("DELETE", f"/api/v1/namespaces/{name}")


def test_a_pod_that_no_node_can_hold_waits_for_a_larger_node(estate: Estate) -> None:
    estate.pod(estate.risk, "large", gpus=6)
    estate.pod(estate.risk, "small")
    estate.until_states(estate.risk, running=1, gated=1)
    resources = {"cpu": "32", "memory": "64Gi", "nvidia.com/gpu": "8", "pods": "110"}
    estate.nodes += estate.cluster.kwok(1, resources, {"pool": estate.pool}, prefix=f"{estate.pool}-big")
    estate.until_states(estate.risk, running=2)


def test_nothing_starts_on_a_cordoned_node(estate: Estate) -> None:
    first = estate.nodes[0]
    path, media = f"/api/v1/nodes/{first}", "application/merge-patch+json"
    estate.api.request("PATCH", path, {"spec": {"unschedulable": True}}, media)
    estate.until(lambda: any(host.name == first and host.state != "up" for host in estate.house.client.hosts()))
    for number in range(8):
        estate.pod(estate.risk, f"p{number}")
    estate.until_states(estate.risk, running=4, gated=4)
    assert first not in estate.used()
    estate.api.request("PATCH", path, {"spec": {"unschedulable": None}}, media)
    estate.until_states(estate.risk, running=8)


def test_what_others_use_of_a_node_is_not_granted(estate: Estate, namespace: str) -> None:
    foreign = {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "3"}}}]}
    foreign["nodeName"] = estate.nodes[0]  # type: ignore[assignment]
    estate.post(f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": "foreign"}, "spec": foreign})
    for number in range(8):
        estate.pod(estate.risk, f"p{number}")
    estate.until_states(estate.risk, running=5, gated=3)
    estate.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/foreign", {"gracePeriodSeconds": 1})
    estate.until_states(estate.risk, running=8)


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_start_after_a_crash_finds_all_pods(estate: Estate, *, is_lost: bool) -> None:
    estate.job(estate.risk, "work", 10)
    estate.until_states(estate.risk, running=8, gated=2)
    before = {pod["metadata"]["uid"] for pod in estate.pods(estate.risk) if state_of(pod) == "running"}
    estate.house.kill()
    if is_lost:
        for path in estate.house.state.glob("fairhold.*"):
            path.unlink()
    estate.house.serve()
    estate.until(lambda: sum(job.state == "running" for job in estate.house.client.jobs()) == 8)
    estate.job(estate.trading, "owner", 4)
    estate.until_states(estate.trading, running=4)
    estate.until_states(estate.risk, running=4, gated=6)
    left = {pod["metadata"]["uid"] for pod in estate.pods(estate.risk) if state_of(pod) == "running"}
    assert left < before


def test_a_gang_starts_when_all_its_pods_are_there_and_fit(estate: Estate) -> None:
    notes = {names.GANG: "g", names.GANG_SIZE: "6"}
    for number in range(5):
        estate.pod(estate.risk, f"g{number}", notes=notes)
    estate.pod(estate.risk, "alone")
    estate.until_states(estate.risk, running=1, gated=5)
    for number in range(2):
        estate.pod(estate.trading, f"t{number}")
    estate.until_states(estate.trading, running=2)
    estate.pod(estate.risk, "g5", notes=notes)  # five GPUs are free: the gang waits
    estate.until(lambda: any(job.title == "g0" for job in estate.house.client.jobs()))
    assert estate.states(estate.risk) == {"running": 1, "gated": 6}
    estate.delete(estate.risk, "alone", grace=1)
    estate.until_states(estate.risk, running=6, gated=0)
    estate.house.kill()
    estate.house.serve()
    estate.until(lambda: sum(job.tasks["running"] for job in estate.house.client.jobs()) == 8)
    assert estate.states(estate.risk)["running"] == 6


def test_the_pods_of_a_job_are_a_gang_where_they_say_so(estate: Estate) -> None:
    estate.pod(estate.trading, "t")
    estate.until_states(estate.trading, running=1)
    estate.job(estate.risk, "mpi", 8, notes={names.GANG_SIZE: "8"})
    estate.until(lambda: any(job.tasks["tasks"] == 8 for job in estate.house.client.jobs()))
    assert estate.states(estate.risk)["running"] == 0
    estate.delete(estate.trading, "t", grace=1)
    estate.until_states(estate.risk, running=8)
    assert max(estate.used().values()) <= 4


def test_a_pod_says_why_it_waits_and_that_it_does_not_any_more(estate: Estate) -> None:
    estate.job(estate.risk, "all", 8)
    estate.until_states(estate.risk, running=8)
    estate.job(estate.risk, "more", 1)
    estate.pod(estate.risk, "huge", gpus=64)
    estate.until(lambda: len([pod for pod in estate.pods(estate.risk) if waits_for(pod).startswith("False")]) == 2)
    said = {pod["metadata"]["name"][:4]: waits_for(pod) for pod in estate.pods(estate.risk) if waits_for(pod)}
    assert said["huge"].startswith("False NeverFits: it fits no node")
    assert said["more"].startswith("False ")
    estate.delete(
        estate.risk, next(pod["metadata"]["name"] for pod in estate.pods(estate.risk) if state_of(pod) == "running")
    )
    more = [pod for pod in estate.pods(estate.risk) if pod["metadata"]["name"].startswith("more")]

    def runs() -> bool:
        pods = [pod for pod in estate.pods(estate.risk) if pod["metadata"]["name"] == more[0]["metadata"]["name"]]
        return waits_for(pods[0]) == "True Granted: it was let go"

    estate.until(runs)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_bare_pod_comes_back_where_it_says_so(estate: Estate, *, is_killed: bool) -> None:
    for number in range(8):
        estate.pod(estate.risk, f"p{number}", notes={names.RECREATE: "true"}, term_after=1)
    estate.until_states(estate.risk, running=8)
    before = {pod["metadata"]["uid"] for pod in estate.pods(estate.risk)}
    estate.job(estate.trading, "owner", 2)
    if is_killed:
        estate.until(lambda: estate.states(estate.risk)["running"] < 8)
        estate.house.kill()
        estate.house.serve()
    estate.until_states(estate.trading, running=2)
    estate.until_states(estate.risk, running=6, gated=2)
    pods = estate.pods(estate.risk)
    assert {pod["metadata"]["name"] for pod in pods} == {f"p{number}" for number in range(8)}
    assert len(before & {pod["metadata"]["uid"] for pod in pods}) == 6
    estate.api.request(
        "DELETE", f"/apis/batch/v1/namespaces/{estate.trading}/jobs/owner", {"propagationPolicy": "Background"}
    )
    estate.until_states(estate.risk, running=8)


def test_what_cannot_be_bound_is_placed_elsewhere(estate: Estate) -> None:
    made = template(gpus=1)
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    body = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": made}
    estate.post(f"/apis/batch/v1/namespaces/{estate.risk}/jobs", {"metadata": {"name": "ports"}, "spec": body})
    estate.until_states(estate.risk, patience=60, running=2)
    assert len({pod["spec"]["nodeName"] for pod in estate.pods(estate.risk) if state_of(pod) == "running"}) == 2
    assert estate.job_status(estate.risk, "ports").get("failed", 0) == 0
