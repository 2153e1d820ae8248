"""A cluster in memory, with the governor and a core: what API server, kubelets and people do is a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.gangs import Key, least_of
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.pods import node_of, pod_of
from fairhold.runtime.live.governing import Governing
from tests.live.play import Play

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.engines.kubernetes.pods import NodeSeen
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.orchestrator.tasks import JobRecord

GPU = "nvidia.com/gpu"
QUEUES = """
fairhold: 1
resources: {gpu: {base: 1}}
resource_groups: {all: {nodes: {}}}
kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}
consumers: {risk: {reclaim_grace: 0s}, trading: {reclaim_grace: 0s}}
policies: [{policy: fair_share, resource_groups: [all], consumers: {/trading: {deserved: {gpu: 8}}}}]
"""
SECOND = 1_000_000


def node(
    name: str, gpus: int = 4, *, ready: bool = True, cordoned: bool = False, boot: str = "b", **labels: str
) -> NodeSeen:
    """A node as the API server has it."""
    state = {"type": "Ready", "status": "True" if ready else "Unknown"}
    there = {GPU: str(gpus), "pods": "110", "cpu": "64", "memory": "256Gi"}
    status = {"allocatable": there, "conditions": [state], "nodeInfo": {"bootID": boot}}
    meta = {"name": name, "labels": {names.HOSTNAME: name} | labels}
    return node_of({"metadata": meta, "spec": {"unschedulable": cordoned}, "status": status})


class Pretended:
    """See the module.

    nodes    : name → GPUs; their label `pool` is their name
    released : pods that were deleted after their Job had let them go
    """

    def __init__(self, directory: Path, plan: str = QUEUES, nodes: Mapping[str, int] | None = None) -> None:
        self.play = Play(directory, plan)
        self.pods: dict[str, dict[str, Any]] = {}
        self.groups: dict[Key, int] = {}
        self.served: set[str] = set()
        self.nodes = {"n1": 8} if nodes is None else nodes
        self.released: list[dict[str, Any]] = []
        self._made = 0
        self.begin()

    def begin(self) -> None:
        """The governor sees all there is for the first time."""
        self.governor = Governor(self.play.core.plan, "spool", self.play.clock)
        self.governing = Governing(self.play.core, self.governor)
        for name in ("risk", "trading"):
            self.governor.see_namespace(Namespace(name, {names.GOVERNED: "true"}, {}))
        for kind in self.served:
            self.governor.serve_groups(kind, is_served=True)
        for key, least in self.groups.items():
            self.governor.see_group(key, least)
        for name, gpus in self.nodes.items():
            self.governor.see_node(node(name, gpus, pool=name))
        for document in list(self.pods.values()):
            self.governor.see_pod(pod_of(document))
        self.governor.all_seen()
        self.settle()

    def restart(self, *, snapshot: bool = True) -> None:
        self.play.restart(snapshot=snapshot)
        self.begin()

    def settle(self, seconds: float = 2) -> None:
        """Rounds until so much time is over: reports, cycles, orders, and what is written."""
        core, end = self.play.core, self.play.clock.instant + int(seconds * SECOND)
        while self.play.clock.instant < end:
            for _ in range(4):
                self.governing.begin(core)
                for report in self.governor.reports():
                    self.governing.take(core, report)
                self.governing.end(core)
                core.over.clear()
                core.commit()
                for order in core.outbox.take():
                    self.governor.execute(order)
                for write in self.governor.writes():
                    self._apply(write)
            self.play.pass_time(SECOND // 4)

    # What people and controllers do

    def serve(self, kind: str) -> None:
        self.served.add(kind)
        self.governor.serve_groups(kind, is_served=True)

    def lack(self, kind: str) -> None:
        self.served.discard(kind)
        self.governor.serve_groups(kind, is_served=False)

    def group(self, kind: str, name: str, document: Mapping[str, Any], namespace: str = "risk") -> None:
        key = (namespace, kind, name)
        self.groups[key] = least_of(kind, document)
        self.governor.see_group(key, self.groups[key])

    def lose_group(self, kind: str, name: str, namespace: str = "risk") -> None:
        del self.groups[namespace, kind, name]
        self.governor.lose_group((namespace, kind, name))

    def pod(self, name: str, *, namespace: str = "risk", gpus: int = 1, job: str = "", **said: Any) -> str:
        """A new pod at the gate; said: `annotations`, `labels`, and more of its spec. Returns its uid."""
        self._made += 1
        meta: dict[str, Any] = {key: dict(said.pop(key, {})) for key in ("annotations", "labels")}
        meta |= {"uid": f"u{self._made}", "namespace": namespace, "name": name, "resourceVersion": "1"}
        if job:
            meta["ownerReferences"] = [{"kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}]
            meta["labels"] |= dict.fromkeys(names.JOB_SELECTORS, f"uid-{job}")
        spec = {"schedulingGates": [{"name": names.GATE}], "restartPolicy": "Never"} | said
        spec["containers"] = [{"resources": {"requests": {GPU: str(gpus)}}}]
        return self._put({"metadata": meta, "spec": spec, "status": {}})

    def make(self, meta: dict[str, Any], spec: dict[str, Any]) -> str:
        """A new pod at the gate, as some operator makes it in the namespace `risk`. Returns its uid."""
        self._made += 1
        gated = {"schedulingGates": [{"name": names.GATE}]}
        known = {"uid": f"u{self._made}", "namespace": "risk", "resourceVersion": "1", "annotations": {}}
        return self._put({"metadata": known | meta, "spec": spec | gated, "status": {}})

    def delete(self, name: str) -> None:
        """A user or a controller deletes a pod; what runs ends at once."""
        self._end(self.named(name), 143, deleted=True)

    def see(self, document: dict[str, Any]) -> None:
        """Something of a pod has changed."""
        document["metadata"]["resourceVersion"] = str(int(document["metadata"]["resourceVersion"]) + 1)
        self.governor.see_pod(pod_of(document))

    def finish(self, name: str, code: int = 0) -> None:
        """A pod ends by itself; its object stays."""
        self._end(self.named(name), code, deleted=False)

    # What is seen

    def named(self, name: str) -> dict[str, Any]:
        return next(each for each in reversed(self.pods.values()) if each["metadata"]["name"] == name)

    def running(self, namespace: str = "risk") -> list[str]:
        """Names of pods that run."""
        return sorted(self._names(namespace, "containerStatuses"))

    def _names(self, namespace: str, key: str) -> list[str]:
        alive = [each for each in self.pods.values() if key in each["status"] and "phase" not in each["status"]]
        return [each["metadata"]["name"] for each in alive if each["metadata"]["namespace"] == namespace]

    def why(self, name: str) -> str:
        """Reason and message of why a pod waits."""
        said = {each["type"]: each for each in self.named(name)["status"].get("conditions", ())}.get(names.GRANTED, {})
        return f"{said['reason']}: {said['message']}" if said else ""

    def jobs(self) -> list[JobRecord]:
        """Jobs that are not over, in their order."""
        return [job for job in self.play.core.cluster.jobs.values() if not job.is_over]

    # What the API server and kubelets do

    def _put(self, document: dict[str, Any]) -> str:
        uid: str = document["metadata"]["uid"]
        self.pods[uid] = document
        self.governor.see_pod(pod_of(document))
        return uid

    def _apply(self, write: Write) -> None:
        document = self.pods.get(write.uid)
        if document is None:
            self.governor.wrote(write.uid, None, is_done=True)
            return
        meta, spec = document["metadata"], document["spec"]
        if write.path.endswith("/status"):
            conditions = {each["type"]: each for each in document["status"].get("conditions", ())}
            conditions |= {each["type"]: each for each in write.body["status"]["conditions"]}
            document["status"]["conditions"] = list(conditions.values())
        elif write.method == "DELETE":
            self.released += [document] if names.OWNER in meta["annotations"] else []
            self._end(document, 143, deleted=True)
        else:
            said = write.body["metadata"]
            for part in ("annotations", "labels"):
                merged = meta[part] | said.get(part, {})
                meta[part] = {key: value for key, value in merged.items() if value is not None}
            meta["finalizers"] = said.get("finalizers", meta.get("finalizers")) or []
            spec |= write.body.get("spec", {})
            if write.what == "grant":
                spec["nodeName"] = spec["nodeSelector"][names.HOSTNAME]
                document["status"] = {"containerStatuses": [{"containerID": "c", "state": {"running": {}}}]}
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            self.pods.pop(write.uid, None)
        there = write.uid in self.pods
        self.governor.wrote(write.uid, pod_of(document) if there else None, is_done=True)

    def _end(self, document: dict[str, Any], code: int, *, deleted: bool) -> None:
        meta = document["metadata"]
        if deleted:
            meta["deletionTimestamp"] = "2026-01-05T09:00:00Z"
        if "containerStatuses" in document["status"]:
            ended = {"containerID": "c", "state": {"terminated": {"exitCode": code}}}
            document["status"] |= {"phase": "Failed" if code else "Succeeded", "containerStatuses": [ended]}
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
        if deleted and not meta.get("finalizers"):
            del self.pods[meta["uid"]]
            self.governor.lose_pod(meta["uid"])
        else:
            self.governor.see_pod(pod_of(document))
