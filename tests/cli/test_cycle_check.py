"""`fairhold cycle --check`: what must hold of every cycle is looked at where it is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairhold.cli.files import print_cycle
from fairhold.errors import BrokenRuleError
from fairhold.policies.hybrid.policy import HYBRID, RULES
from fairhold.policies.registry import POLICIES
from tests.cli.test_commands import PLAN, STATE, fairhold

if TYPE_CHECKING:
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def test_a_right_cycle_is_printed_as_without() -> None:
    assert fairhold("cycle", PLAN, STATE, "--check", "--json").stdout == fairhold("cycle", PLAN, STATE, "--json").stdout


def one_slot_too_many(_: Snapshot, draft: CycleContext) -> None:
    draft.quota[1] += 1


def test_a_wrong_cycle_is_said_to_be_and_nothing_of_it_is_printed_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(Path(PLAN).read_text())
    state.write_text(Path(STATE).read_text())
    wrong = replace(HYBRID, rules=replace(RULES, quotas=(*RULES.quotas, one_slot_too_many)))
    monkeypatch.setitem(POLICIES, "hybrid", wrong)
    after = tmp_path / "after.json"
    with pytest.raises(BrokenRuleError, match=r"compute: children_sum_to_their_parent /.*\[broken-rule\]") as caught:
        print_cycle(plan, state, after, check=True, as_json=True)
    assert caught.value.exit_code == 3
    assert not after.exists()
    assert capsys.readouterr().out == ""
    print_cycle(plan, state, after, as_json=True)
    assert after.exists()
