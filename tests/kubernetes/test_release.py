"""Fairhold is taken out of a cluster: pods run on, and those that wait start."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import Estate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane


def conditions(pod: dict[str, Any]) -> set[str]:
    """Types of Fairhold's conditions of a pod."""
    return {each["type"] for each in pod["status"].get("conditions", ())} & {names.GRANTED, names.DISRUPTION}


def test_pods_run_on_and_those_that_wait_start(cluster: ControlPlane, tmp_path: Path) -> None:
    with ExitStack() as stack:
        estate = Estate(cluster, tmp_path, grace="300s")
        stack.callback(estate.close)
        estate.serve()
        for number in range(10):
            estate.pod(estate.risk, f"p{number}", runs_for=600)
        estate.until_states(estate.risk, running=8, gated=2)
        estate.until(lambda: [conditions(pod) for pod in estate.pods(estate.risk)].count({names.GRANTED}) == 2)
        estate.job(estate.trading, "owner", 1)  # others are told to give way
        estate.until(lambda: any(names.DISRUPTION in conditions(pod) for pod in estate.pods(estate.risk)))
        estate.house.kill()
        words = ["kubernetes", "release", "--kubeconfig", str(cluster.kubeconfig()), "--namespace", estate.risk]
        command = [sys.executable, "-m", "fairhold", *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.stdout == "2 pods waited and may start, 8 pods lost a mark and run on\n"
        pods = estate.pods(estate.risk)
        assert not [pod for pod in pods if names.FINALIZER in pod["metadata"].get("finalizers", ())]
        assert not [pod for pod in pods if names.ATTEMPT in pod["metadata"]["annotations"]]
        assert not any(conditions(pod) for pod in pods)
        assert estate.states(estate.risk) == {"running": 8, "pending": 2}
        again = subprocess.run(command, check=True, capture_output=True, text=True)
        assert again.stdout == "0 pods waited and may start, 0 pods lost a mark and run on\n"
