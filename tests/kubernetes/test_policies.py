"""The policies and the rights of the manifest, on a real control plane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from fairhold.engines.kubernetes import names, writes
from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.manifest import documents, text_of
from fairhold.engines.kubernetes.manifest_policies import QUEUE_LABELS, policies
from fairhold.engines.kubernetes.manifest_rights import namespace as own_namespace
from fairhold.engines.kubernetes.manifest_rights import rights
from fairhold.engines.kubernetes.manifest_service import pod_spec
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from fairhold.engines.kubernetes.pods import pod_of
from tests.engines.kubernetes.test_work import NOTICE
from tests.faults.house import until
from tests.kubernetes.control_plane import ADMINISTRATOR, SERVICE, ControlPlane, KubectlError
from tests.kubernetes.spaces import CONTAINERS, Service, Space, gates, is_allowed, is_gated_at_once, is_guarded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = ManifestSettings(user=SERVICE)
OTHERS = ("alice", ADMINISTRATOR)
NODE = "manifest-0"
SERVICE_WRITES = {names.ATTEMPT: "1", names.NOTICE: "{}", names.OWNER: "u/"}


@pytest.fixture(scope="module")
def in_force(cluster: ControlPlane) -> Iterator[ControlPlane]:
    """A cluster with rights and policies; they are gone afterwards."""
    text, probes = text_of([own_namespace(SETTINGS), *rights(SETTINGS), *policies(SETTINGS)]), "manifest-probes"
    cluster.kwok(nodes=1, prefix="manifest", labels={"pool": "manifest"})
    cluster.kubectl("create", "namespace", probes)
    cluster.kubectl("label", "namespace", probes, f"{names.GOVERNED}=true")
    cluster.kubectl("apply", "--server-side", "--filename=-", stdin=text)
    cluster.until(lambda: is_gated_at_once(cluster, probes) and is_guarded(cluster, probes))
    yield cluster
    cluster.kubectl("delete", "--filename=-", "--wait=false", stdin=text)
    cluster.until(lambda: not is_gated_at_once(cluster, probes) and not is_guarded(cluster, probes))
    cluster.kubectl("delete", "namespace", probes, "--wait=false")
    cluster.kubectl("delete", "nodes", "--selector=pool=manifest")


@pytest.fixture
def free(in_force: ControlPlane, namespace: str) -> Space:
    """A namespace that is not governed, in which alice may edit."""
    space = Space(in_force, namespace)
    space.kubectl("create", "rolebinding", "edit", "--clusterrole=edit", "--user=alice")
    return space


@pytest.fixture
def governed(free: Space) -> Iterator[Space]:
    """A namespace that is governed, in which alice may edit."""
    free.cluster.kubectl("label", "namespace", free.name, f"{names.GOVERNED}=true")
    free.cluster.until(lambda: is_gated_at_once(free.cluster, free.name))
    yield free
    for pod in free.all():
        if names.FINALIZER in pod["metadata"].get("finalizers", ()):
            free.patch(pod["metadata"]["name"], {"metadata": {"finalizers": None}}, SERVICE)


@pytest.fixture
def service(in_force: ControlPlane) -> Iterator[Service]:
    api = Api(find_access(in_force.kubeconfig(SERVICE)))
    yield Service(api)
    api.close()


def test_pods_of_governed_namespaces_wait_at_the_gate_and_others_do_not(
    governed: Space, in_force: ControlPlane
) -> None:
    governed.create("plain")
    governed.create("twice", spec={"schedulingGates": [{"name": names.GATE}]})
    governed.create("other", spec={"schedulingGates": [{"name": "example.com/other"}]})
    assert governed.gates("plain") == governed.gates("twice") == [names.GATE]
    assert governed.gates("other") == ["example.com/other", names.GATE]
    in_force.kubectl("label", "namespace", governed.name, f"{names.GOVERNED}-")
    in_force.until(lambda: not is_gated_at_once(in_force, governed.name))
    governed.create("free")
    assert governed.gates("free") == []


def test_a_pod_that_names_its_node_itself_is_refused(governed: Space) -> None:
    with pytest.raises(KubectlError, match="nodeName: Forbidden: cannot be set until all schedulingGates"):
        governed.create("pinned", spec={"nodeName": NODE})


def test_pods_of_jobs_and_replica_sets_are_gated_and_those_of_daemon_sets_are_not(governed: Space) -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
    governed.kubectl("create", "job", "batch", "--image=none", user="alice")
    governed.kubectl("create", "deployment", "web", "--image=none", user="alice")
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "daemon"},
        "spec": {
            "selector": {"matchLabels": {"app": "x"}},
            "template": template | {"spec": {"containers": CONTAINERS, "nodeSelector": {"pool": "manifest"}}},
        },
    }
    governed.kubectl("create", "--filename=-", user="alice", stdin=daemon)

    def kinds() -> dict[str, list[str]]:
        return {pod["metadata"]["ownerReferences"][0]["kind"]: gates(pod) for pod in governed.all()}

    until(lambda: kinds() == {"Job": [names.GATE], "ReplicaSet": [names.GATE], "DaemonSet": []})
    until(lambda: any(pod["status"].get("phase") == "Running" for pod in governed.all()))


def test_pods_of_a_job_have_the_label_by_which_the_job_names_its_queue(governed: Space) -> None:
    """Kueue's users label Jobs. A label of the template stays, and other Jobs stay as they are."""
    queue, kai = QUEUE_LABELS

    def pods_of(name: str, labels: dict[str, str], own: dict[str, str]) -> dict[str, str]:
        template = {"metadata": {"labels": own}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
        meta = {"name": name, "labels": labels}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}
        governed.kubectl("create", "--filename=-", user="alice", stdin=job)
        found: str = governed.kubectl("get", "job", name, "--output=jsonpath={.spec.template.metadata.labels}")
        return {key: value for key, value in json.loads(found).items() if key in {queue, kai, "app"}}

    governed.cluster.until(lambda: pods_of(f"j{time.monotonic_ns()}", {queue: "nights"}, {}) == {queue: "nights"})
    assert pods_of("both", {queue: "nights", kai: "b"}, {"app": "x"}) == {queue: "nights", kai: "b", "app": "x"}
    assert pods_of("own", {queue: "nights"}, {queue: "days"}) == {queue: "days"}
    assert pods_of("none", {"app": "y"}, {"app": "x"}) == {"app": "x"}


