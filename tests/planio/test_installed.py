"""A policy of another package brings keys of its own, and no file of ours knows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from fairhold.errors import InputError
from fairhold.model.policy import Policy
from fairhold.planio.document import parse_document
from fairhold.planio.installed import all_policies, read_entry_points
from fairhold.planio.plan import parse_plan
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.policies.registry import POLICIES, RefusedPolicyError, register

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = """
from fairhold.model.policy import Policy
from fairhold.model.setting import Kind, Setting
from fairhold.policies.hybrid.policy import RULES
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS, OWNED

DRAW = Setting("draw", Kind.DURATION, "How often tickets are drawn; none: once.", default=60_000_000, has_none=True)
TICKETS = Setting("tickets", Kind.WHOLE, "Tickets in the lottery over surplus slots.", default=1, most=1000)
PRIZES = Setting("prizes", Kind.AMOUNTS, "What is won.", default=(), has_none=True, none=())
LOTTERY = Policy(
    "lottery", (*OF_SLOTS, DRAW), (OWNED, TICKETS, PRIZES, *OF_HOLDERS), scales_owned=True, rules=RULES
)
"""
PLAN = """\
fairhold: 1
resources: {cpu: {}}
resource_groups: {compute: {slots: 100}}
consumers: {A: {}, B: {}}
policies:
  - resource_groups: [compute]
    policy: lottery
    settings: {draw: 5m}
    consumers:
      /A: {owned: 60, tickets: 3}
      /B: {owned: 40, prizes: {cpu: 2}}
