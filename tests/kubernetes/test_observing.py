"""A service that only looks, beside other schedulers on a real control plane, with rights to look alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.client.errors import Refused
from fairhold.engines.kubernetes.manifest import documents
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from tests.kubernetes.control_plane import SERVICE
from tests.kubernetes.estate import Estate, template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

KUEUE = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
KAI = {"schedulerName": "kai-scheduler"}


@pytest.fixture
def seen(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    """An estate whose service may only look, as the manifest gives it the rights."""
    for document in documents(ManifestSettings(user=SERVICE, observes=True)):
        if document["kind"] in {"ClusterRole", "ClusterRoleBinding"}:
            cluster.kubectl("apply", "--filename=-", stdin=json.dumps(document))
    words = ("--observe-only", "--kubernetes", "--kubeconfig", str(cluster.kubeconfig(SERVICE)))
    made = Estate(cluster, tmp_path, *words, nodes=1)
    try:
        yield made.serve()
    finally:
        made.close()


def pod(estate: Estate, namespace: str, name: str, **spec: Any) -> None:
    made = template(gated=False)
    made["metadata"]["name"] = name
    made["spec"] |= spec
    estate.post(f"/api/v1/namespaces/{namespace}/pods", made)


def observed(estate: Estate) -> dict[str, Any]:
    return dict(estate.house.client.observed())


def until_waiting(estate: Estate, **counts: int) -> dict[str, Any]:
    """Wait until so many pods wait; what is told then."""

    def found() -> dict[str, Any] | None:
        told = observed(estate)
        return told if all(told["waiting"][name] == number for name, number in counts.items()) else None

    told: dict[str, Any] = estate.until(found)
    return told


def versions(estate: Estate) -> dict[str, str]:
    """Resource versions of all pods, which change with each write."""
    pods = [*estate.pods(estate.risk), *estate.pods(estate.trading)]
    return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in pods}


def test_what_waits_in_kueue_and_kai_would_start_and_stays_as_it_is(seen: Estate) -> None:
    for number in range(3):
        pod(seen, seen.risk, f"kai-{number}", **KAI)
        pod(seen, seen.risk, f"kueue-{number}", **KUEUE)
    before = versions(seen)
    told = until_waiting(seen, start=4, wait=2)
    assert {row["action"] for row in told["actions"]} == {"start"}
    assert told["running"] == {"keep": 0, "notice": 0, "stop": 0}
    said = seen.house.fairhold("kubernetes", "observed")
    assert "6 pods wait: 4 would start, 2 would wait on" in said
    explained = seen.house.fairhold("explain", f"{seen.risk}/kai-0")
    assert "is waiting, of /risk" in explained
    assert "Fairhold would start it now on " in explained or "its queue would be above its fair share" in explained
    assert versions(seen) == before


def test_what_the_cluster_started_would_be_told_to_go_where_others_wait(seen: Estate) -> None:
    for number in range(4):
        pod(seen, seen.risk, f"runs-{number}")  # kube-scheduler takes them at once
    seen.until_states(seen.risk, running=4)
    suspended = {"suspend": True, "parallelism": 2, "completions": 2}
    seen.job(seen.trading, "owner", 2, spec=suspended, gated=False)
    before = versions(seen)
    told = until_waiting(seen, start=0, wait=2)
    assert told["running"] == {"keep": 2, "notice": 2, "stop": 0}
    assert {(row["action"], row["taker"]) for row in told["actions"]} == {("notice", "/trading")}
    explained = seen.house.fairhold("explain", f"{seen.risk}/{told['actions'][0]['pod']}")
    assert "is running, of /risk" in explained
    assert "Fairhold would tell it now to go by " in explained
    assert versions(seen) == before
    path = f"/apis/batch/v1/namespaces/{seen.trading}/jobs/owner"
    seen.api.request("PATCH", path, {"spec": {"suspend": False}}, "application/merge-patch+json")
    seen.until(lambda: len(seen.pods(seen.trading)) == 2)
    until_waiting(seen, start=0, wait=2)
    seen.house.kill()
    seen.house.serve()
    assert until_waiting(seen, start=0, wait=2)["running"] == {"keep": 2, "notice": 2, "stop": 0}


def test_one_that_has_looked_may_govern_and_what_runs_keeps_its_jobs(seen: Estate) -> None:
    for number in range(4):
        pod(seen, seen.risk, f"runs-{number}")
    seen.until(lambda: observed(seen)["running"]["keep"] == 4)
    pod(seen, seen.risk, "held", **KUEUE)
    until_waiting(seen, wait=1)
    jobs = {job.title: job.name for job in seen.house.client.jobs(state="running")}
    seen.house.kill()
    seen.house.words = ("--kubernetes", "--kubeconfig", str(seen.cluster.kubeconfig()), "--no-lease")
    seen.house.serve()
    seen.until(lambda: {job.title: job.name for job in seen.house.client.jobs(state="running")} == jobs)
    seen.job(seen.trading, "owner", 2)
    seen.until_states(seen.trading, running=2)
    assert seen.states(seen.risk)["running"] == 2


def test_nobody_changes_jobs_and_plans_may_be_tried(seen: Estate, tmp_path: Path) -> None:
    pod(seen, seen.risk, "waits", **KUEUE)
    until_waiting(seen, start=1)
    [job] = seen.house.client.jobs()
    with pytest.raises(Refused) as caught:
        seen.house.client.cancel(job)
    assert caught.value.faults[0].code == "only-observing"
    plan = tmp_path / "other.yaml"
    plan.write_text(seen.plan.replace(f'namespace: "{seen.risk}"', 'namespace: "nobodys"'))
    command = ["plan", "apply", str(plan), "--yes"]
    assert "is in force" in seen.house.fairhold(*command)
    until_waiting(seen, start=0, wait=0, refused=0)
    plan.write_text(seen.plan)
    assert "is in force" in seen.house.fairhold(*command)
    until_waiting(seen, start=1)


def test_the_manifest_of_one_that_observes_can_be_applied(cluster: ControlPlane) -> None:
    found = documents(ManifestSettings(plan="fairhold: 1\n", observes=True))
    assert not any("Policy" in each["kind"] for each in found)
    verbs = {
        verb
        for each in found
        if each["kind"] == "ClusterRole"
        for rule in each["rules"]
        for verb in rule["verbs"]
        if rule["resources"] != ["plans/status"]
    }
    assert verbs == {"get", "list", "watch"}
    text = "".join(f"---\n{json.dumps(each)}\n" for each in found)
    said = cluster.kubectl("apply", "--server-side", "--dry-run=server", "--filename=-", stdin=text_without_homes(text))
    assert "fairhold" in said


def text_without_homes(text: str) -> str:
    """Of a manifest, what needs no namespace that is there already."""
    return "".join(f"---\n{part}" for part in text.split("---\n") if part and '"namespace"' not in part)
