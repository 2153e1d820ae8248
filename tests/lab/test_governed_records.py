"""Records of a service that governs a cluster: nodes come, change and go, and it comes out as it was."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.suggesting import suggest_plan
from fairhold.engines.kubernetes.gangs import COSCHEDULING
from fairhold.errors import InputError
from fairhold.lab.recording import record
from fairhold.lab.records import read_record, write_record
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import simulate
from fairhold.lab.sources import StoreSource
from fairhold.orchestrator.events import JobHeld, TaskAdopted
from fairhold.ports.governor import AWAITED
from fairhold.store import read_store
from fairhold.units import SECOND
from tests.engines.kubernetes.pretended import GPU, Pretended, node
from tests.live.governed import Governed

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.recording import Record

WHOSE = "kubernetes: {pods: [{namespace: risk, consumer: /risk}, {namespace: trading, consumer: /trading}]}"
PLAN = f"""
fairhold: 1
{WHOSE}
consumers: {{risk: {{reclaim_grace: 1s}}, trading: {{reclaim_grace: 0s}}}}
"""
PLANS = {
    "fair_share": """
resources: {gpu: {base: 1}}
resource_groups: {all: {nodes: {}}}
policies: [{policy: fair_share, resource_groups: [all], consumers: {/trading: {deserved: {gpu: NUMBER}}}}]
""",
    "hybrid": """
resource_groups: {all: {nodes: {}, slot: {nvidia.com/gpu: 1}}}
policies: [{policy: hybrid, resource_groups: [all], consumers: {/trading: {owned: NUMBER}}}]
""",
    "multidimensional": """
resources: {gpu: {base: 1}}
resource_groups: {all: {nodes: {pool: a}}, rest: {nodes: {}}}
policies:
  - policy: multidimensional
    resource_groups: [all, rest]
    consumers: {/trading: {share_ratio: NUMBER}, /risk: {share_ratio: 1}}
