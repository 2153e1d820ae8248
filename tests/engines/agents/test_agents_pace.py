"""Starts go out in rising order, so many a second; what waits is seen, and can still be stopped."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.agents.pace import Pace
from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import Exit, MachineReported, MachineSilent, Outcome, TaskEnded
from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw
from tests.engines.agents.fake import NOW, Clock, Desk, FakeAgent, spec, until

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]

SLOW = AgentSettings(starts_per_second=10)


def start(attempt: int, job: str = "7") -> Start:
    return Start(attempt, job, attempt, 1, "compute", "")


def paced(open_desk: OpenDesk, connect: Connect, clock: Clock) -> tuple[Desk, FakeAgent]:
    desk = open_desk(settings=SLOW, clock=clock)
    desk.specs["7"] = spec()
    agent = connect().introduce()
    desk.next(MachineReported)
    agent.hear("welcome")
    return desk, agent


def test_starts_come_in_rising_order_and_at_the_pace(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk, agent = paced(open_desk, connect, clock)
    numbers = list(range(1, 31))
    random.Random(5).shuffle(numbers)
    desk.order(*map(start, numbers))
    assert agent.hear("start")["attempt"] == 1
    until(lambda: desk.agents.status()[0].waiting == 29)
    clock.at += 0.1001
    desk.agents.wake()
    assert agent.hear("start")["attempt"] == 2
    for attempt in range(3, 31):
        clock.at += 0.1001
        desk.agents.wake()
        assert agent.hear("start")["attempt"] == attempt
    assert desk.agents.status()[0].waiting == 0


def test_a_waiting_start_that_is_stopped_is_never_sent(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk, agent = paced(open_desk, connect, clock)
    desk.order(start(1), start(2), start(3))
    agent.hear("start")
    desk.order(Stop(2, "cancel"))
    detail = "it was stopped before it was sent"
    assert desk.next(TaskEnded) == TaskEnded(2, Outcome.STOPPED, Exit("cancel", detail=detail))
    clock.at += 1
    desk.agents.wake()
    assert agent.hear("start")["attempt"] == 3


def test_a_notice_waits_for_its_start(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk, agent = paced(open_desk, connect, clock)
    desk.order(start(1), start(2), start(3), Notify(2, NOW, "quota", ""), Notify(3, NOW, "quota", ""), Withdraw(3))
    agent.hear("start")
    clock.at += 0.15
    desk.agents.wake()
    assert agent.hear("start")["attempt"] == 2
    assert agent.hear("notice")["attempt"] == 2
    clock.at += 0.15
    desk.agents.wake()
    assert agent.hear("start")["attempt"] == 3
    desk.order(Stop(3))
    assert agent.hear("stop")["attempt"] == 3


def test_what_waits_when_the_connection_breaks_is_dropped(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk, agent = paced(open_desk, connect, clock)
    desk.order(start(1), start(2), start(3))
    agent.hear("start")
    agent.close()
    desk.next(MachineSilent)
    second = connect().introduce(last=1)
    second.hear("welcome")
    desk.next(MachineReported)
    assert desk.agents.status()[0].waiting == 0
    clock.at += 1
    desk.order(start(3))
    assert second.hear("start")["attempt"] == 3


@given(st.floats(0.5, 200), st.lists(st.floats(0, 0.5), max_size=40))
def test_in_no_second_more_pass_than_the_rate_and_what_was_saved(rate: float, pauses: list[float]) -> None:
    pace = Pace(rate)
    now = 50.0
    passed = []
    for pause in pauses:
        now += pause
        while pace.take(now):
            passed.append(now)
        assert pace.next_at() > now
    for index, begin in enumerate(passed):
        inside = sum(1 for instant in passed[index:] if instant < begin + 1)
        assert inside <= rate * 1.1 + 1.001


@given(st.floats(0.5, 5000), st.integers(1, 50))
def test_who_comes_when_told_passes(rate: float, count: int) -> None:
    pace = Pace(rate)
    now = 1e6
    for _ in range(count):
        now = max(now, pace.next_at())
        assert pace.take(now)
