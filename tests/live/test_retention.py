"""What is old goes: from the store, and the outputs of forgotten jobs."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.ports.people import RecordFilter
from fairhold.runtime.live.auditing import Deed
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.retention import DAY, EVERY, Caretaker, Housekeeping, Keep, retention
from fairhold.runtime.live.submitting import Submission
from fairhold.units import LAST_INSTANT, SECOND
from tests.live.play import PLAIN, Play, plan_text
from tests.live.serving import PLAN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def clear(keeping: Housekeeping, now: int) -> int:
    steps = 1
    while keeping.step(now):
        steps += 1
    return steps


def test_outputs_go_with_the_job_that_is_forgotten(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    outputs = tmp_path / "jobs"
    old, late, live = (play.submit("/B", 1) for _ in range(3))
    play.pass_time(SECOND)
    first, second, _ = play.live()
    play.end(first)
    play.pass_time(20 * DAY)
    play.end(second)
    play.commit()
    for name in (old, late, live, "99", "notes"):
        (outputs / name / "0.dir").mkdir(parents=True)
        (outputs / name / "0.1.out").write_text("said")
        when = (play.clock.instant - 40 * DAY) / SECOND
        os.utime(outputs / name, (when, when))
    now = play.clock.instant + 15 * DAY
    (outputs / "98").mkdir()
    os.utime(outputs / "98", (now / SECOND, now / SECOND))
    keeping = Housekeeping(play.store, outputs, lambda names: {*names} & play.core.cluster.jobs.keys())
    clear(keeping, now)
    assert play.store.job(old) is None
    assert play.store.job(late) is not None
    assert sorted(path.name for path in outputs.iterdir()) == sorted([late, live, "98", "notes"])
    assert not keeping.step(now)
    assert keeping.due == now + EVERY
    play.store.close()


def test_others_are_told_what_is_forgotten_when_the_store_is_cleared(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    old, late, live = (play.submit("/B", 1) for _ in range(3))
    play.pass_time(SECOND)
    first, second, _ = play.live()
    play.end(first)
    play.pass_time(40 * DAY)
    play.end(second)
    play.commit()
    told: list[list[str]] = []
    caretaker = Caretaker(
        Housekeeping(play.store, tmp_path / "jobs", lambda names: {*names} & play.core.cluster.jobs.keys()),
        lambda: play.clock.instant,
        lambda forgotten: told.append(forgotten([old, late, live, "99", "no job"])),
    )
    wait_for(lambda: bool(told))
    caretaker.close()
    assert told[0] == [old, "99", "no job"]
    play.store.close()


def test_many_folders_take_many_steps(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    outputs = tmp_path / "jobs"
    for number in range(120):
        (outputs / str(1000 + number)).mkdir(parents=True)
        os.utime(outputs / str(1000 + number), (0, 0))
    assert clear(Housekeeping(play.store, outputs, lambda _: ()), play.clock.instant) == 3
    assert list(outputs.iterdir()) == []
    play.store.close()


def test_what_is_kept_for_ever_never_goes(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    now = play.clock.instant + 1000 * DAY
    assert retention(play.store, Keep(0, 0, 0, 0, 0, 0, 0), now) == (0, 0, 0, 0, 0, 0, 0)
    assert retention(play.store, Keep(entries=DAY), now).entries_through == play.store.last
    assert retention(play.store, Keep(entries=2000 * DAY), now).entries_through == 0
    play.store.close()


def test_records_and_usage_are_kept_for_as_long_as_is_asked(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    for day in range(3):
        play.submit("/B", 1)
        play.pass_time(SECOND)
        play.core.audit.note(Deed("ben", "token 1", "here", "submit_job", str(day)), play.clock.instant)
        play.pass_time(DAY)
    play.commit()

    def kept(keep: Keep) -> tuple[int, int]:
        clear(Housekeeping(play.store, tmp_path / "jobs", lambda _: {"1"}, keep), play.clock.instant)
        return len(play.store.records(0, RecordFilter(action="submit_job"))), len([*play.store.usage(0, LAST_INSTANT)])

    whole = kept(Keep(records=0, usage=0))
    assert whole[0] == 3
    assert kept(Keep(records=2 * DAY + 2 * SECOND, usage=0)) == (2, whole[1])
    records, usage = kept(Keep(records=0, usage=2 * DAY))
    assert records == 2
    assert 0 < usage < whole[1]
    play.store.close()


def wait_for(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_job_directory_lasts_from_attempt_to_attempt_and_goes_with_its_job(tmp_path: Path) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state"
    plan.write_text(PLAN)
    script = 'test -e "$FAIRHOLD_JOB_DIRECTORY/saved" || { touch "$FAIRHOLD_JOB_DIRECTORY/saved"; exit 3; }'
    terms = JobSubmitted("", "/A", "compute", 1, retries=1)
    asked = Submission("ann", "", terms, Spec("/A", ("sh", "-c", script), {"PATH": "/usr/bin:/bin"}, "/"))
    live = open_live(LiveSettings(plan, state))
    try:
        job = live.desk.write(lambda core: core.submit(asked)).result(60)
        wait_for(lambda: live.store.job(job) is not None)
        assert [(task.number, task.state) for task in live.store.tasks_of(job)] == [(1, "later"), (2, "done")]
        assert list((state / "jobs" / job).rglob("saved"))
    finally:
        live.close(with_agent=True)
    live = open_live(LiveSettings(None, state, keep=Keep(jobs=1), launch=False))
    try:
        wait_for(lambda: live.store.job(job) is None and not (state / "jobs" / job).exists())
        assert live.store.spec(job) is None
        assert live.store.tasks_of(job) == []
    finally:
        live.close()


def test_outputs_stay_while_the_end_of_their_job_is_not_written(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    outputs = tmp_path / "jobs"
    job = play.submit("/B")
    play.pass_time(SECOND)
    play.commit()
    (outputs / job).mkdir(parents=True)
    os.utime(outputs / job, (0, 0))
    play.end(1)  # as on a full disk: decided, and nowhere on record
    assert job not in play.core.cluster.jobs
    core = play.core
    caretaker = Caretaker(
        Housekeeping(
            play.store, outputs, lambda names: {*names} & (core.cluster.jobs.keys() | core.journal.jobs.keys())
        ),
        play.clock,
    )
    wait_for(lambda: caretaker._keeping.due > 0)
    caretaker.close()
    assert (outputs / job).exists()
    play.store.close()
