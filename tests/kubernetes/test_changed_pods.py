"""Pods of a real API server that change after they were accepted, and those of a Deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.kubernetes.estate import Estate, template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
def estate(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    """One node of 32 cores and 4 GPUs."""
    made = Estate(cluster, tmp_path, nodes=1)
    try:
        yield made.serve()
    finally:
        made.close()


def pod(estate: Estate, name: str, cores: str) -> None:
    made = template()["spec"]["containers"][0]
    made["resources"]["requests"] |= {"cpu": cores}
    estate.pod(estate.risk, name, spec={"containers": [made]})


def give(estate: Estate, name: str, cores: str) -> None:
    """The kubelet says what a container has by now."""
    told = {"name": "main", "allocatedResources": {"cpu": cores}, "resources": {"requests": {"cpu": cores}}}
    path = f"/api/v1/namespaces/{estate.risk}/pods/{name}/status"
    estate.api.request("PATCH", path, {"status": {"containerStatuses": [told]}}, STRATEGIC)


def resize(estate: Estate, name: str, cores: str) -> None:
    body = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cores}}}]}}
    path = f"/api/v1/namespaces/{estate.risk}/pods/{name}/resize"
    estate.api.request("PATCH", path, body, STRATEGIC)


def test_units_follow_a_pod_that_is_resized_where_it_runs(estate: Estate) -> None:
    pod(estate, "grows", "1")
    estate.until_states(estate.risk, running=1)
    [before] = [job.name for job in estate.house.client.jobs()]
    give(estate, "grows", "1")
    resize(estate, "grows", "30")

    def job() -> Any:
        there = [each for each in estate.house.client.jobs() if each.name != before]
        return there[0] if there else None

    found = estate.until(job)
    assert (found.tasks["running"], found.document["unit"]["cpu"]) == (1, "30")
    pod(estate, "waits", "4")
    estate.until_waits(estate.risk, "waits", "False")
    assert estate.named(estate.risk, "running") == ["grows"]
    estate.house.kill()
    estate.house.serve()
    give(estate, "grows", "30")
    resize(estate, "grows", "2")
    assert estate.named(estate.risk, "running") == ["grows"], "its kubelet has not taken anything from it yet"
    give(estate, "grows", "2")
    estate.until_states(estate.risk, running=2)


def test_a_pod_whose_nodes_are_narrowed_at_the_gate_waits_for_such_a_node(estate: Estate) -> None:
    pod(estate, "all", "32")
    estate.until_states(estate.risk, running=1)
    pod(estate, "narrow", "1")
    estate.until_waits(estate.risk, "narrow", "False")
    [waits] = [each for each in estate.pods(estate.risk) if each["metadata"]["name"] == "narrow"]
    estate.patch(waits, {"spec": {"nodeSelector": {"disk": "ssd"}}})
    estate.until_waits(estate.risk, "narrow", "NeverFits", "no node has the labels that it asks for: disk=ssd")
    estate.house.kill()
    estate.house.serve()  # by what it asked for before it was the pod of a job that is over
    estate.delete(estate.risk, "all", grace=1)
    estate.until(lambda: not estate.named(estate.risk, "running"))
    estate.api.request(
        "PATCH", f"/api/v1/nodes/{estate.nodes[0]}", {"metadata": {"labels": {"disk": "ssd"}}}, STRATEGIC
    )
    estate.until_states(estate.risk, running=1)
    assert estate.named(estate.risk, "running") == ["narrow"]
    assert [each["metadata"]["uid"] for each in estate.pods(estate.risk)] == [waits["metadata"]["uid"]]


def test_pods_of_a_deployment_are_taken_back_and_come_back(estate: Estate) -> None:
    made = template(labels={"app": "web"}, term_after=0)
    made["spec"] |= {"restartPolicy": "Always"}
    spec = {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": made}
    path = f"/apis/apps/v1/namespaces/{estate.risk}/deployments"
    estate.post(path, {"metadata": {"name": "web"}, "spec": spec})
    estate.until_states(estate.risk, running=4)
    estate.job(estate.trading, "owner", 2)
    estate.until_states(estate.trading, running=2)
    estate.until_states(estate.risk, running=2, gated=2)
    assert max(estate.used().values()) <= 4
    estate.api.request(
        "DELETE", f"/apis/batch/v1/namespaces/{estate.trading}/jobs/owner", {"propagationPolicy": "Background"}
    )
    estate.until_states(estate.risk, running=4)
    estate.api.request("DELETE", f"{path}/web", {"propagationPolicy": "Background"})
    estate.until(lambda: not estate.pods(estate.risk))
