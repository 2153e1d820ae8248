"""Agents of one name that keep their attempts in different places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import MachineGone, MachineReported, MachineSilent
from tests.engines.agents.fake import Clock, Desk, FakeAgent

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]

RUNS = [{"attempt": 1, "alive": True, "exit": None}]


def open_far(open_desk: OpenDesk, **more: Any) -> tuple[Desk, Clock]:
    clock = Clock()
    settings = AgentSettings(lease=100, silence=1000)
    return open_desk(address=("127.0.0.1", 0), settings=settings, clock=clock, **more), clock


def test_a_second_agent_of_a_name_is_not_let_in(open_desk: OpenDesk, connect: Connect) -> None:
    desk, _ = open_far(open_desk)
    first = connect(desk.agents.address).introduce("far", spool="one")
    assert desk.next(MachineReported).spool == "one"
    assert connect(desk.agents.address).introduce("far", spool="two").is_dropped()
    desk.until_complaint("another agent is connected as far")
    connect(desk.agents.address).introduce("far", spool="one").hear("welcome")
    assert first.is_dropped(), "of one spool the newer connection counts"


@pytest.mark.parametrize("attempts", [[], RUNS], ids=["nothing", "an attempt"])
def test_a_new_spool_waits_for_the_lease_of_what_the_old_one_ran(
    open_desk: OpenDesk, connect: Connect, attempts: list[dict[str, Any]]
) -> None:
    desk, clock = open_far(open_desk)
    first = connect(desk.agents.address).introduce("far", last=1, spool="one", attempts=attempts)
    desk.next(MachineReported)
    first.close()
    desk.next(MachineSilent)
    clock.at += 105
    second = connect(desk.agents.address).introduce("far", spool="two")
    if attempts:
        assert second.is_dropped()
        desk.until_complaint("its spool is new")
        clock.at += 2
        desk.agents.wake()
        desk.next(MachineGone)
        second = connect(desk.agents.address).introduce("far", spool="two")
    second.hear("welcome")
    assert desk.next(MachineReported).spool == "two"


def test_after_a_start_the_spool_from_before_counts_and_so_does_its_longer_lease(
    open_desk: OpenDesk, connect: Connect
) -> None:
    desk, clock = open_far(open_desk, awaited={"far": "one"}, lease_before=600.0)
    clock.at += 600
    assert connect(desk.agents.address).introduce("far", spool="two").is_dropped()
    clock.at += 12
    desk.agents.wake()
    assert desk.next(MachineGone).machine == "far"
    connect(desk.agents.address).introduce("far", spool="two").hear("welcome")
