"""Kueue on a control plane of this machine: its own performance run.

Kueue admits objects that stand for work, and its runner ends them: nothing of it is on nodes. Its client makes 50
requests a second, as the performance run sets it up, and as Kueue does by default.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bench.governed import processor_s, rate, watching
from tests.kubernetes.process import Process
from tests.kubernetes.programs import Programs, go

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.kubernetes.control_plane import ControlPlane

    Document = Mapping[str, Any]
    Run = tuple[float, float]
    """Workloads that are admitted in a second, and seconds of a core that each takes."""

KUEUE = Programs("Kueue", Path(__file__).with_name("kueue"), ("tool",))
MODULE = "sigs.k8s.io/kueue"
SHAPE = "test/performance/scheduler/configs/baseline/generator.yaml"
CUSTOM_RESOURCES = "config/components/crd/bases"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
PART = 10
"""Its run has so many times the work."""


def build() -> Path:
    """Build Kueue; returns where its module is. Raises SystemExit, OSError or CalledProcessError where that fails."""
    KUEUE.build()
    command = [go() or "go", "mod", "download", "-json", MODULE]
    said = subprocess.run(command, cwd=KUEUE.source, capture_output=True, text=True, check=True).stdout
    return Path(json.loads(said)["Dir"])


def run(cluster: ControlPlane, source: Path, count: int) -> Run:
    """So many workloads of its performance run."""
    cluster.kubectl("create", "--filename", str(source / CUSTOM_RESOURCES))
    cluster.kubectl("wait", "--for=condition=Established", "customresourcedefinitions", "--all")
    own = yaml.safe_load((source / SHAPE).read_text())
    works = [work for cohort in own["cohorts"] for queues in cohort["queuesSets"] for work in queues["workloadsSets"]]
    for work in works:
        work["count"] //= PART
    return _run(cluster, source, own, count)


def _run(cluster: ControlPlane, source: Path, shape: Document, count: int) -> Run:
    """A run of a shape."""
    (cluster.folder / "shape.yaml").write_text(yaml.safe_dump(shape))
    access = f"--kubeconfig={cluster.kubeconfig()}"
    words = [access, "--generatorConfig=shape.yaml", "--o=.", "--qps=1000", "--burst=2000"]
    kueue = Process("kueue", [str(KUEUE.path("minimalkueue")), access], cluster.folder)
    runner = Process("runner", ["env", f"PROJECT_DIR={source}", str(KUEUE.path("runner")), *words], cluster.folder)

    def check() -> None:
        kueue.check()
        runner.check()

    with watching(cluster, WORKLOADS, _words_of) as watch:
        try:
            runner.start()
            kueue.start()
            found = rate(watch.until("admitted", count, check))
            return found, processor_s(kueue.pid) / count
        finally:
            runner.kill()
            kueue.kill()


def _words_of(workload: Document) -> Sequence[str]:
    conditions = workload.get("status", {}).get("conditions", ())
    return ["admitted" for each in conditions if (each["type"], each["status"]) == ("Admitted", "True")]
