"""`kubectl fairhold` on a real control plane: through its tunnel, with the rights of whoever asks."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fairhold.engines.kubernetes.manifest_rights import VIEWER, viewers
from fairhold.engines.kubernetes.manifest_service import api
from fairhold.engines.kubernetes.manifest_settings import LABELS, ManifestSettings
from tests.kubernetes.estate import Estate, state_of
from tests.kubernetes.programs import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

HOME = "fairhold"


class Desk(NamedTuple):
    """An estate whose service is found in the namespace `fairhold`, and a shell with kubectl and its plugin."""

    estate: Estate
    shell: Path
    token: Path

    def ask(self, *words: str, user: str = "alice", status: int = 0) -> str:
        """What `kubectl fairhold` says to a user."""
        environment = os.environ | {"PATH": f"{self.shell}:{os.environ['PATH']}", "COLUMNS": "200"}
        environment["KUBECONFIG"] = str(self.estate.cluster.kubeconfig(user))
        command = [str(self.shell / "kubectl"), "fairhold", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def desk(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = tmp_path_factory.mktemp("plugin")
    cluster.kubectl("create", "namespace", HOME)
    settings = ManifestSettings()
    for document in (*viewers(settings), api(settings)):
        cluster.kubectl("apply", "--filename=-", stdin=json.dumps(document))
    cluster.kubectl("create", "rolebinding", "viewers", "-n", HOME, f"--role={VIEWER}", "--user=alice")
    cluster.kubectl("create", "clusterrolebinding", "viewing", "--clusterrole=view", "--user=alice")
    token = place / "token"
    data = "jsonpath={.data.token}"
    cluster.until(lambda: cluster.kubectl("get", "secret", VIEWER, "-n", HOME, "-o", data))
    token.write_bytes(base64.b64decode(cluster.kubectl("get", "secret", VIEWER, "-n", HOME, "-o", data)))
    with ExitStack() as stack:
        words = ("--no-lease", "--port", str(cluster.service_port), "--viewer-token", str(token))
        estate = Estate(cluster, place / "estate", *words)
        stack.callback(estate.close)
        estate.serve()
        yield Desk(estate, shell_of(place), token)


def shell_of(place: Path) -> Path:
    """A folder with kubectl and its plugin, as a user has them in PATH."""
    shell = place / "bin"
    shell.mkdir()
    scripts = {
        "kubectl": f'exec "{CLUSTER.path("cluster")}" kubectl "$@"',
        "kubectl-fairhold": f'exec "{sys.executable}" -c "from fairhold.cli.main import kubectl; kubectl()" "$@"',
    }
    for name, script in scripts.items():
        (shell / name).write_text(f"#!/bin/sh\n{script}\n")
        (shell / name).chmod(0o755)
    return shell


def run_service_pod(desk: Desk) -> None:
    """The pod of the service, which kwok plays."""
    container = {"name": "fairhold", "image": "none", "ports": [{"name": "api", "containerPort": 7878}]}
    spec = {"containers": [container], "nodeName": desk.estate.nodes[0]}
    path = f"/api/v1/namespaces/{HOME}/pods"
    desk.estate.post(path, {"metadata": {"name": "fairhold-0", "labels": LABELS}, "spec": spec})
    desk.estate.until(lambda: desk.estate.api.request("GET", f"{path}/fairhold-0")["status"].get("phase") == "Running")


def test_before_its_pod_runs_the_service_is_said_to_be_missing(desk: Desk) -> None:
    said = desk.ask("top", "--once", status=1)
    assert "[kubernetes-no-service]" in said
    assert "describe pods" in said
    run_service_pod(desk)


def test_a_pod_is_explained_from_its_wait_to_its_notice(desk: Desk) -> None:
    estate = desk.estate
    estate.job(estate.risk, "work", 8)
    estate.until_states(estate.risk, running=8)
    estate.pod(estate.risk, "more")
    estate.until(lambda: [job for job in estate.house.client.jobs() if job.title == "more"])
    said = desk.ask("explain", "pod", "more", "-n", estate.risk)
    assert said.startswith(f"pod more of {estate.risk} is waiting, of /risk (")
    assert "it reclaims nothing, because its queue would be above its fair share" in said
    told = json.loads(desk.ask("explain", "pod", "more", "-n", estate.risk, "--json"))
    assert told["pod"]["state"] == "waiting"
    assert told["explanation"]["job"] == told["pod"]["job"]
    assert desk.ask("observed").startswith("8 pods run: 8 would run on, 0 would be told to go\n1 pod wait")
    rows = desk.ask("pods", "-n", estate.risk)
    assert rows.count("running") == 8
    assert rows.count("waiting") == 1


def test_top_and_consumers_are_those_of_the_service(desk: Desk) -> None:
    assert json.loads(desk.ask("top", "--json")) == json.loads(desk.estate.house.fairhold("top", "--json"))
    assert desk.ask("top", "--once").startswith("gpus  gpu 8/8")
    assert "/risk" in desk.ask("explain", "consumer", "/risk")


def test_a_plan_and_a_manifest_of_one_are_compared_with_the_plan_in_force(desk: Desk, tmp_path: Path) -> None:
    text = desk.estate.plan.replace("/trading: {deserved: {gpu: 4}}", "/trading: {deserved: {gpu: 2}}")
    plan = tmp_path / "plan.yaml"
    plan.write_text(text)
    said = desk.ask("diff", str(plan))
    assert "/trading deserved -2 gpu" in said
    body = "\n".join(f"  {line}" for line in text.strip().splitlines())
    manifest = tmp_path / "object.yaml"
    manifest.write_text(f"apiVersion: fairhold.io/v1alpha1\nkind: Plan\nmetadata: {{name: x}}\nspec:\n{body}\n")
    assert "/trading deserved -2 gpu" in desk.ask("diff", str(manifest))
    plan.write_text(text.replace("fair_share", "fair_shares"))
    assert "plan.yaml:" in desk.ask("diff", str(plan), status=1)


def test_whoever_has_no_rights_is_told_what_to_ask_for(desk: Desk) -> None:
    said = desk.ask("top", "--once", user="bob", status=1)
    assert "[kubernetes-rights]" in said
    assert f"--role {VIEWER}" in said
    desk.estate.cluster.kubectl("create", "role", "part", "-n", HOME, "--verb=get", "--resource=secrets")
    desk.estate.cluster.kubectl("create", "rolebinding", "part", "-n", HOME, "--role=part", "--user=bob")
    desk.estate.until(lambda: "services" in desk.ask("top", "--once", user="bob", status=1))
    assert "[kubernetes-rights]" in desk.ask("top", "--once", user="bob", status=1)


def test_what_is_not_there_is_said_as_such(desk: Desk) -> None:
    estate = desk.estate
    assert "[no-such-pod]" in desk.ask("explain", "pod", "nobody", "-n", estate.risk, status=1)
    estate.post("/api/v1/namespaces/default/pods", {"metadata": {"name": "free"}, "spec": {"containers": [MAIN]}})
    said = desk.ask("explain", "pod", "free", status=1)
    assert "does not govern the pod `free`" in said
    assert "[kubernetes-no-service]" in desk.ask(
        "top", "--once", "--fairhold-namespace", "default", user=ADMIN, status=1
    )
    assert "[kubernetes-access]" in desk.ask("top", "--once", "--kubeconfig", "/nowhere", status=1)
    assert "[kubernetes-access]" in desk.ask("top", "--once", "--context", "nobody", status=1)


MAIN = {"name": "main", "image": "none"}
ADMIN = "administrator"


def test_the_viewers_token_changes_nothing(desk: Desk) -> None:
    url = f"http://127.0.0.1:{desk.estate.cluster.service_port}"
    environment = os.environ | {"FAIRHOLD_SERVICE": url, "FAIRHOLD_TOKEN": desk.token.read_text()}
    for words, status in ((("jobs",), 0), (("cancel", "1"), 1), (("stop", "--no-wait"), 1), (("pause",), 1)):
        command = [sys.executable, "-m", "fairhold", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        assert ("[not-allowed]" in done.stderr) == bool(status)


def test_what_would_start_a_pod_is_told_and_helps(desk: Desk) -> None:
    estate = desk.estate
    said = desk.ask("suggest", "pod", "more", "-n", estate.risk)
    assert said.startswith(f"pod more of {estate.risk} is waiting")
    told = json.loads(desk.ask("suggest", "pod", "more", "-n", estate.risk, "--json"))
    assert told["suggestions"]["would_help"]
    running = next(pod for pod in estate.pods(estate.risk) if state_of(pod) == "running")["metadata"]["name"]
    assert "nothing to suggest" in desk.ask("suggest", "pod", running, "-n", estate.risk)
