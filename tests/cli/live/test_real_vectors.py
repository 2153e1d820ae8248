"""A real service that shares resources of hosts between real tasks: lent, taken back with notice, over a restart."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import ME, ROOT, Served, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = """\
fairhold: 1
resources: {cpu: {}, memory: {unit: GiB}, gpu: {}}
resource_groups:
  gpu: {hosts: [{name: here, cpu: 8, memory: 32, gpu: 4}]}
consumers:
  Trading: {consumers: {Risk: {}}}
  Research: {reclaim_grace: 30s}
policies:
  - resource_groups: [gpu]
    policy: multidimensional
    consumers:
      /Trading: {own: [{resource_group: gpu, hosts: 1}]}
"""
BORROWS = """
trap 'echo told >> told; exit 75' TERM
echo gpu $CUDA_VISIBLE_DEVICES
while ! test -e end; do sleep 0.1; done
"""


class ServedHosts(Served):
    """A service whose machine is the host `here` of its plan."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.plan.write_text(PLAN)

    def start(self) -> None:
        (self.state / "service.json").unlink(missing_ok=True)
        with (self.place / "log").open("a") as log:
            command = [*ME, "serve", str(self.plan), "--port", "0", "--host", "here"]
            self._process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, cwd=ROOT, stdin=subprocess.DEVNULL
            )
        until((self.state / "service.json").exists)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[ServedHosts]:
    with ServedHosts(tmp_path) as served:
        yield served


def _running(live: Served, job: str) -> int:
    return int(live.json("show", job)["job"]["tasks"]["running"])


def test_gpus_are_lent_and_taken_back_while_the_service_starts_again(live: ServedHosts, tmp_path: Path) -> None:
    there = ("--env", f"PATH={os.environ['PATH']}", "--directory", str(tmp_path))
    lent = live.submit(
        "/Research", "--unit", "cpu=1,memory=1", "--unit", "gpu=1", "-n", "4", *there, "--", "sh", "-c", BORROWS
    )
    until(lambda: all(f"gpu {each}" in live.logs(lent) for each in range(4)))
    (group,) = live.json("top", "--once")["resource_groups"].values()
    assert group["resources"]["gpu"] == {"total": 4, "used": 4}
    rows = {row["path"]: row for row in group["consumers"]}
    assert (rows["/Research"]["borrowed"], rows["/Trading"]["lent"]) == (4, 4)
    assert rows["/Trading"]["amounts"]["owned"] == {"cpu": 8, "memory": 32, "gpu": 4}
    owner = live.submit(
        "/Trading/Risk", "--unit", "gpu=2", *there, "--", "sh", "-c", 'echo gpu "$CUDA_VISIBLE_DEVICES"'
    )
    live.kill()
    live.start()
    until(lambda: live.state_of(owner) == "done")
    assert (tmp_path / "told").read_text() == "told\ntold\n"
    numbers = live("logs", owner).split()[1].split(",")
    assert len(set(numbers)) == 2
    until(lambda: _running(live, lent) == 4)
    shown = live.json("show", lent)["job"]
    assert (shown["unit"], shown["tasks"]["reclaimed"]) == ({"cpu": "1", "memory": "1", "gpu": "1"}, 2)
    (tmp_path / "end").touch()
    until(lambda: live.state_of(lent) == "done")
    kinds = {row["kind"] for row in live.json("usage", "--by", "consumer,kind")["rows"]}
    assert {"own", "borrowed"} <= kinds
    live("store", "check")


def test_what_can_never_stand_anywhere_is_refused(live: ServedHosts) -> None:
    too_large = live("submit", "/Research", "--unit", "cpu=2,gpu=9", "--", "true", exits=1)
    assert "the nearest, `here`, has 4 of 9 gpu [never-fits]" in too_large
    for unit, code in (("gpu=0", "out-of-range"), ("gpu=-1", "negative")):
        assert f"[{code}]" in live("submit", "/Research", "--unit", unit, "--", "true", exits=1)
    assert "[unknown-resource]" in live("submit", "/Research", "--unit", "tpu=1", "--", "true", exits=2)
    assert "[no-multiple]" in live("submit", "/Research", "--unit", "gpu=0.00001", "--", "true", exits=1)
    assert "[missing-unit]" in live("submit", "/Research", "--", "true", exits=1)
    gang = live("submit", "/Research", "--unit", "gpu=1", "-n", "9", "--min-count", "5", "--", "true", exits=1)
    assert "all hosts together have room for 4" in gang
    live("submit", "/Research", "--unit", "gpu=1", "--unit-typo", "--", "true", exits=2)
    assert live.json("jobs", "--all")["jobs"] == []


def test_a_plan_says_what_it_would_change(live: ServedHosts, tmp_path: Path) -> None:
    job = live.submit("/Research", "--unit", "gpu=1", "-n", "2", "--", "sleep", "60")
    until(lambda: _running(live, job) == 2)
    other = tmp_path / "other.yaml"
    other.write_text(PLAN.replace("hosts: 1}]", "hosts: 1, reserved: true}]"))
    found = live.json("plan", "diff", str(other))
    assert sum(row["units"] for row in found["reclaims"]["added"]) == 2
    gone = tmp_path / "gone.yaml"
    gone.write_text(PLAN.replace("gpu: {}}", "tpu: {}}").replace("gpu: 4", "tpu: 4"))
    assert "[unit-in-use]" in live("plan", "apply", str(gone), exits=1)
    assert "no consumer" not in live("explain", "/Research")


def test_explain_of_a_job_says_what_would_give_it_more(live: ServedHosts, tmp_path: Path) -> None:
    reserved = tmp_path / "reserved.yaml"
    reserved.write_text(PLAN.replace("hosts: 1}]", "hosts: 1, reserved: true}]"))
    live("plan", "apply", str(reserved))
    job = live.submit("/Research", "--unit", "gpu=1", "-n", "2", "--", "sleep", "60")
    said = live("explain", job)
    assert "It would have more, with one of" in said
    assert "reserved" in said.partition("It would have more")[2]
    helps = live.json("explain", job)["request"]["would_help"]
    assert any(change["what"] == "reserved" for each in helps for change in each["changes"])
