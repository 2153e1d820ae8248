"""The governor with its I/O: threads that follow the cluster and write into it; it is decided in the desk's thread."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.announcing import Announcer
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.gangs import JOBS, least_of
from fairhold.engines.kubernetes.gangs import KINDS as GROUPS
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.leader import Unfenced
from fairhold.engines.kubernetes.measures import Measures
from fairhold.engines.kubernetes.observing import observed, pods_of_job
from fairhold.engines.kubernetes.pods import node_of, pod_of
from fairhold.engines.kubernetes.watching import OptionalWatcher, Watcher, number_of
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.gangs import Key
    from fairhold.engines.kubernetes.leader import Fence
    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.outbox import Order
    from fairhold.ports.governor import Report

WRITERS = 4
"""Requests that are on their way at once."""
KINDS = {"namespaces": "/api/v1/namespaces", "nodes": "/api/v1/nodes", "pods": "/api/v1/pods"}
_OLDEST = "1"
"""A version that no pod has: a write on it is refused."""
_TOLD_EVERY = 3600 * SECOND
"""Microseconds between two warnings of one kind."""
AT_LARGE = (
    "the pod %s of the governed namespace %s came without the gate, so that nothing holds it to the plan; put the "
    "policy `fairhold-gate` in force: apply what `fairhold kubernetes manifest` prints"
)
LEFT_BEHIND = (
    "the pod %s has the gate or the finalizer of Fairhold, and its namespace %s is not governed: nobody takes them "
    "away; `fairhold kubernetes release --namespace NAME` does, for all its pods"
)
_LOG = logging.getLogger("fairhold")
_NEVER = {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}
"""Refusals of an object that is to be made which stay: it is wrong, or its namespace is gone."""
_REFUSED = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Refusals of a change, by policies and webhooks among others, not by an API server that has too much to do."""


