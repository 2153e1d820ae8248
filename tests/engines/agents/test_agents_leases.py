"""A machine that is silent is gone when the service's own count of its lease is over, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.agents.lease import Leases
from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import MachineGone, MachineReported, MachineSilent, TaskEnded
from fairhold.orchestrator.instructions import Forget
from tests.engines.agents.fake import Clock, Desk, FakeAgent, record, until

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]

LEASE = AgentSettings(lease=100.0, silence=1000.0)
WHOLE = 106.0
"""100 s, 1 % and 5 s."""


def far(desk: Desk, connect: Connect, name: str = "far") -> FakeAgent:
    agent = connect(desk.agents.address).introduce(name)
    desk.next(MachineReported)
    assert agent.hear("welcome")["lease"] == 100
    return agent


def later(desk: Desk, clock: Clock, seconds: float) -> None:
    clock.at += seconds
    desk.agents.wake()


def answered(desk: Desk, connect: Connect) -> None:
    """The thread has looked at the clock since: a new connection is served in a later round."""
    connect().greet().close()
    connect().greet().close()
    desk.take()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(open_desk: OpenDesk, clock: Clock) -> Desk:
    return open_desk(address=("127.0.0.1", 0), settings=LEASE, clock=clock)


def test_an_end_names_its_machine_so_that_a_stray_there_can_be_forgotten(desk: Desk, connect: Connect) -> None:
    agent = far(desk, connect)
    agent.say("ended", attempt=5, exit=record("stray"))
    ended = desk.next(TaskEnded)
    assert ended.machine == "far"
    desk.agents.execute([Forget(5, ended.machine)])
    assert agent.hear("forget") == {"attempts": [5]}


def test_a_lease_runs_on_from_the_last_beat(desk: Desk, connect: Connect, clock: Clock) -> None:
    agent = far(desk, connect)
    later(desk, clock, 50)
    agent.say("beat", n=7)
    assert agent.hear("lease") == {"n": 7}
    later(desk, clock, 20)
    agent.close()
    desk.next(MachineSilent)
    later(desk, clock, WHOLE - 20 - 0.1)
    answered(desk, connect)
    desk.nothing_more()
    later(desk, clock, 0.2)
    assert desk.next(MachineGone) == MachineGone("far")
    later(desk, clock, 1000)
    answered(desk, connect)
    desk.nothing_more()


def test_what_an_agent_was_promised_before_is_waited_for(desk: Desk, connect: Connect, clock: Clock) -> None:
    connect(desk.agents.address).introduce("far", lease=500.0).close()
    desk.next(MachineReported)
    desk.next(MachineSilent)
    later(desk, clock, 500 * 1.01 + 5 - 0.1)
    answered(desk, connect)
    desk.nothing_more()
    later(desk, clock, 0.2)
    assert desk.next(MachineGone) == MachineGone("far")


@pytest.mark.parametrize("lease", ["600", -1, 1e9, [600]])
def test_what_is_no_rest_of_a_lease_is_no_inventory(desk: Desk, connect: Connect, lease: object) -> None:
    assert connect(desk.agents.address).introduce("far", lease=lease).is_dropped()


def test_who_comes_back_in_time_is_not_gone(desk: Desk, connect: Connect, clock: Clock) -> None:
    far(desk, connect).close()
    desk.next(MachineSilent)
    later(desk, clock, 105)
    agent = far(desk, connect)
    later(desk, clock, 105)
    answered(desk, connect)
    desk.nothing_more()
    agent.close()
    desk.next(MachineSilent)
    later(desk, clock, 2)
    assert desk.next(MachineGone).machine == "far"


def test_who_comes_back_too_late_reports_as_ever(desk: Desk, connect: Connect, clock: Clock) -> None:
    far(desk, connect).close()
    desk.next(MachineSilent)
    assert desk.agents.status()[1].gone_at == 0
    later(desk, clock, 107)
    desk.next(MachineGone)
    assert desk.agents.status()[1].gone_at > 0
    agent = far(desk, connect)
    assert desk.agents.status()[1].gone_at == 0
    agent.close()
    desk.next(MachineSilent)
    later(desk, clock, 107)
    desk.next(MachineGone)


def test_the_own_machine_is_never_gone(desk: Desk, connect: Connect, clock: Clock) -> None:
    agent = connect().introduce()
    desk.next(MachineReported)
    assert agent.hear("welcome")["lease"] is None
    agent.say("beat", n=1)
    until(lambda: desk.agents.status()[0].beat > 0)
    agent.close()
    desk.next(MachineSilent)
    later(desk, clock, 10_000)
    answered(desk, connect)
    desk.nothing_more()


def test_machines_from_before_the_start_get_a_whole_lease(open_desk: OpenDesk, connect: Connect, clock: Clock) -> None:
    desk = open_desk(address=("127.0.0.1", 0), settings=LEASE, clock=clock, awaited={"a": "", "b": "", "c": "", "": ""})
    far(desk, connect, "b")
    later(desk, clock, 105.9)
    answered(desk, connect)
    desk.nothing_more()
    later(desk, clock, 0.2)
    assert [desk.next(MachineGone).machine for _ in range(2)] == ["a", "c"]
    desk.nothing_more()


@given(
    lease=st.floats(1, 3600),
    drift=st.floats(0.9901, 1.0099),
    delays=st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=20),
)
def test_the_host_has_always_stopped_before_it_is_gone(
    lease: float, drift: float, delays: list[tuple[float, float]]
) -> None:
    """Whatever beats and answers take, and though the host's clock is up to 1 % off."""
    leases = Leases(lease)
    sent = host_until = 0.0
    for pause, way in delays:
        sent += pause
        leases.promise("far", sent + way)
        # The host counts from the sending, with its own clock: `drift` of its seconds pass in one of ours.
        host_until = max(host_until, sent + lease / drift)
        sent += way
    leases.broken("far")
    due = leases.due()
    assert due is not None
    assert due > host_until
    assert leases.gone(due) == ["far"]
    assert leases.due() is None
