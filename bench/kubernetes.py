"""A service that governs a Kubernetes control plane of its own, beside kube-scheduler alone: see `tests/kubernetes`."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.watching import Watcher
from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.estate import Estate, state_of
from tests.kubernetes.programs import unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairhold.engines.kubernetes.api import ApiError

    Row = dict[str, Any]

NODES, SMALL = 1_000, 2
STARTS, RECLAIMS, BURST, WAITING = 40, 10, 1_000, 20_000
CLIENTS = 4
PAUSE = 0.2
"""Seconds between two pods that are created one at a time: no cycle was a moment ago."""
PATIENCE = 900.0
RESTING = 5.0
"""Percent of a core."""
HZ = os.sysconf("SC_CLK_TCK")


class Watch:
    """When each pod of a namespace was first seen let go and running, by name: seconds of the monotonic clock."""

    def __init__(self, cluster: ControlPlane, namespace: str) -> None:
        self.first: dict[str, dict[str, float]] = {"let go": {}, "running": {}}
        self._api = Api(find_access(cluster.kubeconfig()))
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._changed = threading.Condition()
        self._watcher = Watcher(self._api, "pods", self._path, self)
        self._watcher.list()
        self._watcher.start()

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """A pod is there, or has changed."""
        del kind
        name, now, state = document["metadata"]["name"], time.monotonic(), state_of(document)
        with self._changed:
            if state != "gated":
                self.first["let go"].setdefault(name, now)
            if state == "running":
                self.first["running"].setdefault(name, now)
            self._changed.notify_all()

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """A pod is gone; it was seen."""

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """All there are were seen."""

    def went_back(self, kind: str) -> None:
        """The cluster has an older state."""

    def fresh(self, kind: str) -> None:
        """The watch has begun."""

    def stale(self, kind: str, why: ApiError) -> None:
        """The watch is broken; another begins."""

    def until(self, what: str, count: int) -> list[float]:
        """Wait until so many pods were seen so; when each was, in order."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.first[what]) >= count, PATIENCE), f"not {count} {what}"
            return sorted(self.first[what].values())

    def when(self, what: str, name: str) -> float:
        """Wait until a pod was seen so; when."""
        with self._changed:
            assert self._changed.wait_for(lambda: name in self.first[what], PATIENCE), f"{name} is not {what}"
            return self.first[what][name]

    def close(self) -> None:
        """Watch no longer."""
        self._watcher.close()
        self._api.close()


@contextmanager
def watching(cluster: ControlPlane, namespace: str) -> Iterator[Watch]:
    """A watch of a namespace."""
    watch = Watch(cluster, namespace)
    try:
        yield watch
    finally:
        watch.close()


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


def create(made: Estate, namespace: str, count: int, *, gated: bool = True) -> None:
    """Create pods, by several clients at once."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(lambda at: made.pod(namespace, f"burst-{at}", gated=gated), range(count)))


def starts(cluster: ControlPlane) -> dict[str, Row]:
    """From the creation of one pod until it runs, governed and not, in turn."""
    with estate(cluster, nodes=STARTS // 2) as made:
        made.serve()
        took: dict[str, list[float]] = {made.risk: [], plain(made): []}
        with watching(cluster, made.risk) as governed, watching(cluster, plain(made)) as alone:
            for at in range(STARTS):
                for namespace, watch in ((made.risk, governed), (plain(made), alone)):
                    time.sleep(PAUSE)
                    name, begun = f"pod-{at}", time.monotonic()
                    made.pod(namespace, name, gated=namespace == made.risk)
                    took[namespace].append(watch.when("running", name) - begun)
    ours, theirs = (median(took[name]) * 1e3 for name in (made.risk, plain(made)))
    return {
        "kubernetes, created to running, not governed": {"ms": round(theirs, 1)},
        "kubernetes, created to running, governed": {"ms": round(ours, 1), "goal_ms": round(theirs * 1.3, 1)},
    }


def reclaims(cluster: ControlPlane) -> dict[str, Row]:
    """From the creation of an owner's pod until it runs, where all is lent and there is no grace."""
    took = []
    for _ in range(RECLAIMS):
        with estate(cluster, nodes=SMALL, grace="0s") as made:
            made.serve()
            made.job(made.trading, "borrows", 8, grace=0)
            made.until_states(made.trading, running=8)
            with watching(cluster, made.risk) as watch:
                begun = time.monotonic()
                made.pod(made.risk, "owner")
                took.append(watch.when("running", "owner") - begun)
    return {"kubernetes, owner's pod runs after a reclaim without grace": {"ms": ms(median(took)), "goal_ms": 2000}}


