"""A service that governs nodes with containers, and pods that run a script on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import Estate
from tests.kubernetes.real_nodes import IMAGE, SLOTS, containers

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from tests.kubernetes.control_plane import ControlPlane
    from tests.kubernetes.real_nodes import RealNode

PLAN = """
fairhold: 1
cluster: real
resource_groups: {{machines: {{nodes: {{pool: real}}, slot: {{pods: 1}}}}}}
kubernetes:
  start_within: 8s
  pods: [{{namespace: "{pool}-risk", consumer: /risk}}, {{namespace: "{pool}-trading", consumer: /trading}}]
consumers: {{risk: {{reclaim_grace: {grace}}}, trading: {{reclaim_grace: {grace}}}}}
policies:
  - {{policy: hybrid, resource_groups: [machines], consumers: {{/risk: {{owned: 4}}, /trading: {{owned: 4}}}}}}
"""
SLEEPS = "while :; do sleep 0.1; done"
NOTICE = "/notes/notice"
DOWNWARD = {
    "name": "notes",
    "downwardAPI": {
        "items": [{"path": "notice", "fieldRef": {"fieldPath": f"metadata.annotations['{names.NOTICE}']"}}]
    },
}


class RealEstate(Estate):
    """A service that governs nodes with containers, which are there already."""

    def __init__(self, cluster: ControlPlane, nodes: list[RealNode], place: Path, grace: str) -> None:
        self.real = {node.name: node for node in nodes}
        super().__init__(cluster, place, nodes=0, grace=grace, plan=PLAN)

    def script(self, name: str, script: str, *, trading: bool = False, grace: int = 2, image: str = IMAGE) -> str:
        """Submit a bare pod that runs a script; a word in its command tells its process from others."""
        mark = f"{self.pool}-{name}"
        pod = {"metadata": {"name": name}, "spec": pod_spec(f": {mark}; {script}", grace, image)}
        self.post(f"/api/v1/namespaces/{self.trading if trading else self.risk}/pods", pod)
        return mark

    def running(self, mark: str) -> int:
        """The process of a pod's container, once there is one."""
        (pid,) = self.until(lambda: containers(mark))
        return int(pid)

    def node_of(self, name: str) -> RealNode:
        path = f"/api/v1/namespaces/{self.risk}/pods/{name}"
        return self.real[self.api.request("GET", path)["spec"]["nodeName"]]

    def fill(self, grace: int = 2, script: str = SLEEPS) -> None:
        """Let one consumer take all there is."""
        for number in range(2 * SLOTS):
            self.script(f"p{number}", script, grace=grace)
        self.until_states(self.risk, running=2 * SLOTS)

    def job_named(self, name: str) -> Job:
        """A job by the name of its pod, once it is over."""
        found: list[Job] = self.until(
            lambda: [job for job in self.house.client.jobs(finished=True) if job.title == name and job.ended], 60
        )
        return found[0]

    def attempt(self, name: str) -> dict[str, Any]:
        """The last attempt of a job that is over."""
        return self.house.attempts(self.job_named(name))[-1]

    def is_silent(self, node: RealNode) -> bool:
        return any(host.name == node.name and host.state == "silent" for host in self.house.client.hosts())


def pod_spec(script: str, grace: int, image: str = IMAGE, *, gated: bool = True) -> dict[str, Any]:
    """A pod of one container that runs a script; grace: seconds that it has at its end."""
    container = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", script],
        "volumeMounts": [{"name": "notes", "mountPath": "/notes"}],
    }
    return {
        "hostNetwork": True,
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": grace,
        "schedulingGates": [{"name": names.GATE}] if gated else [],
        "containers": [container],
        "volumes": [DOWNWARD],
    }
