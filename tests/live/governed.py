"""A core and a governor over a cluster that is a dictionary: no API server, no threads, an invented clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.observing import observed
from fairhold.engines.kubernetes.pods import pod_of
from fairhold.runtime.live.governing import Governing
from tests.engines.kubernetes.pretended import GPU, node
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.engines.kubernetes.writes import Write

Document = dict[str, Any]
PLAN = """
fairhold: 1
resources: {gpu: {base: 1}}
resource_groups: {gpus: {nodes: {}}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {reclaim_grace: 60s}, trading: {reclaim_grace: 60s}}
policies:
  - policy: fair_share
    resource_groups: [gpus]
    consumers: {/risk: {deserved: {gpu: 2}}, /trading: {deserved: {gpu: 2}}}
"""


class Governed:
    """Two governed namespaces, and nodes with four GPUs each."""

    def __init__(self, place: Path, plan: str = PLAN, nodes: int = 1, *, observes: bool = False) -> None:
        self.play = Play(place, plan)
        self.core = self.play.core
        self.core.observes = self.core.orchestrator.is_observing = observes
        self.governor = Governor(self.core.plan, "cluster", self.play.clock, observes=observes)
        self.governing = Governing(self.core, self.governor)
        self.pods: dict[str, Document] = {}
        self.written: list[Write] = []
        self._version = 0
        for name in ("risk", "trading"):
            self.governor.see_namespace(Namespace(name, {names.GOVERNED: "true"}, {}))
        for number in range(nodes):
            self.governor.see_node(node(f"n{number}"))
        self.governor.all_seen()
        self.settle()

    def pod(self, name: str, namespace: str = "risk", *, gpus: int = 1, gate: str = names.GATE, **meta: Any) -> None:
        """Somebody makes a pod; gate: its scheduling gate, empty = none."""
        limits = {GPU: str(gpus)} if gpus else {}
        spec = {"containers": [{"resources": {"limits": limits}}], "terminationGracePeriodSeconds": 1}
        if gate:
            spec["schedulingGates"] = [{"name": gate}]
        least = {"uid": name, "name": name, "namespace": namespace, "creationTimestamp": "2026-01-05T09:00:00Z"}
        self.pods[name] = {"metadata": least | meta, "spec": spec, "status": {"phase": "Pending"}}
        self.change(name, {})

    def change(self, name: str, patch: Document) -> None:
        """A pod changes by a merge patch, and the governor sees it."""
        self._version += 1
        document = merged(self.pods[name], patch)
        document["metadata"]["resourceVersion"] = str(self._version)
        self.pods[name] = document
        self.governor.see_pod(self._read(document))

    def _read(self, document: Document) -> Pod:
        pod = pod_of(document)
        return observed(pod) if self.governor.observes else pod

    def run(self, name: str, node: str = "n0") -> None:
        """A pod is bound, and runs."""
        state = {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}
        self.change(name, {"spec": {"nodeName": node}, "status": state})

    def end(self, name: str) -> None:
        """A pod ends well."""
        state = {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"exitCode": 0}}}]}
        self.change(name, {"status": state})

    def delete(self, name: str) -> None:
        """The object of a pod goes."""
        del self.pods[name]
        self.governor.lose_pod(name)

    def settle(self, micros: int = 1_000_000) -> list[str]:
        """Let everything happen that happens within some time; words for what was written, each with its pod."""
        before = len(self.written)
        end = self.play.clock.instant + micros
        while True:
            self._round()
            if self.governor.has_something:
                continue
            dues = [due for due in (self.core.due, self.governor.due() or None) if due is not None and due < end]
            if not dues:
                break
            self.play.clock.instant = max(self.play.clock.instant, *dues[:1])
        self.play.clock.instant = max(self.play.clock.instant, end)
        return [f"{write.what} {write.uid}" for write in self.written[before:]]

    def _round(self) -> None:
        self.governing.begin(self.core)
        for report in self.governor.reports():
            self.governing.take(self.core, report)
        if self.core.due is not None and self.core.due <= self.core.now():
            self.core.pass_time()
        self.core.commit()
        self.core.over.clear()
        for order in self.core.outbox.take():
            self.governor.execute(order)
        for write in self.governor.writes():
            self._write(write)

    def _write(self, write: Write) -> None:
        self.written.append(write)
        if write.method == "PATCH":
            self.change(write.uid, dict(write.body))
        elif write.method == "DELETE":
            self.change(write.uid, {"metadata": {"deletionTimestamp": "2026-01-05T09:00:00Z"}})
        self.governor.wrote(write.uid, pod_of(self.pods[write.uid]), is_done=True)


def merged(document: Document, patch: Document) -> Document:
    """A document after a merge patch; conditions are merged by their type."""
    found = dict(document)
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict):
            found[key] = merged(found.get(key) or {}, value)
        elif key == "conditions":
            kinds = {each["type"] for each in value}
            found[key] = [each for each in found.get(key) or () if each["type"] not in kinds] + value
        else:
            found[key] = value
    return found
