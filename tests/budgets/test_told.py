"""Who is told of a budget that runs low: `top`, the metric, and the pages of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.tree import trees
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.runtime.live.views.jobs import job_document
from fairhold.service.metrics import budget_metric, numbers
from tests.budgets.test_storm import plan_with
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
