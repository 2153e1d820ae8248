"""What a real API server will not have: a pod made anew where a quota is full, a grant that another policy denies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.writes import MERGE
from tests.kubernetes.estate import PLAN, Estate, state_of, template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

REFUSED = "tests.fairhold.io/refused"
"""Label of pods that the policy lets nobody grant."""
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
POLICY: dict[str, Any] = {
    "metadata": {"name": "tests-refused"},
    "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "objectSelector": {"matchLabels": {REFUSED: "true"}},
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods"]}
            ],
        },
        "validations": [
            {
                "expression": f"!('{names.ATTEMPT}' in object.metadata.?annotations.orValue({{}}))",
                "message": "images of nobody",
            }
        ],
    },
}
BINDING = {
    "metadata": {"name": "tests-refused"},
    "spec": {"policyName": "tests-refused", "validationActions": ["Deny"]},
}


@pytest.fixture
def estate(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    made = Estate(cluster, tmp_path)
    try:
        yield made.serve()
    finally:
        made.close()


def test_a_pod_for_which_the_quota_is_full_is_made_anew_when_it_is_not(estate: Estate) -> None:
    for number in range(8):
        estate.pod(estate.risk, f"p{number}", notes={names.RECREATE: "true"}, term_after=1)
    estate.until_states(estate.risk, running=8)
    quotas = f"/api/v1/namespaces/{estate.risk}/resourcequotas"
    estate.post(quotas, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "7"}}})
    used = estate.until(
        lambda: (estate.api.request("GET", f"{quotas}/few").get("status") or {}).get("used", {}).get("pods")
    )
    assert used == "8"
    estate.job(estate.trading, "owner", 2)
    estate.until_states(estate.trading, running=2)
    estate.until_states(estate.risk, running=6, gated=1)
    estate.until(lambda: "exceeded quota" in estate.house.said)
    estate.api.request("DELETE", f"{quotas}/few")
    estate.until_states(estate.risk, patience=60, running=6, gated=2)
    assert {pod["metadata"]["name"] for pod in estate.pods(estate.risk)} == {f"p{number}" for number in range(8)}


@pytest.fixture
def refusing(estate: Estate) -> Iterator[Estate]:
    """An estate in whose cluster another policy refuses grants of labelled pods."""
    probe = template(
        labels={REFUSED: "true"}, gated=False, spec={"schedulingGates": [{"name": "tests.fairhold.io/probe"}]}
    )
    probe["metadata"]["name"] = "tests-refused"
    path = "/api/v1/namespaces/default/pods"
    estate.post(POLICIES, POLICY)
    estate.post(POLICIES.replace("policies", "policybindings"), BINDING)
    estate.post(path, probe)

    def is_in_force() -> bool:
        try:
            said = {"metadata": {"annotations": {names.ATTEMPT: "1"}}}
            estate.api.request("PATCH", f"{path}/tests-refused", said, MERGE, dryRun="All")
        except ApiError as error:
            return "images of nobody" in str(error)
        return False

    try:
        estate.until(is_in_force)
        yield estate
    finally:
        for each in (f"{path}/tests-refused", f"{POLICIES}/tests-refused"):
            estate.api.request("DELETE", each)
        estate.api.request("DELETE", f"{POLICIES.replace('policies', 'policybindings')}/tests-refused")


def test_a_grant_that_another_policy_denies_leaves_its_units_to_others(refusing: Estate) -> None:
    refusing.pod(refusing.risk, "refused", gpus=4, labels={REFUSED: "true"})
    refusing.until_waits(refusing.risk, "refused", "Held", "images of nobody")
    for name in ("one", "two"):
        refusing.pod(refusing.risk, name, gpus=4)
    refusing.until_states(refusing.risk, running=2, gated=1)
    assert [pod["metadata"]["name"] for pod in refusing.pods(refusing.risk) if state_of(pod) == "gated"] == ["refused"]


def test_a_bare_pod_that_cannot_be_bound_gives_its_units_back(cluster: ControlPlane, tmp_path: Path) -> None:
    plan = PLAN.replace("kubernetes:\n", "kubernetes:\n  start_within: 8s\n")
    estate = Estate(cluster, tmp_path, nodes=1, plan=plan)
    try:
        estate.serve()
        container = template()["spec"]["containers"][0] | {"ports": [{"containerPort": 80, "hostPort": 8080}]}
        estate.pod(estate.risk, "first", spec={"containers": [container]})
        estate.until_states(estate.risk, running=1)
        estate.pod(estate.risk, "second", spec={"containers": [container]})
        estate.until_waits(estate.risk, "second", "CannotStart", "free ports")
        estate.until(lambda: [pod["metadata"]["name"] for pod in estate.pods(estate.risk)] == ["first"])
        [job] = estate.house.client.jobs(state="failed")
        assert "second" in job.title
    finally:
        estate.close()
