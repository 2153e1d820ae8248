"""What a service did on a real control plane: recorded, played again, and asked what would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import GPU, Estate

if TYPE_CHECKING:
    from pathlib import Path

MERGE = "application/merge-patch+json"


def ask(estate: Estate, *words: str) -> str:
    """What a command says that asks the service, or works on files."""
    own = os.environ | {"FAIRHOLD_SERVICE": f"unix:{estate.house.state}/api.sock"}
    command = [sys.executable, "-m", "fairhold", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=own, timeout=120)
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
    return done.stdout


def live_through(estate: Estate) -> None:
    """Lending, reclaim, a gang of pods that differ, a node that comes, one that is cordoned and one that goes."""
    estate.job(estate.risk, "borrows", 8, spec={"completions": 20, "completionMode": "Indexed"})
    estate.until_states(estate.risk, running=8)
    estate.job(estate.trading, "owner", 4, runs_for="2s")
    estate.until_states(estate.trading, patience=60, succeeded=4)
    estate.until_states(estate.risk, running=8)
    more = estate.cluster.kwok(1, {"cpu": "32", GPU: "4", "pods": "110"}, {"pool": estate.pool}, f"{estate.pool}-more")
    estate.nodes += more
    notes = {names.GANG: "g", names.GANG_SIZE: "2", names.GANG_UNIT: names.LARGEST}
    estate.pod(estate.trading, "launcher", notes=notes)
    estate.pod(estate.trading, "worker", notes=notes, gpus=2)
    estate.until_states(estate.trading, running=2)
    assert estate.used()[more[0]] == 3
    estate.api.request("PATCH", f"/api/v1/nodes/{estate.nodes[0]}", {"spec": {"unschedulable": True}}, MERGE)
    estate.until(lambda: any(host.state == "closed" for host in estate.house.client.hosts()))
    estate.pod(estate.risk, "waits", gpus=4)
    estate.until_waits(estate.risk, "waits", "gpu")


def test_a_record_of_a_cluster_is_played_again_and_under_another_plan(estate: Estate, tmp_path: Path) -> None:
    live_through(estate)
    expected = json.loads(ask(estate, "jobs", "--when", "--json"))["jobs"]
    (waiting,) = [job for job in expected if job["name"] == "waits"]
    assert waiting["expected"]["why"] or waiting["expected"]["p50"]
    ask(estate, "state", "--output", str(tmp_path / "now.json"), "--plan", str(tmp_path / "now.yaml"))
    decided = json.loads(ask(estate, "cycle", str(tmp_path / "now.yaml"), str(tmp_path / "now.json"), "--json"))
    assert [decided[kind] for kind in ("grants", "reclaims", "withdrawn")] == [[], [], []]
    ask(estate, "record", str(tmp_path / "live"))
    estate.house.service.terminate()
    estate.house.service.wait(30)
    ask(estate, "record", str(tmp_path / "stored"), "--state", str(estate.house.state))
    for name in ("live", "stored"):
        found = json.loads(ask(estate, "simulate", str(tmp_path / name / "scenario.yaml"), "--check", "--json"))
        assert next(iter(found["plans"].values()))["as_recorded"]["is_same"], next(iter(found["plans"].values()))[
            "as_recorded"
        ]
    other = tmp_path / "other.yaml"
    other.write_text(estate.plan.replace("deserved: {gpu: 4}", "deserved: {gpu: 0}, limit: {gpu: 0}"))
    found = json.loads(ask(estate, "simulate", str(tmp_path / "stored/scenario.yaml"), "--plan", str(other), "--json"))
    assert next(iter(found["plans"].values()))["shared"][0]["consumers"]["/risk"]["stopped"] == 0
