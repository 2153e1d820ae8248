"""What is old goes: from the store, and the outputs of forgotten jobs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fairhold.runtime.live.retention import DAY, EVERY, Housekeeping, Keep, retention
from fairhold.units import SECOND
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
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
    keeping = Housekeeping(play.store, outputs, lambda name: name in play.core.cluster.jobs)
    clear(keeping, now)
    assert play.store.job(old) is None
    assert play.store.job(late) is not None
    assert sorted(path.name for path in outputs.iterdir()) == sorted([late, live, "98", "notes"])
    assert not keeping.step(now)
    assert keeping.due == now + EVERY
    play.store.close()


def test_many_folders_take_many_steps(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    outputs = tmp_path / "jobs"
    for number in range(120):
        (outputs / str(1000 + number)).mkdir(parents=True)
        os.utime(outputs / str(1000 + number), (0, 0))
    assert clear(Housekeeping(play.store, outputs, lambda _: False), play.clock.instant) == 3
    assert list(outputs.iterdir()) == []
    play.store.close()


def test_what_is_kept_for_ever_never_goes(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    now = play.clock.instant + 1000 * DAY
    assert retention(play.store, Keep(0, 0, 0, 0, 0, 0), now) == (0, 0, 0, 0, 0, 0)
    assert retention(play.store, Keep(entries=DAY), now).entries_through == play.store.last
    assert retention(play.store, Keep(entries=2000 * DAY), now).entries_through == 0
    play.store.close()
