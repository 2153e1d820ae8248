"""A task that ends hands its slot to the next task of its leaf; cycles are few, and every one is on record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.submitting import Submission
from tests.live.serving import PLAN

if TYPE_CHECKING:
    from pathlib import Path

TASKS = 1_000


def test_a_thousand_tasks_of_one_leaf_need_few_cycles(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    live = open_live(LiveSettings(plan, tmp_path / "state"))
    try:
        asked = Submission("ann", "", JobSubmitted("", "/A", "compute", TASKS), Spec("/A", ("true",), {}, "/"))
        began = live.core.now()
        job = live.desk.write(lambda core: core.submit(asked)).result(60)
        until = time.monotonic() + 120
        while (done := live.store.job(job)) is None and time.monotonic() < until:
            time.sleep(0.05)
        assert done is not None
        assert done.state == "done"
        # nobody else wants a slot: what was granted once is handed on, and a cycle a second looks whether that holds
        seconds = (done.ended - began) // 1_000_000
        notes = live.store.cycles("compute", limit=10_000)
        assert len(notes) <= 2 * seconds + 12 < TASKS / 5
        assert [note.number for note in notes] == list(range(len(notes), 0, -1))
        assert all(note.cause for note in notes)
        assert "JobSubmitted" in {note.cause for note in notes}
    finally:
        live.close(with_agent=True)
