"""Tiny plans and jobs, and runs of them in this process or another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.planio.plan import parse_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.model.plan import Plan

PATIENT = 60.0
ROOT = Path(__file__).parents[2]


def plan_document(slots: int, consumers: Mapping[str, Mapping[str, Any]], grace: str = "0s") -> dict[str, Any]:
    """A plan with one resource group; consumers by path with their settings."""
    names: dict[str, Any] = {}
    for path in consumers:
        names[path] = {"reclaim_grace": grace}
    policy = {"resource_groups": ["compute"], "policy": "hybrid", "consumers": dict(consumers)}
    groups = {"compute": {"slots": slots}}
    return {"fairhold": 1, "cluster": "test", "resource_groups": groups, "consumers": names, "policies": [policy]}


def read_document(document: Mapping[str, Any]) -> Plan:
    plan, _ = parse_plan(json.dumps(document), "plan.json")
    return plan


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


class Case:
    """A plan file, a job file and an output directory."""

    def __init__(self, folder: Path, plan: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> None:
        self.plan, self.jobs, self.output = folder / "plan.json", folder / "jobs.json", folder / "output"
        self.plan.write_text(json.dumps(plan))
        self.jobs.write_text(json.dumps({"fairhold_jobs": 1, "jobs": list(jobs)}))

    def start(self, *options: str, stdout: int = subprocess.PIPE, **environment: str) -> subprocess.Popen[bytes]:
        """`fairhold run` as a process of its own."""
        command = [sys.executable, "-m", "fairhold", "run", str(self.plan), str(self.jobs)]
        return subprocess.Popen(
            [*command, "--output", str(self.output), *options],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **environment},
        )

    def record(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.output / "record.jsonl").read_text().splitlines()]

    def instructions(self, kind: str) -> list[dict[str, Any]]:
        rows = [row for line in self.record() for row in line.get("instructions", ())]
        return [row for row in rows if row["kind"] == kind]

    def starts(self, job: str) -> list[tuple[int, int]]:
        """Index and attempt of every start of a job, in order."""
        return [(row["index"], row["number"]) for row in self.instructions("Start") if row["job"] == job]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


def pids(folder: Path, count: int) -> list[int]:
    """The numbers that tasks have written to files of a folder, once there are so many."""
    until(lambda: len(list(folder.glob("*.pid"))) >= count)
    return [int(file.read_text()) for file in folder.glob("*.pid")]


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