def test_a_pod_belongs_to_its_node_where_a_node_says_so_and_not_where_a_user_does(governed: Space) -> None:
    uid = governed.cluster.kubectl("get", "node", NODE, "--output=jsonpath={.metadata.uid}")
    of_node = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": uid, "controller": True}
    of_daemon = of_node | {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "none"}

    def made(owner: object, spec: object, *words: str, user: str = "alice") -> list[str]:
        meta = {"name": "pod", "ownerReferences": [owner]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        words = ("create", "--dry-run=server", "--output=json", "--filename=-", *words)
        return gates(json.loads(governed.kubectl(*words, user=user, stdin=pod)))

    assert made(of_node, {"containers": CONTAINERS}) == made(of_daemon, {"containers": CONTAINERS}) == [names.GATE]
    assert made(of_daemon, {"containers": CONTAINERS}, user=ADMINISTRATOR) == []
    node = (f"--as=system:node:{NODE}", "--as-group=system:nodes", "--as-group=system:authenticated")
    assert made(of_node, {"containers": CONTAINERS, "nodeName": NODE}, *node, user=ADMINISTRATOR) == []


@pytest.mark.parametrize("user", OTHERS)
def test_nobody_else_takes_away_what_fairhold_has_written(governed: Space, service: Service, user: str) -> None:
    governed.create("waits")
    governed.create("granted")
    with governed.refuses(names.GATE):
        governed.patch("waits", {"spec": {"schedulingGates": None}}, user)
    service.do(writes.grant(governed.pod("granted"), "nowhere", 3))
    service.do(writes.notice(governed.pod("granted"), NOTICE))
    with governed.refuses(names.FINALIZER):
        governed.patch("granted", {"metadata": {"finalizers": None}}, user)
    for key in (names.ATTEMPT, names.NOTICE):
        for value in (None, "4"):
            with governed.refuses(key):
                governed.patch("granted", {"metadata": {"annotations": {key: value}}}, user)
    governed.patch("granted", {"metadata": {"annotations": {"own": "1"}, "labels": {"own": "1"}}}, user)
    assert governed.pod("granted").attempt == 3
    assert governed.pod("granted").is_kept


@pytest.mark.parametrize("user", OTHERS)
def test_nobody_else_writes_what_fairhold_writes(governed: Space, user: str) -> None:
    for key, value in SERVICE_WRITES.items():
        with governed.refuses(key):
            governed.create("made", user, annotations={key: value})
    with governed.refuses(names.FINALIZER):
        governed.create("made", user, finalizers=[names.FINALIZER])
    governed.create("plain", user, finalizers=["example.com/own"], annotations={"own": "1"})
    for key, value in SERVICE_WRITES.items():
        with governed.refuses(key):
            governed.patch("plain", {"metadata": {"annotations": {key: value}}}, user)
    with governed.refuses(names.FINALIZER):
        governed.patch("plain", {"metadata": {"finalizers": ["example.com/own", names.FINALIZER]}}, user)
    governed.patch("plain", {"metadata": {"finalizers": None}}, user)


@pytest.mark.parametrize("user", OTHERS)
def test_a_pod_names_no_consumer_but_those_of_its_namespace(governed: Space, user: str) -> None:
    def named(path: str) -> dict[str, str]:
        return {names.CONSUMER: path}

    with governed.refuses(names.CONSUMER):
        governed.create("early", user, annotations=named("/Bank/Risk"))
    listed = f"{names.CONSUMERS}=/Bank/FX, /Bank/Credit"
    governed.cluster.kubectl("annotate", "namespace", governed.name, f"{names.CONSUMER}=/Bank/Risk", listed)
    until(lambda: is_allowed(governed, user, "/Bank/Risk"))
    for number, path in enumerate(("/Bank/Risk", "/Bank/FX", "/Bank/Credit")):
        governed.create(f"good-{number}", user, annotations=named(path))
    for path in ("/Bank/Equity", "/Bank", "/Bank/FX,"):
        with governed.refuses(names.CONSUMER):
            governed.create("bad", user, annotations=named(path))
        with governed.refuses(names.CONSUMER):
            governed.patch("good-0", {"metadata": {"annotations": named(path)}}, user)
    governed.patch("good-0", {"metadata": {"annotations": named("/Bank/FX")}}, user)
    governed.cluster.kubectl("annotate", "namespace", governed.name, f"{names.CONSUMER}-", f"{names.CONSUMERS}-")
    until(lambda: not is_allowed(governed, user, "/Bank/FX"))
    governed.patch("good-0", {"metadata": {"labels": {"own": "1"}}}, user)  # what it was allowed to say stays
    governed.patch("good-0", {"metadata": {"annotations": {names.CONSUMER: None}}}, user)


def test_what_fairhold_grants_runs_is_told_and_ends(governed: Space, service: Service) -> None:
    governed.create("work")
    service.do(writes.grant(governed.pod("work"), NODE, 1))
    until(lambda: governed.runs("work"))
    assert governed.get("work")["spec"]["nodeName"] == NODE
    service.do(writes.notice(governed.pod("work"), NOTICE))
    said = service.do(writes.disrupt(governed.pod("work"), "reclaim", 0, is_disrupted=True))
    assert pod_of(said).is_disrupted
    service.do(writes.delete(governed.pod("work"), 5, "reclaim"))
    until(lambda: governed.pod("work").end is not None)
    service.do(writes.finish(governed.pod("work")))
    until(lambda: not governed.has("work"))


def test_a_job_lets_go_of_what_fairhold_releases_and_makes_another(governed: Space, service: Service) -> None:
    governed.kubectl("create", "job", "batch", "--image=none", user="alice")
    until(governed.all)
    name = governed.all()[0]["metadata"]["name"]
    service.do(writes.grant(governed.pod(name), NODE, 1))
    until(lambda: governed.runs(name))
    service.do(writes.release(governed.pod(name)))
    until(lambda: len(governed.all()) == 2 and governed.pod(name).owner is None)
    service.do(writes.delete(governed.pod(name), 5, "reclaim"))
    until(lambda: governed.pod(name).end is not None)
    service.do(writes.finish(governed.pod(name)))
    until(lambda: not governed.has(name))
    assert [gates(pod) for pod in governed.all()] == [[names.GATE]]


def test_fairhold_makes_pods_in_governed_namespaces_alone(governed: Space) -> None:
    governed.create("anew", SERVICE, annotations={names.ATTEMPT: "2"})
    assert governed.gates("anew") == [names.GATE]
    other = Space(governed.cluster, "default")
    with other.refuses("Fairhold makes pods in governed namespaces only"):
        other.create("outside", SERVICE)


MAY = (
    *((verb, "pods") for verb in ("get", "list", "watch", "create", "patch", "delete")),
    *((verb, what) for verb in ("get", "list", "watch") for what in ("nodes", "namespaces")),
    ("patch", "pods/status"),
    ("create", "events.events.k8s.io"),
)
MAY_NOT = (
    *(
        (verb, what)
        for verb in ("get", "list", "create")
        for what in ("secrets", "configmaps", "serviceaccounts/token")
    ),
    *((verb, what) for verb in ("patch", "delete") for what in ("nodes", "namespaces", "jobs.batch")),
    *(("create", f"pods/{what}") for what in ("exec", "attach", "portforward", "ephemeralcontainers", "binding")),
    ("patch", "clusterroles"),
    ("patch", "validatingadmissionpolicies"),
    ("update", "pods"),
    ("get", "pods/log"),
    ("list", "events.events.k8s.io"),
    ("create", "events"),
    ("create", "leases"),
)


def test_fairhold_may_do_what_it_does_and_nothing_else(in_force: ControlPlane) -> None:
    def may(verb: str, what: str, space: str) -> bool:
        resource, _, below = what.partition("/")
        words = ("auth", "can-i", verb, resource, *((f"--subresource={below}",) if below else ()), "--namespace", space)
        try:
            return in_force.kubectl(*words, user=SERVICE).strip() == "yes"
        except KubectlError:  # `no` is an exit status of 1
            return False

    assert [each for each in MAY if not may(*each, "default")] == []
    assert [each for each in MAY_NOT if may(*each, "default")] == []
    assert [verb for verb in ("get", "create", "update") if not may(verb, "leases", SETTINGS.namespace)] == []
    assert not may("delete", "leases", SETTINGS.namespace)


def test_the_api_server_accepts_every_object(in_force: ControlPlane) -> None:
    text = text_of(documents(ManifestSettings(plan="fairhold: 1\n")))
    words = ("apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict", "--filename=-")
    said = in_force.kubectl(*words, stdin=text)
    assert len(said.splitlines()) == text.count("\n---\n") + 1


def test_it_is_the_base_of_a_kustomization(cluster: ControlPlane, tmp_path: Path) -> None:
    settings = ManifestSettings(plan="fairhold: 1\n# of the bank\n")
    (tmp_path / "fairhold.yaml").write_text(text_of(documents(settings)))
    change = {"resources": ["fairhold.yaml"], "images": [{"name": "fairhold", "newName": "other", "newTag": "2"}]}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(change))
    said = list(yaml.safe_load_all(cluster.kubectl("kustomize", str(tmp_path))))
    expected = documents(replace(settings, image="other:2"))
    by_name = {(each["kind"], each["metadata"]["name"]): each for each in said}
    assert by_name == {(each["kind"], each["metadata"]["name"]): each for each in expected}