class Kubernetes:
    """The engine of a cluster, as the desk knows engines; see the module.

    api       : client, closed with this
    on_events : called, from any thread, when `events` has something; must not wait
    fence     : what writes have to pass
    observes  : others decide, and nothing is written
    measures  : what is counted
    """

    def __init__(
        self,
        api: Api,
        plan: Plan,
        now: Callable[[], int],
        on_events: Callable[[], None] = lambda: None,
        fence: Fence | None = None,
        *,
        observes: bool = False,
    ) -> None:
        cluster = api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
        self.governor = Governor(plan, cluster, now, observes=observes)
        self._api, self._now, self._on_events = api, now, on_events
        self._fence = fence or Unfenced()
        self.measures = Measures()
        self.measures.look_at(self._stale_seconds, lambda: self._fence.leads)
        self._announcer = Announcer(api, self._fence, self.measures)
        self._seen: deque[Callable[[], object]] = deque()
        self._to_write: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._fresh, self._fresh_lock = set[str](), threading.Lock()
        self._keys: dict[str, set[Any]] = {kind: set() for kind in (*KINDS, *GROUPS)}
        self._awaited: dict[str | Key, tuple[str, ...]] = {}
        self._complained: set[str] = set()
        self._is_closing = threading.Event()
        self._alarm = threading.Condition()
        self._warned: dict[str, int] = {}
        self._due = 0
        self._watchers: dict[str, Watcher] = {kind: OptionalWatcher(api, kind, self, self.measures) for kind in GROUPS}
        self._watchers |= {kind: Watcher(api, kind, path, self, self.measures) for kind, path in KINDS.items()}
        self._threads = [threading.Thread(target=self._write, name=f"write {at}", daemon=True) for at in range(WRITERS)]
        self._threads.append(threading.Thread(target=self._ring, name="alarm", daemon=True))

    def start(self) -> None:
        """List all there is, groups of pods before the pods, then follow it. Raises ApiError."""
        for kind, watcher in self._watchers.items():
            try:
                watcher.list()
            except ApiError as error:
                if kind in KINDS:
                    raise
                self.stale(kind, error)
        for watcher in self._watchers.values():
            watcher.start()
        for thread in self._threads:
            thread.start()
        self._announcer.start()

    # As the desk knows engines; in its thread

    def execute(self, instructions: Iterable[Order]) -> None:
        """Carry out orders; nothing waits for the cluster."""
        for order in instructions:
            self.governor.execute(order)
        self._send()

    def events(self) -> Iterator[Report]:
        """What has happened since the last call. What follows from it is written when the desk has committed it."""
        self._send()
        while self._seen:
            self._seen.popleft()()
        yield from self.governor.reports()
        if self.governor.has_something:
            self._on_events()

    def close(self) -> None:
        """Stop; pods run on. May be called twice."""
        if self._is_closing.is_set():
            return
        self._is_closing.set()
        are_over = [watcher.close() for watcher in self._watchers.values()]
        for _ in range(WRITERS):
            self._to_write.put(None)
        with self._alarm:
            self._alarm.notify()
        for thread in self._threads:
            thread.join()
        self._announcer.close()
        if all(are_over):
            self._api.close()

    def _stale_seconds(self) -> float:
        since = self.governor.stale_since
        return 0.0 if since is None else max(0.0, (self._now() - since) / SECOND)

    def _send(self) -> None:
        for write in self.governor.writes():
            self._to_write.put(write)
        due = self.governor.due()
        if due != self._due:
            with self._alarm:
                self._due = due
                self._alarm.notify()

    # As the watchers know it; in their threads

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is there, or has changed."""
        meta, key, governor = document["metadata"], _key(kind, document), self.governor
        self._keys[kind].add(key)
        if kind == JOBS and governor.observes:
            self._await_pods(key, pods_of_job(document))
        if kind in GROUPS:
            self._tell(governor.see_group, key, least_of(kind, document))
        elif kind == "pods":
            pod = pod_of(document)
            self._tell(self._see_pod, observed(pod) if governor.observes else pod)
        elif kind == "nodes":
            self._tell(governor.see_node, node_of(document))
        else:
            labels, is_own = meta.get("labels") or {}, meta["name"] == self._api.access.own
            self._tell(self._see_namespace, Namespace(meta["name"], labels, meta.get("annotations") or {}, is_own))

    def _see_pod(self, pod: Pod) -> None:
        """A pod is there, or has changed; a new one to which no policy or no service looks is told once in a while."""
        governor = self.governor
        is_new = pod.uid not in governor.works.of
        governor.see_pod(pod)
        if is_new and governor.asking.is_at_large(pod):
            self._warn(AT_LARGE, pod)
        elif is_new and governor.asking.is_left_behind(pod):
            self._warn(LEFT_BEHIND, pod)

    def _warn(self, told: str, pod: Pod) -> None:
        """Say this of a pod, once in a while: others may be like it."""
        now = self.governor.now()
        if now >= self._warned.get(told, -_TOLD_EVERY) + _TOLD_EVERY:
            self._warned[told] = now
            _LOG.warning(told, pod.name, pod.namespace)

    def _see_namespace(self, namespace: Namespace) -> None:
        if self.governor.see_namespace(namespace):
            self._watchers["pods"].list_again()

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is gone."""
        self._lose(kind, _key(kind, document))

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """All there are were seen: others are gone."""
        keys = {_key(kind, document) for document in documents}
        for key in self._keys[kind] - keys:
            self._lose(kind, key)

    def _await_pods(self, job: str | Key, pods: Iterable[Pod]) -> None:
        """A Job will have these pods, and none of those that it was to have before."""
        there = {pod.uid: pod for pod in pods}
        for uid in self._awaited.pop(job, ()):
            if uid not in there:
                self._tell(self.governor.lose_pod, uid)
        for pod in there.values():
            self._tell(self.governor.see_pod, observed(pod))
        if there:
            self._awaited[job] = tuple(there)

    def _lose(self, kind: str, key: Any) -> None:  # noqa: ANN401 - see `_key`
        self._keys[kind].discard(key)
        if kind == JOBS:
            self._await_pods(key, ())
        if kind != "namespaces":
            governor = self.governor
            lose: Any = {"pods": governor.lose_pod, "nodes": governor.lose_node}.get(kind, governor.lose_group)
            self._tell(lose, key)

    def fresh(self, kind: str) -> None:
        """All that changes is told as it happens."""
        self._complained.discard(kind)
        with self._fresh_lock:  # what is told last has to be what is so
            if kind in KINDS and kind not in self._fresh:
                self._fresh.add(kind)
                if len(self._fresh) == len(KINDS):
                    _LOG.info("the cluster is followed")
                    self._tell(self.governor.all_seen)

    def serves(self, kind: str, *, is_served: bool) -> None:
        """The cluster has a kind, or lacks it."""
        self._tell(self.governor.serve_groups, kind, is_served=is_served)

    def went_back(self, kind: str) -> None:
        """The cluster has an older state, whose versions do not compare with those of before."""
        if kind == "pods":
            _LOG.warning("the cluster was set back to an earlier state")
            self._tell(self._forget_versions)

    def _forget_versions(self) -> None:
        """What is seen of pods from now on counts, whatever its version."""
        for work in self.governor.works.of.values():
            work.pod = replace(work.pod, version=_OLDEST)

    def stale(self, kind: str, why: ApiError) -> None:
        """The API server does not tell any more."""
        if kind in GROUPS:
            if kind not in self._complained:
                self._complained.add(kind)
                _LOG.warning("which pods start together by their %s is not known: %s", kind, why)
            return
        with self._fresh_lock:
            if kind in self._fresh:
                self._fresh.discard(kind)
                _LOG.warning("nothing new starts until the cluster is heard again: %s", why)
                self._tell(self.governor.stale)

    def _tell(self, act: Callable[..., object], *said: object, **more: object) -> None:
        """Have the desk's thread do this."""
        self._seen.append(partial(act, *said, **more))
        self._on_events()

    # Threads of our own

    def _write(self) -> None:
        while (write := self._to_write.get()) is not None:
            if not self._fence.passes(self._is_closing):
                return  # nothing is told: the service ends
            try:
                told = (None, self._make(write), "") if write.method == "POST" else self._carry_out(write)
            except Exception:  # noqa: BLE001 - a fault of ours: with this thread, nothing would be written any more
                _LOG.exception("%s of %s failed", write.what, write.path)
                self._tell(self.governor.works.failed, write.uid)
                continue
            if self._is_closing.is_set():
                return
            self._tell(self.governor.wrote, write.uid, told[0], is_done=told[1], refusal=told[2])

    def _carry_out(self, write: Write) -> tuple[Pod | None, bool, str]:
        """Make a request; the pod as it is after it, looked up if need be, whether it was done, and why it never is."""
        is_done = is_conflict = False
        refusal = ""
        try:
            document = self._request(write)
            is_done = True
            self._announcer.put(write.told)
            if document.get("kind") == "Pod" and write.method != "DELETE":
                return pod_of(document), True, ""
        except ApiError as error:
            is_conflict = error.status == HTTPStatus.CONFLICT
            if not is_conflict:
                _LOG.info("could not %s %s: %s", write.what, write.path, error)
            refusal = str(error) if error.status in _REFUSED else ""
        while not self._is_closing.is_set():
            try:
                pod = pod_of(self._api.request("GET", write.path.removesuffix("/status")))
            except ApiError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    break
                self._is_closing.wait(1.0)
            else:  # after a conflict it is decided anew at once, where there is something new
                is_new = is_conflict and number_of(pod.version) > number_of(write.version)
                return pod, is_done or is_new, refusal
        return None, is_done, ""

    def _request(self, write: Write) -> dict[str, Any]:
        """Make the request of a write, and count it. Raises ApiError."""
        began, result = time.perf_counter(), "done"
        try:
            return self._api.request(write.method, write.path, write.body, write.media, self._fence.write)
        except ApiError as error:
            result = "conflict" if error.status == HTTPStatus.CONFLICT else "failed"
            raise
        finally:
            self.measures.wrote(write.what, result, time.perf_counter() - began)

    def _make(self, write: Write) -> bool:
        """Make an object anew; whether it is there, or never can be."""
        try:
            self._request(write)
        except ApiError as error:
            if error.status == HTTPStatus.CONFLICT:  # one of its name is there: nothing is missing
                return True
            _LOG.warning("a pod that was stopped cannot be made anew: %s", error)
            return error.status in _NEVER
        return True

    def _ring(self) -> None:
        """Wake the desk when something is due."""
        with self._alarm:
            while not self._is_closing.is_set():
                wait = None if not self._due else max(0.0, (self._due - self._now()) / SECOND)
                if wait is not None and wait <= 0:
                    self._due = 0
                    self._on_events()
                    continue
                self._alarm.wait(wait)


def _key(kind: str, document: Mapping[str, Any]) -> str | Key:
    """By what the governor knows an object: nodes keep their name when they are made anew."""
    meta = document["metadata"]
    if kind in GROUPS:
        return meta["namespace"], kind, meta["name"]
    key: str = meta["uid"] if kind == "pods" else meta["name"]
    return key