""",
}


def plan_of(policy: str, number: int = 4) -> str:
    return PLAN + PLANS[policy].replace("NUMBER", str(number))


class Story:
    """Random things happen in a cluster of up to four nodes."""

    def __init__(self, place: Path, policy: str, random: Random) -> None:
        self.random, self.policy = random, policy
        self.cluster = Pretended(place, plan_of(policy), {"n1": 4, "n2": 4})
        self.cluster.serve(COSCHEDULING)
        self.gangs = self.number = 0

    def wander(self, steps: int) -> None:
        does = {self._pod: 5, self._gang: 2, self._finish: 4, self._node: 3}
        does |= dict.fromkeys((self._delete, self._already, self._plan, self._restart), 1)
        for _ in range(steps):
            self.random.choices(list(does), list(does.values()))[0]()
            self.cluster.settle(self.random.choice([0.25, 1, 3]))
            self._make_anew()
        self.cluster.settle(3)
        self.cluster.play.commit()

    def _name(self) -> str:
        self.number += 1
        return f"p{self.number}"

    def _where(self) -> str:
        return self.random.choice(["risk", "trading"])

    def _pod(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            said = {"job": f"j{self.number}"} if self.random.random() < 0.6 else {}
            self.cluster.pod(self._name(), namespace=self._where(), gpus=self.random.choice([1, 1, 2]), **said)

    def _gang(self) -> None:
        self.gangs += 1
        least, name, where = self.random.randint(2, 3), f"g{self.gangs}", self._where()
        self.cluster.group(COSCHEDULING, name, {"spec": {"minMember": least}}, where)
        for _ in range(least + self.random.randint(0, 2)):
            labels = {"scheduling.x-k8s.io/pod-group": name}
            self.cluster.pod(self._name(), namespace=where, labels=labels, job=name)

    def _already(self) -> None:
        run_already(self.cluster, self._name())

    def _any(self) -> list[str]:
        running = self.cluster.running() + self.cluster.running("trading")
        return [self.random.choice(running)] if running else []

    def _finish(self) -> None:
        for name in self._any():
            self.cluster.finish(name, self.random.choice([0, 0, 0, 3]))

    def _delete(self) -> None:
        for name in self._any():
            self.cluster.delete(name)

    def _node(self) -> None:
        name = f"n{self.random.randint(1, 4)}"
        how: dict[str, Any] = self.random.choice(
            [{}, {}, {"ready": False}, {"cordoned": True}, {"boot": "another"}, {"pool": "b"}, {"gone": True}]
        )
        if how.get("gone"):
            self.cluster.governor.lose_node(name)
        else:
            self.cluster.governor.see_node(node(name, self.random.choice([2, 4, 4, 6]), **{"pool": "a"} | how))

    def _plan(self) -> None:
        core = self.cluster.play.core
        with suppress(InputError):
            core.apply_plan(plan_of(self.policy, self.random.randint(1, 6)), "ann", "", core.version)

    def _restart(self) -> None:
        self.cluster.nodes = {"n1": 4, "n3": 4}
        self.cluster.restart(snapshot=self.random.random() < 0.5)

    def _make_anew(self) -> None:
        """Controllers make pods in the place of those that were stopped."""
        gone, self.cluster.released = self.cluster.released, []
        for pod in gone:
            meta = pod["metadata"]
            owner, labels = meta.get("ownerReferences"), meta["labels"]
            if owner:
                group = {key: text for key, text in labels.items() if key.endswith("pod-group")}
                gpus = int(pod["spec"]["containers"][0]["resources"]["requests"][GPU])
                said = {"namespace": meta["namespace"], "gpus": gpus, "labels": group}
                self.cluster.pod(self._name(), job=owner[0]["name"], **said)


def recorded(place: Path, since: int = 0) -> Record:
    with read_store((place / "state").absolute()) as reader:
        return record(StoreSource(reader), since)


def played(place: Path, other: Path | None = None, *, check: bool = True) -> dict[str, Any]:
    """What comes of a record that is played again, or of another plan."""
    scenario = read_scenario(place / "scenario.yaml", other=other)
    return simulate(scenario, str(other) if other else "plan", check=check)


@pytest.mark.parametrize("policy", PLANS)
@pytest.mark.parametrize("seed", range(4))
def test_what_happened_in_a_cluster_comes_out_as_it_was(seed: int, policy: str, tmp_path: Path) -> None:
    """From the begin and from a snapshot; and under another plan everything adds up."""
    checks = policy != "hybrid"  # where gangs wait, a cycle of slots can leave a slot to the next one
    story = Story(tmp_path, policy, Random(f"{seed} {policy}"))
    story.wander(25)
    found = recorded(tmp_path)
    write_record(tmp_path / "mine", found)
    assert read_record(tmp_path / "mine" / "story.jsonl").event_trace == found.event_trace
    again = played(tmp_path / "mine", check=checks)
    assert again["as_recorded"] == {"lines": len(found.event_trace.decided), "is_same": True}
    story.cluster.play.snapshot()
    story.wander(8)
    later = recorded(tmp_path, found.event_trace.end + 1)
    assert later.event_trace.nodes
    write_record(tmp_path / "later", later)
    assert played(tmp_path / "later", check=checks)["as_recorded"]["is_same"]
    (tmp_path / "other.yaml").write_text(plan_of(policy, 1))
    assert played(tmp_path / "mine", tmp_path / "other.yaml", check=checks)["shared"][0]["capacity"] > 0


@pytest.fixture
def cluster(tmp_path: Path) -> Pretended:
    """A node of four GPUs, of which /trading deserves three."""
    return Pretended(tmp_path, plan_of("fair_share", 3), {"n1": 4})


def run_already(cluster: Pretended, name: str) -> None:
    """A pod runs already when it is seen first."""
    cluster.pod(name, schedulingGates=[], nodeName="n1")
    pod = cluster.named(name)
    pod["status"] = {"containerStatuses": [{"containerID": "c", "state": {"running": {}}}]}
    cluster.see(pod)


def what_if(place: Path, plan: str) -> dict[str, Any]:
    """The record of a place under another plan."""
    write_record(place / "mine", recorded(place))
    (place / "other.yaml").write_text(plan)
    return played(place / "mine", place / "other.yaml")["shared"][0]["consumers"]  # type: ignore[no-any-return]


def test_what_ran_already_is_told_by_others_and_is_not_granted_again(cluster: Pretended, tmp_path: Path) -> None:
    run_already(cluster, "first")
    cluster.pod("second")
    cluster.settle(2)
    cluster.finish("first")
    cluster.settle(1)
    event_trace = recorded(tmp_path).event_trace
    adopted = [line.what for line in event_trace.lines if isinstance(line.what, TaskAdopted)]
    assert adopted == [TaskAdopted("1", "n1")]
    assert not event_trace.is_observing
    otherwise = what_if(tmp_path, plan_of("fair_share", 4))
    assert (otherwise["/risk"]["submitted"], otherwise["/risk"]["finished"]) == (2, 1)


def test_a_bare_pod_that_was_reclaimed_runs_on_where_nobody_takes_its_place(cluster: Pretended, tmp_path: Path) -> None:
    for number in range(4):
        cluster.pod(f"r{number}")
    cluster.settle(2)
    cluster.pod("owner", namespace="trading")
    cluster.settle(3)
    assert (cluster.running(), cluster.running("trading")) == (["r0", "r1", "r2"], ["owner"])
    cluster.settle(60)
    cluster.finish("owner")
    cluster.settle(1)
    risk = what_if(tmp_path, plan_of("fair_share", 0).replace("{deserved", "{limit: {gpu: 0}, deserved"))["/risk"]
    assert risk["stopped"] == 0
    assert risk["use"] > 3.9 * 60 * SECOND


def test_a_pod_that_a_controller_makes_anew_is_not_held_where_it_is_not_stopped(
    cluster: Pretended, tmp_path: Path
) -> None:
    for number in range(4):
        cluster.pod(f"r{number}", job="train")
    cluster.settle(2)
    cluster.pod("owner", namespace="trading")
    cluster.settle(3)
    cluster.pod("again", job="train")
    cluster.settle(2)
    cluster.finish("owner")
    cluster.settle(3)
    assert cluster.running() == ["again", "r0", "r1", "r2"]
    held = [line.what for line in recorded(tmp_path).event_trace.lines if isinstance(line.what, JobHeld)]
    assert [each.reason for each in held] == [AWAITED]
    risk = what_if(tmp_path, plan_of("fair_share", 0).replace("{deserved", "{limit: {gpu: 0}, deserved"))["/risk"]
    assert (risk["stopped"], risk["left_waiting"]) == (0, 0)


def test_of_what_was_only_looked_at_is_told_what_would_have_been(tmp_path: Path) -> None:
    seen = Governed(tmp_path, plan_of("fair_share", 3), observes=True)
    for number in range(4):
        seen.pod(f"r{number}", gate="")
        seen.run(f"r{number}")
    seen.settle()
    seen.pod("owner", "trading", gate="")
    seen.settle(30 * SECOND)
    seen.delete("owner")
    seen.settle()
    event_trace = recorded(tmp_path).event_trace
    assert event_trace.is_observing
    write_record(tmp_path / "mine", recorded(tmp_path))
    again = played(tmp_path / "mine")
    assert again["as_recorded"]["is_same"]
    assert again["shared"][0]["consumers"]["/trading"]["wait"]["count"] == 0
    otherwise = what_if_again(tmp_path)
    assert otherwise["/trading"]["wait"]["max"] < 5 * SECOND
    assert otherwise["/risk"]["stopped"] == 1


def what_if_again(place: Path) -> dict[str, Any]:
    """The same plan in other words: what it would have done."""
    (place / "other.yaml").write_text(f"{plan_of('fair_share', 3)}# in other words\n")
    return played(place / "mine", place / "other.yaml")["shared"][0]["consumers"]  # type: ignore[no-any-return]


def test_the_smallest_change_is_found_on_a_record(
    cluster: Pretended, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though the plan has no host at the begin of the record, as no node was seen yet."""
    for number in range(4):
        cluster.pod(f"r{number}")
    cluster.settle(2)
    for number in range(4):
        cluster.pod(f"t{number}", namespace="trading")
    cluster.settle(60)
    for name in cluster.running("trading"):
        cluster.finish(name)
    cluster.settle(20)
    cluster.finish("t3")
    cluster.settle(2)
    write_record(tmp_path / "mine", recorded(tmp_path))
    asked = {"draws": 1, "processes": 1, "as_json": True}
    suggest_plan(tmp_path / "mine" / "scenario.yaml", "/trading", "p95<10s", "", None, **asked)  # type: ignore[arg-type]
    found = json.loads(capsys.readouterr().out)
    assert [each["place"] for each in found["changes"][0]["settings"]] == [
        "policies[0].consumers./trading.deserved.gpu"
    ]
