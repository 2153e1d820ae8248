"""A cluster of Kubernetes for the contract of governors: a real one, or the one in memory."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.engine import Kubernetes
from fairhold.engines.kubernetes.writes import MERGE
from fairhold.planio.plan import parse_plan
from tests.engines.kubernetes.fake_cluster import ended
from tests.kubernetes.estate import PLAN, state_of, template

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.engines.kubernetes.api import Api


class KubernetesPlace:
    """See `tests.engines.governor_bench.Place`.

    connect : makes a client
    pool    : label of the nodes, which are there; the namespace `POOL-risk` is made here
    switch  : what cuts the cluster off, and mends that
    """

    def __init__(
        self, connect: Callable[[], Api], pool: str, nodes: list[str], switch: tuple[Callable[[], object], ...]
    ) -> None:
        self.nodes, self._connect, self._switch = nodes, connect, switch
        self._api = api = connect()
        self.plan = parse_plan(PLAN.format(pool=pool, grace="1s", each=4), "plan")[0]
        self.namespace = f"{pool}-risk"
        labels = {names.GOVERNED: "true"}
        api.request("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace, "labels": labels}})
        self._pods = f"/api/v1/namespaces/{self.namespace}/pods"
        self._numbers = count()

    def open(self) -> Kubernetes:
        return Kubernetes(self._connect(), self.plan, lambda: time.time_ns() // 1000)

    def close(self) -> None:
        self._api.close()

    def cut(self) -> None:
        self._switch[0]()

    def mend(self) -> None:
        self._switch[1]()

    def submit(self, name: str) -> str:
        made = template()
        made["metadata"]["name"] = f"{name}-{next(self._numbers)}"
        return str(self._api.request("POST", self._pods, made)["metadata"]["uid"])

    def submit_to_controller(self, name: str) -> None:
        spec = {"parallelism": 1, "completions": 1, "template": template()}
        path = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        self._api.request("POST", path, {"metadata": {"name": name}, "spec": spec})

    def change(self, uid: str) -> None:
        pod = self._pod(uid)
        assert pod is not None
        more = {"key": "tests.fairhold.io/any", "operator": "Exists", "effect": "NoSchedule"}
        spec = {"tolerations": [*(pod["spec"].get("tolerations") or ()), more]}
        self._api.request("PATCH", f"{self._pods}/{pod['metadata']['name']}", {"spec": spec}, MERGE)

    def end(self, uid: str, code: int) -> None:
        pod = self._pod(uid)
        assert pod is not None
        path = f"{self._pods}/{pod['metadata']['name']}/status"
        self._api.request("PATCH", path, ended(code), MERGE)

    def delete(self, uid: str) -> None:
        pod = self._pod(uid)
        assert pod is not None
        self._api.request("DELETE", f"{self._pods}/{pod['metadata']['name']}", {"gracePeriodSeconds": 1})

    def runs(self, uid: str) -> bool:
        pod = self._pod(uid)
        return pod is not None and state_of(pod) == "running"

    def is_there(self, uid: str) -> bool:
        return self._pod(uid) is not None

    def notice(self, uid: str) -> str:
        pod = self._pod(uid)
        assert pod is not None
        return str((pod["metadata"].get("annotations") or {}).get(names.NOTICE, ""))

    def _pod(self, uid: str) -> dict[str, Any] | None:
        found = [pod for pod in self._api.list(self._pods)[0] if pod["metadata"]["uid"] == uid]
        return found[0] if found else None
