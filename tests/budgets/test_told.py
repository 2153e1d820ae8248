"""Who is told of a budget that runs low: `top`, the metric, and the pages of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.cli.live.budgets import print_table
from fairhold.cli.live.tree import trees
from fairhold.ledger.vectors import POOLED
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.runtime.live.views.jobs import job_document
from fairhold.service.metrics import budget_metric, numbers
from fairhold.service.models.answers import Budget
from tests.budgets.test_storm import plan_with
from tests.budgets.vectors import GPU, POLICIES, text_of
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600_000_000


def test_a_budget_of_which_80_percent_are_used_is_shown(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_with("wait", 5))
    job = play.submit("/A/a1", 4)
    play.pass_time(HOUR - 60_000_000)

    def title() -> str:
        return next(iter(trees(consumers_document(play.core), 100))).title

    def metric() -> dict[str, float]:
        samples = budget_metric(numbers(play.core).budgets).samples
        return {sample.labels["consumer"]: sample.value for sample in samples}

    assert "budget" not in title()
    assert metric() == {"/A": 0.786, "/B": 0.0}
    play.pass_time(HOUR // 10)
    assert title().endswith("; budget of /A 86 % used")
    assert metric() == {"/A": 0.866, "/B": 0.0}
    shown = job_document(play.core, job)
    assert shown is not None
    (budget,) = shown["budgets"]
    assert (budget["consumer"], budget["warned"], budget["used_up"]) == ("/A", True, False)
    play.pass_time(HOUR)
    assert title().endswith("; budget of /A used up")
    play.store.close()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_of_resources_is_shown(tmp_path: Path, policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    """R-BUDGET-5: in the tree, the metric, the job and the table; the reason of what waits for it names it."""
    play = Play(tmp_path, text_of(policy, "wait", gpu=5, dominant_share=40))
    job = play.submit("/A/a1", 4, group=POOLED, unit=GPU)
    play.pass_time(HOUR * 11 // 10)
    document = consumers_document(play.core)
    assert next(iter(trees(document, 100))).title.endswith("; budget of /A 88 % used")
    (row,) = [each["budget"] for each in document["resource_groups"]["g"]["consumers"] if each["budget"]]
    assert Budget.model_validate(row).model_dump(mode="json")["hours"] == {"gpu": "5", "dominant_share": "40"}
    (sample,) = budget_metric(numbers(play.core).budgets).samples
    assert (sample.labels["resource_group"], sample.labels["consumer"], sample.value) == ("g", "/A", 0.88)
    shown = job_document(play.core, job)
    assert shown is not None
    assert [each["consumer"] for each in shown["budgets"]] == ["/A"]
    print_table([{"consumer": "/A", "resource_group": "g", **row}])
    head, line, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["hours", "of"]
    assert line.startswith("4.40 gpu, 0.55 dominant_share  5, 40  88 %")
    play.pass_time(HOUR)
    waits = job_document(play.core, play.submit("/A/a2", 1, group=POOLED, unit=GPU))
    assert waits is not None
    assert waits["reason"] == "budget"
    assert "used up" in waits["text"]
    play.store.close()
