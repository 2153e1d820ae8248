"""A service that governs a test cluster, and people's Jobs and pods in it."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api, ApiError
from tests.faults.house import PATIENCE, House, until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

GPU = "nvidia.com/gpu"
PLAN = """
fairhold: 1
cluster: estate
resources: {{gpu: {{base: 1}}, cpu: {{}}}}
resource_groups: {{gpus: {{nodes: {{pool: {pool}}}}}}}
kubernetes:
  pods: [{{namespace: "{pool}-risk", consumer: /risk}}, {{namespace: "{pool}-trading", consumer: /trading}}]
consumers: {{risk: {{reclaim_grace: {grace}}}, trading: {{reclaim_grace: {grace}}}}}
policies:
  - policy: fair_share
    resource_groups: [gpus]
    consumers:
      /risk: {{deserved: {{gpu: {each}, cpu: unlimited}}}}
      /trading: {{deserved: {{gpu: {each}}}}}
"""


class Estate:
    """Two governed namespaces, and nodes of their own.

    nodes : each with so many GPUs; words : more options of `serve`, the default: it leads at once, also after a kill
    """

    def __init__(
        self,
        cluster: ControlPlane,
        place: Path,
        *words: str,
        nodes: int = 2,
        gpus: int = 4,
        grace: str = "1s",
        plan: str = "",
    ) -> None:
        self.cluster, self.pool = cluster, f"p{secrets.token_hex(3)}"
        self.api = Api(find_access(cluster.kubeconfig()))
        each = nodes * gpus // 2
        self.plan = (plan or PLAN).format(pool=self.pool, grace=grace, each=each)
        self.risk, self.trading = f"{self.pool}-risk", f"{self.pool}-trading"
        for name in (self.risk, self.trading):
            labels = {names.GOVERNED: "true"}
            self.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        self.words = ("--kubernetes", "--kubeconfig", str(cluster.kubeconfig()), *(words or ("--no-lease",)))
        self.house = House(place, self.plan, *self.words)
        resources = {"cpu": "32", "memory": "64Gi", GPU: str(gpus), "pods": "110"}
        self.nodes = cluster.kwok(nodes, resources, {"pool": self.pool}, prefix=self.pool) if nodes else []

    def serve(self) -> Estate:
        self.house.serve()
        return self

    def close(self) -> None:
        """Stop the service; what is left in the cluster goes without its finalizers."""
        self.house.close()
        for namespace in (self.risk, self.trading):
            self.api.request(
                "DELETE", f"/apis/batch/v1/namespaces/{namespace}/jobs", {"propagationPolicy": "Background"}
            )
            self.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods", {"gracePeriodSeconds": 0})
            for pod in self.pods(namespace):
                self.patch(pod, {"metadata": {"finalizers": None}})
            self.api.request("DELETE", f"/api/v1/namespaces/{namespace}")
        for node in self.nodes:
            self.api.request("DELETE", f"/api/v1/nodes/{node}")
        self.api.close()

    # What people do

    def post(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self.api.request("POST", path, document)

    def job(
        self, namespace: str, name: str, count: int, *, spec: Mapping[str, Any] | None = None, **terms: Any
    ) -> None:
        """Submit a Job of so many pods at once."""
        body = {"parallelism": count, "completions": count, "template": template(**terms)} | dict(spec or {})
        job = {"metadata": {"name": name}, "spec": body}
        self.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", job)

    def pod(self, namespace: str, name: str, **terms: Any) -> dict[str, Any]:
        made = template(**terms)
        made["metadata"]["name"] = name
        return self.post(f"/api/v1/namespaces/{namespace}/pods", made)

    def delete(self, namespace: str, name: str, grace: int = 30) -> None:
        self.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}", {"gracePeriodSeconds": grace})

    def patch(self, pod: Mapping[str, Any], body: Mapping[str, Any]) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        try:
            self.api.request("PATCH", path, body, "application/merge-patch+json")
        except ApiError as error:
            if error.status != 404:
                raise

    # What is seen

    def named(self, namespace: str, state: str) -> list[str]:
        """Names of the pods in a state."""
        return sorted(pod["metadata"]["name"] for pod in self.pods(namespace) if state_of(pod) == state)

    def until_waits(self, namespace: str, name: str, *words: str) -> None:
        """Wait until a pod says why it waits, in these words."""

        def says_so() -> bool:
            [pod] = [each for each in self.pods(namespace) if each["metadata"]["name"] == name]
            return all(word in waits_for(pod) for word in words)

        self.until(says_so)

    def pods(self, namespace: str) -> list[dict[str, Any]]:
        return self.api.list(f"/api/v1/namespaces/{namespace}/pods")[0]

    def all_pods(self) -> list[dict[str, Any]]:
        """Pods of both namespaces as they are at one moment."""
        found = self.api.list("/api/v1/pods")[0]
        return [pod for pod in found if pod["metadata"]["namespace"] in {self.risk, self.trading}]

    def states(self, namespace: str) -> Counter[str]:
        """How many pods are gated, pending, running, ending, succeeded, failed."""
        return Counter(state_of(pod) for pod in self.pods(namespace))

    def until_states(self, namespace: str, patience: float = PATIENCE, **wanted: int) -> None:
        """Wait until so many pods are in each of these states."""

        def are_there() -> bool:
            found = self.states(namespace)
            return all(found[state] == number for state, number in wanted.items())

        try:
            until(are_there, patience)
        except AssertionError:
            raise AssertionError(
                f"{wanted} wanted, {self.states(namespace)} there; {self.house.said[-2000:]}"
            ) from None

    def job_status(self, namespace: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.request("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")["status"]
        return found

    def until(self, what: Callable[[], Any], patience: float = PATIENCE) -> Any:
        try:
            return until(what, patience)
        except AssertionError as why:
            raise AssertionError(f"{why}; {self.house.said[-3000:]}") from None

    def used(self) -> Counter[str]:
        """GPUs by node of all pods that are bound and not over."""
        found: Counter[str] = Counter()
        for pod in self.all_pods():
            if pod["spec"].get("nodeName") and state_of(pod) not in {"succeeded", "failed"}:
                found[pod["spec"]["nodeName"]] += int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])
        return found


def template(
    *,
    gpus: int = 1,
    grace: int = 1,
    gated: bool = True,
    notes: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    spec: Mapping[str, Any] | None = None,
    **said: Any,
) -> dict[str, Any]:
    """A pod.

    said : how it behaves (`runs_for`, `exit_code`, `term_after`, `term_exit_code`); notes : annotations; spec : more
    """
    behaviour = {f"tests.fairhold.io/{key.replace('_', '-')}": str(value) for key, value in said.items()}
    limits = {GPU: str(gpus)}
    container = {"name": "main", "image": "none", "resources": {"limits": limits, "requests": limits | {"cpu": "10m"}}}
    whole = {"restartPolicy": "Never", "terminationGracePeriodSeconds": grace, "containers": [container]}
    if gated:
        whole["schedulingGates"] = [{"name": names.GATE}]
    meta = {"annotations": behaviour | dict(notes or {}), "labels": dict(labels or {})}
    return {"metadata": meta, "spec": whole | dict(spec or {})}


def state_of(pod: Mapping[str, Any]) -> str:
    """One word for where a pod stands."""
    phase = pod["status"].get("phase")
    if phase in {"Succeeded", "Failed"}:
        return str(phase).lower()
    if pod["metadata"].get("deletionTimestamp"):
        return "ending"
    if any(gate["name"] == names.GATE for gate in pod["spec"].get("schedulingGates") or ()):
        return "gated"
    return str(phase).lower()


def waits_for(pod: Mapping[str, Any]) -> str:
    """Reason and message of the condition of a pod that waits."""
    found = [each for each in pod["status"].get("conditions", ()) if each["type"] == names.GRANTED]
    return f"{found[0]['status']} {found[0]['reason']}: {found[0]['message']}" if found else ""
