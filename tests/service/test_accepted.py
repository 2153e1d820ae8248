"""What a submit answers is what the job shows from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path


def test_a_submit_answers_the_job_as_it_is_shown(tmp_path: Path) -> None:
    """Also the time limit: the plan's, where that is shorter than what was asked for."""
    with Bank(tmp_path / "state", plan=PLAN + "      /Research: {max_run_time: 60s}\n") as bank:
        for asked, shown in ((0, 60), ("30s", 30), ("90s", 60)):
            answer = bank.submit(name="n", labels={"a": "b"}, time_limit=asked, memory=1 << 30, count=3, hold=True)
            assert answer == bank.get(f"/jobs/{answer['job']}")
            assert answer["time_limit"] == shown
