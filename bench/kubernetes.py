"""A service that governs a Kubernetes control plane of its own, beside kube-scheduler alone: see `tests/kubernetes`."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

from bench import beside_kueue
from bench.governed import PATIENCE, create, estate, plain, processor_s, rate, watching_pods
from tests.kubernetes import real_nodes
from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.estate import Estate, state_of
from tests.kubernetes.programs import CLUSTER
from tests.kubernetes.real_estate import PLAN, SLEEPS, pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.governed import Watch

    Row = dict[str, Any]

NODES, SMALL = 1_000, 2
STARTS, REAL_STARTS, RECLAIMS, BURST, WAITING = 40, 20, 10, 1_500, 20_000
PAUSE = 0.2
"""Seconds between two pods that are created one at a time: no cycle was a moment ago."""
RESTING = 5.0
"""Percent of a core."""


def starts(cluster: ControlPlane) -> dict[str, Row]:
    """From the creation of one pod until it runs, on nodes that are not there."""
    with estate(cluster, nodes=STARTS // 2) as made:
        made.serve()

        def submit(namespace: str, name: str) -> Mapping[str, Any]:
            return made.pod(namespace, name, gated=namespace == made.risk)

        return _in_turn("kubernetes, created to running", made, STARTS, submit)


def real_starts(cluster: ControlPlane) -> dict[str, Row]:
    """From the creation of one pod until its container runs, on nodes with containerd, runc and a kubelet."""
    if reason := real_nodes.unavailable():
        return {"kubernetes, created to running in a container": {"skipped": reason}}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairhold-bench-")))
        for name in ("r1", "r2"):
            node = real_nodes.RealNode(cluster, folder / name, name, "real")
            stack.callback(node.close)
            node.start()
        made = stack.enter_context(estate(cluster, nodes=0, plan=PLAN))
        made.serve()

        def submit(namespace: str, name: str) -> Mapping[str, Any]:
            spec = pod_spec(SLEEPS, grace=0, gated=namespace == made.risk)
            pod = {"metadata": {"name": name}, "spec": spec}
            return made.post(f"/api/v1/namespaces/{namespace}/pods", pod)

        return _in_turn("kubernetes, created to running in a container", made, REAL_STARTS, submit)


def _in_turn(what: str, made: Estate, number: int, submit: Callable[[str, str], Mapping[str, Any]]) -> dict[str, Row]:
    """Milliseconds until a pod runs, in the governed namespace and in the one that is not, in turn; each then goes."""
    took: dict[str, list[float]] = {made.risk: [], plain(made): []}
    with watching_pods(made.cluster, made.risk) as governed, watching_pods(made.cluster, plain(made)) as alone:
        for at in range(number):
            for namespace, watch in ((made.risk, governed), (plain(made), alone)):
                time.sleep(PAUSE)
                begun = time.monotonic()
                pod = submit(namespace, f"pod-{at}")
                took[namespace].append(watch.when("running", pod["metadata"]["uid"]) - begun)
                made.delete(namespace, f"pod-{at}", grace=0)
                made.until(partial(_is_empty, made, namespace))
    ours, theirs = (median(took[name]) * 1e3 for name in (made.risk, plain(made)))
    return {
        f"{what}, not governed": {"ms": round(theirs, 1)},
        f"{what}, governed": {"ms": round(ours, 1), "goal_ms": round(theirs * 1.3, 1)},
    }


def _is_empty(made: Estate, namespace: str) -> bool:
    return not made.pods(namespace)


def reclaims(cluster: ControlPlane) -> dict[str, Row]:
    """From the creation of an owner's pod until it runs, where all is lent and there is no grace."""
    took = []
    for _ in range(RECLAIMS):
        with estate(cluster, nodes=SMALL, grace="0s") as made:
            made.serve()
            made.job(made.trading, "borrows", 8, grace=0)
            made.until_states(made.trading, running=8)
            with watching_pods(cluster, made.risk) as watch:
                begun = time.monotonic()
                owner = made.pod(made.risk, "owner")
                took.append(watch.when("running", owner["metadata"]["uid"]) - begun)
    return {"kubernetes, owner's pod runs after a reclaim without grace": {"ms": ms(median(took)), "goal_ms": 2000}}