def test_the_pod_of_the_service_is_as_restricted_as_its_namespace_wants(in_force: ControlPlane) -> None:
    spec = pod_spec(SETTINGS)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fairhold"}, "spec": spec}
    words = ("create", "--dry-run=server", "--namespace", SETTINGS.namespace, "--filename=-")
    assert "created" in in_force.kubectl(*words, stdin=json.dumps(pod))
    del spec["securityContext"]
    with pytest.raises(KubectlError, match="violates PodSecurity"):
        in_force.kubectl(*words, stdin=json.dumps(pod))


PLAN = """\
fairhold: 1
cluster: governed
resources: {cpu: {}}
resource_groups: {all: {nodes: {pool: manifest}}}
consumers: {A: {}}
policies: [{resource_groups: [all], policy: multidimensional}]
"""


def test_the_service_governs_with_these_rights(governed: Space, in_force: ControlPlane, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    container = pod_spec(SETTINGS)["containers"][0]
    environment = os.environ | {each["name"]: str(tmp_path / each["name"]) for each in container["env"]}
    words = [str(tmp_path / "plan.yaml"), *container["args"][2:], f"--kubeconfig={in_force.kubeconfig(SERVICE)}"]
    words.append(f"--lease-namespace={SETTINGS.namespace}")  # as the pod's own
    command = [sys.executable, "-m", "fairhold", container["args"][0], *words, "--port=0"]
    probe = [sys.executable, *container["livenessProbe"]["exec"]["command"][1:]]
    in_force.kubectl("annotate", "namespace", governed.name, f"{names.CONSUMER}=/A")
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, env=environment, stderr=log) as serving:
        until(lambda: subprocess.run(probe, env=environment, capture_output=True, check=False).returncode == 0)
        governed.create("short", spec={"restartPolicy": "Never"}, annotations={"tests.fairhold.io/runs-for": "0.5"})
        governed.create("long")
        until(lambda: governed.runs("long"))
        until(lambda: governed.get("short")["status"].get("phase") == "Succeeded" and not governed.pod("short").is_kept)
        governed.kubectl("delete", "pod", "long", "--wait=false", "--grace-period=1", user="alice")
        until(lambda: not governed.has("long"))
        serving.terminate()
        assert serving.wait() == 0
    assert "403" not in (tmp_path / "log").read_text()
