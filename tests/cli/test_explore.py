"""`explore` on the command line: what changes, why, and the files that it writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.cli import exploring
from fairhold.cycle.verify import Finding
from fairhold.errors import BrokenRuleError
from tests.cli.test_commands import fairhold
from tests.lab.explorer.scenes import SCENES

if TYPE_CHECKING:
    from pathlib import Path

PLAN, STATE = "examples/tutorial/plan.yaml", "examples/tutorial/state.yaml"


def test_the_differences_are_told_with_why() -> None:
    out = fairhold("explore", PLAN, STATE, "--set", "/Research:demand=20", "--consumer", "/Research").stdout
    head, *rows = [line.split() for line in out.splitlines()]
    assert head == ["consumer", "in", "number", "before", "after", "by"]
    assert rows[1] == ["/Research", "compute", "quota", "50", "20", "-30"]
    assert "checked: every new number was computed again by independent code" in out
    before, after = out.split("\n# /Research, before\n")[1].split("\n# /Research, after\n")
    assert before.strip() == fairhold("explain", PLAN, STATE, "/Research").stdout.strip()
    assert "quota 20" in after


def test_as_json_it_has_both_results_and_the_changed_files_say_the_same(tmp_path: Path) -> None:
    plan, state = str(tmp_path / "plan.json"), str(tmp_path / "state.json")
    changes = ("--set", "/Research:demand=20", "--set", "/Trading:limit=70")
    written = ("--output", plan, "--state-output", state)
    found = json.loads(fairhold("explore", PLAN, STATE, *changes, "--consumer", "changed", *written, "--json").stdout)
    assert list(found) == ["changes", "before", "after", "differences", "warnings", "findings", "explanations"]
    assert found["changes"] == ["/Research:demand=20", "/Trading:limit=70"]
    assert found["before"] == json.loads(fairhold("quota", PLAN, STATE, "--json").stdout)
    assert found["after"] == json.loads(fairhold("quota", plan, state, "--json").stdout)
    assert found["differences"]
    assert found["findings"] == []
    assert list(found["explanations"]) == ["/", "/Trading", "/Research"]
    told = json.loads(fairhold("explain", plan, state, "/Research", "--json").stdout)
    assert found["explanations"]["/Research"]["after"] == told


def test_a_plan_goes_to_standard_output_alone_and_never_over_an_input(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(SCENES["hybrid"].plan)
    out = fairhold("explore", str(plan), "--set", "/Trading:limit=70", "--output", "-").stdout
    assert json.loads(out)["policies"][0]["consumers"]["/Trading"]["limit"] == 70
    refused = fairhold("explore", str(plan), "--set", "/Trading:limit=70", "--output", str(plan), exits=2)
    assert "--output names an input" in refused.stderr
    assert plan.read_text() == SCENES["hybrid"].plan


@pytest.mark.parametrize(
    ("args", "exits", "said"),
    [
        ((STATE, "--set", "/Reserch:owned=3"), 1, "did you mean `/Research`?"),
        ((STATE, "--set", "/Research:owned=99", "--set", "/Trading:owned=50"), 1, "raise `owned` of `/Trading` to 60"),
        ((STATE, "--set", "/Research:owned=3", "--consumer", "/Reserch"), 2, "did you mean `/Research`?"),
        ((STATE, "--set", "/Research:owned=3", "--from", "2026-01-05T09:00:00Z"), 2, "leave `--from` out"),
        (("--set", "/Research:owned=3", "--from", "soon"), 2, "write it as"),
        (("--json",), 2, "--set"),
    ],
)
def test_what_cannot_be_is_said(args: tuple[str, ...], exits: int, said: str) -> None:
    done = fairhold("explore", PLAN, *args, exits=exits)
    assert said in done.stderr
    assert done.stdout == ""


def test_numbers_that_the_check_objects_to_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = SCENES["hybrid"].explorer()
    found = Finding("R-QUOTA-2", "compute /Research", 20, 21, "the quota is wrong")
    monkeypatch.setattr("fairhold.lab.explorer.exploring.verify", lambda *_: (found,))
    target = tmp_path / "plan.json"
    with pytest.raises(BrokenRuleError, match="R-QUOTA-2"):
        exploring.print_explored(
            explorer, ["/Research:demand=20"], (), inputs=(), output=target, state_output=None, as_json=False
        )
    assert not target.exists()
