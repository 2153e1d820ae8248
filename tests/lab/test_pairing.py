"""Differences over several draws."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.lab.pairing import paired
from tests.cli.test_commands import ROOT, fairhold
from tests.lab.test_comparing import consumer, document
from tests.lab.test_scenario import JOBS, PLAN, text_of

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_more_than_chance_comes_first() -> None:
    before = [document(A=consumer(use=use), B=consumer(use=10)) for use in (10, 20, 30)]
    after = [document(A=consumer(use=use + 1), B=consumer(use=use)) for use in (10, 20, 90)]
    sure, other = paired(before, [*after[:2], document(A=consumer(use=31), B=consumer(use=90))])
    assert (sure.consumer, sure.before, sure.after, sure.low, sure.high) == ("/A", 20, 21, 1, 1)
    assert sure.is_sure
    # Differences of 0, 10 and 80: 30 in the mean, and 4.303 times 43.6 / √3 to both sides.
    assert (other.consumer, other.low, other.high) == ("/B", -78, 138)
    assert not other.is_sure


def test_equal_draws_differ_in_nothing() -> None:
    assert paired([document(A=consumer())] * 3, [document(A=consumer())] * 3) == []


def test_plans_are_compared_over_draws() -> None:
    scenario = str(ROOT / "examples/simulation/scenario.yaml")
    rows = json.loads(fairhold("compare", scenario, "--draws", "2", "-j", "2", "--json").stdout)["lent"]
    assert {each["what"] for each in rows} >= {"use", "wait.mean"}
    assert all(each["low"] <= each["high"] for each in rows)


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({}, "has one plan"),
        ({"plans": {"a": "plan.yaml", "b": "plan.yaml"}}, "nothing in the scenario is random"),
    ],
)
def test_what_cannot_be_compared_is_told(tmp_path: Path, more: dict[str, object], part: str) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "jobs.csv").write_text(JOBS)
    text = text_of(**more)
    (tmp_path / "s.yaml").write_text(text.replace("plan: plan.yaml\n", "", 1) if more else text)
    assert part in fairhold("compare", str(tmp_path / "s.yaml"), exits=2).stderr
