"""What is left of a grace is counted by the clock that has set the deadline, whatever the time of day is."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.engines.agents.secret import the_secret
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.clock import WallClock
from fairhold.runtime.live.opening import LiveSettings, Rising, open_live
from fairhold.runtime.live.submitting import Submission
from fairhold.units import SECOND
from tests.engines.agents.fake import NOW, FakeAgent
from tests.live.serving import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.runtime.live.opening import Live

HOUR = 3600 * SECOND


def submit(live: Live, consumer: str, count: int) -> None:
    asked = Submission("ann", "", JobSubmitted("", consumer, "compute", count), Spec(consumer, ("true",)))
    live.desk.write(lambda core: core.submit(asked)).result(20)


@pytest.mark.parametrize("shift", [-HOUR, 0, HOUR])
def test_a_notice_leaves_the_grace_where_the_time_of_day_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: int
) -> None:
    class Shifted(WallClock):
        def now(self) -> int:
            return super().now() + shift

    monkeypatch.setattr("fairhold.runtime.live.opening.WallClock", Shifted)
    plan, state = tmp_path / "plan.yaml", tmp_path / "state"
    plan.write_text(PLAN.replace("200ms", "60s"))
    live = open_live(LiveSettings(plan, state, launch=False))
    with closing(live), closing(FakeAgent(state, the_secret(state))) as agent:
        agent.introduce().hear("welcome")
        submit(live, "/A", 6)
        for _ in range(6):
            agent.hear("start")
        submit(live, "/B", 3)
        for _ in range(3):
            assert 20 < agent.hear("notice")["seconds"] <= 60


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: int) -> None:
        self.instant = now

    def now(self) -> int:
        return self.instant


def test_a_look_at_the_time_takes_no_instant_and_never_goes_back() -> None:
    clock = Clock(NOW)
    rising = Rising(NOW + HOUR, clock)
    first = rising()
    assert (rising.look(), rising.look()) == (first, first)
    assert rising() == first + 1
    clock.instant += SECOND
    assert rising.look() == first + 1 + SECOND // 2
    clock.instant -= HOUR
    assert rising.look() == first + 1 + SECOND // 2
