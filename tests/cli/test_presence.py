"""Hosts that are not up: folded, told in words, and in the results of commands on files (R-UP-1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairhold.cycle.verify import verify
from fairhold.model.presence import MOST_NAMED, presence, presence_in_words
from fairhold.planio.plan import read_plan
from fairhold.planio.state import read_state
from tests.cli.test_commands import fairhold


def test_of_very_many_names_the_first_are_told() -> None:
    names = [f"{letter}{at}" for letter in "abcdefghijkl" for at in (1, 2)]
    told = presence_in_words(presence([*names, "up"], dict.fromkeys(names, ("down", None))))
    assert MOST_NAMED == 8
    assert told == "1 of 25 hosts is up; " + ", ".join(f"{each}[1-2]" for each in "abcdefgh") + " and 4 more are down"


def test_nothing_is_said_where_all_are_up() -> None:
    assert presence_in_words(presence(["a", "b"], {})) == ""
    assert presence_in_words(None) == ""


PLAN = """\
fairhold: 1
resources: {gpu: {}}
resource_groups:
  gpu: {hosts: [{name: "g[01-40]", gpu: 2}]}
  train: {hosts: [{name: "t[1-2]", gpu: 4}]}
consumers: {A: {}, B: {}, Q: {}, R: {}}
policies:
  - {resource_groups: [gpu], policy: multidimensional, consumers: {/A: {}, /B: {}}}
  - {resource_groups: [train], policy: fair_share, consumers: {/Q: {deserved: {gpu: 3}}, /R: {deserved: {gpu: 3}}}}
"""
STATE = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
hosts_down: [g07, t2]
hosts_closed: [g01, g02]
requests:
  - {id: a, consumer: /A, unit: {gpu: 1}, count: 3}
  - {id: q, consumer: /Q, unit: {gpu: 1}, count: 9}
allocations:
  - {request: a, host: g07, units: 1, started: 2026-01-05T08:00:00Z}
  - {request: q, host: t2, units: 1, started: 2026-01-05T08:00:00Z}
"""
GPU = "gpu: 37 of 40 hosts are up; g07 is down; g[01-02] are closed"
TRAIN = "train: 1 of 2 hosts is up; t2 is down"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(PLAN)
    state.write_text(STATE)
    return str(plan), str(state)


@pytest.mark.parametrize("command", ["quota", "cycle"])
def test_results_name_them(files: tuple[str, str], command: str) -> None:
    assert f"\n\n{GPU}\n{TRAIN}\n" in fairhold(command, *files).stdout
    found = json.loads(fairhold(command, *files, "--json").stdout)
    assert found["hosts"]["train"] == {
        "up": 1,
        "all": 2,
        "not_up": [{"state": "down", "since": None, "hosts": ["t2"]}],
    }
    assert found["resource_groups"]["train"]["amounts"] == {"gpu": 5}  # 4 of t1, and the unit on t2
    plan = read_plan(Path(files[0]))[0]
    state = read_state(Path(files[1]), plan)
    assert verify(plan, state, found) == ()
    assert {row.rule for row in verify(plan, state, found | {"hosts": {}})} == {"R-UP-1"}


def test_explanations_name_them(files: tuple[str, str]) -> None:
    assert fairhold("explain", *files, "/A").stdout.endswith(f"\n\n{GPU}\n")
    (told,) = json.loads(fairhold("explain", *files, "/Q", "--json").stdout)
    assert list(told["hosts"]) == ["train"]
