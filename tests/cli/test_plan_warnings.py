"""Warnings of a plan: in the JSON result where it has a place for them, else on standard error, never twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_commands import fairhold

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
SLOTS = """\
fairhold: 1
resource_groups: {main: {slots: 10, configured_slots: 10}, idle: {slots: 5}}
consumers: {A: {}, B: {}, C: {}}
policies:
  - {resource_groups: [main], policy: ownership, consumers: {/A: {owned: 3, lend_to: [{consumer: /B}]}, /B: {owned: 2}}}
  - {resource_groups: [main], policy: hybrid, consumers: {/C: {owned: 4}}}
"""
QUEUES = """\
fairhold: 1
resources: {gpu: {}}
resource_groups: {g: {capacity: {gpu: 4}}, idle: {slots: 5}}
consumers: {A: {}, B: {}}
policies:
  - {resource_groups: [g], policy: fair_share, consumers: {/A: {deserved: {gpu: 3}}, /B: {deserved: {gpu: 3}}}}
"""
HOSTS = QUEUES.replace("capacity: {gpu: 4}", "hosts: [{name: h, gpu: 4}]")
STATE: Json = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z"}
OF_SLOTS = STATE | {"demand": {"/B": {"main": 5}}}
OF_QUEUES = STATE | {
    "requests": [
        {"id": name, "consumer": f"/{name}", "unit": {"gpu": 1}, "count": 4, "submitted": "2026-01-05T08:00:00Z"}
        for name in "AB"
    ]
}


class Files:
    def __init__(self, folder: Path, plan: str, state: Json) -> None:
        self.folder = folder
        self.plan, self.state = str(folder / "plan.yaml"), str(folder / "state.json")
        (folder / "plan.yaml").write_text(plan)
        (folder / "state.json").write_text(json.dumps(state))

    def verified(self, result: Json, exits: int = 0) -> list[Json]:
        """Findings of `verify` of a result."""
        (self.folder / "result.json").write_text(json.dumps(result))
        told = fairhold("verify", self.plan, self.state, str(self.folder / "result.json"), "--json", exits=exits)
        findings: list[Json] = json.loads(told.stdout)["findings"]
        return findings


@pytest.fixture
def slots(tmp_path: Path) -> Files:
    return Files(tmp_path, SLOTS, OF_SLOTS)


@pytest.fixture
def queues(tmp_path: Path) -> Files:
    return Files(tmp_path, HOSTS, OF_QUEUES)


def told(result: Json) -> list[tuple[str, str]]:
    return [(row["consumer"], row["code"]) for row in result["warnings"]]


def test_a_cycle_of_slots_tells_the_warnings_of_its_plan(slots: Files) -> None:
    done = fairhold("cycle", slots.plan, slots.state, "--json")
    result = json.loads(done.stdout)
    assert sorted(told(result)) == [("/", "group-not-shared"), ("/", "root-balance"), ("/A", "one-sided-lending")]
    one = next(row["message"] for row in result["warnings"] if row["consumer"] == "/A")
    assert one.startswith("policies[0].consumers./A.lend_to[0]: `/A` names `/B` under `lend_to`, and")
    assert one.endswith("; add `borrow_from: [{consumer: /A}]` to `/B`, or leave this out")
    assert done.stderr == ""
    assert slots.verified(result) == []


def test_a_cycle_of_queues_tells_the_warnings_of_its_plan_before_its_own(queues: Files) -> None:
    done = fairhold("cycle", queues.plan, queues.state, "--json")
    result = json.loads(done.stdout)
    assert told(result) == [("/", "group-not-shared"), ("/B", "oversubscribed"), ("/", "oversubscribed")]
    assert done.stderr == ""
    assert queues.verified(result) == []


@pytest.mark.parametrize("of", ["slots", "queues"])
def test_warnings_that_the_plan_does_not_give_are_found(of: str, request: pytest.FixtureRequest) -> None:
    files: Files = request.getfixturevalue(of)
    result = json.loads(fairhold("cycle", files.plan, files.state, "--json").stdout)
    first, *others = result["warnings"]
    for wrong in (others, [*others, first], [first, *result["warnings"]], [first | {"consumer": "/A"}, *others], None):
        rules = {finding["rule"] for finding in files.verified(result | {"warnings": wrong}, exits=1)}
        assert rules & {"FORMAT", "R-ADJUST-2"}, wrong


def test_where_the_result_has_no_warnings_they_are_told_on_standard_error(slots: Files) -> None:
    codes = {"group-not-shared", "root-balance", "one-sided-lending"}
    commands = (
        ["cycle", slots.plan, slots.state],
        ["cycle", slots.plan, slots.state, "--json", "--after", "-"],
        ["quota", slots.plan, slots.state, "--json"],
        ["explain", slots.plan, slots.state, "/A", "--json"],
    )
    for command in commands:
        done = fairhold(*command)
        assert {code for code in codes if f"[{code}]" in done.stderr} == codes, command
        assert "one-sided-lending" not in done.stdout, command