"""
STATE = "fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\ndemand: {/A: {compute: 80}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of installed packages with the lottery, and a plan that uses it."""
    (tmp_path / "lottery.py").write_text(PACKAGE)
    of_package = tmp_path / "lottery-1.0.dist-info"
    of_package.mkdir()
    (of_package / "METADATA").write_text("Metadata-Version: 2.1\nName: lottery\nVersion: 1.0\n")
    (of_package / "entry_points.txt").write_text("[fairhold.policies]\nlottery = lottery:LOTTERY\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "state.yaml").write_text(STATE)
    return tmp_path


def fairhold(folder: Path, *args: str, exits: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    assert done.returncode == exits, done.stderr
    return done.stderr if exits else done.stdout


def test_check_reads_its_keys_and_refuses_what_is_wrong_with_them(folder: Path) -> None:
    assert "good; 2 consumers, 1 policy entry" in fairhold(folder, "check", "plan.yaml")
    (folder / "odd.yaml").write_text(PLAN.replace("tickets: 3", "tickets: 1001").replace("draw: 5m", "tikets: 1"))
    said = fairhold(folder, "check", "odd.yaml", exits=1)
    assert "policies[0].consumers./A.tickets: 1001 is not between 0 and 1000 [out-of-range]" in said
    assert "policies[0].settings.tikets: `tikets`" in said
    assert "[unknown-key]" in said
    (folder / "other.yaml").write_text(PLAN.replace("tickets: 3", "share_ratio: 3"))
    assert "`prizes`" in fairhold(folder, "check", "other.yaml", exits=1)


def test_a_plan_without_it_is_told_whose_key_it_is(folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("policy: lottery", "policy: hybrid").replace("draw", "lead"))
    said = fairhold(folder, "check", "plan.yaml", exits=1)
    assert "`tickets` belongs to the policy `lottery`, and this entry's is `hybrid` [other-policy]" in said


def test_its_keys_can_be_changed_and_compared(folder: Path) -> None:
    explored = fairhold(folder, "explore", "plan.yaml", "state.yaml", "--set", "/A:tickets=5", "--json")
    assert json.loads(explored)["warnings"] == []
    assert "does not read" not in fairhold(folder, "explore", "plan.yaml", "state.yaml", "--set", "settings:draw=none")
    refused = fairhold(folder, "explore", "plan.yaml", "state.yaml", "--set", "/A:tickets=x", exits=1)
    assert "expected a whole number" in refused
    new = PLAN.replace("tickets: 3", "tickets: 5").replace("draw: 5m", "draw: none").replace("cpu: 2", "cpu: 3")
    (folder / "new.yaml").write_text(new)
    found = json.loads(fairhold(folder, "diff", "plan.yaml", "new.yaml", "state.yaml", "--json"))["settings"]
    assert found == [
        {"place": "policies[0].settings.draw", "old": "5m", "new": "none"},
        {"place": "policies[0].consumers./A.tickets", "old": 3, "new": 5},
        {"place": "policies[0].consumers./B.prizes", "old": {"cpu": 2}, "new": {"cpu": 3}},
    ]
    (folder / "new.yaml").write_text(PLAN.replace(", tickets: 3", ""))
    found = json.loads(fairhold(folder, "diff", "plan.yaml", "new.yaml", "state.yaml", "--json"))["settings"]
    assert found == [{"place": "policies[0].consumers./A.tickets", "old": 3, "new": 1}]


def test_windows_under_different_policies_are_compared(folder: Path) -> None:
    """What a policy does not read is told as its default."""
    by_day = PLAN.replace("policy: lottery", "policy: lottery\n    window: Mon-Fri 08:00-18:00")
    at_night = "  - {resource_groups: [compute], policy: hybrid, consumers: {/A: {owned: 60}, /B: {owned: 40}}}\n"
    (folder / "plan.yaml").write_text(by_day + at_night)
    said = json.loads(fairhold(folder, "windows", "plan.yaml", "--from", "2026-01-05T00:00:00Z", "--json"))
    morning = said["switches"][0]["consumers"]
    assert morning["/A"] == {"policy": ["hybrid", "lottery"], "tickets": [1, 3]}
    assert morning["/B"] == {"policy": ["hybrid", "lottery"], "prizes": [None, {"cpu": 2}]}


def test_the_schema_and_the_picture_have_its_keys(folder: Path) -> None:
    schema = json.loads(fairhold(folder, "schema", "plan"))
    check = Draft202012Validator(schema)
    for old, new, is_right in (
        ("tickets: 3", "tickets: 3", True),
        ("tickets: 3", "tickets: 1001", False),
        ("draw: 5m", "draw: none", True),
        ("draw: 5m", "draw: 5", False),
        ("draw: 5m", "enforce: leaf", False),
        ("policy: lottery", "policy: hybrid", False),
    ):
        assert check.is_valid(parse_document(PLAN.replace(old, new), "plan").value) is is_right, new
    tickets = schema["$defs"]["settings"]["anyOf"][0]["properties"]["tickets"]
    assert tickets["description"] == "Tickets in the lottery over surplus slots."
    picture = fairhold(folder, "plan", "draw", "plan.yaml")
    assert "draw 5m" in picture
    assert "tickets 3" in picture
    assert "prizes cpu 2" in picture


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points that are found; the registry is as before afterwards."""
    found: list[EntryPoint] = []
    known = dict(POLICIES)
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [each for each in found if each.group == group]
    )
    read_entry_points.cache_clear()
    yield found
    read_entry_points.cache_clear()
    POLICIES.clear()
    POLICIES.update(known)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("json:dumps", "it is a function"),
        ("fairhold.policies.hybrid:nothing", "it cannot be loaded: AttributeError"),
        ("no_such_package:POLICY", "it cannot be loaded: ModuleNotFoundError"),
        ("tests.planio.test_installed:TAKEN", "there is a policy `hybrid` already"),
        ("tests.planio.test_installed:IDLE", "`idle` shares slots and has no rules"),
    ],
)
def test_what_cannot_be_used_is_refused(points: list[EntryPoint], value: str, said: str) -> None:
    points.append(EntryPoint("odd", value, "fairhold.policies"))
    for _ in range(2):  # whoever asks is told
        with pytest.raises(InputError) as caught:
            all_policies()
        (fault,) = caught.value.faults
        assert (fault.code, said in fault.what, value in fault.what) == ("installed-policy", True, True)
    plan = PLAN.replace("policy: lottery", "policy: hybrid").replace("draw: 5m", "lead: 0")
    plan = plan.replace(", tickets: 3", "").replace(", prizes: {cpu: 2}", "")
    assert parse_plan(plan, "plan")[0].policies[0].policy is HYBRID, "a plan that does not need it is read all the same"


def test_a_policy_is_taken_in_once(points: list[EntryPoint]) -> None:
    assert points == []
    mine = Policy("mine", (), (), rules=HYBRID.rules)
    register(mine)
    register(mine)
    assert list(all_policies())[-1] == "mine"
    with pytest.raises(RefusedPolicyError):
        register(Policy("mine", (), (), rules=HYBRID.rules))


TAKEN = Policy("hybrid", (), (), rules=HYBRID.rules)
IDLE = Policy("idle", (), ())
