"""Plans that are played at once: the same as one after the other, in their order, and faults as they are."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import ArgumentError, Fault, InputError
from fairhold.lab.runs import Way, play_at_once, play_plan
from fairhold.lab.scenario import parse_scenario
from fairhold.sim.experiment import Resizing
from tests.lab.test_scenario import HOSTS, JOBS, PLAN, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.scenario import Scenario

NAMES = ["one", "two", "three"]


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    for name, text in (("plan.yaml", PLAN), ("hosts.yaml", HOSTS), ("jobs.csv", JOBS)):
        (tmp_path / name).write_text(text)
    plans = {"one": "plan.yaml", "two": "hosts.yaml", "three": "plan.yaml"}
    return parse_scenario(text_of(plans=plans).replace("plan: plan.yaml\n", ""), "s.yaml", tmp_path)


def test_more_plans_than_processes_come_in_their_order(scenario: Scenario) -> None:
    alone = [(name, play_plan(scenario, Way(), name)) for name in NAMES]
    assert list(play_at_once(scenario, Way(), NAMES, 2)) == alone


def test_a_fault_of_one_plan_is_told_as_it_would_be_alone(scenario: Scenario) -> None:
    """That there is no such group is found out while it is played."""
    experiments = dict(scenario.experiments)
    experiments["two"] = replace(experiments["two"], resizings=(Resizing(0, "gone", 1),))
    with pytest.raises(InputError) as alone:
        play_plan(replace(scenario, experiments=experiments), Way(), "two")
    with pytest.raises(type(alone.value)) as at_once:
        list(play_at_once(replace(scenario, experiments=experiments), Way(), NAMES, 2))
    assert str(at_once.value) == str(alone.value)


TENANTS = """
fairhold_tenants: 1
seed: 7
begin: 2026-01-05T00:00:00Z
length: 1d
tenants:
  /A:
    jobs_per_day: 150
    bursts: {share: 0.3, jobs: 5, within: 10m}
    jobs: [{duration: {shape: lognormal, median: 10m, p90: 90m}}]
  /B:
    jobs_per_day: 60
    jobs: [{tasks: {sizes: [1, 2], weights: [5, 3]}, duration: {shape: pareto, least: 1m, median: 40m}}]
"""
VECTORS = """
fairhold: 1
resources: {gpu: {}}
resource_groups: {compute: {hosts: [{name: "h[1-2]", gpu: 2}]}}
consumers: {A: {reclaim_grace: 2s}, B: {reclaim_grace: 2s}}
policies:
  - resource_groups: [compute]
    policy: fair_share
    consumers: {/A: {deserved: {gpu: 2}}, /B: {deserved: {gpu: 2}}}
"""
GOLDEN = {
    "one": (
        "226b75667b011480072fffaf2eba6cf64af0562421944c5113cec6c69128819d",
        "56919fc67752b37ae3e4f91c04a99b8971367397e24b8f8ec5922731b258c50a",
    ),
    "two": (
        "cfae61bf0cdf010309f31684d7babb58b4233ea04c27a1d9885d5c742e32fc78",
        "afbf348a5e41f2127e8d06331de54b2d5a6a8ed313916c0c290813ca596c9c17",
    ),
}
"""Plan → SHA-256 of its event log, and of its summary."""


@pytest.mark.parametrize("processes", [1, 2])
def test_log_and_summary_are_the_same_bytes_on_every_machine(tmp_path: Path, processes: int) -> None:
    """Chance in arrivals, lengths and hosts that fail; work that is saved, lost and done again; slots and vectors."""
    for name, text in (("hosts.yaml", HOSTS), ("vectors.yaml", VECTORS), ("tenants.yaml", TENANTS)):
        (tmp_path / name).write_text(text)
    text = text_of(
        plans={"one": "hosts.yaml", "two": "vectors.yaml"},
        workload={"kind": "tenants", "file": "tenants.yaml", "scale": {"load": {"/A": 0.5}}},
        outages=[{"hosts": "h[1-2]", "every": "6h", "lasts": "30m", "seed": 3}],
        work={"start_delay": "5s", "checkpoint": "10m", "restart": "30s", "stop_delay": "2s"},
        slot={"gpu": 1},
        warm_up="1h",
        end="1d",
    )
    scenario = parse_scenario(text.replace("plan: plan.yaml\n", ""), "s.yaml", tmp_path)
    found = {}
    for name, run in play_at_once(scenario, Way(), ["one", "two"], processes):
        summary = json.dumps(run.summary, sort_keys=True, separators=(",", ":"))
        found[name] = run.summary["log"], sha256(summary.encode()).hexdigest()
    assert found == GOLDEN


@pytest.mark.parametrize("kind", [InputError, ArgumentError])
def test_faults_come_from_another_process_as_they_went(kind: type[InputError]) -> None:
    told = kind([Fault("negative", "it is below 0", "write more", ("a", 1), "plan.yaml", 3, 4)])
    again = pickle.loads(pickle.dumps(told))
    assert (type(again), again.faults, str(again)) == (kind, told.faults, str(told))
