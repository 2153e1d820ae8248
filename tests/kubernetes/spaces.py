"""Namespaces as their users see them, and Fairhold as it writes into them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import Pod, pod_of
from tests.kubernetes.control_plane import ADMINISTRATOR, ControlPlane, KubectlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.writes import Write

CONTAINERS = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}}}]


class Space:
    """A namespace, as users see it."""

    def __init__(self, cluster: ControlPlane, name: str) -> None:
        self.cluster, self.name = cluster, name

    def kubectl(self, *words: str, user: str = ADMINISTRATOR, stdin: object = None) -> str:
        text = None if stdin is None else json.dumps(stdin)
        return self.cluster.kubectl(*words, "--namespace", self.name, user=user, stdin=text)

    def create(self, name: str, user: str = "alice", spec: Any = None, **meta: Any) -> None:
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name} | meta,
            "spec": {"containers": CONTAINERS} | (spec or {}),
        }
        self.kubectl("create", "--filename=-", user=user, stdin=pod)

    def patch(self, name: str, change: object, user: str) -> None:
        self.kubectl("patch", "pod", name, "--type=merge", f"--patch={json.dumps(change)}", user=user)

    def get(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.kubectl("get", "pod", name, "--output=json"))
        return found

    def all(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.kubectl("get", "pods", "--output=json"))["items"]
        return found

    def pod(self, name: str) -> Pod:
        return pod_of(self.get(name))

    def gates(self, name: str) -> list[str]:
        return gates(self.get(name))

    def has(self, name: str) -> bool:
        return bool(self.kubectl("get", "pod", name, "--ignore-not-found", "--output=name"))

    def runs(self, name: str) -> bool:
        return bool(self.get(name)["status"].get("phase") == "Running")

    @contextmanager
    def refuses(self, *words: str) -> Iterator[None]:
        """What is done is refused, with these words."""
        with pytest.raises(KubectlError) as caught:
            yield
        assert [word for word in ("denied request", *words) if word not in str(caught.value)] == [], str(caught.value)


def gates(pod: dict[str, Any]) -> list[str]:
    return [each["name"] for each in pod["spec"].get("schedulingGates", ())]


def is_gated_at_once(cluster: ControlPlane, space: str) -> bool:
    """Whether a pod that is made now has the gate; none is made."""
    words = ("run", "probe", "--image=none", "--dry-run=server", "--output=json", "--namespace", space)
    return bool(gates(json.loads(cluster.kubectl(*words))))


def is_guarded(cluster: ControlPlane, space: str) -> bool:
    words = ("run", "probe", "--image=none", "--dry-run=server", "--namespace", space)
    try:
        cluster.kubectl(*words, f"--annotations={names.ATTEMPT}=1")
    except KubectlError:
        return True
    return False


class Service:
    """Fairhold, as it writes."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def do(self, write: Write) -> dict[str, Any]:
        return self.api.request(write.method, write.path, write.body, write.media)


def is_allowed(space: Space, user: str, path: str) -> bool:
    try:
        space.kubectl(
            "run", "probe", "--image=none", "--dry-run=server", f"--annotations={names.CONSUMER}={path}", user=user
        )
    except KubectlError:
        return False
    return True