def bursts(cluster: ControlPlane) -> dict[str, Row]:
    """A burst of pods on a thousand nodes: let go by the service, bound by kube-scheduler alone, admitted by Kueue."""
    beside, least = _beside_kueue(cluster)
    with estate(cluster, nodes=NODES, gpus=8) as made:
        create(made, made.risk, [{}] * BURST)
        with watching_pods(cluster, made.risk) as watch:
            made.serve()
            granted = watch.until("let go", BURST)
            each = processor_s(made.house.service.pid) / BURST
            running = watch.until("running", BURST)
        busy = share_of(made.house.service.pid)
        cluster.kill("kube-scheduler")
        create(made, plain(made), [{"gated": False}] * BURST)
        with watching_pods(cluster, plain(made)) as watch:
            cluster.start("kube-scheduler")
            alone = watch.until("running", BURST)
    return beside | {
        "kubernetes, burst on 1,000 nodes, let go": {"per_s": rate(granted), "goal_per_s": max(200, least)},
        "kubernetes, burst on 1,000 nodes, processor time for each": {"ms": ms(each)},
        "kubernetes, burst on 1,000 nodes, running": {"per_s": rate(running), "goal_per_s": 90},
        "kubernetes, the same by kube-scheduler alone": {"per_s": rate(alone), "goal_per_s": 0},
        "kubernetes, idle service, 1,000 nodes, 1,500 pods": {"percent": busy, "goal_percent": 2},
    }


def _beside_kueue(cluster: ControlPlane) -> tuple[dict[str, Row], float]:
    """What Kueue does where it can be built, and how much of it a service is to do in a second: three times as much."""
    try:
        source = beside_kueue.build()
    except (SystemExit, OSError, CalledProcessError) as why:
        return {"kubernetes, Kueue": {"skipped": f"it cannot be built: {why}"}}, 0
    per_s, each = beside_kueue.run(cluster, source, BURST)
    name = "kubernetes, Kueue, its performance run of 1,500 workloads"
    rows = {
        f"{name}, admitted": {"per_s": per_s, "goal_per_s": 0},
        f"{name}, processor time for each": {"ms": ms(each)},
    }
    return rows, round(3 * per_s, 1)


def backlog(cluster: ControlPlane) -> dict[str, Row]:
    """So many pods wait: memory, and how long after the end of one pod the next is let go.

    It is told apart how long the cluster takes to end a pod that is deleted.
    """
    with estate(cluster, nodes=SMALL) as made:
        create(made, made.risk, [{}] * WAITING)
        with watching_pods(cluster, made.risk) as watch:
            made.serve()
            watch.until("running", 8)
            early = _released(made, watch, 8)
            at_rest(made.house.service.pid)
            took = [_released(made, watch, 8 + at) for at in range(1, RECLAIMS)]
        held = resident_mb(made.house.service.pid)
        busy = share_of(made.house.service.pid)
    return {
        "kubernetes, 20,000 pods wait, one ends while their conditions are written": {"ms": ms(sum(early))},
        "kubernetes, 20,000 pods wait, one is deleted, its end is read": {"ms": ms(median(each[0] for each in took))},
        "kubernetes, 20,000 pods wait, one ends, the next is let go": {
            "ms": ms(median(each[1] for each in took)),
            "goal_ms": 200,
        },
        "kubernetes, 20,000 pods wait, memory of the service": {"mb": held, "goal_mb": 400},
        "kubernetes, 20,000 pods wait, idle service": {"percent": busy, "goal_percent": 2},
    }


def _released(made: Estate, watch: Watch, before: int) -> tuple[float, float]:
    """Seconds from the deletion of a pod to its end, and from there until the next is let go.

    before : pods that were let go so far
    """
    running = [pod for pod in made.pods(made.risk) if state_of(pod) == "running"]
    begun = time.monotonic()
    made.delete(made.risk, running[0]["metadata"]["name"], grace=0)
    over = watch.when("over", running[0]["metadata"]["uid"])
    return over - begun, watch.until("let go", before + 1)[-1] - over


def at_rest(pid: int) -> None:
    """Wait until a process does next to nothing."""
    end = time.monotonic() + PATIENCE
    while share_of(pid) > RESTING and time.monotonic() < end:
        pass


def ms(seconds: float) -> float:
    """Milliseconds."""
    return round(seconds * 1e3, 1)


def share_of(pid: int, seconds: float = 20.0) -> float:
    """Percent of a core that a process takes."""
    time.sleep(5.0)
    before = processor_s(pid)
    time.sleep(seconds)
    return round((processor_s(pid) - before) / seconds * 100, 2)


def resident_mb(pid: int) -> float:
    """Memory of a process, in MB of 1,000,000 bytes."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) * 1024 / 1e6, 1)


def kubernetes() -> dict[str, Row]:
    """All of it; each on a cluster of its own."""
    if reason := CLUSTER.unavailable():
        return {"kubernetes": {"skipped": reason}}
    found: dict[str, Row] = {}
    parts: tuple[Callable[[ControlPlane], dict[str, Row]], ...] = (starts, real_starts, reclaims, bursts, backlog)
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="fairhold-bench-") as folder, ControlPlane(Path(folder)) as cluster:
            found |= part(cluster)
    return found
