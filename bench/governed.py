"""A cluster that a service governs, and when it is seen what becomes of the objects in it."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.watching import Watcher
from tests.kubernetes.estate import Estate, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairhold.engines.kubernetes.api import ApiError
    from tests.kubernetes.control_plane import ControlPlane

CLIENTS = 4
PATIENCE = 900.0
HZ = os.sysconf("SC_CLK_TCK")


class Watch:
    """When each object of a list was first seen to be something, by what and uid: seconds of the monotonic clock.

    words : what an object is
    """

    def __init__(self, cluster: ControlPlane, path: str, words: Callable[[Mapping[str, Any]], Sequence[str]]) -> None:
        self.first: dict[str, dict[str, float]] = defaultdict(dict)
        self._api, self._words = Api(find_access(cluster.kubeconfig())), words
        self._changed = threading.Condition()
        self._watcher = Watcher(self._api, "objects", path, self)
        self._watcher.list()
        self._watcher.start()

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is there, or has changed."""
        del kind
        now = time.monotonic()
        with self._changed:
            for word in self._words(document):
                self.first[word].setdefault(document["metadata"]["uid"], now)
            self._changed.notify_all()

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is gone; it was seen."""

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """All there are were seen."""

    def went_back(self, kind: str) -> None:
        """The cluster has an older state."""

    def fresh(self, kind: str) -> None:
        """The watch has begun."""

    def stale(self, kind: str, why: ApiError) -> None:
        """The watch is broken; another begins."""

    def until(self, what: str, count: int, check: Callable[[], None] = lambda: None) -> list[float]:
        """Wait until so many were seen so; when each was, in order. check: raises where waiting is of no use."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            while len(self.first[what]) < count:
                check()
                assert time.monotonic() < end, f"{len(self.first[what])} {what}, not {count}"
                self._changed.wait(1.0)
            return sorted(self.first[what].values())

    def when(self, what: str, uid: str) -> float:
        """Wait until an object was seen so; when."""
        with self._changed:
            assert self._changed.wait_for(lambda: uid in self.first[what], PATIENCE), f"{uid} is not {what}"
            return self.first[what][uid]

    def close(self) -> None:
        """Watch no longer."""
        self._watcher.close()
        self._api.close()


@contextmanager
def watching(cluster: ControlPlane, path: str, words: Callable[[Mapping[str, Any]], Sequence[str]]) -> Iterator[Watch]:
    """A watch of a list."""
    watch = Watch(cluster, path, words)
    try:
        yield watch
    finally:
        watch.close()


def watching_pods(cluster: ControlPlane, namespace: str) -> AbstractContextManager[Watch]:
    """A watch of the pods of a namespace: let go, running, over."""
    return watching(cluster, f"/api/v1/namespaces/{namespace}/pods", _words_of_pod)


def _words_of_pod(pod: Mapping[str, Any]) -> Sequence[str]:
    state = state_of(pod)
    if state == "gated":
        return ()
    more = {"running": ("running",), "succeeded": ("over",), "failed": ("over",)}
    return "let go", *more.get(state, ())


@contextmanager
def estate(cluster: ControlPlane, **terms: Any) -> Iterator[Estate]:  # noqa: ANN401
    """Two governed namespaces with nodes of their own, and a namespace that is not governed."""
    with tempfile.TemporaryDirectory(prefix="fairhold-bench-") as folder:
        made = Estate(cluster, Path(folder), **terms)
        made.post("/api/v1/namespaces", {"metadata": {"name": plain(made)}})
        try:
            yield made
        finally:
            made.house.close()  # what is left goes with the cluster
            made.api.close()


def plain(made: Estate) -> str:
    """The namespace that is not governed."""
    return f"{made.pool}-plain"


def create(made: Estate, namespace: str, pods: Sequence[Mapping[str, Any]]) -> None:
    """Create pods of these terms, by several clients at once."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(lambda at: made.pod(namespace, f"burst-{at}", **pods[at]), range(len(pods))))


def rate(instants: list[float]) -> float:
    """How many a second, from the first to the last."""
    return round((len(instants) - 1) / (instants[-1] - instants[0]), 1)


def processor_s(pid: int) -> float:
    """Seconds of a core that a process has taken."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:13])) / HZ
