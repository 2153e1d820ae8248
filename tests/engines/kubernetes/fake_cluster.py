"""A cluster in memory, behind what the engine uses as a client: API server, scheduler, kubelets, controller of Jobs.

It does at once what a real one does soon. `tests/engines/test_governor_contract.py` runs on it and on a real one.
"""

from __future__ import annotations

import threading
from collections import Counter
from copy import deepcopy
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Document = dict[str, Any]
INSTANT = "2026-01-05T09:00:00Z"
LINGERS = "tests.fairhold.io/term-after"
"""Annotation of a pod that does not end when it is told to."""


class FakeCluster:
    """All objects by path. It is an `Api`: what that says of its methods holds here.

    is_cut : nothing is answered, and watches break off. A server that comes back refuses to watch from before
    is_slow : Jobs make other pods with `make_late` only
    """

    def __init__(self) -> None:
        self.access = SimpleNamespace(url="https://fake", own="")
        self.is_cut = self.is_slow = False
        self._forgotten, self._ends = 0, Counter[str]()
        self._late: list[Document] = []
        self._objects: dict[str, Document] = {}
        self._history: list[tuple[int, str, Change]] = []
        self._numbers, self._changed = count(1), threading.Condition()
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-system"}})

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        media: str = "application/json",
        within: float = 0.0,
        **query: str,
    ) -> Document:
        del within, query
        with self._changed:
            self._check_heard()
            said = deepcopy(dict(body or {}))
            if method == "POST":
                return deepcopy(self._create(path, said))
            found = self._objects.get(path.removesuffix("/status"))
            if found is None:
                raise ApiError(404, "NotFound", f"{path} not found")
            if method == "PATCH":
                found = self._patch(path, found, said, media)
            elif method == "DELETE":
                self._delete(path, found, said)
            return deepcopy(found)

    def find(self, group: str, plural: str) -> str:
        """Where the list of a kind is, empty = there is none: pods, Jobs, nodes and namespaces alone are served."""
        return f"/apis/{group}/v1/{plural}" if group == "batch" else ""

    def list(self, path: str, **query: str) -> tuple[list[Document], str]:
        del query
        with self._changed:
            self._check_heard()
            found = [deepcopy(each) for at, each in self._objects.items() if _is_in(at, path)]
            return found, str(self._last())

    def watch(self, path: str, version: str, **query: str) -> Iterator[Change | None]:
        del query
        with self._changed:
            self._check_heard()
            if int(version) <= self._forgotten:
                raise ApiError(504, "Timeout", "Too large resource version")
            ends = self._ends[path]
        yield None
        seen = int(version)
        while self._ends[path] == ends:
            with self._changed:
                self._check_heard()
                news = [(number, change) for number, at, change in self._history if number > seen and _is_in(at, path)]
                if not news:
                    self._changed.wait(0.05)
            for number, change in news:
                seen = number
                yield change

    def close(self) -> None:
        """Nothing is to be done: others use it, too."""

    def end_watches(self, path: str) -> None:
        with self._changed:
            self._ends[path] += 1
            self._changed.notify_all()

    def cut(self, *, is_cut: bool = True) -> None:
        """The API server is not heard any more, or is again."""
        with self._changed:
            self.is_cut = is_cut
            if not is_cut:
                self._forgotten = self._last()
                self._history.append((self._forgotten + 1, "", Change("BOOKMARK", {})))
            self._changed.notify_all()

    def _check_heard(self) -> None:
        if self.is_cut:
            raise ApiError(0, "Unreachable", "the fake is cut off")

    def _last(self) -> int:
        return self._history[-1][0] if self._history else 0

    # What an API server does

    def _create(self, path: str, document: Document) -> Document:
        meta = document["metadata"]
        at = f"{path}/{meta['name']}"
        if at in self._objects:
            raise ApiError(409, "AlreadyExists", f"{at} already exists")
        kind = {"pods": "Pod", "nodes": "Node", "jobs": "Job"}.get(path.rpartition("/")[2], "Namespace")
        if "/namespaces/" in path:
            meta["namespace"] = path.split("/namespaces/")[1].split("/", maxsplit=1)[0]
        meta |= {"uid": f"u{next(self._numbers)}", "creationTimestamp": INSTANT, "generation": 1}
        document |= {"kind": kind, "spec": document.get("spec") or {}, "status": document.get("status") or {}}
        if kind == "Pod":
            document["status"].setdefault("phase", "Pending")
        self._objects[at] = document
        self._say("ADDED", at, document)
        self._carry_on(at, document)
        return document

    def _patch(self, path: str, found: Document, said: Document, media: str) -> Document:
        meta = said.get("metadata") or {}
        for key in ("uid", "resourceVersion"):
            if meta.get(key) not in {None, found["metadata"][key]}:
                raise ApiError(409, "Conflict", f"the {key} is {found['metadata'][key]}, not {meta[key]}")
        at = path.removesuffix("/status")
        is_status = path != at
        if "strategic" in media:
            conditions = {each["type"]: each for each in found["status"].get("conditions") or ()}
            conditions |= {each["type"]: each for each in said["status"].pop("conditions", ())}
            found["status"]["conditions"] = list(conditions.values())
        for part in ("status",) if is_status else ("metadata", "spec"):
            found[part] = merged(found[part], said.get(part) or {})
        self._say("MODIFIED", at, found)
        self._carry_on(at, found)
        return found

    def _delete(self, path: str, found: Document, said: Document) -> None:
        meta = found["metadata"]
        for key, value in (said.get("preconditions") or {}).items():
            if meta[key] != value:
                raise ApiError(409, "Conflict", f"the {key} is {meta[key]}, not {value}")
        is_bound = bool(found["spec"].get("nodeName"))
        if said.get("gracePeriodSeconds") == 0 or not is_bound:
            meta["deletionGracePeriodSeconds"] = 0
        meta.setdefault("deletionTimestamp", INSTANT)
        self._say("MODIFIED", path, found)
        self._carry_on(path, found)

    def _say(self, kind: str, at: str, document: Document) -> None:
        number = self._last() + 1
        document["metadata"]["resourceVersion"] = str(number)
        self._history.append((number, at, Change(kind, deepcopy(document))))
        self._changed.notify_all()

    # What the rest of a cluster does

    def _carry_on(self, at: str, document: Document) -> None:
        """What follows from a change: a pod is bound and runs, is ended, replaced, or its object goes."""
        meta, spec, status = document["metadata"], document["spec"], document["status"]
        if document["kind"] == "Job":
            for _ in range(spec["parallelism"]):
                self._make_pod_of(document)
            return
        is_deleted, is_over = "deletionTimestamp" in meta, status.get("phase") in {"Succeeded", "Failed"}
        if document["kind"] == "Pod" and not is_over:
            if is_deleted and LINGERS in (meta.get("annotations") or {}):
                return
            if is_deleted and spec.get("nodeName"):
                self._patch(f"{at}/status", document, ended(143), "")
                return
            if not is_deleted and not spec.get("schedulingGates") and self._bind(at, document):
                return
        owner = next(iter(meta.get("ownerReferences") or ()), None)
        if owner and owner["kind"] == "Job" and names.JOB_SELECTORS[0] not in (meta.get("labels") or {}):
            del meta["ownerReferences"]
            self._say("MODIFIED", at, document)
            self._late.append(self._objects[f"{at.rpartition('/pods/')[0]}/jobs/{owner['name']}".replace(*BATCH)])
            if not self.is_slow:
                self.make_late()
        if is_deleted and not meta.get("finalizers") and (is_over or not spec.get("nodeName")):
            del self._objects[at]
            self._say("DELETED", at, document)

    def _bind(self, at: str, pod: Document) -> bool:
        """Bind a pod where its selector says, and start it; False: it runs already, or no node will do."""
        host = (pod["spec"].get("nodeSelector") or {}).get(names.HOSTNAME, "")
        node = self._objects.get(f"/api/v1/nodes/{host}")
        if pod["status"].get("containerStatuses") or node is None or node["spec"].get("unschedulable"):
            return False
        pod["spec"]["nodeName"] = host
        self._patch(f"{at}/status", pod, {"status": {"phase": "Running", "containerStatuses": [RUNS]}}, "")
        return True

    def make_late(self) -> None:
        """Jobs make the pods that take the places of others."""
        with self._changed:
            late, self._late = self._late, []
            for job in late:
                self._make_pod_of(job)

    def _make_pod_of(self, job: Document) -> None:
        meta, template = job["metadata"], deepcopy(job["spec"]["template"])
        owner = {"kind": "Job", "name": meta["name"], "uid": meta["uid"], "controller": True}
        labels = dict.fromkeys(names.JOB_SELECTORS, meta["uid"])
        template["metadata"] |= {"name": f"{meta['name']}-{next(self._numbers)}", "labels": labels}
        template["metadata"]["ownerReferences"] = [owner]
        self._create(f"/api/v1/namespaces/{meta['namespace']}/pods", template)


BATCH = ("/api/v1", "/apis/batch/v1")
RUNS = {"name": "main", "containerID": "fake://1", "state": {"running": {"startedAt": INSTANT}}}


def ended(code: int) -> Document:
    """The status of a pod whose container has ended, as a patch."""
    over = {"name": "main", "containerID": "fake://1", "state": {"terminated": {"exitCode": code}}}
    return {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [over]}}


def merged(before: Any, said: Any) -> Any:
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(said, dict):
        return said
    found = dict(before) if isinstance(before, dict) else {}
    for key, value in said.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def _is_in(at: str, path: str) -> bool:
    """Whether an object is in a list: of a namespace, or of all."""
    plural = path.rpartition("/")[2]
    return at.rpartition("/")[0] == path or (at.split("/")[-2:-1] == [plural] and "/namespaces/" not in path)
