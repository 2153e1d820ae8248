"""The governor with its I/O: threads that follow the cluster and write into it; it is decided in the desk's thread."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.announcing import Announcer
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.gangs import KINDS as GROUPS
from fairhold.engines.kubernetes.gangs import least_of
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.leader import Unfenced
from fairhold.engines.kubernetes.measures import Measures
from fairhold.engines.kubernetes.observing import observed, pods_of_job
from fairhold.engines.kubernetes.pods import node_of, pod_of
from fairhold.engines.kubernetes.watching import OptionalWatcher, Watcher
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
OBSERVED = {"jobs": "/apis/batch/v1/jobs"}
"""What is followed besides by who only looks."""
_LOG = logging.getLogger("fairhold")
_NOT_FOUND, _CONFLICT, _BROKEN = 404, 409, 500


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
        self._seen: deque[tuple[str, Any]] = deque()
        self._to_write: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._fresh: set[str] = set()
        self._kinds = KINDS | (OBSERVED if observes else {})
        self._keys: dict[str, set[Any]] = {kind: set() for kind in (*self._kinds, *GROUPS)}
        self._awaited: dict[str, tuple[str, ...]] = {}
        self._complained: set[str] = set()
        self._is_closing = threading.Event()
        self._alarm = threading.Condition()
        self._due = 0
        self._watchers: dict[str, Watcher] = {kind: OptionalWatcher(api, kind, self, self.measures) for kind in GROUPS}
        self._watchers |= {kind: Watcher(api, kind, path, self, self.measures) for kind, path in self._kinds.items()}
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
            self._take(*self._seen.popleft())
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

    def _take(self, what: str, said: Any) -> None:  # noqa: ANN401 - of each kind another
        governor = self.governor
        if what == "pods":
            governor.see_pod(said)
        elif what == "nodes":
            governor.see_node(said)
        elif what == "namespaces":
            if governor.see_namespace(said):
                self._watchers["pods"].list_again()
        elif what == "group":
            governor.see_group(*said)
        elif what == "serves":
            governor.serve_groups(said[0], is_served=said[1])
        elif what == "gone":
            kind, key = said
            lose: Any = {"pods": governor.lose_pod, "nodes": governor.lose_node}.get(kind, governor.lose_group)
            lose(key)
        elif what == "wrote":
            governor.wrote(*said[:2], is_done=said[2])
        elif what == "fresh":
            governor.all_seen()
        else:
            governor.stale()

    # As the watchers know it; in their threads

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is there, or has changed."""
        meta, key = document["metadata"], _key(kind, document)
        self._keys[kind].add(key)
        if kind in GROUPS:
            self._tell("group", (key, least_of(kind, document)))
            return
        if kind == "jobs":
            self._await_pods(meta["uid"], pods_of_job(document))
            return
        if kind == "pods":
            pod = pod_of(document)
            value: Any = observed(pod) if self.governor.observes else pod
        elif kind == "nodes":
            value = node_of(document)
        else:
            is_own = meta["name"] == self._api.access.own
            value = Namespace(meta["name"], meta.get("labels") or {}, meta.get("annotations") or {}, is_own)
        self._tell(kind, value)

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is gone."""
        self._lose(kind, _key(kind, document))

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """All there are were seen: others are gone."""
        keys = {_key(kind, document) for document in documents}
        for key in self._keys[kind] - keys:
            self._lose(kind, key)

    def _await_pods(self, job: str, pods: Iterable[Pod]) -> None:
        """A Job will have these pods, and none of those that it was to have before."""
        there = {pod.uid: pod for pod in pods}
        for uid in self._awaited.pop(job, ()):
            if uid not in there:
                self._tell("gone", ("pods", uid))
        for pod in there.values():
            self._tell("pods", observed(pod))
        if there:
            self._awaited[job] = tuple(there)

    def _lose(self, kind: str, key: Any) -> None:  # noqa: ANN401 - see `_key`
        self._keys[kind].discard(key)
        if kind == "jobs":
            self._await_pods(key, ())
        elif kind != "namespaces":
            self._tell("gone", (kind, key))

    def fresh(self, kind: str) -> None:
        """All that changes is told as it happens."""
        self._complained.discard(kind)
        if kind in self._kinds and kind not in self._fresh:
            self._fresh.add(kind)
            if len(self._fresh) == len(self._kinds):
                _LOG.info("the cluster is followed")
                self._tell("fresh")

    def serves(self, kind: str, *, is_served: bool) -> None:
        """The cluster has a kind, or lacks it."""
        self._tell("serves", (kind, is_served))

    def stale(self, kind: str, why: ApiError) -> None:
        """The API server does not tell any more."""
        if kind in GROUPS:
            if kind not in self._complained:
                self._complained.add(kind)
                _LOG.warning("which pods start together by their %s is not known: %s", kind, why)
        elif kind in self._fresh:
            self._fresh.discard(kind)
            _LOG.warning("nothing new starts until the cluster is heard again: %s", why)
            self._tell("stale")

    def _tell(self, what: str, said: object = None) -> None:
        self._seen.append((what, said))
        self._on_events()

    # Threads of our own

    def _write(self) -> None:
        while (write := self._to_write.get()) is not None:
            if not self._fence.passes(self._is_closing):
                return  # nothing is told: the service ends
            pod, is_done = self._carry_out(write) if write.uid else self._make(write)
            if self._is_closing.is_set():
                return
            self._tell("wrote", (write.uid, pod, is_done))

    def _carry_out(self, write: Write) -> tuple[Any, bool]:
        """Make a request; the pod as it is after it, looked up if need be, and whether it was done."""
        is_done = False
        try:
            document = self._request(write)
            is_done = True
            self._announcer.put(write.told)
            if document.get("kind") == "Pod" and write.method != "DELETE":
                return pod_of(document), True
        except ApiError as error:
            is_done = error.status == _CONFLICT  # decided anew on what is there now
            if not is_done:
                _LOG.info("could not %s %s: %s", write.what, write.path, error)
        while not self._is_closing.is_set():
            try:
                return pod_of(self._api.request("GET", write.path)), is_done
            except ApiError as error:
                if error.status == _NOT_FOUND:
                    return None, is_done
                self._is_closing.wait(1.0)
        return None, is_done

    def _request(self, write: Write) -> dict[str, Any]:
        """Make the request of a write, and count it. Raises ApiError."""
        began, result = time.perf_counter(), "done"
        try:
            return self._api.request(write.method, write.path, write.body, write.media, self._fence.write)
        except ApiError as error:
            result = "conflict" if error.status == _CONFLICT else "failed"
            raise
        finally:
            self.measures.wrote(write.what, result, time.perf_counter() - began)

    def _make(self, write: Write) -> tuple[Any, bool]:
        """Make an object anew, as soon as the one of its name is gone."""
        while self._fence.passes(self._is_closing):
            try:
                self._request(write)
            except ApiError as error:
                if error.status not in {0, _CONFLICT} and error.status < _BROKEN:
                    _LOG.warning("a pod that was stopped cannot be made anew: %s", error)
                    break
                self._is_closing.wait(1.0)
            else:
                break
        return None, True

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
    key: str = meta["uid"] if kind in {"pods", "jobs"} else meta["name"]
    return key