def bursts(cluster: ControlPlane) -> dict[str, Row]:
    """A burst of pods on a thousand nodes: let go by the service, and bound by kube-scheduler alone."""
    with estate(cluster, nodes=NODES, gpus=8) as made:
        create(made, made.risk, BURST)
        with watching(cluster, made.risk) as watch:
            made.serve()
            granted, running = watch.until("let go", BURST), watch.until("running", BURST)
        busy = share_of(made.house.service.pid)
        cluster.kill("kube-scheduler")
        create(made, plain(made), BURST, gated=False)
        with watching(cluster, plain(made)) as watch:
            cluster.start("kube-scheduler")
            alone = watch.until("running", BURST)
    return {
        "kubernetes, burst on 1,000 nodes, let go": {"per_s": rate(granted), "goal_per_s": 200},
        "kubernetes, burst on 1,000 nodes, running": {"per_s": rate(running), "goal_per_s": 90},
        "kubernetes, the same by kube-scheduler alone": {"per_s": rate(alone), "goal_per_s": 0},
        "kubernetes, idle service, 1,000 nodes, 1,000 pods": {"percent": busy, "goal_percent": 2},
    }


def backlog(cluster: ControlPlane) -> dict[str, Row]:
    """So many pods wait: memory, and how long after the end of one pod the next is let go."""
    with estate(cluster, nodes=SMALL) as made:
        create(made, made.risk, WAITING)
        with watching(cluster, made.risk) as watch:
            made.serve()
            watch.until("running", 8)
            early = _released(made, watch, 8)
            at_rest(made.house.service.pid)
            took = [_released(made, watch, 8 + at) for at in range(1, RECLAIMS)]
        held = resident_mb(made.house.service.pid)
        busy = share_of(made.house.service.pid)
    return {
        "kubernetes, 20,000 pods wait, one ends while their conditions are written": {"ms": ms(early)},
        "kubernetes, 20,000 pods wait, one ends, the next is let go": {"ms": ms(median(took)), "goal_ms": 200},
        "kubernetes, 20,000 pods wait, memory of the service": {"mb": held, "goal_mb": 400},
        "kubernetes, 20,000 pods wait, idle service": {"percent": busy, "goal_percent": 2},
    }


def _released(made: Estate, watch: Watch, before: int) -> float:
    """Seconds from the end of a pod until the next is let go; before: those that were let go so far."""
    running = [pod for pod in made.pods(made.risk) if state_of(pod) == "running"]
    begun = time.monotonic()
    made.delete(made.risk, running[0]["metadata"]["name"], grace=0)
    return watch.until("let go", before + 1)[-1] - begun


def at_rest(pid: int) -> None:
    """Wait until a process does next to nothing."""
    end = time.monotonic() + PATIENCE
    while share_of(pid) > RESTING and time.monotonic() < end:
        pass


def ms(seconds: float) -> float:
    """Milliseconds."""
    return round(seconds * 1e3, 1)


def rate(instants: list[float]) -> float:
    """How many a second, from the first to the last."""
    return round((len(instants) - 1) / (instants[-1] - instants[0]), 1)


def share_of(pid: int, seconds: float = 20.0) -> float:
    """Percent of a core that a process takes."""

    def ticks() -> int:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    time.sleep(5.0)
    before = ticks()
    time.sleep(seconds)
    return round((ticks() - before) / HZ / seconds * 100, 2)


def resident_mb(pid: int) -> float:
    """Memory of a process, in MB of 1,000,000 bytes."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) * 1024 / 1e6, 1)


def kubernetes() -> dict[str, Row]:
    """All of it; each on a cluster of its own."""
    if reason := unavailable():
        return {"kubernetes": {"skipped": reason}}
    found: dict[str, Row] = {}
    parts: tuple[Callable[[ControlPlane], dict[str, Row]], ...] = (starts, reclaims, bursts, backlog)
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="fairhold-bench-") as folder, ControlPlane(Path(folder)) as cluster:
            found |= part(cluster)
    return found
