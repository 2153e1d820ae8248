"""An agent whose name the plan does not have: it is told so, and so are people, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import MachineReported, MachineSilent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engines.agents.fake import Desk, FakeAgent

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]


def test_a_name_that_the_plan_does_not_have_is_said_to_both_sides(open_desk: OpenDesk, connect: Connect) -> None:
    planned = {"far"}
    desk = open_desk(address=("127.0.0.1", 0), is_planned=lambda name: name in planned)

    def come(host: str) -> FakeAgent:
        agent = connect(desk.agents.address).introduce(host, spool=host)
        assert desk.next(MachineReported).machine == host
        agent.hear("welcome")
        return agent

    def go(agent: FakeAgent) -> None:
        agent.close()
        desk.next(MachineSilent)

    def said() -> int:
        return sum("the plan has no host" in complaint for complaint in desk.complaints)

    far = come("far")
    for _ in range(2):
        zz = come("zz")
        zz.hear("unplanned")
        go(zz)
    assert said() == 1
    desk.until_complaint("connected as zz, and the plan has no host of this name: nothing is started there")
    planned.add("zz")
    go(come("zz"))
    planned.remove("zz")
    come("zz").hear("unplanned")
    assert said() == 2
    far.say("beat", n=1)
    far.hear("lease")  # and was told nothing else before
