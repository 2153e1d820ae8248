"""A service that leads again after another has led takes nothing for granted that it knew before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.desk import LeadershipLostError
from fairhold.runtime.live.leading import take_over
from fairhold.runtime.live.led import Led
from fairhold.runtime.live.submitting import Submission
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.kubernetes.leader import Leader

LEASE = "3d0e"


def led_once(directory: Path) -> tuple[Play, str]:
    """A service that led as the fifth, with a job that runs and one that waits."""
    play = Play(directory, plan_text(PLAIN))
    take_over(play.core, (LEASE, 5))
    play.report("")
    running = play.submit("/B", 8)
    play.submit("/C", 2)
    play.pass_time(2_000_000)
    assert play.live()
    return play, running


def test_who_leads_again_without_another_in_between_keeps_its_jobs(tmp_path: Path) -> None:
    play, _ = led_once(tmp_path)
    live = play.live()
    play.restart(snapshot=False)
    take_over(play.core, (LEASE, 6))
    assert play.live() == live
    assert len(play.core.cluster.jobs) == 2


@pytest.mark.parametrize("term", [(LEASE, 7), (LEASE, 5), ("another", 6)])
def test_jobs_of_before_end_where_another_may_have_led(tmp_path: Path, term: tuple[str, int]) -> None:
    play, running = led_once(tmp_path)
    play.restart(snapshot=False)
    take_over(play.core, term)
    assert (play.live(), len(play.core.cluster.jobs)) == ([], 0)
    assert play.store.job(running) is not None
    play.restart(snapshot=False)
    take_over(play.core, (term[0], term[1] + 1))
    assert (play.live(), len(play.core.cluster.jobs)) == ([], 0)


def test_the_key_of_a_job_of_before_is_free_again(tmp_path: Path) -> None:
    play, job = led_once(tmp_path)
    spec = play.core.specs.of(job)
    assert spec is not None
    asked = Submission("ann", "uid-of-a-pod", JobSubmitted("", "/B", "compute", 1), spec)
    first = play.core.submit(asked)
    play.commit()
    assert play.core.submit(asked) == first
    take_over(play.core, (LEASE, 9))
    assert play.core.submit(asked) != first


def test_who_leads_no_more_takes_nothing_in(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))

    class Holder:
        lost = ""

    class Taken:
        began = 0

        def begin(self, _: Any) -> None:
            self.began += 1

    holder, taken = Holder(), Taken()
    led = Led(cast("Any", taken), cast("Leader", holder))
    led.begin(play.core)
    holder.lost = "you lead"
    with pytest.raises(LeadershipLostError, match="leadership is lost: you lead"):
        led.begin(play.core)
    assert taken.began == 1
