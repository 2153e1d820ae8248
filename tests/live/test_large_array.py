"""An array of a million tasks: as small as any job, and in nobody's way."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobCancelled
from fairhold.runtime.live.recovery import frozen
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.jobs import Wanted, job_document, jobs_page
from fairhold.runtime.live.views.tasks import tasks_page
from fairhold.units import SECOND
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
    from pathlib import Path

MILLION = 1_000_000


def run_some(play: Play, tasks: int) -> None:
    """So many tasks end, the oldest first."""
    for _ in range(tasks):
        play.end(play.live()[0])
        play.pass_time(20_000)
    play.commit()


def test_it_takes_no_more_than_any_other_job(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN), most=10**9)
    play.submit("/B", 10)
    play.pass_time(SECOND)
    play.commit()
    small, size = len(frozen(play.core)), play.store.last
    tracemalloc.start()
    job = play.submit("/B", MILLION)
    play.commit()
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 100_000
    assert play.store.last - size <= 4, "a few entries of the log, however many tasks"
    run_some(play, 300)
    record = play.core.cluster.jobs[job]
    assert record.finished >= 250
    assert len(json.dumps(record.progress())) < 100
    assert len(frozen(play.core)) < small + 4_000
    page = tasks_page(play.core, job, str(record.finished + 20), limit=5)
    assert page is not None
    assert page["tasks"][-1]["through"] == MILLION - 1
    before = play.store.last
    play.feed(JobCancelled(job))
    for number in play.live():
        play.end(number, "cancel")
    play.commit()
    assert play.store.last - before < 60, "what waits is dropped in one entry"
    done = job_document(play.core, job)
    assert done is not None
    assert done["tasks"]["done"] + done["tasks"]["cancelled"] == MILLION
    play.store.close()


def test_a_colleague_in_the_same_leaf_starts_in_turn(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    large = play.submit("/B", MILLION, user="ann")
    play.pass_time(SECOND)
    assert play.core.cluster.jobs[large].running == 7  # one is reserved
    other = play.submit("/B", 4, user="bob")
    again = play.submit("/B", 2, user="ann")
    explained = job_explanation(play.core, other)
    assert explained is not None
    assert explained["place"] == 0, "bob holds nothing: he is next"
    explained = job_explanation(play.core, again)
    assert explained is not None
    assert explained["place"] >= MILLION - 8
    run_some(play, 4)
    assert play.core.cluster.jobs[other].running == 3, "half of the leaf"
    assert [row["job"] for row in jobs_page(play.core, Wanted())["jobs"]] == [again, other, large]
    play.store.close()


def test_a_colleague_in_another_leaf_gets_what_he_owns(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    large = play.submit("/A/a1", MILLION)
    play.pass_time(SECOND)
    other = play.submit("/B", 3, user="bob")
    play.pass_time(SECOND)
    for attempt in [each for each in play.core.cluster.attempts.values() if each.notice]:
        play.end(attempt.name, "reclaim")
    play.pass_time(SECOND)
    assert play.core.cluster.jobs[other].running == 3
    assert play.core.cluster.jobs[large].running == 5
    play.store.close()


def test_what_jobs_read_does_not_fill_the_memory(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    specs = play.core.specs
    for number in range(100):
        specs.remember(str(number), Spec("/B", ("cat",), stdin=bytes(8 << 20)))
        specs.remember(str(number), Spec("/B", ("cat",), stdin=bytes(4 << 20)))
    assert sum(len(spec.stdin) for spec in specs._latest.values()) == specs._stdin <= 64 << 20
    play.store.close()
